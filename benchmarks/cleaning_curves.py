"""How soon cleaning pays: share of the gap to clean data closed against rows cleaned, on the
CPClean data sets.

The gap is between the accuracy of a k-nearest-neighbour classifier on mean-imputed training data
and on the true rows; that is a few rows wide or less on some sets, so the share of differing
predictions that were set right (on test and validation rows) is shown too. Rows not yet cleaned
keep their default repair.

Orders: ours (``CleaningSession.next``), random (mean of seeds), and loss order, in the manner of
ActiveClean (Krishnan et al., VLDB 2016): dirty rows by the loss of a logistic regression fitted
again after every batch. Beside them the automatic choice of repairs in the manner of BoostClean
(Krishnan et al., 2017): boosting over a classifier of each repair tool, weighted on the validation
set, cleaning no row.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from common import arguments, machine_line, read_options
from cpclean_data import CpcleanData, load
from easeml.figures import Axis, Figure, Series, numbers, tone_of
from easeml.lifecycle.cleaning import CleaningSession

SETS = {"babyproduct": "real", "bank": "random", "supreme": "systematic"}
PUBLISHED = (
    "Karlas et al. (VLDB 2021), mean of five sets: CPClean closes 100% with 36% of the dirty rows cleaned, "
    "BoostClean closes 14%"
)
MEASURED = ("test", "validation", "predictions")
SHARES = np.linspace(0.0, 1.0, 11)


def predictions(data: CpcleanData, world: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """What the classifier trained on a world says of the test and of the validation rows."""
    model = KNeighborsClassifier(k, algorithm="brute").fit(world, data.rows.labels)
    return model.predict(data.X_test), model.predict(data.X_valid)


def measures(
    data: CpcleanData, world: np.ndarray, k: int, ideal: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Accuracy on test and validation rows, and the share of both predicted as by a model of the
    true rows.
    """
    test, valid = predictions(data, world, k)
    same = np.concatenate([test == ideal[0], valid == ideal[1]])
    return np.array([np.mean(test == data.y_test), np.mean(valid == data.y_valid), np.mean(same)])


def ours(data: CpcleanData, k: int, batch: int) -> Iterator[tuple[list[int], float]]:
    """Yield batches of rows in our order, each with the share of certain validation points before
    it; then stop.
    """
    session = CleaningSession(data.rows, data.X_valid, k)
    while not session.finished:
        chosen = [row for row, _ in session.next(batch)]
        yield chosen, float(session.certain.mean())
        for row in chosen:
            session.clean(row, candidate=int(data.truth[row]))


def by_loss(data: CpcleanData, default: np.ndarray, batch: int) -> Iterator[list[int]]:
    """Yield batches of dirty rows by falling loss of a model fitted on what is known so far."""
    left, cleaned = set(data.rows.dirty.tolist()), set()
    _, codes = np.unique(data.rows.labels, return_inverse=True)
    while left:
        world = data.world(cleaned, default)
        shares = LogisticRegression(max_iter=300).fit(world, codes).predict_proba(world)
        loss = -np.log(np.maximum(shares[np.arange(len(codes)), codes], 1e-12))
        chosen = sorted(left, key=lambda row: (-loss[row], row))[:batch]
        left -= set(chosen)
        cleaned |= set(chosen)
        yield chosen


def boosted(data: CpcleanData, k: int, rounds: int = 5) -> float:
    """Test accuracy of AdaBoost over the classifiers of all repair tools, weights from the
    validation set.
    """
    models = [
        KNeighborsClassifier(k, algorithm="brute").fit(table, data.rows.labels)
        for table in data.repairs
    ]
    valid = np.stack([model.predict(data.X_valid) == data.y_valid for model in models])
    weights = np.full(len(data.y_valid), 1.0 / len(data.y_valid))
    votes = np.zeros((len(data.y_test), len(data.rows.classes)))
    for _ in range(rounds):
        errors = ((~valid) * weights).sum(axis=1)
        best, error = int(errors.argmin()), float(np.clip(errors.min(), 1e-6, 1 - 1e-6))
        alpha = np.log((1 - error) / error) + np.log(len(data.rows.classes) - 1)
        votes += alpha * (models[best].predict(data.X_test)[:, None] == data.rows.classes)
        weights *= np.exp(alpha * ~valid[best])
        weights /= weights.sum()
    return float(np.mean(data.rows.classes[votes.argmax(axis=1)] == data.y_test))


def run(name: str, args: argparse.Namespace) -> dict[str, np.ndarray]:
    """Measure all orders on one set; prints as it goes.

    Curves are (shares, 3): gap closed by ``MEASURED``.
    """
    data = load(args.data / f"cpclean_{name}" / SETS[name], most=args.rows)
    default, k, dirty = data.repairs[data.names.index("mean")], args.k, data.rows.dirty.tolist()
    true = data.world(set(dirty), default)
    ideal = predictions(data, true, k)
    low, high = measures(data, default, k, ideal), measures(data, true, k, ideal)
    print(
        f"\n{name}: {len(data.rows)} rows, {len(dirty)} dirty. Default and true rows: test accuracy {low[0]:.4f}, "
        f"{high[0]:.4f} (of {len(data.y_test)}); validation {low[1]:.4f}, {high[1]:.4f} (of {len(data.y_valid)}); "
        f"predicted alike {low[2]:.4f}"
    )

    def closed(order: list[int]) -> np.ndarray:
        """Gap closed after each share of the dirty rows."""
        counts = np.round(SHARES * len(dirty)).astype(int)
        worlds = [data.world(set(order[:count]), default) for count in counts]
        return np.stack(
            [(measures(data, world, k, ideal) - low) / (high - low) for world in worlds]
        )

    begin, order, certain = time.process_time(), [], []
    for chosen, share in ours(data, k, args.batch):
        certain.append(share)
        order += chosen
    stop, seconds = len(order), time.process_time() - begin
    at_stop = (measures(data, data.world(set(order), default), k, ideal) - low) / (high - low)
    curves = {"easeml": closed(order + [row for row in dirty if row not in set(order)])}
    shuffled = [
        np.random.default_rng(seed).permutation(dirty).tolist() for seed in range(args.seeds)
    ]
    curves["random"] = np.mean([closed(rows) for rows in shuffled], axis=0)
    curves["loss order"] = closed([row for chosen in by_loss(data, default, 50) for row in chosen])
    automatic = (boosted(data, k) - low[0]) / (high[0] - low[0])
    print(
        f"  certain at the start {certain[0]:.1%}; all certain after {stop} of {len(dirty)} dirty rows "
        f"({stop / len(dirty):.1%}); gap closed there: test {at_stop[0]:.1%}, validation {at_stop[1]:.1%}, "
        f"predictions {at_stop[2]:.1%}; "
        f"{seconds:.0f} CPU seconds for the whole order, batches of {args.batch}"
    )
    for place, part in enumerate(MEASURED):
        print(f"  {part + ', cleaned':20s} " + " ".join(f"{share:6.0%}" for share in SHARES))
        for label, values in curves.items():
            print(f"  {label:20s} " + " ".join(f"{value:6.0%}" for value in values[:, place]))
    print(f"  boosted automatic repairs, no row cleaned: test {automatic:.0%}")
    return curves


def write(found: dict[str, dict[str, np.ndarray]], folder: Path) -> None:
    """Write all curves as CSV and a picture a set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, curves in found.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["order", "measured on", *[f"{share:.1f}" for share in SHARES]])
            for label, values in curves.items():
                for place, part in enumerate(MEASURED):
                    writer.writerow([label, part, *[f"{value:.4f}" for value in values[:, place]]])
        on_last_part = {label: values[:, 2].tolist() for label, values in curves.items()}
        svg = drawn(name, on_last_part).to_svg()
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")


def drawn(name: str, curves: dict[str, list[float]]) -> Figure:
    """Return the figure of a set: what cleaning sets right, one line an order."""
    series = []
    for place, (label, values) in enumerate(curves.items()):
        series.append(Series(label, numbers(SHARES), numbers(values), tone=tone_of(place)))
    return Figure(
        f"Cleaning {name}",
        Axis("share of dirty rows cleaned"),
        Axis("share of differing predictions set right"),
        tuple(series),
    )


def main() -> None:
    """Print the tables and write them."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("-k", type=int, default=3)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, help="only so many rows of each set")
    args = read_options(parser, rows=60, sets=["supreme"], batch=30, seeds=1)
    print(machine_line("numpy", "numba", "scikit-learn"))
    write({name: run(name, args) for name in args.sets}, args.out)
    print(f"\nPublished: {PUBLISHED}.")


if __name__ == "__main__":
    main()
