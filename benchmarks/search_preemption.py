"""Slowdown of interactive and best-effort jobs under rules of preemption: the paper's workload and
real traces.

    python benchmarks/search_preemption.py [--jobs 32768] [--seeds 3]

*synthetic*: jobs like those of the FitGpp paper (USENIX OpML 2019) on 84 nodes at load 2.0 under FIFO, 30 % of them
interactive; it used 2^19 jobs. Published there: FitGpp cuts the 95th percentile of interactive slowdown by 96.6 %
against FIFO, for +18.0 % of the median and +23.9 % of the 95th percentile for the others.
``DIR/gpu_trace_alibaba_2023``: its best-effort class against all others; ``DIR/gpu_trace_itp``: 30 % of jobs drawn as
interactive, jobs of more than 8 GPUs left out. Nodes of the traces are as many as would do for 90 % of the jobs if
nobody waited. Means over seeds.
"""

import csv
import json
import subprocess
import sys
from typing import Any

import numpy as np

from common import arguments, machine_line, read_options

REAL = ("gpu_trace_alibaba_2023", "gpu_trace_itp")
REAL = ("gpu_trace_alibaba_2023", "gpu_trace_itp")
RULES = ("fifo", "fitgpp", "least-delay", "longest-remaining", "random")
COLUMNS = [(kind, f"p{q}") for kind in ("interactive", "best_effort") for q in (50, 95, 99)]


def replayed(trace: str, *options: str) -> dict[str, Any]:
    """Return what the command says of a trace."""
    command = [
        sys.executable,
        "-m",
        "easeml.cli",
        "simulate",
        "preemption",
        trace,
        "--policies",
        ",".join(RULES),
    ]
    return json.loads(
        subprocess.run([*command, *options, "--json"], check=True, capture_output=True).stdout
    )


def main() -> None:
    """Print the tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--jobs", type=int, default=2**15)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--traces", nargs="+", default=["synthetic", *REAL])
    options = read_options(parser, jobs=300, seeds=1, traces=["synthetic"])
    print(machine_line("numpy", "scipy"))
    rows: list[list[object]] = []
    for name in options.traces:
        trace, more = (
            ("synthetic", ["--jobs", str(options.jobs)])
            if name == "synthetic"
            else (options.data / name, [])
        )
        found = [replayed(str(trace), "--seed", str(seed), *more) for seed in range(options.seeds)]
        print(
            f"\n## {name}: {found[0]['jobs']} jobs, {found[0]['nodes']} nodes, {options.seeds} seeds"
        )
        print(
            f"{'policy':<20}"
            + "".join(f"{kind[:11] + ' ' + q:>18}" for kind, q in COLUMNS)
            + f"{'suspended':>12}"
        )
        fifo: dict[tuple[str, str], float] = {}
        for rule in RULES:
            told = [each["policies"][rule] for each in found]
            means = {
                column: float(np.mean([one[column[0]][column[1]] for one in told]))
                for column in COLUMNS
            }
            fifo = fifo or means
            cells = "".join(
                f"{means[c]:>9.2f} {100 * (means[c] / fifo[c] - 1):>+6.1f} %"
                if rule != "fifo"
                else f"{means[c]:>18.2f}"
                for c in COLUMNS
            )
            share = float(np.mean([one["suspended_share"] for one in told]))
            print(f"{rule:<20}{cells}{100 * share:>10.1f} %", flush=True)
            rows.append(
                [name, rule, *(round(means[column], 4) for column in COLUMNS), round(share, 5)]
            )
    with (options.out / "slowdown.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["trace", "policy", *(f"{kind}_{q}" for kind, q in COLUMNS), "suspended_share"]
        )
        writer.writerows(rows)


if __name__ == "__main__":
    main()
