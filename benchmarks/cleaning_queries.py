"""The queries of certain predictions, and a step of the cleaning plan: right, and how fast?

Prints (1) the largest error against enumeration of all worlds on small random cases, (2) the CPU
time of a counting query, in exact integers and in floats (a point of 50 asked at once), beside the
published code (``--cpf``: the file cpf.py of the Certain Prediction Framework of Karlas et al.;
left out without it), on the example of its authors and on random rows, whether its counts equal
ours and whether they add up to the number of worlds, and (3) the time of a step of the plan on the
CPClean data set Supreme (``--data``), in seconds and CPU seconds of all cores. The first call,
which compiles, is not timed.
"""

import csv
import importlib.util
import itertools
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import arguments, machine_line, read_options
from cpclean_data import load
from easeml.lifecycle.cleaning import (
    CleaningSession,
    Incomplete,
    count_worlds_by_similarity,
    label_probabilities,
    possible_labels,
)

SIZES = [
    (400, 5, 1.0, 2, 1),
    (400, 5, 1.0, 2, 3),
    (1000, 5, 0.2, 2, 3),
    (1157, 10, 1.0, 2, 3),
    (100, 5, 1.0, 5, 5),
    (30, 5, 1.0, 10, 3),
]
"""Rows, candidates of a dirty row, share of dirty rows, classes, k."""

EXAMPLE = [[[1, 1], [2, 1], [3, 1]], [[2, 2]], [[2, 3], [3, 3]], [[2, 4]], [[1, 5], [2, 5], [3, 5]]]
EXAMPLE_LABELS = ["0", "1", "1", "0", "0"]
EXAMPLE_POINT = [2, 1]
"""The example of the published code: candidates, labels and the point asked for."""


def enumeration_errors(cases: int) -> tuple[int, int, float]:
    """Return wrong counts, wrong sets of possible labels, and the largest error of a probability."""
    generator = np.random.default_rng(0)
    wrong_counts = wrong_sets = 0
    worst = 0.0
    for _ in range(cases):
        n, k = int(generator.integers(1, 7)), int(generator.integers(1, 6))
        similarity = [
            generator.integers(0, 6, int(generator.integers(1, 4))).astype(float) for _ in range(n)
        ]
        labels = generator.integers(0, 4, n).tolist()
        found: Counter[int] = Counter()
        for world in itertools.product(*similarity):
            nearest = sorted(range(n), key=lambda i: (-world[i], i))[:k]
            votes = Counter(labels[i] for i in nearest)
            found[min(votes, key=lambda c: (-votes[c], c))] += 1
        classes = sorted(set(labels))
        total = math.prod(len(row) for row in similarity)
        wrong_counts += count_worlds_by_similarity(similarity, labels, k) != {
            c: found[c] for c in classes
        }
        rows = Incomplete.of([9.0 - row for row in similarity], labels)
        wrong_sets += possible_labels(rows, [[0.0]], k)[0].tolist() != [
            found[c] > 0 for c in classes
        ]
        shares = label_probabilities(rows, [[0.0]], k)[0]
        worst = max(worst, float(np.abs(shares - [found[c] / total for c in classes]).max()))
    return wrong_counts, wrong_sets, worst


def median_ms(runs: int, call: Callable[..., Any], *given: Any) -> float:
    """Median CPU time of a call in milliseconds."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        call(*given)
        times.append(time.process_time() - begin)
    return statistics.median(times) * 1e3


def time_queries(cpf: Any, runs: int) -> list[list[Any]]:
    """Print and return a row a size: milliseconds of exact counts, of float probabilities, and of
    the peer.
    """
    print(
        f"\n{'rows':>5} {'cand.':>5} {'dirty':>5} {'C':>3} {'k':>2} {'exact ms':>10} {'float ms':>10} "
        f"{'cpf.py ms':>10} {'cpf/exact':>10} {'cpf/float':>10}  equal  all worlds"
    )
    table = []
    for n, m, dirty, classes, k in SIZES:
        generator = np.random.default_rng(n)
        sizes = np.where(generator.random(n) < dirty, m, 1)
        similarity = [generator.random(size) for size in sizes]
        labels = generator.integers(0, classes, n).tolist()
        rows = Incomplete.of([1.0 - row for row in similarity], labels)
        label_probabilities(rows, [[0.0]], k)
        exact = median_ms(runs, count_worlds_by_similarity, similarity, labels, k)
        points = np.zeros((50, 1))
        quick = median_ms(runs, label_probabilities, rows, points, k) / len(points)
        peer, agrees, total = math.nan, "-", "-"
        if cpf is not None:
            lists = [row.tolist() for row in similarity]
            begin = time.process_time()
            counts = cpf.q2(lists, labels, k)
            peer = (time.process_time() - begin) * 1e3
            agrees = "yes" if counts == count_worlds_by_similarity(similarity, labels, k) else "no"
            total = "yes" if sum(counts.values()) == math.prod(sizes.tolist()) else "no"
        table.append([n, m, dirty, classes, k, round(exact, 3), round(quick, 4), round(peer, 1)])
        print(
            f"{n:5d} {m:5d} {dirty:5.0%} {classes:3d} {k:2d} {exact:10.2f} {quick:10.3f} {peer:10.0f} "
            f"{peer / exact:10.0f} {peer / quick:10.0f}  {agrees:5s}  {total}"
        )
    return table


def time_example(cpf: Any, runs: int) -> None:
    """Print counts and CPU time on the example of the published code, both given the same
    similarities.
    """
    far = [[math.dist(place, EXAMPLE_POINT) for place in row] for row in EXAMPLE]
    similarity = [[1 / (distance + 1e-9) for distance in row] for row in far]
    print("\nThe example of the published code, counts by label:")
    for k in (1, 2, 3):
        ours = count_worlds_by_similarity(similarity, EXAMPLE_LABELS, k)
        quick, slow = (
            median_ms(20 * runs, call, similarity, EXAMPLE_LABELS, k)
            for call in (count_worlds_by_similarity, cpf.q2)
        )
        theirs = cpf.q2(similarity, EXAMPLE_LABELS, k)
        print(f"  k {k}: easeml {ours} in {quick:.3f} ms; cpf.py {theirs} in {slow:.3f} ms")
    print(
        "  (Rows 0 and 1 can be equally far: the first is nearer for easeml, the last for cpf.py.)"
    )


def time_plan(folder: Path, steps: int, rows: int | None) -> list[list[Any]]:
    """Print and return how long the first scores and a step of the plan take on Supreme."""
    data = load(folder, most=rows)
    CleaningSession(data.rows, data.X_valid[:2], 3)
    begin, used = time.perf_counter(), time.process_time()
    session = CleaningSession(data.rows, data.X_valid, 3)
    first, first_cpu = time.perf_counter() - begin, time.process_time() - used
    times, cpu = [], []
    for _ in range(steps):
        begin, used = time.perf_counter(), time.process_time()
        row = session.next()[0][0]
        session.clean(row, candidate=int(data.truth[row]))
        session.expected_entropy()
        times.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - used)
    print(
        f"\nSupreme: {len(data.rows)} rows, {len(data.rows.dirty)} dirty, {len(data.X_valid)} validation points, k = 3"
    )
    print(f"  all points scored from nothing: {first:.2f} s ({first_cpu:.2f} CPU)")
    print(
        f"  a step (choose, answer, score again): median {statistics.median(times):.3f} s, "
        f"longest {max(times):.3f} s ({statistics.median(cpu):.3f} and {max(cpu):.3f} CPU) over {steps} steps"
    )
    return [
        ["plan from nothing", round(first, 3), round(first_cpu, 3)],
        ["step median", round(statistics.median(times), 3), round(statistics.median(cpu), 3)],
        ["step longest", round(max(times), 3), round(max(cpu), 3)],
    ]


def main() -> None:
    """Print and write the tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--cpf", type=Path, help="cpf.py of the Certain Prediction Framework")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rows", type=int, help="only so many rows of Supreme")
    args = read_options(parser, rows=60, cases=5, runs=1, steps=1)
    print(machine_line("numpy", "numba"))
    counts, sets, worst = enumeration_errors(args.cases)
    print(
        f"{args.cases} random cases against enumeration: {counts} wrong counts, {sets} wrong sets of labels, "
        f"largest error of a probability {worst:.1e}"
    )
    cpf = None
    if args.cpf is not None:
        spec = importlib.util.spec_from_file_location("cpf", args.cpf)
        assert spec is not None and spec.loader is not None
        cpf = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cpf)
        time_example(cpf, args.runs)
    table = time_queries(cpf, args.runs)
    folder = args.data / "cpclean_supreme" / "systematic"
    plan = time_plan(folder, args.steps, args.rows) if folder.exists() else []
    with (args.out / "queries.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["rows", "candidates", "dirty", "classes", "k", "exact ms", "float ms", "cpf ms"]
        )
        writer.writerows(table)
    with (args.out / "plan.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["what", "seconds", "cpu"], *plan])


if __name__ == "__main__":
    main()
