"""What each level of isolation costs a task: milliseconds from its start to its end, without work.

    python benchmarks/isolation_latency.py [--tasks 50]

The local executor of a worker runs a body that does nothing, at each level that this machine
reaches; levels take turns, so that other work on the machine falls on all alike. ``more``: the
median beyond that of level *none*.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options, write_table
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor
from isolation_levels import LEVELS, why_not

LIMITS = Limits(seconds=30, memory=2**30, threads=1)
COLUMNS = ["level", "tasks", "median", "ninth_tenth", "more"]
PAUSE = 0.2  # seconds between two tasks, in which the next child is made ready


def do_nothing(folder: Path) -> TaskResult:
    """Bring an empty result."""
    result = TaskResult(ok=True)
    task_main.write_result(folder, result)
    return result


def run_one(executor: LocalExecutor) -> float:
    """Return the milliseconds of one task."""
    with tempfile.TemporaryDirectory() as name:
        began = time.perf_counter()
        outcome = executor.start(Path(name).resolve(), LIMITS).wait()
        took = 1e3 * (time.perf_counter() - began)
    assert outcome.ending == "finished", outcome
    return took


def main() -> None:
    """Measure all levels, print and keep the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--tasks", type=int, default=50)
    options = read_options(parser, tasks=2)
    levels = [level for level in LEVELS if not why_not(level)]
    executors = {level: LocalExecutor(LIMITS, do_nothing, isolation=level) for level in levels}
    taken: dict[str, list[float]] = {level: [] for level in levels}
    for _ in range(options.tasks):
        for level, executor in executors.items():
            time.sleep(PAUSE)
            taken[level].append(run_one(executor))
    for executor in executors.values():
        executor.close()
    print(f"{machine_line('easeml')}, load {os.getloadavg()[0]:.1f}")
    least = statistics.median(taken["none"])
    lines = []
    for level, values in taken.items():
        median, high = statistics.median(values), statistics.quantiles(values, n=10)[8]
        cells = [round(number, 1) for number in (median, high, median - least)]
        lines.append([level, len(values), *cells])
    for line in [COLUMNS, *lines]:
        print("".join(f"{cell!s:>12}" for cell in line))
    write_table(options.out / "table.csv", COLUMNS, lines)


if __name__ == "__main__":
    main()
