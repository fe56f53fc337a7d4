"""Models that learn from cleaned tables and weak labels, beside plain imputation and majority vote.

- cells: tables with cells that are wrong or missing, each beside its clean form. A model learns from
  rows that ``relation.clean`` repaired (the likeliest world), from rows with means and most frequent
  values in place of what is missing, from rows as they are (the model fills gaps itself), and from
  the clean rows; it predicts the test rows as the same way repairs them, with labels taken away;
- labels: labelling functions vote on train rows; ``relation.weak_labels`` beside their majority;
- weights: of cells whose truth is known, how often the top candidate is right, by its weight.

Intervals are those of paired differences over seeds (a t interval at 95 %).

    python benchmarks/dirty_tables.py
    python benchmarks/dirty_tables.py --short
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle import encode
from easeml.lifecycle.doubts import clean as clean_cells
from easeml.lifecycle.doubts import weak_labels
from easeml.relation import Relation

TEST = 0.4
MOST_ROWS = 600
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0001)


@dataclass
class Pair:
    """A table with faults beside its truth: rows in the same order, the target without faults."""

    name: str
    dirty: pd.DataFrame
    clean: pd.DataFrame
    target: str


# Tables with a known truth


def linear(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, str]:
    """Five numbers that hang together, and a label of their sum."""
    common = rng.normal(size=rows)
    columns = {}
    for number in range(5):
        columns[f"x{number}"] = common * 0.8 + rng.normal(size=rows) * 0.6
    frame = pd.DataFrame(columns).round(3)
    score = frame["x0"] + frame["x1"] - frame["x2"] + rng.normal(0, 0.5, rows)
    frame["kind"] = np.where(score > score.median(), "yes", "no")
    return frame, "kind"


def shops(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, str]:
    """Cities that decide their region, prices by kind of shop, and a label of both."""
    cities = np.array(["Basel", "Bern", "Chur", "Genf", "Lugano", "Olten", "Thun", "Zug"])
    regions = dict(zip(cities, ["north", "west", "east"] * 3, strict=False))
    city, shop = rng.choice(cities, rows), rng.choice(["small", "middle", "large"], rows)
    price = pd.Series(shop).map({"small": 20.0, "middle": 40.0, "large": 80.0}).to_numpy()
    frame = pd.DataFrame({"city": city, "shop": shop, "price": (price + rng.normal(0, 6, rows))})
    frame["price"] = frame["price"].round(1)
    frame["region"] = frame["city"].map(regions)
    frame["staff"] = (frame["price"] / 8 + rng.normal(0, 1, rows)).round().clip(1)
    score = (frame["region"] == "north") * 25 + frame["price"] + rng.normal(0, 8, rows)
    frame["label"] = np.where(score > 50, "high", "low")
    return frame, "label"


def bundled(name: str, load: Callable) -> Callable[[np.random.Generator, int], tuple]:
    """A table of scikit-learn, some of its rows."""

    def draw(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, str]:
        frame = load(as_frame=True).frame.copy()
        frame = frame.iloc[rng.permutation(len(frame))[:rows]].reset_index(drop=True)
        frame["target"] = "c" + frame["target"].astype(str)
        return frame, "target"

    draw.__name__ = name
    return draw


def read(folder: Path, name: str, file: str, target: str) -> Callable:
    """A public table, some of its rows without gaps, so that the truth is known."""

    def draw(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, str]:
        frame = pd.read_csv(folder / name / file).dropna()
        frame = frame.iloc[rng.permutation(len(frame))[:rows]].reset_index(drop=True)
        frame[target] = "c" + frame[target].astype(str)
        whole = frame.select_dtypes("integer").columns
        frame[whole] = frame[whole].astype(float)  # whole numbers cannot be missing in pandas
        return frame, target

    return draw


# What goes wrong


def gaps_at_random(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> pd.DataFrame:
    """A fifth of the cells goes."""
    dirty = frame.copy()
    for name in frame.columns.drop(target):
        dirty.loc[rng.random(len(frame)) < 0.2, name] = np.nan
    return dirty


def gaps_of_large(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> pd.DataFrame:
    """Large numbers go more often than small ones, so that means are wrong."""
    dirty = frame.copy()
    for name in frame.columns.drop(target):
        if frame[name].dtype.kind == "f":
            share = 0.5 * frame[name].rank(pct=True) ** 2
        else:
            share = 0.15
        dirty.loc[rng.random(len(frame)) < share, name] = np.nan
    return dirty


def wrong_values(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers lose their decimal point, text its letters, and a tenth of the cells goes."""
    dirty = frame.copy()
    for name in frame.columns.drop(target):
        hit = rng.random(len(frame)) < 0.06
        if frame[name].dtype.kind == "f":
            dirty.loc[hit, name] = frame.loc[hit, name] * 100
        else:
            dirty.loc[hit, name] = frame.loc[hit, name].astype(str).str[:-1] + "x"
        dirty.loc[rng.random(len(frame)) < 0.1, name] = np.nan
    return dirty


def pairs_of(data: Path, rng: np.random.Generator, *, short: bool) -> Iterable[Pair]:
    from sklearn.datasets import load_breast_cancer, load_wine

    rows = 120 if short else MOST_ROWS
    sources = [
        ("linear", linear, gaps_at_random),
        ("linear", linear, gaps_of_large),
        ("shops", shops, gaps_at_random),
        ("shops", shops, wrong_values),
        ("wine", bundled("wine", load_wine), gaps_of_large),
        ("breast cancer", bundled("breast cancer", load_breast_cancer), wrong_values),
        ("pima", read(data, "pima_diabetes", "pima_diabetes.csv", "class"), gaps_of_large),
        ("heart", read(data, "heart_disease", "heart_disease.csv", "target"), gaps_at_random),
    ]
    for name, draw, harm in sources[:2] if short else sources:
        try:
            frame, target = draw(rng, rows)
        except (FileNotFoundError, KeyError) as error:
            print(f"{name}: left out ({error})")
            continue
        harmed = harm(frame, target, rng)
        yield Pair(f"{name}, {harm.__name__.replace('_', ' ')}", harmed, frame, target)


# Models downstream


def imputed(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Means of the train rows for numbers, their most frequent value for text."""
    values = {}
    for name in train:
        is_number = train[name].dtype.kind in "if"
        known = train[name].dropna()
        if len(known):
            values[name] = known.mean() if is_number else known.mode().iloc[0]
    return train.fillna(values), test.fillna(values)


def quality(train: pd.DataFrame, test: pd.DataFrame, labels: pd.Series, target: str) -> list[float]:
    """Accuracy of boosted trees and of a linear model on the test rows."""
    if train[target].nunique() < 2:  # all rows got one label, which is what models would answer
        return [float((labels == train[target].iloc[0]).mean())] * 2
    inputs = [rows.drop(columns=target, errors="ignore") for rows in (train, test)]
    X, X_test = encode(*inputs)
    X, X_test = np.asarray(X), np.asarray(X_test)
    trees = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    linear_model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=400))
    middle = np.nan_to_num(np.nanmedian(X, axis=0))
    full = [np.where(np.isnan(x), middle, x) for x in (X, X_test)]
    found = []
    for model, (x, x_test) in ((trees, (X, X_test)), (linear_model, tuple(full))):
        answers = model.fit(x, train[target]).predict(x_test)
        found.append(float(accuracy_score(labels, answers)))
    return found


def cells(pair: Pair, seed: int) -> tuple[dict[str, list[float]], pd.DataFrame]:
    """Return the accuracies by way, and the weights of top candidates with what they were worth."""
    order = np.random.default_rng(seed).permutation(len(pair.dirty))
    cut = int(len(order) * (1 - TEST))
    dirty, clean = pair.dirty.iloc[order], pair.clean.iloc[order]
    labels = clean[pair.target].iloc[cut:]
    asked = dirty.drop(columns=pair.target)
    # Labels of test rows are not known to anybody who repairs.
    relation = clean_cells(Relation.from_frame(asked), seed=seed)
    repaired = relation.to_frame().assign(**{pair.target: dirty[pair.target]})
    plain = imputed(dirty.iloc[:cut], asked.iloc[cut:])
    found = {
        "cleaned": quality(repaired.iloc[:cut], repaired.iloc[cut:], labels, pair.target),
        "imputed": quality(*plain, labels, pair.target),
        "as it is": quality(dirty.iloc[:cut], asked.iloc[cut:], labels, pair.target),
        "clean rows": quality(clean.iloc[:cut], clean.iloc[cut:], labels, pair.target),
    }
    return found, weights(relation, clean, asked)


def weights(relation: Relation, clean: pd.DataFrame, dirty: pd.DataFrame) -> pd.DataFrame:
    """Return a line a doubtful cell: its top candidate's weight, and whether that is the truth.

    A number is right if no other candidate is nearer to the truth: candidates are a grid of values.
    """
    told = relation.candidates()
    lines = []
    for (row, column), options in told.groupby(["row", "column"], sort=False):
        truth = clean.at[row, column]
        top = options.loc[options["weight"].idxmax()]
        if clean[column].dtype.kind == "f":
            nearest = options.loc[(options["value"].astype(float) - truth).abs().idxmin()]
            right = nearest["candidate"] == top["candidate"]
        else:
            right = str(top["value"]) == str(truth)
        missing = bool(pd.isna(dirty.at[row, column]))
        number = clean[column].dtype.kind == "f"
        lines.append((float(top["weight"]), bool(right), missing, number))
    return pd.DataFrame(lines, columns=["weight", "right", "missing", "number"])


# Weak labels


@dataclass
class Weak:
    """A table whose train labels nobody gave, and labelling functions."""

    name: str
    frame: pd.DataFrame  # inputs as models see them, then "label"
    functions: list[Callable[[pd.DataFrame], list]]


def voter(answers: np.ndarray) -> Callable[[pd.DataFrame], list]:
    """A function that says what was drawn for each row; the frame's index names rows."""
    return lambda frame: [answers[row] for row in frame.index]


def simulated(name: str, skills: list[tuple[float, float]], copies: int = 0) -> Callable:
    """Functions that vote on a share of rows and are right with a probability.

    ``copies`` more say what the last one says.
    """

    def draw(rng: np.random.Generator, rows: int) -> Weak:
        frame, target = linear(rng, rows)
        frame = frame.rename(columns={target: "label"})
        truth = frame["label"].to_numpy()
        functions = []
        for share, skill in skills:
            right = rng.random(rows) < skill
            said = np.where(right, truth, np.where(truth == "yes", "no", "yes")).astype(object)
            said[rng.random(rows) >= share] = None
            functions.append(voter(said))
        functions += [functions[-1]] * copies
        return Weak(name, frame, functions)

    return draw


KEYWORDS = {
    "spam": ["check out", "my channel", "subscribe", "http", "please", "free", "visit"],
    "ham": ["love", "song", "video", "best", "amazing", "music"],
}


def youtube(data: Path) -> Callable:
    """Comments that are spam or not, and one function a keyword."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    def draw(rng: np.random.Generator, rows: int) -> Weak:
        parts = [pd.read_csv(path) for path in sorted((data / "youtube_spam").glob("*.csv"))]
        whole = pd.concat(parts, ignore_index=True)
        whole = whole.iloc[rng.permutation(len(whole))[:rows]].reset_index(drop=True)
        text = whole["CONTENT"].astype(str)
        words = TfidfVectorizer(min_df=2).fit_transform(text)
        size = min(40, words.shape[1] - 1)
        X = TruncatedSVD(size, random_state=0).fit_transform(words)
        frame = pd.DataFrame(X, columns=[f"t{number}" for number in range(size)])
        frame["label"] = np.where(whole["CLASS"] == 1, "spam", "ham")
        functions = []
        for label, keys in KEYWORDS.items():
            for key in keys:
                said = np.where(text.str.lower().str.contains(key, regex=False), label, None)
                functions.append(voter(said))
        return Weak("youtube comments, keywords", frame, functions)

    return draw


def weak_tables(data: Path, rng: np.random.Generator, *, short: bool) -> Iterable[Weak]:
    rows = 200 if short else 2 * MOST_ROWS
    alike = [(0.6, 0.7)] * 5
    uneven = [(0.6, 0.95), (0.6, 0.55), (0.6, 0.55), (0.6, 0.55), (0.6, 0.6)]
    yield simulated("five alike", alike)(rng, rows)
    yield simulated("one good of five", uneven)(rng, rows)
    if short:
        return
    yield simulated("ten, from .55 to .9", [(0.4, 0.55 + 0.039 * n) for n in range(10)])(rng, rows)
    yield simulated("copies of a poor one", [(0.5, 0.85)] * 3 + [(0.5, 0.6)], copies=4)(rng, rows)
    if (data / "youtube_spam").exists():
        yield youtube(data)(rng, rows)


def majority(weak: Weak, rows: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """The label with most votes; ties and silence by chance among the likeliest."""
    classes = sorted(set(weak.frame["label"]))
    tallies = np.zeros((len(rows), len(classes)))
    for function in weak.functions:
        said = np.array(function(rows), dtype=object)
        for place, label in enumerate(classes):
            tallies[:, place] += said == label
    return np.array(classes, object)[(tallies + 1e-6 * rng.random(tallies.shape)).argmax(axis=1)]


def labels(weak: Weak, seed: int) -> tuple[dict[str, list[float]], pd.DataFrame]:
    """Return accuracies of models downstream by way, and the weights of top labels."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(weak.frame))
    cut = int(len(order) * (1 - TEST))
    train, test = weak.frame.iloc[order[:cut]], weak.frame.iloc[order[cut:]]
    voted = np.zeros(len(train), bool)
    for function in weak.functions:
        voted |= np.array([label is not None for label in function(train)])
    hidden = train.assign(label=pd.Series([None] * cut, index=train.index, dtype=object))
    classes = sorted(set(weak.frame["label"]))
    relation = weak_labels(
        Relation.from_frame(hidden, "label"), weak.functions, classes=classes, seed=seed
    )
    ways = {
        "weak labels": relation.to_frame()["label"].to_numpy(),
        "majority": majority(weak, train, rng),
        "true labels": train["label"].to_numpy(),
    }
    found = {}
    for way, given in ways.items():
        rows = train.assign(label=given)
        # Rows on which no function votes teach nothing, whatever label they are given.
        found[way] = quality(rows[voted & rows["label"].notna()], test, test["label"], "label")
    told = relation.candidates()
    lines = []
    for row, options in told.groupby("row", sort=False):
        top = options.loc[options["weight"].idxmax()]
        lines.append((float(top["weight"]), top["value"] == train.at[row, "label"]))
    return found, pd.DataFrame(lines, columns=["weight", "right"])


# What is told


def interval(values: np.ndarray) -> float:
    """Half the width of a 95 % interval of the mean; nothing where there is one value."""
    if len(values) < 2:
        return float("nan")
    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(stats.t.ppf(0.975, len(values) - 1) * error)


def comparison(name: str, found: list[dict[str, list[float]]], ours: str) -> list[tuple]:
    """Return a line a model and way: accuracy, and what ours has more, with its interval."""
    lines = []
    for place, model in enumerate(("trees", "linear")):
        own = np.array([one[ours][place] for one in found])
        for way in found[0]:
            theirs = np.array([one[way][place] for one in found])
            half = interval(own - theirs)
            more = float((own - theirs).mean())
            lines.append((name, model, way, theirs.mean(), more, half, len(found)))
    return lines


def calibration(what: str, told: pd.DataFrame) -> list[tuple]:
    """Return a line a bin of weights: how many, their mean weight, how often they are right."""
    lines = []
    for low, high in pairwise(BINS):
        inside = told[(told["weight"] >= low) & (told["weight"] < high)]
        if len(inside):
            weight, right = inside["weight"].mean(), inside["right"].mean()
            lines.append((what, f"{low:g} to {min(high, 1):g}", len(inside), weight, right))
    return lines


@dataclass
class Runs:
    """What was measured so far, by the name of the set."""

    cells: dict[str, list[dict[str, list[float]]]] = field(default_factory=dict)
    labels: dict[str, list[dict[str, list[float]]]] = field(default_factory=dict)
    cell_weights: list[pd.DataFrame] = field(default_factory=list)
    label_weights: list[pd.DataFrame] = field(default_factory=list)

    def measure(self, data: Path, seed: int, *, short: bool) -> None:
        """Add the runs of a seed."""
        for pair in pairs_of(data, np.random.default_rng(seed), short=short):
            found, told = cells(pair, seed)
            self.cells.setdefault(pair.name, []).append(found)
            self.cell_weights.append(told)
            say(seed, pair.name, found)
        for weak in weak_tables(data, np.random.default_rng(seed), short=short):
            found, told = labels(weak, seed)
            self.labels.setdefault(weak.name, []).append(found)
            self.label_weights.append(told.assign(table=weak.name))
            say(seed, weak.name, found)

    def write(self, folder: Path) -> None:
        """Write three tables: cells, labels and weights."""
        header = ["set", "model", "way", "accuracy", "ours more by", "+-", "seeds"]
        for file, runs, ours in (
            ("cells.csv", self.cells, "cleaned"),
            ("labels.csv", self.labels, "weak labels"),
        ):
            lines = []
            for name, found in runs.items():
                lines += comparison(name, found, ours)
            write_table(folder / file, header, rounded(lines))
        lines = []
        for (number, missing), told in pd.concat(self.cell_weights).groupby(["number", "missing"]):
            kind = "number" if number else "text"
            lines += calibration(f"{kind}, {'missing' if missing else 'suspected'}", told)
        for name, told in pd.concat(self.label_weights).groupby("table"):
            lines += calibration(f"label: {name}", told)
        header = ["top candidates", "weight", "count", "mean weight", "share right"]
        write_table(folder / "weights.csv", header, rounded(lines))


def say(seed: int, name: str, found: dict[str, list[float]]) -> None:
    told = {way: np.round(accuracies, 3).tolist() for way, accuracies in found.items()}
    print(seed, name, told, flush=True)


def rounded(lines: list[tuple]) -> list[list]:
    return [[round(one, 4) if isinstance(one, float) else one for one in line] for line in lines]


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = read_options(parser, seeds=1)
    print(machine_line("scikit-learn", "pandas"))
    runs = Runs()
    for seed in range(options.seeds):
        runs.measure(options.data, seed, short=options.short)
        runs.write(options.out)


if __name__ == "__main__":
    main()
