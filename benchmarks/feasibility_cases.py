"""Tables whose least error is known and whose pattern is hard to find, for ``feasibility``.

Every case draws ``(frame, labels)`` of a pattern without noise. ``flipped`` then replaces a share
of the labels by another class, drawn evenly: the least error of any model is that share. The
``tuning`` half was looked at while the study was built, the ``final`` half was not: other
generators, other seeds. The ``fresh`` half was written, and not looked at, when views were added
after two seeds of the final half: it judges those views. The ``attack`` half was written by
somebody else, who wanted wrong verdicts, and the study was not changed after it. The ``outside``
half is in ``feasibility_outside_cases.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

Draw = Callable[[int, np.random.Generator], tuple[pd.DataFrame, np.ndarray]]


@dataclass(frozen=True)
class Case:
    """A pattern: its name, its half, and how its rows are drawn.

    ``error``: the least error of any model where the labels hold their noise already. ``balanced``:
    the error is the mean of the classes' errors.
    """

    name: str
    half: str
    draw: Draw
    error: float | None = None
    balanced: bool = False


def flipped(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the labels with each replaced by another class with chance ``share``."""
    classes = int(y.max()) + 1
    other = (y + rng.integers(1, classes, len(y))) % classes
    return np.where(rng.random(len(y)) < share, other, y)


def noise_columns(rows: int, columns: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return standard normal columns that say nothing."""
    names = [f"noise {number}" for number in range(columns)]
    return pd.DataFrame(rng.normal(size=(rows, columns)), columns=names)


def _shuffled(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame[list(rng.permutation(frame.columns))]


# ---------------------------------------------------------------- the half that was tuned on


def sign_parity(inputs: int) -> Draw:
    """Parity of the signs of normal columns among ten that say nothing."""

    def draw(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
        frame = noise_columns(rows, 10 + inputs, rng)
        y = (frame.iloc[:, :inputs] > 0).sum(axis=1).to_numpy() % 2
        return _shuffled(frame, rng), y

    return draw


def missing_number(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a number is missing decides."""
    frame = noise_columns(rows, 8, rng)
    y = (rng.random(rows) < 0.4).astype(int)
    frame.loc[y == 1, "noise 3"] = np.nan
    frame["noise 5"] = frame["noise 5"].mask(rng.random(rows) < 0.3)
    return frame, y


def sine(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The sign of a sine with seven periods over a uniform column."""
    frame = noise_columns(rows, 8, rng)
    frame["angle"] = rng.uniform(0, 1, rows)
    return frame, (np.sin(2 * np.pi * 7 * frame["angle"]) > 0).astype(int).to_numpy()


def many_categories(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A category with 120 values decides."""
    frame = noise_columns(rows, 6, rng)
    place = rng.integers(0, 120, rows)
    answer = rng.integers(0, 2, 120)
    frame["place"] = [f"p{number}" for number in place]
    return frame, answer[place]


def category_by_number(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Exclusive or of a category and a number's sign."""
    frame = noise_columns(rows, 8, rng)
    kind = rng.choice(["left", "right"], rows)
    frame.insert(2, "kind", kind)
    return frame, ((frame["noise 4"] > 0).to_numpy() ^ (kind == "left")).astype(int)


def few_a_class(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Forty compact classes in eight dimensions."""
    means = rng.normal(size=(40, 8)) * 3
    y = rng.integers(0, 40, rows)
    X = means[y] + rng.normal(size=(rows, 8)) * 0.5
    return pd.DataFrame(X, columns=[f"x{number}" for number in range(8)]), y


def plane(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Two half spaces."""
    frame = noise_columns(rows, 10, rng)
    return frame, (frame.iloc[:, :3].sum(axis=1) > 0).astype(int).to_numpy()


def nothing(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A category decides, of which every value is seen about once."""
    frame = noise_columns(rows, 4, rng)
    code = rng.integers(0, 2 * rows, rows)
    answer = rng.integers(0, 2, 2 * rows)
    frame["code"] = [f"c{number}" for number in code]
    return frame, answer[code]


# ---------------------------------------------------------------- the half that judges


def flag_parity(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Parity of three yes/no columns among nine."""
    flags = rng.random((rows, 9)) < rng.uniform(0.35, 0.65, 9)
    y = (flags[:, 1] ^ flags[:, 4] ^ flags[:, 7]).astype(int)
    names = [f"flag {number}" for number in range(9)]
    return pd.DataFrame(np.where(flags, "yes", "no"), columns=names), y


def mixed_parity(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Parity of a category, a flag, and a skewed number above a limit that is not its median."""
    frame = noise_columns(rows, 6, rng)
    frame["shade"] = rng.choice(["dark", "light"], rows)
    frame["member"] = rng.random(rows) < 0.45
    frame["income"] = rng.lognormal(10, 0.6, rows)
    high = (frame["income"] > np.exp(10.15)).to_numpy()
    y = high ^ (frame["shade"] == "dark").to_numpy() ^ frame["member"].to_numpy()
    return _shuffled(frame, rng), y.astype(int)


def quarter_parity(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Parity of the signs of four uniform columns among eight others."""
    X = rng.uniform(-1, 1, (rows, 12))
    y = (X[:, [0, 3, 6, 9]] > 0).sum(axis=1) % 2
    return pd.DataFrame(X, columns=[f"u{number}" for number in range(12)]), y


def missing_pair(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether exactly one of two cells is missing decides; one column holds words."""
    frame = noise_columns(rows, 6, rng)
    no_weight = rng.random(rows) < 0.5
    no_remark = rng.random(rows) < 0.4
    frame["weight"] = np.where(no_weight, np.nan, rng.normal(70, 9, rows))
    remarks = pd.Series(rng.choice(["fine", "torn", "wet"], rows), dtype=object)
    frame["remark"] = remarks.mask(no_remark)
    return frame, (no_weight ^ no_remark).astype(int)


def missing_word(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a word is missing decides; the column has one value."""
    frame = noise_columns(rows, 6, rng)
    y = (rng.random(rows) < 0.35).astype(int)
    frame.insert(0, "reason", pd.Series(np.where(y, "late", None), dtype=object))
    return frame, y


def square_wave(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A square wave with eleven periods, a third of each high, over a normal column."""
    frame = noise_columns(rows, 7, rng)
    phase = (frame["noise 2"] * 1.7 + rng.random()) % 1
    return frame, (phase < 1 / 3).astype(int).to_numpy()


def night(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The hour of a time stamp within a year decides."""
    frame = noise_columns(rows, 5, rng)
    seconds = rng.integers(0, 365 * 86_400, rows)
    frame["when"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, unit="s")
    hour = frame["when"].dt.hour
    return frame, ((hour < 6) | (hour >= 21)).astype(int).to_numpy()


def shops(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A code of 150 shops, some far more common, decides between three classes."""
    frame = noise_columns(rows, 6, rng)
    weights = 1 / np.arange(4, 154) ** 0.7
    shop = rng.choice(150, rows, p=weights / weights.sum())
    answer = rng.integers(0, 3, 150)
    frame["shop"] = [f"shop no. {number}" for number in rng.permutation(150)[shop]]
    return frame, answer[shop]


def numbered_codes(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A code written as a number, with 80 values without an order, decides."""
    frame = noise_columns(rows, 6, rng)
    names = rng.choice(10_000, 80, replace=False)
    code = rng.integers(0, 80, rows)
    frame["code"] = names[code]
    return frame, rng.integers(0, 2, 80)[code]


def slope_by_category(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The sign of a sum of two numbers, turned by which of four regions a row is from."""
    frame = noise_columns(rows, 6, rng)
    region = rng.integers(0, 4, rows)
    frame["region"] = np.array(["north", "south", "east", "west"])[region]
    total = frame["noise 0"] + frame["noise 1"]
    turned = np.where(region % 2 == 0, total, -total)
    return frame, (turned > 0).astype(int)


def uneven_classes(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Sixty compact classes in twelve dimensions, of uneven sizes."""
    means = rng.laplace(size=(60, 12)) * 2
    weights = rng.uniform(0.5, 1.5, 60)
    y = np.concatenate([np.arange(60), rng.choice(60, rows - 60, p=weights / weights.sum())])
    turned = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    X = (means[y] + rng.normal(size=(rows, 12)) * 0.5) @ turned
    return pd.DataFrame(X, columns=[f"x{number}" for number in range(12)]), y


def checkerboard(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A board of four by four fields, among four columns that say nothing."""
    X = rng.uniform(0, 4, (rows, 6))
    y = np.floor(X[:, :2]).sum(axis=1).astype(int) % 2
    return pd.DataFrame(X, columns=list("abcdef")), y


def ring(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Inside a circle or not, among four columns that say nothing."""
    X = rng.uniform(-1, 1, (rows, 6))
    return pd.DataFrame(X, columns=list("abcdef")), (np.hypot(X[:, 2], X[:, 3]) < 0.8).astype(int)


# ---------------------------------------------------------------- the half that judges what came later


def moved_parity(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Parity of five columns above limits that are not their medians, among six others."""
    frame = noise_columns(rows, 11, rng)
    limits = rng.uniform(-0.2, 0.2, 5)
    return _shuffled(frame, rng), (frame.iloc[:, :5] > limits).sum(axis=1).to_numpy() % 2


def ratio(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether one positive number is more than 1.3 times another."""
    frame = noise_columns(rows, 6, rng)
    frame["debt"], frame["income"] = rng.lognormal(0, 0.8, (2, rows))
    return frame, (frame["debt"] > 1.3 * frame["income"]).astype(int).to_numpy()


def place_or_number(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Some of 60 places, or a high number, decide."""
    frame = noise_columns(rows, 6, rng)
    place = rng.integers(0, 60, rows)
    frame["place"] = [f"place {number}" for number in rng.permutation(60)[place]]
    chosen = rng.random(60) < 0.35
    return frame, (chosen[place] | (frame["noise 1"] > 0.8).to_numpy()).astype(int)


def highest_of_three(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Which of three numbers is the highest."""
    frame = noise_columns(rows, 9, rng)
    return frame, frame.iloc[:, [1, 4, 6]].to_numpy().argmax(axis=1)


def weekend(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a time stamp of two years is at a weekend."""
    frame = noise_columns(rows, 5, rng)
    seconds = rng.integers(0, 730 * 86_400, rows)
    frame["sold"] = pd.Timestamp("2021-05-01") + pd.to_timedelta(seconds, unit="s")
    return frame, (frame["sold"].dt.day_of_week >= 5).astype(int).to_numpy()


def prototypes(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The class of the nearest of twelve points in three dimensions, among three other columns."""
    points, X = rng.uniform(-1, 1, (12, 3)), rng.uniform(-1, 1, (rows, 6))
    nearest = ((X[:, None, :3] - points) ** 2).sum(axis=2).argmin(axis=1)
    return pd.DataFrame(X, columns=list("abcdef")), np.arange(12)[nearest] % 2


def missing_or_low(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a number is missing or low decides, for one of two kinds; the reverse for the other."""
    frame = noise_columns(rows, 7, rng)
    frame["noise 2"] = frame["noise 2"].mask(rng.random(rows) < 0.2)
    frame["kind"] = rng.choice(["new", "old"], rows)
    low = frame["noise 2"].isna() | (frame["noise 2"] < -0.4)
    return frame, (low ^ (frame["kind"] == "old")).astype(int).to_numpy()


# ---------------------------------------------------------------- the half of an attacker


def spirals(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Which of two spirals with two turns a point lies in, among four other columns."""
    X = rng.uniform(-1, 1, (rows, 6))
    angle, radius = np.arctan2(X[:, 0], X[:, 3]), np.hypot(X[:, 0], X[:, 3])
    y = np.floor((angle + 4 * np.pi * radius) / np.pi).astype(int) % 2
    return pd.DataFrame(X, columns=list("abcdef")), y


def multiplexer(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Two flags say which of four numbers decides by its sign, among six others."""
    frame = noise_columns(rows, 10, rng)
    first, second = rng.random((2, rows)) < 0.5
    chosen = 2 * first.astype(int) + second
    y = frame.to_numpy()[np.arange(rows), chosen] > 0
    frame["urgent"], frame["paid"] = first, second
    return _shuffled(frame, rng), y.astype(int)


def last_digit(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The last digit of a price of up to 100,000 decides."""
    frame = noise_columns(rows, 5, rng)
    frame["price"] = rng.integers(1_000, 100_000, rows)
    return frame, np.isin(frame["price"] % 10, (0, 5, 8, 9)).astype(int)


def exactly_two(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether exactly two of five flags are set, among five others."""
    flags = rng.random((rows, 10)) < rng.uniform(0.3, 0.6, 10)
    names = [f"flag {number}" for number in rng.permutation(10)]
    return pd.DataFrame(flags, columns=names), (flags[:, :5].sum(axis=1) == 2).astype(int)


def prefix(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The third letter of a code decides; no code comes twice."""
    frame = noise_columns(rows, 5, rng)
    letters = rng.integers(0, 26, (rows, 3))
    words = ["".join(chr(65 + letter) for letter in word) for word in letters]
    frame["code"] = [f"{word}-{number:05}" for number, word in enumerate(words)]
    return frame, rng.integers(0, 2, 26)[letters[:, 2]]


def waited(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether three days or more lie between two time stamps of one year."""
    frame = noise_columns(rows, 5, rng)
    ordered = rng.integers(0, 365 * 86_400, rows)
    delay = rng.exponential(4 * 86_400, rows)
    start = pd.Timestamp("2022-01-01")
    frame["ordered"] = start + pd.to_timedelta(ordered, unit="s")
    frame["sent"] = start + pd.to_timedelta((ordered + delay).astype(int), unit="s")
    return frame, (delay >= 3 * 86_400).astype(int)


def half_and_parity(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Of twenty columns one decides where it is high; elsewhere the parity of five others."""
    frame = noise_columns(rows, 20, rng)
    odd = (frame.iloc[:, 1:6] > 0).sum(axis=1).to_numpy() % 2
    y = np.where(frame["noise 0"] > 0, 1, odd)
    return _shuffled(frame, rng), y


def remainder(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The remainder by seven of an account's number decides."""
    frame = noise_columns(rows, 5, rng)
    frame["account"] = rng.integers(10_000, 1_000_000, rows)
    return _shuffled(frame, rng), np.isin(frame["account"] % 7, (1, 2, 5)).astype(int)


def ratio_to_limit(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether one amount by another is above a limit that stands in a third column."""
    frame = noise_columns(rows, 4, rng)
    frame["price"], frame["area"] = rng.lognormal(0, 0.8, (2, rows))
    frame["limit"] = rng.lognormal(0, 0.5, rows)
    y = frame["price"] / frame["area"] > frame["limit"]
    return _shuffled(frame, rng), y.astype(int).to_numpy()


def ratio_band(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether a ratio of two measures lies in a band, as a normal body mass does."""
    frame = noise_columns(rows, 4, rng)
    frame["height"], frame["weight"] = rng.normal(1.7, 0.12, rows), rng.normal(72, 15, rows)
    index = frame["weight"] / frame["height"] ** 2
    return _shuffled(frame, rng), index.between(21, 27).astype(int).to_numpy()


def sum_of_products(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether two products of two columns each add up to more than nothing."""
    frame = noise_columns(rows, 7, rng)
    columns = frame.to_numpy()
    y = columns[:, 0] * columns[:, 1] + columns[:, 2] * columns[:, 3] > 0
    return _shuffled(frame, rng), y.astype(int)


CASES = [
    Case("parity of 2 signs", "tuning", sign_parity(2)),
    Case("parity of 3 signs", "tuning", sign_parity(3)),
    Case("parity of 4 signs", "tuning", sign_parity(4)),
    Case("a missing number", "tuning", missing_number),
    Case("sine", "tuning", sine),
    Case("120 categories", "tuning", many_categories),
    Case("category xor number", "tuning", category_by_number),
    Case("40 classes", "tuning", few_a_class),
    Case("half spaces", "tuning", plane),
    Case("codes seen once", "tuning", nothing),
    Case("parity of 3 flags", "final", flag_parity),
    Case("parity of 3 kinds", "final", mixed_parity),
    Case("parity of 4 uniform", "final", quarter_parity),
    Case("one of two missing", "final", missing_pair),
    Case("a missing word", "final", missing_word),
    Case("square wave", "final", square_wave),
    Case("hour of the day", "final", night),
    Case("150 shops", "final", shops),
    Case("80 numbered codes", "final", numbered_codes),
    Case("slope by category", "final", slope_by_category),
    Case("60 uneven classes", "final", uneven_classes),
    Case("checkerboard", "final", checkerboard),
    Case("ring", "final", ring),
    Case("parity of 5, moved", "fresh", moved_parity),
    Case("ratio", "fresh", ratio),
    Case("place or number", "fresh", place_or_number),
    Case("highest of three", "fresh", highest_of_three),
    Case("weekend", "fresh", weekend),
    Case("prototypes", "fresh", prototypes),
    Case("missing or low", "fresh", missing_or_low),
    Case("two spirals", "attack", spirals),
    Case("multiplexer", "attack", multiplexer),
    Case("last digit", "attack", last_digit),
    Case("exactly two of five", "attack", exactly_two),
    Case("third letter", "attack", prefix),
    Case("days between", "attack", waited),
    Case("one column, parity of 5", "attack", half_and_parity),
    Case("remainder by 7", "attack", remainder),
    Case("ratio to a limit", "attack", ratio_to_limit),
    Case("ratio in a band", "attack", ratio_band),
    Case("sum of products", "attack", sum_of_products),
]
