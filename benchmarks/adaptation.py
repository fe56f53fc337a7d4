"""Models adapted to rows that nobody has labelled, beside the same models as they were: is what few
labels let serve better on the rows that come next?

    python benchmarks/adaptation.py [--data DIR] [--sets elec2,adult] [--seeds 3] [--labels 200] [--out DIR]

A set is a table with a shift, or a stretch of a stream in order of time. Its labelled rows (at most
4,000, a quarter of them held out) come from before, 4,000 recent rows from after the shift: 3,000
are learned from without labels, on the 1,000 after them ``prove`` buys labels. The rows after
these, which nothing has seen, tell how right each model is: 6,000, of a stream the next 1,000.

- made tables, whose truth is known: *none* (no shift), *inputs* (a straight line where a curve is
  true, and rows move along it), *shares* (of two classes), *unit* (of two columns), *concept* (half of
  the inputs mean the opposite: nothing in the rows tells);
- adult, bank marketing, telco churn, phoneme, digits, with *inputs* tilted along the columns, *shares*
  of the classes turned, or the *unit* of two columns changed;
- elec2, weather, beijing, bikes: what comes after a tenth, three, five and seven tenths of the stream.

For each way: the gain in accuracy over the model as it was, on the rows after. ``released``: what
the test lets serve, by so many labels; ``with truths``: what it lets serve if the truth of all rows
that it compares on comes, as it does of a stream. An interval is 95 % of the paired differences over
all seeds. Finished runs are read from the results in ``--out``, so a run that ends early goes on.
"""

import csv
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.adaptation import WAYS, Known, Proposal, propose
from easeml.lifecycle.features import encode
from easeml.lifecycle.held_out import Predicted, Unseen
from easeml.lifecycle.tool import tool_named

LABELLED, RECENT, AFTER = 4_000, 4_000, 6_000
NEXT = 1_000  # rows after, of a stream: what comes long after is not like what was compared
COLUMNS = ("set", "shift", "model", "seed", "way", "gain", "error", "labels", "base", "says")
RELEASED, TRUTHS = "released", "with truths"
STARTS = (0.1, 0.3, 0.5, 0.7)  # of the stretches of a stream
TURNED = 0.15  # share that the commonest class has after its share has changed


@dataclass(frozen=True)
class Shifted:
    """Labelled rows, and rows of after a shift: inputs and classes."""

    before: tuple[pd.DataFrame, np.ndarray]
    after: tuple[pd.DataFrame, np.ndarray]


Draw = Callable[[np.random.Generator], Shifted]


def made(shift: str, rng: np.random.Generator) -> Shifted:
    """Return rows of a table whose truth is known."""

    def rows(count: int, after: bool) -> tuple[pd.DataFrame, np.ndarray]:
        moved = after and shift == "inputs"
        values = rng.normal(size=(count, 4))
        values[:, 0] += 1.0 if moved else -0.5
        share = TURNED if after and shift == "shares" else 0.5
        if shift == "inputs":
            score = 1.5 * np.abs(values[:, 0]) - 1.2 + values[:, 1] / 2
            labels = rng.random(count) < 1 / (1 + np.exp(-2 * score))
        else:
            labels = rng.random(count) < share
            values = values + 0.7 * labels[:, None]
        if after and shift == "concept":
            labels = np.where(values[:, 1] > 0, ~labels, labels)
        if after and shift == "unit":
            values[:, :2] = 2.54 * values[:, :2] + 1.5
        return pd.DataFrame(values, columns=list("abcd")), labels.astype(int)

    return Shifted(rows(LABELLED, after=False), rows(RECENT + AFTER, after=True))


def shifted_table(
    shift: str, inputs: pd.DataFrame, labels: np.ndarray, rng: np.random.Generator
) -> Shifted:
    """Return a table whose later rows are drawn, or read, otherwise."""
    order = rng.permutation(len(labels))
    count = min(LABELLED, len(order) // 3)
    first, rest = order[:count], order[count:]
    after = inputs.iloc[rest].reset_index(drop=True)
    chance = np.ones(len(rest))
    numbers = [name for name in inputs if inputs[name].dtype.kind in "fi"]
    if shift == "inputs":
        ranks = after[numbers].rank(pct=True).fillna(0.5).to_numpy() - 0.5
        chance = np.exp(6 * ranks @ rng.dirichlet(np.ones(len(numbers))))
    if shift == "shares":
        chance = _turned(np.bincount(labels))[labels[rest]]
    drawn = rng.choice(len(rest), size=min(RECENT + AFTER, len(rest)), p=chance / chance.sum())
    after = after.iloc[drawn].reset_index(drop=True)
    if shift == "unit":
        strongest = sorted(numbers, key=lambda name: -_strength(inputs[name], labels))[:2]
        for name in strongest:
            after[name] = 1.8 * after[name] + inputs[name].std()
    before = inputs.iloc[first].reset_index(drop=True)
    return Shifted((before, labels[first]), (after, labels[rest][drawn]))


def _turned(counts: np.ndarray) -> np.ndarray:
    """Return the chance of a row by its class: the commonest has 15 % of the rows after, and of many
    classes each that is a little rarer is half as common as the one before.
    """
    order = np.argsort(-counts, kind="stable")
    shares = np.full(len(counts), TURNED)
    shares[order[1:]] = 0.5 ** np.arange(len(counts) - 1)
    shares[order[1:]] *= (1 - TURNED) / shares[order[1:]].sum()
    return shares / counts


def _strength(values: pd.Series, labels: np.ndarray) -> float:
    """Return how much of a column's variance lies between the classes."""
    means = values.groupby(labels).transform("mean")
    return float(means.var() / values.var()) if values.var() else 0.0


def stretch(inputs: pd.DataFrame, labels: np.ndarray, start: float) -> Shifted:
    """Return rows of a stream in order of time, the labelled ones just before a moment."""
    place = int(start * len(labels))
    before = slice(max(0, place - LABELLED), place)
    after = slice(place, place + RECENT + NEXT)
    return Shifted(
        (inputs.iloc[before].reset_index(drop=True), labels[before]),
        (inputs.iloc[after].reset_index(drop=True), labels[after]),
    )


def read_table(name: str, data: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Return inputs and class codes of a public table."""
    if name == "digits":
        from sklearn.datasets import load_digits

        pixels, digits = load_digits(return_X_y=True, as_frame=True)
        return pixels, digits.to_numpy()
    files = {
        "adult": ("adult/adult.csv", "class"),
        "bank": ("bank_marketing/bank_marketing.csv", "y"),
        "telco": ("telco_churn/telco_churn.csv", "Churn"),
        "phoneme": ("more_tables/phoneme.csv", ""),
    }
    file, target = files[name]
    frame = pd.read_csv(data / file, sep=None, engine="python", header=0 if target else None)
    target = target or frame.columns[-1]
    inputs = frame.drop(columns=[target, *(name for name in ("customerID",) if name in frame)])
    inputs.columns = [f"x{name}" if isinstance(name, int) else name for name in inputs.columns]
    return inputs, pd.factorize(frame[target])[0]


def read_stream(name: str, data: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Return inputs and classes of a stream, in order of time."""
    if name == "elec2":
        frame = pd.read_csv(data / "stream_elec2" / "elec2.csv")
        return frame.drop(columns=["timestamp", "class"]), frame["class"].to_numpy()
    if name == "weather":
        frame = pd.read_csv(data / "stream_noaa_weather" / "noaa_weather.csv")
        return frame.drop(columns=["row", "rain"]), frame["rain"].to_numpy()
    if name == "beijing":
        frame = pd.read_csv(data / "beijing_pm25" / "beijing_pm25.csv").dropna(subset=["pm2.5"])
        value, dropped = frame["pm2.5"], ["No", "year", "pm2.5"]
    else:
        frame = pd.read_csv(data / "bike_sharing_hourly" / "bike_sharing_hourly.csv")
        frame["hour"] = pd.to_datetime(frame["datetime"]).dt.hour
        value, dropped = frame["count"], ["datetime", "casual", "registered", "count"]
    limit = value.iloc[: len(value) // 10].median()
    return frame.drop(columns=dropped).reset_index(drop=True), (value > limit).to_numpy().astype(
        int
    )


def sets_of(data: Path) -> Iterator[tuple[str, str, Draw]]:
    """Yield name, shift and what draws each set."""
    for shift in ("none", "inputs", "shares", "unit", "concept"):
        yield "made", shift, lambda rng, shift=shift: made(shift, rng)
    for name in ("adult", "bank", "telco", "phoneme", "digits"):
        for shift in ("inputs", "shares", "unit"):

            def draw(rng: np.random.Generator, name: str = name, shift: str = shift) -> Shifted:
                return shifted_table(shift, *read_table(name, data), rng)

            yield name, shift, draw
    for name in ("elec2", "weather", "beijing", "bikes"):
        for start in STARTS:

            def draw_stretch(
                rng: np.random.Generator, name: str = name, start: float = start
            ) -> Shifted:
                return stretch(*read_stream(name, data), start)

            yield name, f"from {start:.0%}", draw_stretch


class Model:
    """A model of a table: its encoding of the columns, and what learns."""

    def __init__(self, kind: str, seed: int):
        self.kind, self.seed = kind, seed

    def fit(self, inputs: pd.DataFrame, codes: np.ndarray, weights: np.ndarray | None) -> "Model":
        """Learn from rows with their weights."""
        self.inputs = inputs
        if self.kind == "logistic":
            learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
            told: dict[str, Any] = {"logisticregression__sample_weight": weights}
        else:
            learner = HistGradientBoostingClassifier(max_iter=40, random_state=self.seed)
            told = {"sample_weight": weights}
        self.learner = learner.fit(encode(inputs)[0], codes, **told)
        return self

    def said(self, rows: pd.DataFrame, classes: int) -> Unseen:
        """Return what it says of rows."""
        names = np.array([f"class {code}" for code in range(classes)], dtype=object)
        chances = np.zeros((len(rows), classes))
        _, encoded = encode(self.inputs, rows)
        chances[:, self.learner.classes_] = self.learner.predict_proba(encoded)
        return Unseen(names[chances.argmax(axis=1)], chances, names)


def adapted(kind: str, seed: int, known: Known, proposal: Proposal, codes: np.ndarray) -> Model:
    """Return a model of the train rows, as a proposal says."""
    on_train = ~known.held_out
    assert proposal.inputs is not None
    inputs, labels = proposal.inputs[on_train], codes[on_train]
    weights = None if proposal.weights is None else proposal.weights[on_train]
    if proposal.extra is not None:
        inputs = pd.concat([inputs, known.recent.iloc[proposal.extra]], ignore_index=True)
        own = [int(str(answer).removeprefix("class ")) for answer in proposal.extra_answers]
        labels = np.r_[labels, own]
    return Model(kind, seed).fit(inputs, labels, weights)


def run(draw: Draw, kind: str, seed: int, labels: int) -> Iterator[tuple[Any, ...]]:
    """Yield way, gain, its standard error, labels bought, accuracy as it was, and what was said."""
    rng = np.random.default_rng(seed)
    drawn = draw(rng)
    inputs, codes = drawn.before
    classes = 1 + max(codes.max(), drawn.after[1].max())
    held_out = rng.permutation(len(codes)) < len(codes) // 4
    later, later_codes = drawn.after
    recent = RECENT if len(later) >= RECENT + NEXT else len(later) // 2
    learned, compared = np.arange(3 * recent // 4), np.arange(3 * recent // 4, recent)
    after = np.arange(recent, len(later))
    base = Model(kind, seed).fit(inputs[~held_out], codes[~held_out], None)
    names = np.array([f"class {code}" for code in range(classes)], dtype=object)
    known = Known(
        inputs,
        pd.Series(pd.Categorical(names[codes], categories=list(names))),
        held_out,
        base.said(inputs[held_out], classes),
        later.iloc[learned].reset_index(drop=True),
        base.said(later.iloc[learned], classes),
    )
    was_right = base.said(later.iloc[after], classes).values == names[later_codes[after]]
    gains = {}
    said = {"old": base.said(later.iloc[compared], classes)}
    for way in WAYS:
        proposal = propose(way, known, seed)
        if not proposal.applies:
            yield way, None, None, 0, was_right.mean(), proposal.says
            continue
        model = adapted(kind, seed, known, proposal, codes)
        is_right = model.said(later.iloc[after], classes).values == names[later_codes[after]]
        gains[way] = is_right.astype(float) - was_right
        said[way] = model.said(later.iloc[compared], classes)
        yield way, *_mean(gains[way]), 0, was_right.mean(), proposal.says
    truth = names[later_codes[compared]]
    for told, known_first in ((RELEASED, 0), (TRUTHS, len(truth))):
        released, bought = prove(said, later.iloc[compared], truth, labels, known_first)
        gain = gains.get(released, np.zeros(len(after)))
        yield told, *_mean(gain), bought, was_right.mean(), released


def prove(
    said: dict[str, Unseen], rows: pd.DataFrame, truth: np.ndarray, labels: int, known_first: int
) -> tuple[str, int]:
    """Return the way that labels let serve, empty for none, and how many were bought.

    ``known_first``: rows whose truth is there without.
    """
    if len(said) == 1:
        return "", 0
    known = pd.Series([None] * len(truth), dtype=object)
    known.iloc[:known_first] = truth[:known_first]
    bought = 0
    while True:
        facts: Any = {"newer": Predicted(rows, known, said), "answers": pd.Series(truth)}
        answer = tool_named("prove").answer(facts, {"labels": labels - bought})
        if answer.verdict == "proven":
            models = next(table for table in answer.tables if table.title == "Models")
            return models.rows[0][0], bought
        if answer.verdict != "label more":
            return "", bought
        wanted = [row - 1 for (row,) in answer.tables[0].rows][: labels - bought]
        known.iloc[wanted] = truth[wanted]
        bought += len(wanted)


def _mean(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def main() -> None:
    """Measure, and print a line a set."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--sets", default="", help="names of tables and streams; all by default")
    parser.add_argument("--shifts", default="", help="shifts; all by default")
    parser.add_argument("--models", default="logistic,boosting")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--labels", type=int, default=200)
    options = read_options(
        parser, sets="made", shifts="shares,unit", models="logistic", seeds=1, labels=40
    )
    print(machine_line("numpy", "scikit-learn"))
    warnings.filterwarnings("ignore", message="Found unknown categories")
    path = options.out / "runs.csv"
    rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    done = {(row["set"], row["shift"], row["model"], row["seed"]) for row in rows}
    for name, shift, draw in sets_of(options.data):
        if options.sets and name not in options.sets.split(","):
            continue
        if options.shifts and shift not in options.shifts.split(","):
            continue
        for kind in options.models.split(","):
            for seed in range(options.seeds):
                if (name, shift, kind, str(seed)) in done:
                    continue
                own = zlib.crc32(f"{name} {shift} {seed}".encode())
                for found in run(draw, kind, own, options.labels):
                    rows.append(
                        dict(zip(COLUMNS, (name, shift, kind, str(seed), *found), strict=True))
                    )
                write_table(path, COLUMNS, [[row[column] for column in COLUMNS] for row in rows])
    report(rows, options.out)


def report(rows: list[dict[str, Any]], out: Path) -> None:
    """Print and write what each set came to, over its seeds."""
    frame = pd.DataFrame(rows)
    for column in ("gain", "error", "labels", "base"):
        frame[column] = pd.to_numeric(frame[column], errors="coerce")
    table = []
    for (name, shift, kind), group in frame.groupby(["set", "shift", "model"], sort=False):
        line = [name, shift, kind, f"{group['base'].mean():.3f}"]
        for way in (*WAYS, RELEASED, TRUTHS):
            line.append(_told(group[group["way"] == way]))
        released = group[group["way"] == RELEASED]
        line += [
            f"{released['labels'].mean():.0f}",
            f"{int((released['says'] != '').sum())}/{len(released)}",
        ]
        table.append(line)
    titles = ["set", "shift", "model", "as it was", *WAYS, RELEASED, TRUTHS, "labels", "let serve"]
    write_table(out / "sets.csv", titles, table)
    for line in (titles, *table):
        print("  ".join(f"{cell:>14}" for cell in line))
    print(summary(frame))


def _told(group: pd.DataFrame) -> str:
    """Return the mean gain with its interval; a dash where the way never applied."""
    group = group.dropna(subset=["gain"])
    if group.empty:
        return "-"
    gain, error = combined(group)
    return f"{gain:+.3f} ± {1.96 * error:.3f}"


def combined(group: pd.DataFrame) -> tuple[float, float]:
    """Return the mean gain over seeds, and its standard error."""
    return group["gain"].mean(), float(np.sqrt((group["error"] ** 2).sum()) / len(group))


def summary(frame: pd.DataFrame) -> str:
    """Return in how many sets what was released is better, or worse, by more than the interval."""
    shifted = frame[frame["shift"] != "none"]
    sets = [group for _, group in shifted.groupby(["set", "shift", "model"], sort=False)]
    ways = [[_is_better(one) for _, one in group.groupby("way")] for group in map(_of_ways, sets)]
    lines = [f"{len(sets)} shifted sets; some way is better on {sum(map(any, ways))}."]
    for name in (RELEASED, TRUTHS):
        better = sum(_is_better(group[group["way"] == name]) for group in sets)
        runs = frame[frame["way"] == name]
        served = runs[runs["says"].fillna("") != ""]
        lower = (served["gain"] < 0).sum()
        worse = (served["gain"] < -1.96 * served["error"]).sum()
        lines.append(
            f"{name}: better on {better}; {len(served)} of {len(runs)} runs let a model serve, {lower} "
            f"of them with a lower accuracy after, {worse} by more than the interval."
        )
    return "\n".join(lines)


def _of_ways(group: pd.DataFrame) -> pd.DataFrame:
    return group[group["way"].isin(list(WAYS))].dropna(subset=["gain"])


def _is_better(group: pd.DataFrame) -> bool:
    gain, error = combined(group)
    return gain > 1.96 * error


if __name__ == "__main__":
    main()
