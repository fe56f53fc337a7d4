"""How often the 95 % intervals of errors of numbers, and of R2, hold the truth.

    python benchmarks/number_intervals.py [--draws 300] [--rows 20 100 500] [--laws NAME ...]
                                          [--out DIR] [--short]

Rows are drawn by a law that is known; the truth is the quality of 400,000 of its rows. Beside
easeml's intervals stand those of the percentile bootstrap of 200 resamples. No law was left out for
what it showed, and none is bounded: where a twentieth of the rows makes most of the error, 20 rows
hold one of these, and nothing in them tells of the others. ``coverage.csv`` gives, a law, quality
and number of rows, the shares of intervals above and below the truth and their mean width.
"""

from collections.abc import Callable

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.modules import measured
from easeml.modules.contract import Predictions
from easeml.modules.score import value
from easeml.sampling_error import between_draws

QUALITIES = ["r2", "rmse", "mean-absolute-error", "pinball-90"]
HEAD = ["law", "quality", "rows", "draws", "truth", "above", "below", "width"]
HEAD += ["bootstrap above", "bootstrap below", "bootstrap width"]
RESAMPLES = 200
Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def beside(errors: Callable[[int, np.random.Generator], np.ndarray]) -> Draw:
    """Normal numbers, said with such errors."""

    def draw(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        actual = random.normal(10, 3, rows)
        return actual, actual + errors(rows, random)

    return draw


def in_twenty(rows: int, random: np.random.Generator) -> np.ndarray:
    """One error of twenty is eight times as large as the others."""
    far = random.normal(0, 8, rows) * (random.random(rows) < 0.05)
    return random.normal(0, 1, rows) + far


def in_ten(rows: int, random: np.random.Generator) -> np.ndarray:
    """Nine rows of ten are exactly right."""
    return random.normal(0, 3, rows) * (random.random(rows) < 0.1)


def lognormal(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors grow with what is said."""
    known = random.normal(size=rows)
    return np.exp(known + random.normal(0, 0.5, rows)), 1.1 * np.exp(known)


def wider(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors grow with an input."""
    known = random.uniform(0, 5, rows)
    said = 50 + 10 * known
    return said + random.normal(size=rows) * known**2, said


def mostly_zero(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Seven rows of ten are zero, and said to be nearly so."""
    is_zero = random.random(rows) < 0.7
    actual = np.where(is_zero, 0.0, random.gamma(2, 5, rows))
    low = random.normal(0.2, 0.1, rows)
    return actual, np.where(is_zero, low, actual + random.normal(0, 3, rows))


def blunted(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Nothing above 6 is foreseen, as by trees that saw nothing larger."""
    actual = random.gamma(1, 2, rows) + 1
    return actual, np.minimum(actual, 6) + random.normal(0, 0.3, rows)


def one_group_off(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one group of eight are said to be three too large."""
    group = random.integers(0, 8, rows)
    return 2 * group + random.normal(size=rows), 2 * group + np.where(group == 0, 3.0, 0.0)


def weak(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The model hardly knows more than the mean."""
    actual = random.normal(10, 3, rows)
    return actual, 10 + 0.1 * (actual - 10) + random.normal(0, 0.5, rows)


LAWS: dict[str, Draw] = {
    "normal errors": beside(lambda rows, random: random.normal(size=rows)),
    "uniform errors": beside(lambda rows, random: random.uniform(-1, 1, rows)),
    "Laplace errors": beside(lambda rows, random: random.laplace(size=rows)),
    "Student errors, 4": beside(lambda rows, random: random.standard_t(4, rows)),
    "one of twenty is far": beside(in_twenty),
    "nine of ten are right": beside(in_ten),
    "lognormal": lognormal,
    "wider with an input": wider,
    "mostly zero": mostly_zero,
    "blunted": blunted,
    "one group is off": one_group_off,
    "weak": weak,
}


def bootstrapped(
    quality: str, actual: np.ndarray, said: np.ndarray, random: np.random.Generator
) -> tuple[float, float]:
    """Return the percentile interval."""
    drawn = []
    for _ in range(RESAMPLES):
        rows = random.integers(len(actual), size=len(actual))
        drawn.append(value(quality, actual[rows], Predictions(said[rows], None, None)))
    return between_draws(drawn)


def coverage(law: str, quality: str, rows: int, draws: int) -> list[object]:
    """Return a line of the table."""
    draw = LAWS[law]
    actual, said = draw(400_000, np.random.default_rng(1))
    truth = value(quality, actual, Predictions(said, None, None))
    random = np.random.default_rng(2)
    found = []
    for _ in range(draws):
        actual, said = draw(rows, random)
        told = measured(quality, actual, Predictions(said, None, None), resamples=RESAMPLES)
        found.append([told.low, told.high, *bootstrapped(quality, actual, said, random)])
    low, high, other_low, other_high = np.array(found).T
    line = [law, quality, rows, draws, round(truth, 4)]
    for under, over in ((low, high), (other_low, other_high)):
        line += [float(np.mean(under > truth)), float(np.mean(over < truth))]
        line.append(round(float(np.mean(over - under)), 4))
    return line


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 100, 500])
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS))
    options = read_options(parser, draws=3, rows=[20], laws=["blunted"])
    print(machine_line("numpy"))
    lines = []
    for law in options.laws:
        for rows in options.rows:
            for quality in QUALITIES:
                lines.append(coverage(law, quality, rows, options.draws))
                print(*lines[-1], flush=True)
            write_table(options.out / "coverage.csv", HEAD, lines)


if __name__ == "__main__":
    main()
