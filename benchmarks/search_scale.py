"""A hundred users on a hundred devices: how long simulating takes, and whether a device is ever
idle while work waits.

    python benchmarks/search_scale.py [--users 100] [--devices 100] [--models 200]

The workload is SYN(0.5, 1.0) of the ease.ml paper, with as many past tenants again; every run takes
0.05 to 1 second of the simulated clock. Also the speed-up against one device, at four losses.
"""

import time

import numpy as np

from common import arguments, machine_line, read_options
from easeml.search import policy_named
from easeml.search.simulator import LEVELS, Scenario, Workload, belief, curve, simulate, synthetic


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--devices", default="1,4,16,100")
    options = read_options(parser, users=5, models=10, devices="1,4")
    print(machine_line("numpy", "scipy"))
    print(f"{options.users} users x {options.models} models")
    whole = synthetic(0.5, 1.0, np.random.default_rng(0), 2 * options.users, options.models)
    work: Workload = whole.of(np.arange(options.users))
    prior = belief(whole.quality[options.users :], work.models, own=True)
    titles = "".join(f"{f'to {level:g}':>12}" for level in LEVELS)
    print("speed-up: of the simulated time to a loss, against the first line")
    print(f"{'devices':>8}{'runs':>8}{'took [s]':>10}{'a run [ms]':>12}{'idle [s]':>10}{titles}")
    alone: list[float] = []
    for devices in map(int, options.devices.split(",")):
        begin = time.perf_counter()
        trace = simulate(work, policy_named(), prior, Scenario(speeds=(1.0,) * devices))
        took = time.perf_counter() - begin
        told = curve(trace, work)
        times = [told.time_to(level) for level in LEVELS]
        alone = alone or times
        shown = "".join(f"{one / some:>12.1f}" for one, some in zip(alone, times, strict=True))
        runs = len(trace.runs)
        print(
            f"{devices:>8}{runs:>8}{took:>10.1f}{1e3 * took / runs:>12.2f}{trace.idle:>10.3f}{shown}",
            flush=True,
        )


if __name__ == "__main__":
    main()
