"""Which method of picking finds the best of trained models with the fewest labels?

Each run draws 80 % of a set's rows as its pool and lets every method ask for labels, one at a time,
up to the largest budget. Reported at each budget: how often the recommended model is the most
accurate one of the pool, and how much accuracy is lost by it. All methods are played on the same
pools. Model Picker, which must know its budget beforehand, is run once a budget. What was played is
kept, so a comparison that was cut off goes on where it was. Reads ``modelpicker_*/data.npz``
(``predictions`` n x k, ``oracle`` n) from a folder.

Orders by entropy and margin are fixed once a pool is drawn, and pools of a set share most of their
rows: 100 runs of them are nearly one, and being right in all of them is no proof of skill.

    python benchmarks/picking.py --runs 100 [--data DIR] [--out DIR] [--short]
    python benchmarks/picking.py --speed
    python benchmarks/picking.py --guarantee --runs 200
"""

from __future__ import annotations

import csv
import gzip
import time
from pathlib import Path

import numpy as np
from scipy.stats import beta

from common import arguments, machine_line, read_options
from easeml.lifecycle.picking import METHODS, Pool, Session, StreamPicker, pick
from easeml.lifecycle.picking.methods import rule_of
from easeml.lifecycle.picking.stream import tune_multiplier

BUDGETS = (25, 50, 100, 200, 300, 500, 750, 1000)
SETS = ("emocontext", "glue_cola", "glue_sst2", "pacs")
FIXED = ("random", "random-disagreement", "entropy", "margin")
MOST = {"coda": 5, "model-selector": 20, "model-picker": 50}
"""Runs at most, of methods that take long, unless all are asked for."""


def main() -> None:
    """Parse the flags and print the tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--all", action="store_true", help="so many runs of the slow methods, too")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument(
        "--speed",
        action="store_true",
        help="time a step among 100 models x 10,000 examples instead",
    )
    parser.add_argument(
        "--guarantee",
        action="store_true",
        help="measure the error rates of certificate and interval",
    )
    given = read_options(
        parser, runs=1, sets="pacs", methods="default,random,margin", budgets="5,10"
    )
    print(machine_line("numpy"))
    if given.speed:
        return speed(given.out)
    if given.guarantee:
        return guarantee(given.runs, given.out)
    budgets = tuple(map(int, given.budgets.split(",")))
    sets = {}
    for name in given.sets.split(","):
        with np.load(given.data / f"modelpicker_{name}" / "data.npz") as held:
            sets[name] = held["predictions"], held["oracle"]
    path = given.out / "runs.csv.gz"
    done = already(path)
    for run in range(given.runs):
        methods = [
            m for m in given.methods.split(",") if given.all or run < MOST.get(m, given.runs)
        ]
        for name, (predictions, truth) in sets.items():
            missing = [method for method in methods if (name, method, run) not in done]
            append(path, compare(name, predictions, truth, missing, budgets, run))
        print(f"run {run + 1} of {given.runs}", flush=True)
    print("Tables: python benchmarks/picking_report.py")
    return None


def already(path: Path) -> set[tuple[str, str, int]]:
    """Return which runs are in the file: a comparison that was cut off goes on."""
    if not path.exists():
        return set()
    with gzip.open(path, "rt", newline="") as file:
        return {(row["set"], row["method"], int(row["run"])) for row in csv.DictReader(file)}


def compare(
    name: str,
    predictions: np.ndarray,
    truth: np.ndarray,
    methods: list[str],
    budgets: tuple[int, ...],
    run: int,
) -> list[tuple]:
    """Play methods on the same pool of a set and return the raw rows."""
    if not methods:
        return []
    rows = np.random.default_rng(run).permutation(len(truth))[: int(0.8 * len(truth))]
    pool = Pool.of(predictions[rows])
    found: list[tuple] = []
    for method in methods:
        started = time.process_time()
        played = play(name, pool, truth[rows], method, budgets, run)
        found += [(*row, round(time.process_time() - started, 3)) for row in played]
    return found


def play(
    name: str, pool: Pool, truth: np.ndarray, method: str, budgets: tuple[int, ...], run: int
) -> list[tuple]:
    """Return a row (set, method, run, budget, best, gap) for each budget."""
    accuracy = np.array(
        [(truth == pool.classes[pool.codes[:, model]]).mean() for model in range(pool.models)]
    )
    found = []
    for budget, leader in zip(budgets, leaders(pool, truth, method, budgets, run), strict=True):
        gap = accuracy.max() - accuracy[leader]
        found.append((name, method, run, budget, int(gap < 1e-12), round(float(gap), 6)))
    return found


def leaders(
    pool: Pool, truth: np.ndarray, method: str, budgets: tuple[int, ...], run: int
) -> list[int]:
    """Return the recommended model after each budget."""
    if method == "model-picker":
        return [stream(pool, truth, budget, run) for budget in budgets]
    if method in FIXED:
        return fixed(pool, truth, method, budgets, run)
    session = Session(pool, method=method, seed=run)
    found = []
    for budget in budgets:
        while session.labels < budget:
            asked = session.ask()
            if not asked:
                break
            session.tell(asked, [truth[asked[0]]])
        found.append(session.leader)
    return found


def fixed(
    pool: Pool, truth: np.ndarray, method: str, budgets: tuple[int, ...], run: int
) -> list[int]:
    """Return the models with most labels right, in an order that no label changes; ties are broken
    at random.
    """
    rng = np.random.default_rng(run)
    wishes = rule_of(method, pool, rng, None).scores(np.ones(pool.examples, bool))
    order = np.lexsort((rng.random(pool.examples), -wishes))[: max(budgets)]
    right = np.cumsum(pool.classes[pool.codes[order]] == truth[order, None], axis=0)
    found = []
    for budget in budgets:
        counts = right[min(budget, len(order)) - 1]
        found.append(int(rng.choice(np.flatnonzero(counts == counts.max()))))
    return found


def stream(pool: Pool, truth: np.ndarray, budget: int, run: int) -> int:
    """Return the model that Model Picker recommends after one pass with a budget."""
    rng = np.random.default_rng(run)
    order = rng.permutation(pool.examples)
    picker = StreamPicker(
        pool.models,
        multiplier=tune_multiplier(pool, order, budget, rng),
        seed=run,
        forget=False,
    )
    for row in order.tolist():
        if picker.labels >= budget:
            break
        if picker.offer_slots(pool.slots[row], int(pool.width[row])):
            picker.tell(pool.slot(row, pool.code(truth[row])))
    return picker.leader


def append(path: Path, rows: list[tuple]) -> None:
    """Add raw rows (set, method, run, budget, best, gap, CPU seconds of the run) to the compressed
    CSV file.
    """
    if not rows:
        return
    fresh = not path.exists()
    with gzip.open(path, "at", newline="") as file:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(["set", "method", "run", "budget", "best", "gap", "seconds"])
        writer.writerows(rows)


def speed(out: Path) -> None:
    """Time ask and tell together, one label a step."""
    rng = np.random.default_rng(0)
    truth = rng.integers(10, size=10_000)
    skill = np.linspace(0.6, 0.9, 100)
    predictions = np.where(
        rng.random((10_000, 100)) < skill, truth[:, None], rng.integers(10, size=(10_000, 100))
    )
    lines = []
    for method in ("default", "model-selector", "random"):
        warm = Session(predictions[:500], method=method, epsilon=0.46)
        warm.tell(warm.ask(), [0])
        session = Session(predictions, method=method, epsilon=0.46)
        taken = []
        for _ in range(1000 if method != "model-selector" else 100):
            started = time.perf_counter()
            rows = session.ask()
            session.tell(rows, [truth[row] for row in rows])
            taken.append(1000 * (time.perf_counter() - started))
        low, high = np.quantile(taken, [0.05, 0.95])
        lines.append((method, np.median(taken), np.mean(taken), low, high, max(taken)))
        print(
            "{:16s} median {:.3f} ms, mean {:.3f}, 5-95 % {:.3f} to {:.3f}, largest {:.2f}".format(
                *lines[-1]
            )
        )
    with (out / "speed.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "median_ms", "mean_ms", "q05_ms", "q95_ms", "max_ms"])
        writer.writerows([[line[0], *(f"{value:.4f}" for value in line[1:])] for line in lines])


def guarantee(runs: int, out: Path) -> None:
    """Count wrong certificates and intervals that miss, at 95 % confidence, where the best two
    models are close.
    """
    lines = []
    for tolerance in (0.0, 0.05):
        for worse in (0.01, 0.06):
            wrong = missed = stopped = labels = 0
            for run in range(runs):
                predictions, truth = close_models(worse, run)
                accuracy = (predictions == truth[:, None]).mean(axis=0)
                found = pick(predictions, truth.__getitem__, tolerance=tolerance, seed=run)
                chosen = int(found.model.removeprefix("model "))
                wrong += found.certified and accuracy[chosen] < accuracy.max() - tolerance - 1e-9
                missed += any(
                    not one.low - 1e-9 <= true <= one.high + 1e-9
                    for one, true in zip(found.models, accuracy, strict=True)
                )
                stopped += found.stopped == "certified"
                labels += found.labels
            upper = beta.ppf(0.95, wrong + 1, runs - wrong)
            lines.append(
                (
                    tolerance,
                    worse,
                    runs,
                    wrong,
                    round(upper, 4),
                    missed,
                    stopped,
                    round(labels / runs, 1),
                )
            )
            print(
                f"tolerance {tolerance}, second worse by {worse}: wrong {wrong} of {runs} (at most {upper:.3f}), "
                f"interval missed {missed}, stopped early {stopped}, labels {labels / runs:.0f} of {len(truth)}"
            )
    with (out / "guarantee.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["tolerance", "worse", "runs", "wrong", "upper", "missed", "stopped", "labels"]
        )
        writer.writerows(lines)


def close_models(worse: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions of five models for 500 examples of three classes, and the truth.

    The best is right on 80 %; the second on ``worse`` less; the others on 70, 65 and 60 %.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=500)
    predictions = np.repeat(truth[:, None], 5, axis=1)
    for model, wrong in enumerate((0.2, 0.2 + worse, 0.3, 0.35, 0.4)):
        rows = rng.choice(500, size=round(500 * wrong), replace=False)
        predictions[rows, model] = (truth[rows] + rng.integers(1, 3, size=len(rows))) % 3
    return predictions[:, rng.permutation(5)], truth


if __name__ == "__main__":
    main()
