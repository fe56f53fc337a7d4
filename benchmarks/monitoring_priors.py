"""``monitor`` where classes get more or less common, and where inputs move: do its intervals hold?

    python benchmarks/monitoring_priors.py [--seeds 20] [--batches 6] [--labels 0] [--cases NAME ...]
                                           [--out DIR] [--short]

Each case draws rows of known law. *prior*: the classes of a batch have other shares (of a number,
large values are more common), and what a row of a class looks like stays. *covariate*: inputs are
drawn from a part of the space, and what is true of a row stays. *still*: nothing moves. A model of
train rows is watched; batch k of K moves by k / K of the way. Printed are, by case and kind, how
often the interval has the true quality of the batch, how often the answer was each status, and mean
half width and error. ``targets first``: of each batch, the rows of the rarest class come first.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from threadpoolctl import threadpool_limits

from common import arguments, machine_line, read_options
from easeml.lifecycle import monitoring

ROWS = {"train": 1000, "reference": 1000, "batch": 400}
POOL = 40_000
"""Rows that batches are drawn of."""


@dataclass(frozen=True)
class Drawn:
    """Inputs (n, d) and truth (n,) of some rows."""

    inputs: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Case:
    """How rows are drawn, and which model is watched. ``towards``: shares of classes in the end."""

    name: str
    draw: Callable[[int, np.random.Generator], Drawn]
    model: Callable[[], object]
    towards: tuple[float, ...] = ()
    sure: bool = True


def _of_classes(shares: tuple[float, ...], centres: np.ndarray, spread: float = 1.0):
    def draw(rows: int, rng: np.random.Generator) -> Drawn:
        truth = rng.choice(len(shares), rows, p=shares)
        return Drawn(centres[truth] + spread * rng.normal(size=(rows, centres.shape[1])), truth)

    return draw


def _of_categories(rows: int, rng: np.random.Generator) -> Drawn:
    truth = (rng.random(rows) < 0.3).astype(int)
    first = np.where(truth == 1, rng.choice(5, rows, p=[0.4, 0.3, 0.1, 0.1, 0.1]), 0)
    other = rng.choice(5, rows, p=[0.05, 0.15, 0.2, 0.3, 0.3])
    first = np.where(truth == 1, first, other)
    counts = rng.poisson(np.where(truth == 1, 4.0, 2.0))
    return Drawn(np.column_stack([first, counts, rng.integers(0, 3, rows)]).astype(float), truth)


def _curved(rows: int, rng: np.random.Generator) -> Drawn:
    inputs = rng.normal(size=(rows, 5))
    odds = 2.5 * np.sin(2 * inputs[:, 0]) + inputs[:, 1] * inputs[:, 2]
    return Drawn(inputs, (rng.random(rows) < 1 / (1 + np.exp(-odds))).astype(int))


def _number(rows: int, rng: np.random.Generator) -> Drawn:
    inputs = rng.normal(size=(rows, 4))
    noise = rng.normal(size=rows) * (0.5 + 0.5 * np.abs(inputs[:, 1]))
    return Drawn(inputs, 2 * inputs[:, 0] + inputs[:, 1] ** 2 + noise)


_TWO = np.array([[0.0, 0.0, 0.0], [1.4, 0.7, 0.0]])
_THREE = np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [0.0, 1.5, 1.0]])
CASES = [
    Case("two classes", _of_classes((0.5, 0.5), _TWO), LogisticRegression, (0.05, 0.95)),
    Case("one in twenty", _of_classes((0.95, 0.05), _TWO), LogisticRegression, (0.6, 0.4)),
    Case("rare gets rarer", _of_classes((0.8, 0.2), _TWO), LogisticRegression, (0.99, 0.01)),
    Case("weak signal", _of_classes((0.7, 0.3), _TWO / 3), LogisticRegression, (0.3, 0.7)),
    Case(
        "three classes", _of_classes((0.6, 0.3, 0.1), _THREE), LogisticRegression, (0.1, 0.2, 0.7)
    ),
    Case("categories", _of_categories, HistGradientBoostingClassifier, (0.2, 0.8)),
    Case("curved", _curved, HistGradientBoostingClassifier, (0.15, 0.85)),
    Case("a number", _number, LinearRegression),
]


def chances(case: Case, pool: Drawn, kind: str, share: float, direction: np.ndarray) -> np.ndarray:
    """Return how likely each row of the pool is to be drawn, at a ``share`` of the way."""
    if kind == "still":
        return np.full(len(pool.truth), 1 / len(pool.truth))
    if kind == "covariate":
        tilt = (pool.inputs - pool.inputs.mean(0)) / pool.inputs.std(0) @ direction
        weight = np.exp(1.5 * share * np.clip(tilt, -3, 3))
    elif case.towards:
        now = np.bincount(pool.truth, minlength=len(case.towards)) / len(pool.truth)
        wanted = (1 - share) * now + share * np.array(case.towards)
        weight = (wanted / now)[pool.truth]
    else:
        scaled = (pool.truth - pool.truth.mean()) / pool.truth.std()
        weight = np.exp(1.2 * share * np.clip(scaled, -3, 3))
    return weight / weight.sum()


def life(case: Case, kind: str, seed: int, batches: int, labels: int) -> list[dict[str, object]]:
    """Watch one model; return a line a batch."""
    rng = np.random.default_rng(seed)
    train, reference = case.draw(ROWS["train"], rng), case.draw(ROWS["reference"], rng)
    pool = case.draw(POOL, rng)
    model = case.model().fit(train.inputs, train.truth)
    monitor = monitoring.fit(*_said(case, model, reference), seed=seed, **_task(case))
    direction = rng.normal(size=pool.inputs.shape[1])
    direction /= np.linalg.norm(direction)
    lines = []
    for number in range(1, batches + 1):
        likely = chances(case, pool, kind, number / batches, direction)
        rows = rng.choice(len(pool.truth), ROWS["batch"], p=likely)
        if case.towards:  # targets first: the rarest class of the reference leads
            rows = rows[np.argsort(pool.truth[rows] != len(case.towards) - 1, kind="stable")]
        drawn = Drawn(pool.inputs[rows], pool.truth[rows])
        inputs, predictions, truth, surety = _said(case, model, drawn)
        batch = monitoring.Batch(inputs, predictions, surety)
        if labels:
            query = monitoring.choose(monitor, batch, budget=labels, seed=seed * 100 + number)
            labelled = monitoring.Labelled(query, truth[query.rows])
            batch = monitoring.Batch(inputs, predictions, surety, labelled)
        report, after = monitoring.ask(monitor, batch)
        right = float(monitor.right(monitor.rows(batch).predictions, truth).mean())
        monitor = after
        line = {"case": case.name, "kind": kind, "labels": labels, "seed": seed, "batch": number}
        line |= {"truth": right, "score": report.score, "low": report.low, "high": report.high}
        lines.append({**line, "status": report.status})
    return lines


def _task(case: Case) -> dict[str, str]:
    return {} if case.towards else {"task": "regression"}


def _said(case: Case, model, drawn: Drawn):
    frame = pd.DataFrame(drawn.inputs, columns=[f"x{i}" for i in range(drawn.inputs.shape[1])])
    surety = model.predict_proba(drawn.inputs) if case.towards else None
    predictions = model.predict(drawn.inputs)
    if case.towards:
        return frame, predictions.astype(str), drawn.truth.astype(str), surety
    return frame, predictions, drawn.truth, surety


def summary(raw: pd.DataFrame) -> pd.DataFrame:
    """Return a line a case and kind."""
    lines = []
    for keys, part in raw.groupby(["kind", "case", "labels"], sort=False):
        held = (part["low"] <= part["truth"]) & (part["truth"] <= part["high"])
        line = dict(zip(("kind", "case", "labels"), keys, strict=True))
        line |= {"batches": len(part), "covered": held.mean()}
        line |= {"error": (part["score"] - part["truth"]).abs().mean()}
        line |= {"half width": (part["high"] - part["low"]).mean() / 2}
        line |= {"last truth": part[part["batch"] == part["batch"].max()]["truth"].mean()}
        counts = Counter(part["status"])
        line |= {name: counts[name] / len(part) for name in sorted(counts)}
        lines.append(line)
    return pd.DataFrame(lines).fillna(0.0)


def main() -> None:
    """Run all cases, and write the lines and the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--labels", type=int, default=0, help="labels that are asked a batch")
    parser.add_argument("--kinds", nargs="+", default=["still", "prior", "covariate"])
    parser.add_argument("--cases", nargs="+", default=[case.name for case in CASES])
    options = read_options(parser, seeds=1, batches=2, cases=["two classes"])
    print(machine_line("scikit-learn"))
    lines: list[dict[str, object]] = []
    with threadpool_limits(1):
        for case in [one for one in CASES if one.name in options.cases]:
            for kind in options.kinds:
                for seed in range(options.seeds):
                    lines += life(case, kind, seed, options.batches, options.labels)
    found = summary(pd.DataFrame(lines))
    print(found.round(3).to_string(index=False))
    found.round(4).to_csv(options.out / f"labels-{options.labels}.csv", index=False)


if __name__ == "__main__":
    main()
