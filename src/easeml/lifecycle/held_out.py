"""What models that have not seen a row say of its class, or number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.lifecycle.result import Progress, listener

if TYPE_CHECKING:
    import pandas as pd

_TREES = 100  # of a forest
_ONE_THREAD = 20_000  # rows below which threads cost more than they save


@dataclass(frozen=True, slots=True)
class Unseen:
    """What models that have not seen n rows say of each.

    ``values``: numbers, or labels. ``chances`` (n, C) in the order of ``classes``; None where the
    models say no chances. Both are None where the answers are numbers. ``labels``: of rows that may
    have several labels, the names of these, for which ``values`` (n, labels) are 1 or 0. ``scales``
    (k,): of several numbers a row, by which their errors are divided; None: by nothing. ``widths``
    (n,): of numbers, how far each may be off as against the others, above 0, infinite where nothing
    can be said; None: alike.
    """

    values: np.ndarray
    chances: np.ndarray | None = None
    classes: np.ndarray | None = None
    labels: tuple[str, ...] = ()
    scales: np.ndarray | None = None
    widths: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """What moved a prediction: ``moved`` says what each column added to it, the largest first.

    ``value``: the prediction. ``of``: the class whose probability was moved; empty where ``value``
    is a number that was moved itself.
    """

    value: Any
    of: str
    moved: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Predicted:
    """n rows, and what models that have not learned from them say of each.

    ``inputs``: a frame of typed columns. ``answers``: what is true (n,), missing where nobody knows
    it. ``by``: what each model says, by its name.
    """

    inputs: pd.DataFrame
    answers: pd.Series
    by: Mapping[str, Unseen]

    @property
    def known(self) -> np.ndarray:
        """Tell for each row (n,) whether its answer is known."""
        return self.answers.notna().to_numpy()


@dataclass(frozen=True, slots=True)
class LateRows:
    """Rows that were looked at before, whose answers came since: m rows, each answer is known.

    ``looks``: which look saw each (m,), counted from 1; None where that is not known. ``roles``
    (m,), None where all have the first: "truth"; "again", one whose answer was counted before, and
    that was drawn at random since; "other", one to compare those with, without its answer.
    """

    rows: Predicted
    looks: np.ndarray | None = None
    roles: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class DrawnRows:
    """Rows with an answer of which ``by`` says that they were drawn at random from all of theirs.

    ``newer``, ``late``: their places among the newer rows, and among `LateRows`.
    """

    by: str
    newer: np.ndarray
    late: np.ndarray


def unseen_by_folds(
    inputs: pd.DataFrame,
    answers: pd.Series,
    seed: int = 0,
    progress: Progress | None = None,
    folds: int = 5,
) -> Unseen:
    """Return what models of ours say of rows that they have not seen.

    Categories: `held_out_chances`; numbers: a random forest (Breiman, 2001).
    """
    from easeml.lifecycle.features import encode

    (X,) = encode(inputs)
    folds = min(folds, len(X))
    if str(answers.dtype) == "category":
        names = np.asarray(answers.cat.categories, dtype=object)
        codes = answers.cat.codes.to_numpy().astype(np.int64)
        chances = held_out_chances(X, codes, len(names), folds=folds, seed=seed, progress=progress)
        return Unseen(names[chances.argmax(axis=1)], chances, names)
    return Unseen(_held_out_numbers(X, answers.to_numpy(dtype=float), folds, seed))


def _held_out_numbers(X: np.ndarray, values: np.ndarray, folds: int, seed: int) -> np.ndarray:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import KFold, cross_val_predict

    parts = KFold(folds, shuffle=True, random_state=seed)
    forest = RandomForestRegressor(min_samples_leaf=2, random_state=seed)
    return np.asarray(cross_val_predict(forest, X, values, cv=parts))


def held_out_chances(
    X: np.ndarray,
    codes: np.ndarray,
    classes: int,
    more: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return class chances (n, classes) by models of the other folds' rows and of ``more``.

    They are the mean of three models that err in different ways: a logistic regression, a random
    forest (Breiman, 2001) and extremely randomised trees (Geurts et al., 2006). Every class is
    spread evenly over the folds.

    Args:
        X: Rows (n, d).
        codes: Their classes (n,), in 0 .. classes - 1.
        classes: How many classes there are.
        more: Rows (m, d) that the models of every fold learn from, and their classes (m,).
        folds: Parts in which rows are held out, in 1 .. n. One alone has only ``more`` to learn
            from.
        seed: Seed of the parts and models.
        progress: Called with the share of the work that is done.
    """
    n = len(X)
    fold = fold_numbers(codes, folds, seed)
    known = X
    labels = codes
    if more is not None:
        known = np.vstack([X, more[0]])
        labels = np.concatenate([codes, more[1]])
    chances = np.zeros((n, classes))
    members = len(_members(n, seed))
    tell = listener(progress)
    for part in range(folds):
        held_out = fold == part
        rest = np.ones(len(known), bool)
        rest[:n] = ~held_out
        for place, model in enumerate(_members(len(known), seed)):
            chances[held_out] += (
                _chances(model, known[rest], labels[rest], X[held_out], classes) / members
            )
            tell((part * members + place + 1) / (folds * members))
    return chances


def held_out_numbers(
    X: np.ndarray,
    values: np.ndarray,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return predictions (n,) of rows' numbers by models fitted on the other folds' rows.

    They are the median of three models that err in different ways: ridge regression, a random
    forest and extremely randomised trees.

    Args:
        X: Rows (n, d).
        values: Their numbers (n,).
        folds: Parts in which rows are held out, in 2 .. n.
        seed: Seed of the parts and models.
        progress: Called with the share of the work that is done.
    """
    fold = fold_numbers(np.zeros(len(X), dtype=np.int64), folds, seed)
    predicted = np.zeros((3, len(X)))
    tell = listener(progress)
    for part in range(folds):
        held_out = fold == part
        for place, model in enumerate(_members_for_numbers(len(X), seed)):
            model.fit(X[~held_out], values[~held_out])
            predicted[place, held_out] = model.predict(X[held_out])
            tell((part * 3 + place + 1) / (folds * 3))
    return np.median(predicted, axis=0)


def fold_numbers(codes: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return a fold a row, in 0 .. folds - 1, drawn with ``seed``; each class is spread evenly."""
    order = np.random.default_rng(seed).permutation(len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), np.int64)
    fold[by_class] = np.arange(len(codes)) % folds
    return fold


def _members(rows: int, seed: int) -> list[Any]:
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    trees: dict[str, Any] = {"n_estimators": _TREES, "min_samples_leaf": 2, "random_state": seed}
    trees["n_jobs"] = None if rows < _ONE_THREAD else -1
    return [
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        RandomForestClassifier(**trees),
        ExtraTreesClassifier(**trees),
    ]


def _members_for_numbers(rows: int, seed: int) -> list[Any]:
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    trees: dict[str, Any] = {"n_estimators": _TREES, "min_samples_leaf": 2, "random_state": seed}
    trees["n_jobs"] = None if rows < _ONE_THREAD else -1
    return [
        make_pipeline(StandardScaler(), RidgeCV((0.1, 1.0, 10.0, 100.0, 1000.0))),
        RandomForestRegressor(**trees),
        ExtraTreesRegressor(**trees),
    ]


def _chances(
    model: Any, X: np.ndarray, codes: np.ndarray, asked: np.ndarray, classes: int
) -> np.ndarray:
    """Return class chances (asked, classes); a class that was not learned has none."""
    chances = np.zeros((len(asked), classes))
    there = np.unique(codes)
    chances[:, there] = model.fit(X, codes).predict_proba(asked) if len(there) > 1 else 1.0
    return chances
