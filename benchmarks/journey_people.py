"""People who are simulated for ``journey.py``: tables whose truth is known, what goes wrong in them,
and somebody who answers questions about them, with time and mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from easeml.lifecycle.doubts import clean
from easeml.lifecycle.work import CELL, CHECK, LABEL, Answered
from easeml.relation import Relation

TRAIN, VALIDATION, TEST = 400, 100, 1500
UNLABELLED = 0.5
WRONG_LABELS = 0.1
CHOSE_CONSTANTS = ("adult", "german credit", "pima", "heart")
"""Sets that were looked at while constants were chosen. All others were set aside."""


@dataclass(frozen=True)
class Pair:
    """A table as it is beside its truth, row by row; without faults of its own, both are equal.

    ``test``: rows to measure on, where the set brings them.
    """

    name: str
    dirty: pd.DataFrame
    truth: pd.DataFrame
    target: str
    test: pd.DataFrame | None = None

    @property
    def is_dirty_by_nature(self) -> bool:
        """Did the set bring its faults?"""
        return self.dirty is not self.truth


@dataclass
class World:
    """What is true, what is written, and what people have answered so far."""

    name: str
    truth: pd.DataFrame  # inputs of train and pool rows
    true_labels: pd.Series
    written: pd.DataFrame
    labels: pd.Series  # missing in the pool
    validation: tuple[pd.DataFrame, pd.Series]
    test: tuple[pd.DataFrame, pd.Series]
    doubts: Relation
    answered: list[Answered] = field(default_factory=list)
    told: dict[tuple[int, str], float] = field(default_factory=dict)
    plan: dict[int, int] | None = None  # of CPClean, once it was made

    @property
    def known(self) -> set[tuple[int, str]]:
        """Rows and columns that were answered."""
        return {(one.row, one.column) for one in self.answered}

    @property
    def target(self) -> str:
        """The column of labels."""
        return str(self.labels.name)

    @property
    def is_labelled(self) -> pd.Series:
        """Which rows are train rows, and not of the pool."""
        return self.labels.notna()

    def copy(self) -> World:
        """Return the same world, which another person may answer questions about."""
        return World(
            self.name,
            self.truth,
            self.true_labels,
            self.written.copy(),
            self.labels.copy(),
            self.validation,
            self.test,
            self.doubts,
            list(self.answered),
        )

    def perfect(self) -> World:
        """Return the world in which all is answered."""
        found = self.copy()
        found.written, found.labels = self.truth.copy(), self.true_labels.copy()
        return found


@dataclass(frozen=True)
class Person:
    """Somebody who knows the data: mean seconds by kind of question, and how often they err."""

    seconds: dict[str, float]
    errs: float

    @staticmethod
    def drawn(rng: np.random.Generator) -> Person:
        """Return one of many: people and tables differ."""
        seconds = {
            LABEL: rng.uniform(5, 20),
            CHECK: rng.uniform(5, 20),
            CELL: rng.uniform(10, 40),
        }
        return Person(seconds, float(rng.uniform(0.0, 0.05)))

    def answer(
        self, world: World, kind: str, row: int, column: str, rng: np.random.Generator
    ) -> float:
        """Put an answer into the world; return the seconds that it took."""
        mistaken = rng.random() < self.errs
        before = world.labels.loc[row] if kind != CELL else world.written.loc[row, column]
        told = world.told.get((row, column), 0.0)
        world.answered.append(Answered(kind, row, column, before, told))
        if kind == CELL:
            # Whoever errs takes what stands there for right, or leaves the gap.
            if not mistaken:
                world.written.loc[row, column] = world.truth.loc[row, column]
        else:
            label = world.true_labels.loc[row]
            if mistaken:
                label = rng.choice([one for one in world.labels.cat.categories if one != label])
            world.labels.loc[row] = label
        return self.seconds[kind] * float(rng.lognormal(-0.08, 0.4))


def drawn_world(pair: Pair, rng: np.random.Generator, most: int = TRAIN) -> World:
    """Return some rows of a table, dirty, half-labelled, and some labels wrong; the test rows true."""
    order = rng.permutation(len(pair.truth))
    rows = min(most, len(order) // 2)
    train, rest = order[:rows], order[rows:]
    target = pair.target
    dirty = pair.dirty
    if not pair.is_dirty_by_nature:
        dirty = pair.truth.copy()
        for harm in (gaps, slips):
            harm(dirty, target, rng)
    truth, written = (_at(one, train) for one in (pair.truth, dirty))
    classes = sorted(pair.truth[target].unique())
    labels = pd.Series(pd.Categorical(written[target], classes), name=target)
    true_labels = pd.Series(pd.Categorical(truth[target], classes), name=target)
    for row in np.flatnonzero(rng.random(len(labels)) < WRONG_LABELS):
        labels.iloc[row] = rng.choice([one for one in classes if one != labels.iloc[row]])
    labels[rng.random(len(labels)) < UNLABELLED] = None
    seen = min(VALIDATION, len(rest) // 4)
    validation = _at(dirty, rest[:seen])
    test = pair.test if pair.test is not None else _at(pair.truth, rest[seen:][:TEST])
    inputs = written.drop(columns=target)
    return World(
        pair.name,
        truth.drop(columns=target),
        true_labels,
        inputs,
        labels,
        (validation.drop(columns=target), validation[target]),
        (test.drop(columns=target), test[target]),
        clean(Relation.from_frame(inputs)),
    )


def _at(frame: pd.DataFrame, places: np.ndarray) -> pd.DataFrame:
    return frame.iloc[places].reset_index(drop=True)


# What goes wrong


def gaps(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> None:
    """A tenth of the cells is missing, large numbers more often."""
    for name in frame.columns.drop(target):
        share = np.full(len(frame), 0.1)
        if frame[name].dtype.kind == "f":
            share = 0.3 * frame[name].rank(pct=True).to_numpy() ** 2
        frame.loc[rng.random(len(frame)) < share, name] = np.nan


def slips(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> None:
    """Numbers slip by a decimal, texts lose a letter, and cells stand in the wrong row."""
    for name in frame.columns.drop(target):
        hit = np.flatnonzero((rng.random(len(frame)) < 0.03) & frame[name].notna().to_numpy())
        if frame[name].dtype.kind == "f":
            frame.loc[hit, name] = frame.loc[hit, name] * rng.choice([0.1, 10.0], len(hit))
        else:
            frame.loc[hit, name] = frame.loc[hit, name].astype(str).str[:-1] + "x"
        moved = np.flatnonzero(rng.random(len(frame)) < 0.03)
        frame.loc[moved, name] = frame[name].to_numpy()[rng.integers(len(frame), size=len(moved))]


# Tables


def _read(file: str, target: str, **options: str) -> Callable[[Path], Pair]:
    """Return what reads a public table, without the rows that have gaps, so the truth is known."""

    def read(folder: Path) -> Pair:
        frame = pd.read_csv(folder / file, **options)
        frame = _typed(frame.dropna().reset_index(drop=True), target)
        return Pair("", frame, frame, target)

    return read


def _titanic(folder: Path) -> Pair:
    frame = pd.read_csv(folder / "titanic.csv")
    frame = frame.drop(columns=["PassengerId", "Name", "Ticket", "Cabin"])
    frame = _typed(frame.dropna().reset_index(drop=True), "Survived")
    return Pair("", frame, frame, "Survived")


def _telco(folder: Path) -> Pair:
    frame = pd.read_csv(folder / "telco_churn.csv").drop(columns="customerID")
    frame["TotalCharges"] = pd.to_numeric(frame["TotalCharges"], errors="coerce")
    frame = _typed(frame.dropna().reset_index(drop=True), "Churn")
    return Pair("", frame, frame, "Churn")


def _wine(folder: Path) -> Pair:
    frame = pd.read_csv(folder / "wine_quality_red.csv", sep=";")
    frame["quality"] = np.where(frame["quality"] > 5, "good", "poor")
    frame = _typed(frame, "quality")
    return Pair("", frame, frame, "quality")


def _cpclean(part: str) -> Callable[[Path], Pair]:
    """Return what reads a set of the CPClean paper: gaps that were there, and what is true."""

    def read(folder: Path) -> Pair:
        place = folder / part
        labels = [
            pd.read_csv(place / f"y_{one}.csv").iloc[:, 0] for one in ("train", "val", "test")
        ]
        dirty, truth, val, test = (
            pd.read_csv(place / f"X_{one}.csv")
            for one in ("train_dirty", "train_ground_truth", "val", "test")
        )
        # Validation rows were clean; they join the rows to draw from.
        joined = [
            pd.concat([one.assign(target=labels[0]), val.assign(target=labels[1])])
            for one in (dirty, truth)
        ]
        dirty, truth = (one.reset_index(drop=True) for one in joined)
        truth = _typed(truth, "target")
        dirty = _typed(dirty, "target").astype(truth.dtypes)
        return Pair("", dirty, truth, "target", _typed(test.assign(target=labels[2]), "target"))

    return read


def _beers(folder: Path) -> Pair:
    """Is a beer an India pale ale?"""
    dirty, truth = (pd.read_csv(folder / f"{one}.csv", dtype=str) for one in ("dirty", "clean"))
    truth = truth.set_axis(dirty.columns, axis=1)
    kind = np.where(truth["style"].str.contains("IPA", na=False), "IPA", "other")
    used = ["ounces", "abv", "ibu", "city", "state"]
    made = []
    for frame in (dirty, truth):
        inputs = frame[used].replace({"N/A": np.nan})
        inputs["ibu"] = pd.to_numeric(inputs["ibu"], errors="coerce")
        inputs["abv"] = pd.to_numeric(inputs["abv"].str.rstrip("%"), errors="coerce")
        made.append(_typed(inputs.assign(kind=kind), "kind"))
    return Pair("", made[0], made[1], "kind")


def _hospital(folder: Path) -> Pair:
    """Does a hospital have an emergency service?"""
    dirty, truth = (pd.read_csv(folder / f"{one}.csv", dtype=str) for one in ("dirty", "clean"))
    used = ["City", "State", "CountyName", "HospitalType", "HospitalOwner", "Condition", "Score"]
    truth = truth.set_axis(dirty.columns, axis=1)
    answers = truth["EmergencyService"]
    made = []
    for frame in (dirty, truth):
        inputs = frame[used].replace({"empty": np.nan})
        inputs["Score"] = pd.to_numeric(inputs["Score"].str.rstrip("%"), errors="coerce")
        made.append(_typed(inputs.assign(service=answers), "service"))
    return Pair("", made[0], made[1], "service")


def _typed(frame: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return numbers as floats, all else as text or missing."""
    made = {}
    for name in frame:
        column = frame[name]
        if name == target:
            made[name] = "c" + column.astype(str)
        elif column.dtype.kind in "ifb" and column.dtype.kind != "b":
            made[name] = column.astype(float)
        else:
            made[name] = column.astype(str).astype(object).where(column.notna(), np.nan)
    return pd.DataFrame(made)


def _breast_cancer(folder: Path) -> Pair:
    """The set that comes with scikit-learn, for the short form."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True).frame
    frame = _typed(found.iloc[:, [*range(6), -1]], "target")
    return Pair("", frame, frame, "target")


BUNDLED = "breast cancer"
_SETS: dict[str, tuple[str, Callable[[Path], Pair]]] = {
    "adult": ("adult", _read("adult.csv", "class")),
    "german credit": ("german_credit", _read("german_credit.csv", "credit_risk")),
    "pima": ("pima_diabetes", _read("pima_diabetes.csv", "class")),
    "heart": ("heart_disease", _read("heart_disease.csv", "target")),
    "bank marketing": ("bank_marketing", _read("bank_marketing.csv", "y", sep=";")),
    "telco churn": ("telco_churn", _telco),
    "titanic": ("titanic", _titanic),
    "red wine": ("wine_quality_red", _wine),
    "ionosphere": ("ionosphere", _read("ionosphere.csv", "Class")),
    "mushroom": ("mushroom", _read("mushroom.csv", "class")),
    "beers, dirty by nature": ("dirty_beers", _beers),
    "hospital, dirty by nature": ("dirty_hospital", _hospital),
    "baby products, dirty by nature": ("cpclean_babyproduct", _cpclean("real")),
    "supreme, gaps of the paper": ("cpclean_supreme", _cpclean("systematic")),
}


def pairs_of(data: Path, only: Iterable[str] = ()) -> Iterable[Pair]:
    """Give the tables that are there."""
    wanted = set(only)
    if BUNDLED in wanted:
        pair = _breast_cancer(data)
        yield Pair(BUNDLED, pair.dirty, pair.truth, pair.target)
    for name, (folder, read) in _SETS.items():
        if wanted and name not in wanted:
            continue
        if not (data / folder).exists():
            print(f"{name}: left out, there is no {folder}")
            continue
        pair = read(data / folder)
        yield Pair(name, pair.dirty, pair.truth, pair.target, pair.test)
