"""Tables with a planted fault, for ``benchmarks/debugging.py``: what is broken where is known.

A case has train, validation and production rows as they are seen, and the truth of each; and future
rows, as production will be if nothing else happens. Faults that hardly show are drawn anew: a fault
has to raise the share of mistakes of its region by 20 of 100, which are at least 30 mistakes more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from easeml.lifecycle.held_out import Unseen

TARGET = "answer"
FAULTS = ("labels", "cells", "few", "drift")
TUNED_ON = ("planes", "adult")
"""Where thresholds were looked at; all other tables are a check."""
GENERATED = ("planes", "trees", "rings", "waves")
TABLES = {  # name: file, target, separator, columns that are left out
    "adult": ("adult/adult.csv", "class", ",", ["fnlwgt"]),
    "german_credit": ("german_credit/german_credit.csv", "credit_risk", ",", []),
    "telco_churn": ("telco_churn/telco_churn.csv", "Churn", ",", ["customerID"]),
    "wine_quality_red": ("wine_quality_red/wine_quality_red.csv", "quality", ";", []),
    "bank_marketing": ("bank_marketing/bank_marketing.csv", "y", ";", []),
    "bike_sharing": ("bike_sharing_hourly/bike_sharing_hourly.csv", "count", ",", []),
}
_MOST_ROWS = 6000
_LEAST_MORE = 0.2  # by which the share of mistakes of a region has to rise
_LEAST_MISTAKES = 30  # by which the mistakes have to
_NOISE = 0.05
_TRIES = 40


@dataclass(frozen=True)
class Parts:
    """Rows as they are seen, each with its answer in column ``answer``."""

    train: pd.DataFrame
    validation: pd.DataFrame
    production: pd.DataFrame
    future: pd.DataFrame


@dataclass(frozen=True)
class Case:
    """A planted fault: rows as ``seen``, as they ``true``ly are, and in which region it is.

    ``is_late``: the fault is in production alone. ``column``: that is broken. ``region``: tells
    which rows of a frame of true rows are in it. ``sound``: what a model without the fault would
    have learned from.
    """

    fault: str
    table: str
    seen: Parts
    true: Parts
    column: str
    is_late: bool
    sound: pd.DataFrame
    region: Callable[[pd.DataFrame], np.ndarray]
    told: str


class Model:
    """A pipeline of scikit-learn that answers as models of easeml do."""

    def __init__(self, rows: pd.DataFrame, seed: int, kind: str = "boosting") -> None:
        """Learn from rows."""
        inputs = rows.drop(columns=TARGET)
        numbers = list(inputs.select_dtypes("number"))
        others = [name for name in inputs if name not in numbers]
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
        )
        fill = SimpleImputer(keep_empty_features=True) if kind == "forest" else "passthrough"
        encoder = make_column_transformer((fill, numbers), (codes, others))
        learner: Any = HistGradientBoostingClassifier(max_iter=60, random_state=seed)
        if kind == "forest":
            learner = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
        self._pipeline = make_pipeline(encoder, learner).fit(inputs, rows[TARGET].astype(str))

    def predict(self, inputs: pd.DataFrame) -> Unseen:
        """Return what it says of rows."""
        classes = self._pipeline.classes_.astype(object)
        chances = self._pipeline.predict_proba(inputs)
        return Unseen(classes[chances.argmax(axis=1)], chances, classes)

    def wrong(self, rows: pd.DataFrame) -> np.ndarray:
        """Tell about which rows it is wrong."""
        said = self.predict(rows.drop(columns=TARGET)).values
        return said != rows[TARGET].astype(str).to_numpy()


def rows_of(table: str, data: Path, seed: int) -> pd.DataFrame:
    """Return rows of a table: generated for the seed, or drawn from a file of the data folder."""
    random = np.random.default_rng([seed, 1])
    if table in GENERATED:
        return _generated(table, 5000, random)
    file, target, separator, left_out = TABLES[table]
    rows = pd.read_csv(data / file, sep=separator).drop(columns=left_out)
    rows = rows.rename(columns={target: TARGET})
    if table == "wine_quality_red":
        rows[TARGET] = np.where(rows[TARGET] >= 6, "good", "poor")
    if table == "bike_sharing":
        rows["hour"] = pd.to_datetime(rows.pop("datetime")).dt.hour
        rows = rows.drop(columns=["casual", "registered"])
        rows[TARGET] = np.where(rows[TARGET] > rows[TARGET].median(), "many", "few")
    for name in rows.columns:
        if rows[name].dtype.kind not in "iuf" or name == TARGET:
            rows[name] = rows[name].where(rows[name].isna(), rows[name].astype(str))
            rows[name] = rows[name].astype("category")
        else:
            rows[name] = rows[name].astype(float)
    return rows.sample(min(len(rows), _MOST_ROWS), random_state=seed).reset_index(drop=True)


def parts_of(rows: pd.DataFrame) -> Parts:
    """Divide rows, which are in random order: train, validation, production and future."""
    ends = (len(rows) * np.array([0.4, 0.62, 0.84])).astype(int)
    train, validation, production, future = (
        rows.iloc[start:end] for start, end in zip([0, *ends], [*ends, len(rows)], strict=True)
    )
    return Parts(train, validation, production, future)


def planted(fault: str, table: str, data: Path, seed: int) -> Case | None:
    """Return a case whose fault shows; None where none was found."""
    rows = rows_of(table, data, seed)
    for turn in range(_TRIES):
        random = np.random.default_rng([seed, turn, 2])
        case = _plant(fault, table, rows, random)
        if case is not None and _shows(case, seed):
            return case
    return None


def without_fault(table: str, data: Path, seed: int) -> tuple[Parts, Model]:
    """Return rows whose mistakes are spread by chance over all, and the model that makes them.

    The answers of validation and production rows are what the model says, but for one of ten.
    """
    rows = rows_of(table, data, seed)
    parts = parts_of(rows)
    model = Model(parts.train, seed, kind_of(seed))
    random = np.random.default_rng([seed, 3])

    def answered(part: pd.DataFrame) -> pd.DataFrame:
        said = model.predict(part.drop(columns=TARGET)).values
        told = part.assign(**{TARGET: said})
        told[TARGET] = told[TARGET].astype(rows[TARGET].dtype)
        return _other_answers(told, random.random(len(part)) < 0.1, random)

    even = Parts(parts.train, answered(parts.validation), answered(parts.production), parts.future)
    return even, model


def model_of(case: Case, seed: int) -> Model:
    """Return the model that serves: it learned from the train rows as they are seen."""
    return Model(case.seen.train, seed, kind_of(seed))


def kind_of(seed: int) -> str:
    """Return the kind of model that serves in a case."""
    return ("boosting", "forest")[seed % 2]


def _shows(case: Case, seed: int) -> bool:
    """Is the model wrong about many more rows of the region than it is without the fault?"""
    faulty = model_of(case, seed)
    sound = Model(case.sound, seed, kind_of(seed))
    late = case.is_late
    seen = case.seen.production if late else case.seen.validation
    true = case.true.production if late else case.true.validation
    inside = case.region(true)
    if not inside.any():
        return False
    now, usual = faulty.wrong(seen)[inside], sound.wrong(true)[inside]
    more = float(now.mean() - usual.mean())
    return more >= _LEAST_MORE and more * len(now) >= _LEAST_MISTAKES


def _plant(fault: str, table: str, rows: pd.DataFrame, random: np.random.Generator) -> Case | None:
    region, told, columns = _region(rows, random)
    inside = region(rows)
    if not 0.07 <= inside.mean() <= 0.3:
        return None
    true = rows
    if fault == "few":  # the region obeys a law of its own
        true = _other_answers(rows, inside & (random.random(len(rows)) < 0.9), random)
    parts = parts_of(true)
    case = Case(fault, table, parts, parts, "", True, parts.train, region, told)
    if fault == "labels":
        share = random.uniform(0.25, 0.4)
        wrong = inside & (random.random(len(rows)) < share)
        seen = parts_of(_other_answers(rows, wrong, random))
        seen = replace(seen, production=parts.production, future=parts.future)
        return replace(case, seen=seen, is_late=False)
    if fault == "cells":
        return _broken(case, rows, inside, columns, random)
    if fault == "few":
        kept = ~region(parts.train) | (random.random(len(parts.train)) < 0.02)
        train = parts.train[kept]
        seen = replace(parts, train=train)
        is_late = bool(random.random() < 0.5)
        if is_late:
            seen = replace(seen, validation=parts.validation[~region(parts.validation)])
        return replace(case, seen=seen, is_late=is_late)
    changed = _other_answers(rows, inside & (random.random(len(rows)) < 0.85), random)
    later = parts_of(changed)
    drifted = replace(parts, production=later.production, future=later.future)
    return replace(case, seen=drifted, true=drifted, sound=later.train)


def _broken(
    case: Case,
    rows: pd.DataFrame,
    inside: np.ndarray,
    columns: set[str],
    random: np.random.Generator,
) -> Case | None:
    """Break a column in the region: missing, stuck, or in another unit; lately, or before."""
    names = [name for name in rows.columns if name not in (TARGET, *columns)]
    column = str(random.choice(names))
    broken = rows.copy()
    if rows[column].dtype.kind == "f":
        way = random.choice(["missing", "stuck", "unit"])
        values = broken[column].to_numpy(copy=True)
        if way == "unit":
            values[inside] *= 100.0
        else:
            stuck = float(rows[column].median())
            values[inside] = np.nan if way == "missing" else stuck
        broken[column] = values
    else:
        way = "missing"
        broken[column] = broken[column].where(~inside)
    seen, is_late = parts_of(broken), bool(random.random() < 0.5)
    true = case.true
    if is_late:
        seen = replace(seen, train=true.train, validation=true.validation)
    else:
        seen = replace(seen, production=true.production, future=true.future)
    told = f"{column} {way} where {case.told}"
    return replace(case, seen=seen, column=column, is_late=is_late, told=told)


def _region(
    rows: pd.DataFrame, random: np.random.Generator
) -> tuple[Callable[[pd.DataFrame], np.ndarray], str, set[str]]:
    """Return a region of one or two conditions, in words, and the columns that it is about."""
    names = [name for name in rows.columns if name != TARGET]
    chosen = random.choice(names, size=random.integers(1, 3), replace=False)
    tests, told = [], []
    for name in map(str, chosen):
        if rows[name].dtype.kind == "f":
            start = random.uniform(0, 0.6)
            low, high = rows[name].quantile([start, start + random.uniform(0.2, 0.4)])
            tests.append(lambda t, n=name, a=low, b=high: ((t[n] >= a) & (t[n] <= b)).to_numpy())
            told.append(f"{name} from {low:.4g} to {high:.4g}")
        else:
            value = random.choice(rows[name].dropna().unique().astype(str))
            tests.append(lambda t, n=name, v=value: (t[n].astype(str) == v).to_numpy())
            told.append(f"{name} is {value}")

    def region(table: pd.DataFrame) -> np.ndarray:
        found = np.ones(len(table), dtype=bool)
        for test in tests:
            found &= test(table)
        return found

    return region, " and ".join(told), set(map(str, chosen))


def _other_answers(
    rows: pd.DataFrame, where: np.ndarray, random: np.random.Generator
) -> pd.DataFrame:
    """Return the rows with the next class as the answer of some."""
    changed = rows.copy()
    classes = rows[TARGET].cat.categories
    codes = rows[TARGET].cat.codes.to_numpy()
    after = np.where(where, (codes + 1) % len(classes), codes)
    changed[TARGET] = pd.Categorical.from_codes(after, categories=classes)
    return changed


def _generated(family: str, count: int, random: np.random.Generator) -> pd.DataFrame:
    """Return rows of numbers and categories whose answer follows a law of the family, but for 5 %."""
    table = pd.DataFrame({f"x{place}": random.normal(size=count) for place in range(5)})
    for place, values in enumerate((("a", "b", "c"), ("p", "q", "r", "s"), ("u", "v"))):
        table[f"c{place}"] = pd.Categorical(random.choice(values, size=count), categories=values)
    x = table[[f"x{place}" for place in range(5)]].to_numpy()
    if family == "planes":
        weights = random.normal(size=5)
        score = x @ weights + np.where(table["c0"] == "a", 1.5, -0.5)
    elif family == "trees":
        left = np.where(x[:, 1] > 0, 1.0, -1.0) * np.where(table["c0"] == "a", -1.0, 1.0)
        score = np.where(x[:, 0] > 0.3, left, np.where(x[:, 2] > -0.2, 1.0, -1.0))
    elif family == "rings":
        score = (x[:, :2] ** 2).sum(axis=1) - 1.5 + 0.8 * (table["c1"] == "p").to_numpy()
    else:
        score = np.sin(2 * x[:, 0]) + 0.7 * x[:, 1] + 0.5 * (table["c2"] == "u").to_numpy()
    is_many = random.integers(0, 2) == 1
    level = np.quantile(score, [0.33, 0.67]) if is_many else [np.median(score)]
    codes = np.searchsorted(level, score)
    classes = ("low", "high", "top")[: len(level) + 1]
    table[TARGET] = pd.Categorical.from_codes(codes, categories=list(classes))
    return _other_answers(table, random.random(count) < _NOISE, random)
