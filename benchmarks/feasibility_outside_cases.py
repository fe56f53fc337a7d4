"""Tables for ``feasibility`` of kinds that the study was not built on: the half ``outside``.

Written by somebody who wanted wrong verdicts: borders of many pieces, ranks, ties, counts, ordered
words, dates, many classes, heavy tails, repeated rows whose labels differ, mistakes that depend on
the row, and a class that is rare. Where a case has an ``error``, its labels hold their noise
already, and no more is added; the least error of any model follows from how they are drawn.
"""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from feasibility_cases import Case, Draw, noise_columns


def _flipped_where(y: np.ndarray, chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return two classes, each replaced by the other with the chance of its row."""
    return np.where(rng.random(len(y)) < chances, 1 - y, y)


def _spread(columns: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (rows, columns))


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])


# ---------------------------------------------------------------- borders of many pieces


def nearest_of(points: int, dimensions: int) -> Draw:
    """The class of the nearest of some points, among three other columns."""

    def draw(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
        centres = _spread(dimensions, points, rng)
        X = _spread(dimensions + 3, rows, rng)
        gaps = X[:, None, :dimensions] - centres
        return _frame(X), (gaps**2).sum(axis=2).argmin(axis=1) % 2

    return draw


def shells(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Three shells around the middle of three dimensions, a class each, among three others."""
    X = rng.normal(size=(rows, 6))
    distance = np.linalg.norm(X[:, [0, 2, 5]], axis=1)
    return _frame(X), np.digitize(distance, (1.1, 1.9))


def wavy_surface(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The sign of a smooth random function of two of six columns."""
    X = _spread(6, rows, rng)
    turns = rng.normal(size=(2, 60)) * 4
    waves = np.cos(X[:, 1:3] @ turns + rng.uniform(0, 2 * np.pi, 60)) @ rng.normal(size=60)
    return _frame(X), (waves > 0).astype(int)


def deep_rules(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A tree of depth five over six numbers, whose cuts and answers are random."""
    X = _spread(6, rows, rng)
    leaf = np.zeros(rows, dtype=int)
    for depth in range(5):
        columns = rng.integers(0, 6, 2**depth)
        limits = rng.uniform(-0.5, 0.5, 2**depth)
        leaf = 2 * leaf + (X[np.arange(rows), columns[leaf]] > limits[leaf])
    return _frame(X), rng.integers(0, 2, 32)[leaf]


def slanted_stripes(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Four stripes over a slanted direction of two columns, among five others."""
    X = _spread(7, rows, rng)
    return _frame(X), np.floor((X[:, 0] + 0.7 * X[:, 4] + 1.7) / 0.85).astype(int) % 2


def small_islands(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Twenty-five small boxes of another class in a plane, among two other columns."""
    X = _spread(4, rows, rng)
    corners = _spread(2, 25, rng)
    inside = (np.abs(X[:, None, :2] - corners) < 0.12).all(axis=2).any(axis=1)
    return _frame(X), inside.astype(int)


# ---------------------------------------------------------------- ranks, ties, counts, order


def ranks(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Which of two numbers has the higher rank; their scales have nothing in common."""
    frame = noise_columns(rows, 6, rng)
    places = rng.random((2, rows))
    frame["sales"] = np.exp(3 * places[0]) ** 2
    frame["mark"] = 1 - (1 - places[1]) ** 3
    return frame, (places[0] > places[1]).astype(int)


def ties(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether two of five dice show the same."""
    dice = rng.integers(1, 7, (rows, 5))
    return _frame(dice), (dice[:, 1] == dice[:, 3]).astype(int)


def counted_words(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether two or more of six answers are "never"."""
    answers = rng.choice(["always", "often", "never", "unknown"], (rows, 6))
    names = [f"question {number}" for number in range(6)]
    return pd.DataFrame(answers, columns=names), ((answers == "never").sum(axis=1) >= 2).astype(int)


def more_of_one(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether more of eight votes are "yes" than "no"; some abstain."""
    votes = rng.choice(["yes", "no", "abstains"], (rows, 8), p=(0.42, 0.4, 0.18))
    names = [f"member {number}" for number in range(8)]
    y = (votes == "yes").sum(axis=1) > (votes == "no").sum(axis=1)
    return pd.DataFrame(votes, columns=names), y.astype(int)


def ordered_words(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether two grades in words add up to more than a third one and one."""
    grades = np.array(["low", "medium", "high", "very high", "extreme"])
    frame = noise_columns(rows, 4, rng)
    places = rng.integers(0, 5, (3, rows))
    for name, own in zip(("dust", "heat", "limit"), places, strict=True):
        frame[name] = grades[own]
    return frame, (places[0] + places[1] > places[2] + 1).astype(int)


def empty_cells(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether three or more of seven cells are empty."""
    frame = noise_columns(rows, 7, rng)
    empty = rng.random((rows, 7)) < 0.35
    return frame.mask(empty), (empty.sum(axis=1) >= 3).astype(int)


def limit_by_group(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a number is above the limit of its group, one of 25."""
    frame = noise_columns(rows, 5, rng)
    group = rng.integers(0, 25, rows)
    frame["group"] = [f"g{number}" for number in rng.permutation(25)[group]]
    return frame, (frame["noise 2"] > rng.normal(size=25)[group]).astype(int).to_numpy()


def sum_by_three(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether the sum of two whole numbers up to twelve is a multiple of three."""
    frame = noise_columns(rows, 5, rng)
    frame["first"], frame["second"] = rng.integers(1, 13, (2, rows))
    return frame, ((frame["first"] + frame["second"]) % 3 == 0).astype(int).to_numpy()


def length_of_name(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a name, which hardly ever comes twice, has more than eight letters."""
    frame = noise_columns(rows, 5, rng)
    lengths = rng.integers(4, 14, rows)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    frame["name"] = ["".join(rng.choice(letters, length)) for length in lengths]
    return frame, (lengths > 8).astype(int)


# ---------------------------------------------------------------- dates


def end_of_month(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a day is one of the last four of its month."""
    frame = noise_columns(rows, 5, rng)
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1461, rows), unit="D")
    frame["paid"] = days
    return frame, (days.days_in_month - days.day < 4).astype(int)


def of_age(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether 18 years lie between a birth and a visit within three years."""
    frame = noise_columns(rows, 5, rng)
    visit = rng.integers(0, 3 * 365, rows)
    born = visit - rng.integers(10 * 365, 26 * 365, rows)
    start = pd.Timestamp("2020-01-01")
    frame["born"] = start + pd.to_timedelta(born, unit="D")
    frame["visit"] = start + pd.to_timedelta(visit, unit="D")
    return frame, (visit - born > 18 * 365.25).astype(int)


def office_hours(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a time stamp lies within office hours: nine to five, not at weekends."""
    frame = noise_columns(rows, 5, rng)
    when = pd.Timestamp("2022-03-01") + pd.to_timedelta(rng.integers(0, 30_000_000, rows), unit="s")
    frame["called"] = when
    is_open = (when.day_of_week < 5) & (when.hour >= 9) & (when.hour < 17)
    return frame, is_open.astype(int)


# ---------------------------------------------------------------- classes


def twenty_centres(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Which of twenty points in four dimensions is nearest, among two other columns."""
    X = rng.normal(size=(rows, 6))
    gaps = X[:, None, :4] - rng.normal(size=(20, 4)) * 1.3
    return _frame(X), _numbered((gaps**2).sum(axis=2).argmin(axis=1))


def twenty_by_rules(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Twenty classes: by a kind with five values and two numbers' signs."""
    frame = noise_columns(rows, 5, rng)
    kind = rng.integers(0, 5, rows)
    frame["kind"] = np.array(["ash", "beech", "cedar", "fir", "oak"])[kind]
    signs = 2 * (frame["noise 0"] > 0).to_numpy() + (frame["noise 3"] > 0).to_numpy()
    return frame, rng.permutation(20)[4 * kind + signs]


def _numbered(y: np.ndarray) -> np.ndarray:
    """Return class numbers without gaps."""
    return np.unique(y, return_inverse=True)[1]


def heavy_pair(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether two columns with enormous outliers have the same sign."""
    X = rng.standard_t(1, (rows, 7))
    return _frame(X), (X[:, 2] * X[:, 5] > 0).astype(int)


# ---------------------------------------------------------------- labels that hold their noise

CAUCHY_SHIFT = 2.0
CAUCHY_ERROR = 0.5 - math.atan(CAUCHY_SHIFT) / math.pi


def cauchy_classes(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Two Cauchy classes in one of six columns of Cauchy noise."""
    y = rng.integers(0, 2, rows)
    X = rng.standard_cauchy((rows, 6))
    X[:, 3] += CAUCHY_SHIFT * (2 * y - 1)
    return _frame(X), y


def repeated_answers(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Sixty-four kinds of rows, each many times, with labels that differ in 15 of 100."""
    words = np.array(["north", "south", "east", "west"])
    places = rng.integers(0, 4, (rows, 3))
    y = rng.integers(0, 2, 64)[places @ (16, 4, 1)]
    frame = pd.DataFrame(words[places], columns=["from", "to", "by way of"])
    return frame, _flipped_where(y, np.full(rows, 0.15), rng)


def mistakes_on_one_side(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A plane decides; of the rows where another number is high, 30 of 100 labels are wrong."""
    frame = noise_columns(rows, 6, rng)
    y = (frame.iloc[:, :2].sum(axis=1) > 0).astype(int).to_numpy()
    return frame, _flipped_where(y, np.where(frame["noise 4"] > 0, 0.3, 0.0), rng)


def mistakes_near_border(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The sum of two numbers decides; of the third of the rows nearest to it, 45 of 100 are wrong."""
    frame = noise_columns(rows, 6, rng)
    total = frame["noise 0"] + frame["noise 3"]
    limit = math.sqrt(2) * 0.430727  # of a normal number, a third lies within
    chances = np.where(total.abs() < limit, 0.45, 0.0)
    return frame, _flipped_where((total > 0).astype(int).to_numpy(), chances, rng)


def mistakes_of_a_grader(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A ring decides; one of four graders errs in 60 of 100 (whom to trust can be learned)."""
    X = _spread(5, rows, rng)
    y = (np.hypot(X[:, 0], X[:, 1]) < 0.8).astype(int)
    frame = _frame(X)
    grader = rng.integers(0, 4, rows)
    frame["grader"] = np.array(["Ada", "Ben", "Cem", "Dot"])[grader]
    return frame, _flipped_where(y, np.where(grader == 2, 0.6, 0.05), rng)


def narrow_in_wide(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A narrow class inside a wide one: normal numbers with spreads of 1 and 4 in one column."""
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 5))
    X[:, 1] *= np.where(y, 4.0, 1.0)
    return _frame(X), y


def _error_of_spreads() -> float:
    edge = math.sqrt(2 * math.log(4) / (1 - 1 / 16))  # where both densities are equal
    wide_inside = math.erf(edge / 4 / math.sqrt(2))
    narrow_outside = 1 - math.erf(edge / math.sqrt(2))
    return (wide_inside + narrow_outside) / 2


def rare_class(distance: float, share: float) -> Draw:
    """A class with few rows, its means apart in two of six columns."""

    def draw(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
        y = (rng.random(rows) < share).astype(int)
        X = rng.normal(size=(rows, 6))
        X[:, [1, 4]] += distance / math.sqrt(2) * y[:, None]
        return _frame(X), y

    return draw


def _normal_tail(distance: float) -> float:
    return math.erfc(distance / math.sqrt(2)) / 2


def _case(name: str, draw: Callable[..., tuple[pd.DataFrame, np.ndarray]], **more: object) -> Case:
    return Case(name, "outside", draw, **more)  # pyright: ignore[reportArgumentType]


CASES = [
    _case("nearest of 8 in a plane", nearest_of(8, 2)),
    _case("nearest of 30 in 3 d", nearest_of(30, 3)),
    _case("three shells", shells),
    _case("wavy surface", wavy_surface),
    _case("rules of depth 5", deep_rules),
    _case("slanted stripes", slanted_stripes),
    _case("25 islands", small_islands),
    _case("higher rank", ranks),
    _case("two equal dice", ties),
    _case("two or more of six", counted_words),
    _case("more yes than no", more_of_one),
    _case("ordered words", ordered_words),
    _case("three empty cells", empty_cells),
    _case("limit by group", limit_by_group),
    _case("sum by three", sum_by_three),
    _case("length of a name", length_of_name),
    _case("end of the month", end_of_month),
    _case("of age", of_age),
    _case("office hours", office_hours),
    _case("20 centres", twenty_centres),
    _case("20 by rules", twenty_by_rules),
    _case("same sign, heavy tails", heavy_pair),
    _case("two Cauchy classes", cauchy_classes, error=CAUCHY_ERROR),
    _case("repeated rows", repeated_answers, error=0.15),
    _case("mistakes on one side", mistakes_on_one_side, error=0.15),
    _case("mistakes near a border", mistakes_near_border, error=0.45 / 3),
    _case("mistakes of a grader", mistakes_of_a_grader, error=(3 * 0.05 + 0.4) / 4),
    _case("narrow in wide", narrow_in_wide, error=_error_of_spreads()),
    _case("rare class", rare_class(2.5, 0.03), error=_normal_tail(1.25), balanced=True),
    _case("less rare class", rare_class(2.0, 0.2), error=_normal_tail(1.0), balanced=True),
]
