"""How often the 95 % intervals of qualities hold the truth where a class is rare.

    python benchmarks/rare_classes.py [--draws 100] [--rows 50 200 500 2000] [--laws NAME ...]
                                      [--qualities NAME ...] [--file coverage.csv]
                                      [--out DIR] [--short]

Rows are drawn by a law that is known; the truth is the quality of 200,000 of its rows. Beside
easeml's intervals stand those of the percentile bootstrap of 100 resamples. Errors and losses are in
their own unit. Draws in which a class
has no row are left out of areas: their quality is of the other classes only. ``coverage.csv`` gives,
a law, quality and number of rows, the shares of intervals above and below the truth and their mean
width.
"""

from collections.abc import Callable, Sequence

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.modules import measured
from easeml.modules.contract import Predictions
from easeml.modules.score import value
from easeml.sampling_error import between_draws

QUALITIES = ["f1-macro", "f1-weighted", "f-beta(b, 1)", "f-beta(b, 2)", "precision(b)"]
QUALITIES += ["recall(b)", "specificity(b)", "matthews", "quadratic-kappa", "roc-auc"]
QUALITIES += ["average-precision", "brier", "log-loss", "calibration-error"]
AREAS = {"roc-auc", "average-precision"}
HEAD = ["law", "quality", "rows", "draws", "truth", "above", "below", "width"]
HEAD += ["bootstrap above", "bootstrap below", "bootstrap width"]
RESAMPLES = 100
Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def both(scores: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - scores, scores])


def binormal(share: float, distance: float, prior: float) -> Draw:
    """Normal scores; ``prior``: how much of what is known of the classes' shares is used."""

    def draw(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        y = (random.random(rows) < share).astype(int)
        x = random.normal(size=rows) + distance * y
        odds = distance * x - distance**2 / 2 + prior * np.log(share / (1 - share))
        return y, both(1 / (1 + np.exp(-odds)))

    return draw


def of_two_kinds(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Six of ten rare rows are easy, the others like all that are common."""
    y = (random.random(rows) < 0.02).astype(int)
    is_easy = (y == 1) & (random.random(rows) < 0.6)
    return y, both(
        np.where(is_easy, 0.8 + 0.2 * random.random(rows), 0.82 * random.random(rows) ** 2)
    )


def tied(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two scores only."""
    y = (random.random(rows) < 0.05).astype(int)
    is_high = random.random(rows) < np.where(y, 0.7, 0.03)
    return y, both(np.where(is_high, 0.9, 0.1))


def nearly_right(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = (random.random(rows) < 0.02).astype(int)
    is_wrong = random.random(rows) < np.where(y, 0.03, 0.0005)
    return y, both(0.4 * random.random(rows) + 0.6 * (y ^ is_wrong))


def by_chance(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = (random.random(rows) < 0.02).astype(int)
    return y, both(0.5 * random.random(rows) + 0.5 * (random.random(rows) < 0.02))


def many(shares: Sequence[float], distance: float) -> Draw:
    """A normal number a class, higher in its own rows."""

    def draw(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        size = len(shares)
        y = random.choice(size, rows, p=np.array(shares) / sum(shares))
        x = random.normal(size=(rows, size))
        x[np.arange(rows), y] += distance
        weights = np.exp(distance * x) * np.sqrt(shares)
        return y, weights / weights.sum(axis=1, keepdims=True)

    return draw


def sharper(draw: Draw, power: float) -> Draw:
    """The same with odds to a power."""

    def drawn(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        y, shares = draw(rows, random)
        weights = shares**power
        return y, weights / weights.sum(axis=1, keepdims=True)

    return drawn


def always(share: float, said: float) -> Draw:
    """One probability for all rows."""

    def draw(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return (random.random(rows) < share).astype(int), both(np.full(rows, said))

    return draw


LAWS: dict[str, Draw] = {
    "binormal, 1 %": binormal(0.01, 2.5, 0.5),
    "binormal, 2 %": binormal(0.02, 1.5, 0.0),
    "binormal, 5 %": binormal(0.05, 2.5, 1.0),
    "two kinds, 2 %": of_two_kinds,
    "two scores, 5 %": tied,
    "nearly right, 2 %": nearly_right,
    "by chance, 2 %": by_chance,
    "three classes, one 3 %": many([0.6, 0.37, 0.03], 1.6),
    "eight classes by Zipf": many([place**-1.5 for place in range(1, 9)], 1.8),
    "two even classes": binormal(0.5, 1.5, 0.0),
    "sure without need, 2 %": sharper(binormal(0.02, 1.5, 0.5), 4.0),
    "sure without need, even": sharper(binormal(0.5, 1.5, 1.0), 2.0),
    "always 2 %": always(0.02, 0.02),
    "always .2 %, is 2 %": always(0.02, 0.002),
}


def told(y: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, Predictions]:
    classes = np.array(list("abcdefgh")[: shares.shape[1]], dtype=object)
    return classes[y], Predictions(classes[shares.argmax(axis=1)], shares, classes)


def bootstrapped(
    quality: str, actual: np.ndarray, said: Predictions, random: np.random.Generator
) -> tuple[float, float]:
    """Return the percentile interval."""
    drawn = []
    for _ in range(RESAMPLES):
        rows = random.integers(len(actual), size=len(actual))
        of_rows = Predictions(said.values[rows], said.probabilities[rows], said.classes)
        drawn.append(value(quality, actual[rows], of_rows))
    return between_draws(drawn)


def coverage(law: str, quality: str, rows: int, draws: int) -> list[object]:
    """Return a line of the table."""
    draw = LAWS[law]
    y, shares = draw(200_000, np.random.default_rng(1))
    truth = value(quality, *told(y, shares))
    random = np.random.default_rng(2)
    found = []
    while len(found) < draws:
        y, shares = draw(rows, random)
        if quality in AREAS and len(np.unique(y)) < shares.shape[1]:
            continue
        actual, said = told(y, shares)
        told_of = measured(quality, actual, said, resamples=RESAMPLES)
        found.append([told_of.low, told_of.high, *bootstrapped(quality, actual, said, random)])
    low, high, other_low, other_high = np.array(found).T
    line = [law, quality, rows, draws, round(truth, 4)]
    for under, over in ((low, high), (other_low, other_high)):
        line += [float(np.mean(under > truth)), float(np.mean(over < truth))]
        line.append(round(float(np.mean(over - under)), 4))
    return line


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 200, 500, 2000])
    parser.add_argument("--qualities", nargs="+", default=QUALITIES, choices=QUALITIES)
    parser.add_argument("--file", default="coverage.csv", help="name of the table")
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS))
    options = read_options(parser, draws=3, rows=[50], laws=["nearly right, 2 %"])
    print(machine_line("numpy"))
    lines = []
    for law in options.laws:
        for rows in options.rows:
            for quality in options.qualities:
                if "(b" in quality and "class" in law:
                    continue
                lines.append(coverage(law, quality, rows, options.draws))
                print(*lines[-1], flush=True)
            write_table(options.out / options.file, HEAD, lines)


if __name__ == "__main__":
    main()
