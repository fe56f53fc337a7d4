"""Simulated people are asked about tables whose labels are wrong in all rows, those that judge too.

Each table has mistakes as people make them, in train, validation and test rows alike: a target that
slipped by ten in some rows, and a column in another unit in a tenth of the rows; or classes that are
confused in one region, and by chance elsewhere. Somebody who knows the truth gives 200 answers in
batches of twenty, through the code by which the service finds its questions
(``kinds.shared.work_items``) and makes versions of answers (``data.answered``). After each batch
five models learn, and the best on the validation rows serves. What counts is its quality on rows that
nobody has seen and nothing has soiled.

- train rows: nobody is asked about validation and test rows;
- all rows: also answers of validation rows that look wrong, and answers far from all others.

For each batch, the quality of what serves on the validation rows as they are (which is told), with
all of their answers right, on clean rows, and that of the best of the five on clean rows.

    python benchmarks/judging_rows.py
    python benchmarks/judging_rows.py --tables ames_housing --seeds 1
"""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import arguments, machine_line, read_options
from easeml import data
from easeml.data.versions.answers import corrected_rows
from easeml.kinds.shared import work_items
from easeml.lifecycle.journey import in_order, learned_seconds

BATCH = 20
ROWS = 600  # that somebody has
UNSEEN = 1_500  # clean ones, at most
FIELDS = [
    "table",
    "seed",
    "asked about",
    "answers",
    "told",
    "told if right",
    "clean",
    "best",
    "of judges",
    "wrong",
]


@dataclass(frozen=True)
class Table:
    """A public table. ``unit``: column that is in another unit in some rows, by what ``factor``.

    ``region``: column in whose upper quarter classes are confused. ``kept``: inputs; all without.
    """

    name: str
    target: str
    unit: str = ""
    factor: float = 1.0
    region: str = ""
    separator: str = ","
    kept: tuple[str, ...] = ()


TABLES = (
    Table(
        "ames_housing",
        "SalePrice",
        "Gr Liv Area",
        0.0929,
        kept=(
            "Neighborhood",
            "Overall Qual",
            "Overall Cond",
            "Year Built",
            "Gr Liv Area",
            "Total Bsmt SF",
            "Garage Cars",
            "Lot Area",
            "Full Bath",
            "Exter Qual",
            "Kitchen Qual",
            "Fireplaces",
        ),
    ),
    Table("diamonds", "price", "x", 0.1),
    Table("telco_churn", "Churn", region="tenure"),
    Table("bank_marketing", "y", region="age", separator=";"),
    Table("adult", "class", region="age"),
    Table("wine_quality_red", "quality", "alcohol", 0.1, separator=";"),
)


@dataclass
class World:
    """A soiled version, what is true by row id, and clean rows with their answers."""

    version: data.Declared
    truth: pd.DataFrame
    unseen: pd.DataFrame
    answers: pd.Series
    right: int = 0


def soiled(table: Table, clean: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows with mistakes as people make them."""
    dirty = clean.copy()
    if not table.region:
        slips = rng.random(len(dirty)) < 0.04
        factors = rng.choice([0.1, 10.0], len(dirty))
        dirty[table.target] = np.where(slips, dirty[table.target] * factors, dirty[table.target])
        other = rng.random(len(dirty)) < 0.1
        dirty[table.unit] = np.where(other, dirty[table.unit] * table.factor, dirty[table.unit])
        return dirty
    labels = dirty[table.target].to_numpy(object)
    values = dirty[table.region].to_numpy(float)
    in_region = values > np.quantile(values, 0.75)
    chance = np.where(in_region, 0.35, 0.03)
    confused = rng.random(len(dirty)) < chance
    classes = sorted(set(labels))
    others = [classes[(classes.index(one) + 1) % len(classes)] for one in labels]
    dirty[table.target] = np.where(confused, others, labels)
    return dirty


def drawn_world(table: Table, folder: Any, seed: int, rows: int) -> World:
    """Return a world of so many rows."""
    rng = np.random.default_rng([seed, *table.name.encode()])
    path = folder / table.name / f"{table.name}.csv"
    frame = pd.read_csv(path, sep=table.separator, na_values=[" "]).dropna(subset=[table.target])
    if table.kept:
        frame = frame[[*table.kept, table.target]]
    if table.region:
        frame[table.target] = frame[table.target].astype(str).str.strip()
    else:
        frame[table.target] = frame[table.target].astype(float)
    frame = frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)
    taken = min(rows, 2 * len(frame) // 3)
    clean, unseen = frame.iloc[:taken], frame.iloc[taken : taken + UNSEEN]
    whole = clean.columns[clean.notna().all()]  # no row may lack a value where none did
    unseen = unseen.dropna(subset=whole)
    dirty = soiled(table, clean, rng)
    arrow = as_texts(dirty)
    inferred = data.infer_table(arrow, table.target)
    kinds = {table.target: "category" if table.region else "number"}
    version = data.declare(arrow, inferred.columns, table.target, set=kinds, seed=seed)
    fed = data.feed(version, as_texts(unseen), "unseen.csv", role="production", anyway=True)
    return World(version, clean, fed.frames["production"], unseen[table.target])


def as_texts(frame: pd.DataFrame) -> pa.Table:
    """Return a table as a reader of CSV gives it."""
    texts = {}
    for name in frame:
        column = frame[name]
        texts[name] = pa.array(["" if pd.isna(one) else str(one) for one in column], pa.string())
    return pa.table(texts)


# Models


class Encoder:
    """Numbers by their spread, categories as indicators."""

    def __init__(self, version: data.Declared):
        train = version.frames["train"]
        inputs = train.drop(columns=[version.target, data.ROW])
        self.numbers = [name for name in inputs if inputs[name].dtype.kind == "f"]
        self.middle = inputs[self.numbers].median().fillna(0.0)
        self.spread = inputs[self.numbers].std().replace(0.0, 1.0).fillna(1.0)
        names = [name for name in inputs if isinstance(inputs[name].dtype, pd.CategoricalDtype)]
        self.levels = {name: list(inputs[name].cat.categories) for name in names}

    def encoded(self, frame: pd.DataFrame) -> np.ndarray:
        parts = [((frame[self.numbers] - self.middle) / self.spread).fillna(0.0).to_numpy(float)]
        for name, levels in self.levels.items():
            parts.append((frame[name].to_numpy(object)[:, None] == levels).astype(float))
        return np.concatenate(parts, axis=1)


def candidates(is_number: bool, seed: int) -> list[Any]:
    """Return models, of which some mind wrong answers less than others."""
    told = {"n_estimators": 60, "n_jobs": 1, "verbose": -1, "random_state": seed}
    if is_number:
        return [
            make_pipeline(StandardScaler(), Ridge(10.0)),
            LGBMRegressor(**told),
            LGBMRegressor(objective="l1", **told),
            TransformedTargetRegressor(LGBMRegressor(**told), func=np.log1p, inverse_func=np.expm1),
            RandomForestRegressor(40, min_samples_leaf=3, max_features=0.4, random_state=seed),
        ]
    return [
        LogisticRegression(C=0.3, max_iter=300),
        LGBMClassifier(**told),
        LGBMClassifier(num_leaves=4, **told),
        LGBMClassifier(num_leaves=63, min_child_samples=3, **told),
        RandomForestClassifier(40, min_samples_leaf=3, random_state=seed),
    ]


@dataclass
class Serving:
    """What a search found: the best on validation rows, what is told of it, and what is true."""

    model: Any
    encoder: Encoder
    told: float
    if_right: float
    clean: float
    best: float

    def predict(self, frame: pd.DataFrame) -> Any:
        """Return what it says of rows, as models of the service do."""
        X = self.encoder.encoded(frame)
        values = self.model.predict(X)
        if not hasattr(self.model, "predict_proba"):
            return SimpleNamespace(values=values, probabilities=None, classes=None)
        chances = self.model.predict_proba(X)
        return SimpleNamespace(values=values, probabilities=chances, classes=self.model.classes_)


def searched(world: World, seed: int) -> Serving:
    """Return the best of five models on the validation rows as they are."""
    version = world.version
    encoder = Encoder(version)
    train, valid = version.frames["train"], version.frames["validation"]
    is_number = train[version.target].dtype.kind == "f"
    score = r2_score if is_number else accuracy_score
    X, y = encoder.encoded(train), np.asarray(train[version.target])
    X_valid, y_valid = encoder.encoded(valid), np.asarray(valid[version.target])
    X_clean, y_clean = encoder.encoded(world.unseen), np.asarray(world.answers)
    found = []
    for model in candidates(is_number, seed):
        model.fit(X, y)
        told = score(y_valid, model.predict(X_valid))
        found.append((told, score(y_clean, model.predict(X_clean)), model))
    told, clean, model = max(found, key=lambda one: one[0])
    right = np.asarray(world.truth.loc[valid[data.ROW], version.target])
    if_right = score(right, model.predict(X_valid))
    return Serving(model, encoder, told, if_right, clean, max(one[1] for one in found))


# A person's session


def true_value(world: World, item: dict[str, Any]) -> str:
    """Return what somebody who knows the truth answers."""
    return work_items.text_of(world.truth.loc[item["row"], item["column"]])


def lived(
    world: World, asks_of_judges: bool, most: int, seed: int
) -> list[tuple[int, Serving, int]]:
    """Return after each batch: answers so far, what serves, and answers about rows that judge."""
    doubts = work_items.doubts_of(world.version)
    serving = searched(world, seed)
    found = [(0, serving, 0)]
    answered: list[dict[str, Any]] = []
    given = Counter[str]()
    of_judges = 0
    while len(answered) < most:
        judging = [*world.version.frames["validation"][data.ROW]]
        judging += [*world.version.frames["test"][data.ROW]]
        items, _ = work_items.items_of(
            world.version,
            doubts,
            serving.predict,
            None,
            answered,
            pd.DataFrame(),
            asks_of_test=True,
        )
        if not asks_of_judges:
            items = [one for one in items if one["row"] not in set(judging)]
        kinds = [one["kind"] for one in items]
        gains = [one["information"] for one in items]
        order = in_order(kinds, gains, learned_seconds([]), given)
        batch = [items[place] for place in order[:BATCH]]
        if not batch:
            break
        labels, cells = {}, []
        for item in batch:
            value = true_value(world, item)
            is_right = value == item["question"]["given"]
            world.right += is_right
            given[item["kind"]] += 1
            of_judges += item["row"] in judging
            told = {"kind": item["kind"], "row": item["row"], "column": item["column"]}
            told |= {"given": item["question"]["given"], "told": item["question"]["told"]}
            answered.append(told | {"waits": False})
            if is_right:
                continue
            if item["column"] == world.version.target:
                labels[item["row"]] = value
            else:
                cells.append((item["row"], item["column"], value))
        world.version = data.answered(world.version, labels, cells)
        serving = searched(world, seed)
        found.append((len(answered), serving, of_judges))
    return found


def wrong_left(world: World) -> int:
    """Return how many answers of validation rows are wrong."""
    rows = world.version.frames["validation"].set_index(data.ROW)[world.version.target]
    true = world.truth.loc[rows.index, world.version.target]
    return sum(
        work_items.text_of(a) != work_items.text_of(b) for a, b in zip(rows, true, strict=True)
    )


def figures_of(serving: Serving) -> tuple[float, ...]:
    """Return the four figures that are written."""
    return serving.told, serving.if_right, serving.clean, serving.best


def measured(
    table: Table, seed: int, asks_of_judges: bool, draw: Callable[[], World], most: int
) -> list[list[str]]:
    """Return a line for the start and each batch."""
    world = draw()
    who = "all rows" if asks_of_judges else "train rows"
    before = wrong_left(world)
    lines = []
    sessions = lived(world, asks_of_judges, most, seed)
    for answers, serving, of_judges in sessions:
        numbers = [f"{one:.4f}" for one in figures_of(serving)]
        lines.append([table.name, str(seed), who, str(answers), *numbers, str(of_judges), ""])
    lines[0][-1], lines[-1][-1] = str(before), str(wrong_left(world))
    first, last = sessions[0][1], sessions[-1][1]
    corrected = dict(corrected_rows(world.version))
    print(
        f"{table.name:>17} {seed} {who:<10} clean {first.clean:.3f} -> {last.clean:.3f}"
        f" (best {last.best:.3f}), told {first.told:.3f} -> {last.told:.3f}"
        f" (if right {last.if_right:.3f}),"
        f" {sessions[-1][2]} of {sessions[-1][0]} about judges, wrong {before} -> {lines[-1][-1]},"
        f" corrected {corrected}",
        flush=True,
    )
    return lines


def main() -> None:
    """Run, print and write."""
    parser = arguments(__file__, __doc__, data=True)
    names = [table.name for table in TABLES]
    parser.add_argument("--tables", nargs="*", default=names, choices=names)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--rows", type=int, default=ROWS)
    options = read_options(parser, tables=["wine_quality_red"], seeds=1, answers=20, rows=200)
    warnings.simplefilter("ignore")
    print(machine_line("numpy", "lightgbm"))
    with (options.out / "runs.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for table in (one for one in TABLES if one.name in options.tables):
            for seed in range(options.seeds):
                for asks in (False, True):

                    def draw(table: Table = table, seed: int = seed) -> World:
                        return drawn_world(table, options.data, seed, options.rows)

                    writer.writerows(measured(table, seed, asks, draw, options.answers))
                    file.flush()


if __name__ == "__main__":
    main()
