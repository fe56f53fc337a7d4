"""How long newcomers wait for a device when all are busy, under rules of preemption, through the real
scheduler.

    python benchmarks/preemption_live.py [--seeds 5] [--rules fifo,least-delay,fitgpp]

The devices are kept busy by searches with long runs; people come one after another, and each wants
a first model. ``engine.Scheduler`` decides on a database of its own, for devices whose bodies sleep
(``sleeping_devices.py``) and have nothing to show when they are asked to end: what they did is
lost. A minute of the clock is one of a real service.

``wait``: seconds from a newcomer's coming to the start of its first run, at the median, the 95th
percentile, and at most. ``lost``: the share of all device seconds that suspended runs had had.
``at most``: how often one task was suspended. ``long runs``: how many of them ended, beside
``fifo``, which suspends nothing. All rules get the same draws. A rule holds its promise where the
95th percentile is at most 5 s and no task is suspended more than twice.
"""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.store.records import Candidate
from sleeping_devices import Body, SleepingDevices, add_tenant

MEMORY = Path("/dev/shm")
BEGINNING = 1_000_000.0  # seconds of the epoch
LONG, LONG_SPREAD = 300.0, 0.8  # median seconds of a long run, and sd of their logarithm
SHORT, SHORT_SPREAD = 8.0, 0.5
BUSY, LONG_ARMS = 2, 40  # long searches a device, and the runs that each has to give
NEW_ARMS = 3
SETTLED = 3000.0  # seconds until each long search has had a first run, which nothing may suspend


class Played(NamedTuple):
    """What came of one draw under one rule. ``waits`` (n,): seconds, one a newcomer."""

    waits: np.ndarray
    lost: float
    most_suspensions: int
    long_runs: int


class Draw:
    """Long searches from the beginning, and newcomers who come by a Poisson process."""

    def __init__(self, devices: int, newcomers: int, every: float, seed: int):
        generator = np.random.default_rng(seed)
        gaps = generator.exponential(every, newcomers)
        self.arrivals = BEGINNING + SETTLED + np.cumsum(gaps)
        self.devices = devices
        self._seed = seed

    def body_of(self, candidate: Candidate) -> Body:
        """Return the body of a candidate; it is the same under each rule."""
        is_long = candidate.model.startswith("long")
        middle, spread = (LONG, LONG_SPREAD) if is_long else (SHORT, SHORT_SPREAD)
        name = [self._seed, *candidate.model.encode()]
        generator = np.random.default_rng(name)
        seconds = middle * float(np.exp(generator.normal(0.0, spread)))
        return Body(seconds, float(generator.uniform(0.5, 0.9)))


def play(draw: Draw, rule: str) -> Played:
    """Play a draw under a rule, until each newcomer has had its first run."""
    where = MEMORY if MEMORY.is_dir() else None  # commits need not reach a disk here
    with tempfile.TemporaryDirectory(prefix="easeml-preemption-", dir=where) as folder:
        sleeping = SleepingDevices(Path(folder), draw.devices, draw.body_of, preemption=rule)
        sleeping.clock = BEGINNING
        with sleeping.store.write() as tx:
            for number in range(BUSY * draw.devices):
                models = [f"long-{number}-{arm}" for arm in range(LONG_ARMS)]
                add_tenant(tx, f"long-{number}", models)
        sleeping.start()
        came = _let_come(sleeping, draw.arrivals)
        return _judged(sleeping, came)


def _let_come(sleeping: SleepingDevices, arrivals: Sequence[float]) -> dict[str, float]:
    """Let time pass until all newcomers came and have had a run; return their jobs and moments."""
    came: dict[str, float] = {}
    left = list(arrivals)
    while left or not came.keys() <= {slept.task.job_id for slept in sleeping.slept}:
        sleeping.decide()
        next_arrival = left[0] if left else float("inf")
        sleeping.pass_to(min(sleeping.next_end, next_arrival))
        if sleeping.clock == next_arrival:
            left.pop(0)
            number = len(came)
            with sleeping.store.write() as tx:
                models = [f"new-{number}-{arm}" for arm in range(NEW_ARMS)]
                job, _ = add_tenant(tx, f"new-{number}", models)
            came[job.id] = sleeping.clock
    sleeping.close()
    return came


def _judged(sleeping: SleepingDevices, came: dict[str, float]) -> Played:
    waits: dict[str, float] = {}
    suspended: Counter[str] = Counter()
    lost = done = 0.0
    long_runs = 0
    for slept in sleeping.slept:
        seconds = slept.ended - slept.began
        done += seconds
        if not slept.whole:
            lost += seconds
            suspended[slept.task.id] += 1
        job = slept.task.job_id
        if job not in came:
            long_runs += slept.whole
        elif job not in waits:
            waits[job] = slept.began - came[job]
    most = max(suspended.values(), default=0)
    return Played(np.array(list(waits.values())), lost / done, most, long_runs)


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rules", default="fifo,least-delay,fitgpp,longest-remaining,random")
    parser.add_argument("--devices", type=int, default=16)
    parser.add_argument("--newcomers", type=int, default=100)
    parser.add_argument("--every", type=float, default=20.0, help="mean seconds between newcomers")
    parser.add_argument("--seeds", type=int, default=5)
    options = read_options(parser, rules="fifo,least-delay", devices=2, newcomers=3, seeds=1)
    print(machine_line("numpy", "sqlalchemy"))
    print(
        f"{options.devices} devices, {options.newcomers} newcomers, one every {options.every:g} s "
        f"on average, {options.seeds} draws"
    )
    titles = ["rule", "wait p50", "p95", "most", "lost", "at most", "long runs"]
    print("".join(f"{title:>12}" for title in titles))
    draws = [
        Draw(options.devices, options.newcomers, options.every, seed)
        for seed in range(options.seeds)
    ]
    usual = None
    rows = []
    for rule in options.rules.split(","):
        played = [play(draw, rule) for draw in draws]
        waits = np.concatenate([one.waits for one in played])
        ended = sum(one.long_runs for one in played)
        usual = usual or ended
        cells = [
            *(f"{np.percentile(waits, share):.1f} s" for share in (50, 95, 100)),
            f"{np.mean([one.lost for one in played]):.1%}",
            str(max(one.most_suspensions for one in played)),
            f"{ended / usual:.2f}",
        ]
        print(f"{rule:>12}" + "".join(f"{cell:>12}" for cell in cells), flush=True)
        rows.append([rule, *cells])
    write_table(options.out / "table.csv", titles, rows)


if __name__ == "__main__":
    main()
