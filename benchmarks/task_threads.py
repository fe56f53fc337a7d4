"""How long a fit takes with one thread, with a thread a core that spins while it waits for others
(OpenMP's default), and with one that sleeps: on a machine alone, and beside other work.

    python benchmarks/task_threads.py [--trees 60] [--repeats 3]

Each fit is in a process of its own, which measures the fit alone: the median, in milliseconds of
wall and processor time. Beside other work: as many processes as there are cores count in a loop.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.engine.limits import thread_environment

CORES = len(os.sched_getaffinity(0))
COLUMNS = ["beside", "model", "rows", "columns", "threads", "waits", "wall_ms", "cpu_ms"]
SIZES = ((1_000, 10), (10_000, 10), (50_000, 10), (200_000, 10), (20_000, 50))
MODELS = ("LightGBM", "HistGradientBoosting")
WAYS = ((1, "none"), (CORES, "spins"), (CORES, "sleeps"))


def classifier(model: str, trees: int, threads: int) -> Any:
    """Return an estimator of a library, with its defaults."""
    if model == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=trees, n_jobs=threads, verbose=-1)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=trees, early_stopping=False)


def fit_here(options: argparse.Namespace) -> None:
    """Fit once in this process, and print wall and processor milliseconds."""
    random = np.random.default_rng(0)
    X = random.normal(size=(options.rows, options.columns))
    y = X[:, 0] + X[:, 1] ** 2 + random.normal(size=options.rows) > 1
    estimator = classifier(options.fit, options.trees, options.threads)
    began, used = time.perf_counter(), time.process_time()
    estimator.fit(X, y)
    print(1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - used))


def fit_apart(model: str, size: tuple[int, int], way: tuple[int, str], trees: int) -> list[float]:
    """Fit in a process of its own; return wall and processor milliseconds."""
    threads, waits = way
    environment = {**os.environ, **thread_environment(threads)}
    if waits == "sleeps":
        environment["OMP_WAIT_POLICY"] = "PASSIVE"
    command = [sys.executable, __file__, "--fit", model, "--trees", str(trees)]
    command += ["--rows", str(size[0]), "--columns", str(size[1]), "--threads", str(threads)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(number) for number in run.stdout.split()]


@contextmanager
def other_work(count: int) -> Iterator[None]:
    """Run processes that do nothing but count."""
    counting = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(counting) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main() -> None:
    """Measure all, print and keep the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--trees", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fit", choices=MODELS, help=argparse.SUPPRESS)
    for name in ("rows", "columns", "threads"):
        parser.add_argument(f"--{name}", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    options = read_options(parser, trees=3, repeats=1, models=MODELS[:1])
    if options.fit:
        fit_here(options)
        return
    sizes = SIZES[:1] if options.short else SIZES
    print(machine_line("scikit-learn", "lightgbm"), f"{CORES} cores")
    rows = []
    for others in (0,) if options.short else (0, CORES):
        with other_work(others):
            for size in sizes:
                rows += measured(others, size, options)
    write_table(options.out / "table.csv", COLUMNS, rows)


def measured(others: int, size: tuple[int, int], options: argparse.Namespace) -> list[list[Any]]:
    """Return a line for each model and way; ways take turns."""
    rows = []
    for model in options.models:
        taken: dict[tuple[int, str], list[list[float]]] = {way: [] for way in WAYS}
        for _ in range(options.repeats):
            for way in WAYS:
                taken[way].append(fit_apart(model, size, way, options.trees))
        for way, runs in taken.items():
            medians = [round(statistics.median(numbers), 1) for numbers in zip(*runs, strict=True)]
            rows.append([others, model, *size, *way, *medians])
            print(*rows[-1], sep="\t", flush=True)
    return rows


if __name__ == "__main__":
    main()
