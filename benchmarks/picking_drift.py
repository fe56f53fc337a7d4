"""Is picking ever worse than labelling at random, on pools and streams that drift or mislead?

Each method asks for labels of the pools of ``picking_pools.py``; reported is the accuracy lost by
the recommended model, in thousandths, with the 95 % interval of its mean over pools. A pool is made
anew each run. On streams whose best model changes, the accuracy of following the leader is
reported by part, and the labels asked for.

    python benchmarks/picking_drift.py --runs 20

Pools 0 to 40 and 1000 to 1040 were looked at while the rule was made; ``--first 2000`` shows others.
"""

from __future__ import annotations

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.picking import Pool, Session, StreamPicker, pick
from picking_pools import POOLS, Made, switching

METHODS = ("default", "random", "margin", "entropy", "model-picker", "model-selector", "coda")
BUDGETS = (25, 50, 100, 200)
SLOW = {"coda": 3, "model-selector": 5}
"""Runs at most, of methods that take long."""

TOO_SLOW = {("many classes", "coda")}
"""Left out: a run takes minutes."""


def main() -> None:
    """Parse the flags, play, and write the tables."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first pool")
    parser.add_argument("--pools", nargs="+", default=list(POOLS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS))
    first_pool = next(iter(POOLS))
    given = read_options(
        parser, runs=1, pools=[first_pool], methods=["default", "random"], budgets=[5, 10]
    )
    print(machine_line("numpy"))
    budgets = tuple(given.budgets)
    rows = []
    for name in given.pools:
        for method in given.methods:
            if (name, method) in TOO_SLOW:
                continue
            runs = min(given.runs, SLOW.get(method, given.runs))
            seeds = range(given.first, given.first + runs)
            lost = [losses(POOLS[name](seed), method, budgets, seed) for seed in seeds]
            rows += summary(name, method, budgets, np.array(lost))
            print(rows[-len(budgets) :], flush=True)
            write_table(given.out / "pools.csv", HEADING, rows)
    write_table(given.out / "streams.csv", STREAM_HEADING, streams(given.runs))


HEADING = ("pool", "method", "runs", "labels", "lost", "error")
STREAM_HEADING = ("forgets", "runs", "part", "accuracy", "error", "labels")


def losses(made: Made, method: str, budgets: tuple[int, ...], seed: int) -> np.ndarray:
    """Return the accuracy lost after each budget, shape (budgets,)."""
    predictions, truth = made
    pool = Pool.of(predictions)
    accuracy = (pool.classes[pool.codes] == truth[:, None]).mean(axis=0)
    if method == "model-picker":
        leaders = [after_stream(pool, truth, budget, seed) for budget in budgets]
    else:
        leaders = after_labels(pool, truth, method, budgets, seed)
    return accuracy.max() - accuracy[leaders]


def after_labels(
    pool: Pool, truth: np.ndarray, method: str, budgets: tuple[int, ...], seed: int
) -> list[int]:
    """Return the recommended model after each budget."""
    session = Session(pool, method=method, seed=seed)
    found = []
    for budget in budgets:
        while session.labels < budget and not session.settled:
            rows = session.ask()
            session.tell(rows, truth[rows])
        found.append(session.leader)
    return found


def after_stream(pool: Pool, truth: np.ndarray, budget: int, seed: int) -> int:
    """Return the model that Model Picker recommends; it has to know its budget beforehand."""
    found = pick(pool, truth.__getitem__, method="model-picker", budget=budget, seed=seed)
    return int(pool.merged[pool.names.index(found.model)])


def summary(name: str, method: str, budgets: tuple[int, ...], lost: np.ndarray) -> list[tuple]:
    """Return a row a budget: mean loss and half its 95 % interval, in thousandths."""
    rows = []
    for place, budget in enumerate(budgets):
        own = 1000 * lost[:, place]
        rows.append((name, method, len(own), budget, round(own.mean(), 2), round(half(own), 2)))
    return rows


def half(values: np.ndarray) -> float:
    """Return half the 95 % interval of a mean."""
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def streams(runs: int) -> list[tuple]:
    """Return a row a part of the stream, without and with forgetting."""
    rows = []
    for forgets in (False, True):
        played = [followed(switching(run), forgets, run) for run in range(runs)]
        labels = float(np.mean([asked for _, asked in played]))
        parts = np.array([accuracy for accuracy, _ in played])
        for part, own in enumerate(parts.T, start=1):
            error = round(half(own), 4)
            rows.append((forgets, runs, part, round(own.mean(), 4), error, round(labels, 1)))
            print(rows[-1], flush=True)
    return rows


def followed(made: Made, forgets: bool, seed: int, parts: int = 4) -> tuple[list[float], int]:
    """Return the accuracy of the leader by part of a stream, and the labels asked for."""
    predictions, truth = made
    picker = StreamPicker(predictions.shape[1], seed=seed, forget=forgets)
    classes = int(predictions.max()) + 1
    right = np.zeros(len(truth), dtype=bool)
    for row, votes in enumerate(predictions.astype(np.int32)):
        right[row] = votes[picker.leader] == truth[row]
        if picker.offer_slots(votes, classes):
            picker.tell(truth[row])
    return [float(part.mean()) for part in np.array_split(right, parts)], picker.labels


if __name__ == "__main__":
    main()
