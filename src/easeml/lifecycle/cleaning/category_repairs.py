"""What a wrong or missing category could be, and how likely each of that is, row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.lifecycle.cleaning.repairs import FOLDS, MOST_TAUGHT, Options, scaled

_MOST = 10  # values that a cell is offered
_ROUNDS = 50  # of expectation maximisation, in which four weights have long settled
_LEAST_SURE = 1e-6  # chances are taken to lie this far from 0 and 1


@dataclass(frozen=True)
class CategoryRepairs:
    """Chances of the values of some cells of a column.

    ``places``: rows to rows of ``chances`` (n, C), which are those of ``levels`` (C,).
    """

    levels: np.ndarray
    places: Mapping[int, int]
    chances: np.ndarray

    def options(self, row: int) -> Options:
        """Return what a cell could be, at most ten values, with weights that sum to one.

        The likeliest keeps its chance; the others share what is left as their own chances are.
        """
        chances = self.chances[self.places[row]]
        order = np.argsort(-chances, kind="stable")[:_MOST]
        values = self.levels[order].tolist()
        kept = chances[order]
        others = kept[1:].sum()
        if others <= 0:
            return [(values[0], 1.0)]
        weights = np.append(kept[0], kept[1:] * ((1 - kept[0]) / others))
        return list(zip(values, weights.tolist(), strict=True))


def category_repairs(
    values: np.ndarray,
    trusted: np.ndarray,
    others: np.ndarray,
    *,
    seed: int,
    asked: np.ndarray | None = None,
) -> CategoryRepairs:
    """Repairs of a column of categories.

    How often a value comes, the ten most similar rows and a classification tree each say how likely
    every value is. Their mean is weighed so that it makes cells likeliest that none of them was
    shown (expectation maximisation over a mixture with fixed parts). How often the likeliest value
    is right there, by its chance, becomes its chance (a logistic curve; Platt, 1999): what several
    agree on is right more often than the mean of what they say.

    Args:
        values: (N,) strings, or numbers that are codes; only those of trusted rows are read.
        trusted: (N,) bool, at least one True.
        others: (N, D) the other columns as numbers.
        seed: of folds and tree.
        asked: (N,) bool, the rows to repair; by default those that are not trusted.
    """
    rows = np.flatnonzero(~trusted if asked is None else asked)
    known = values[trusted]
    if known.dtype == object:
        known = known.astype(str)
    levels, codes = np.unique(known, return_inverse=True)
    usual = np.bincount(codes) / len(codes)
    places = {int(row): place for place, row in enumerate(rows)}
    told = _told(scaled(others), trusted, rows, codes, len(levels), seed)
    if told is None:
        return CategoryRepairs(levels, places, np.tile(usual, (len(rows), 1)))
    held_out, truth, members = told
    parts = [np.broadcast_to(usual, held_out[0].shape), *held_out]
    weights = _pool_weights(parts, truth)
    right = _how_often_right(_pooled(parts, weights), truth)
    said = _pooled([np.broadcast_to(usual, members[0].shape), *members], weights)
    return CategoryRepairs(levels, places, _with_top(said, right))


def category_models(known: int, seed: int) -> Mapping[str, Callable[[], Any]]:
    """Return what makes each model that repairs categories, of so many known cells."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "neighbours": lambda: KNeighborsClassifier(min(10, max(1, int(known * 0.6)))),
        "tree": lambda: DecisionTreeClassifier(min_samples_leaf=5, max_depth=8, random_state=seed),
    }


def _told(
    X: np.ndarray, trusted: np.ndarray, rows: np.ndarray, codes: np.ndarray, levels: int, seed: int
) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]] | None:
    """Return what models say of known cells that they were not shown, and of those asked for.

    That is: chances (n, C) of each model, the codes (n,) of these cells, and chances (rows, C) of
    each model. None where too few cells are known. Of many cells, a sample teaches.
    """
    from sklearn.model_selection import KFold

    there = np.flatnonzero(trusted)
    if len(there) < 2 * FOLDS:
        return None
    taught = np.arange(len(there))
    if len(there) > MOST_TAUGHT:
        drawn = np.random.default_rng(seed).choice(len(there), MOST_TAUGHT, replace=False)
        taught = np.sort(drawn)
    X_taught, truth = X[there[taught]], codes[taught]
    held_out, members = [], []
    for make in category_models(len(there), seed).values():
        chances = np.zeros((len(taught), levels))
        for rest, part in KFold(FOLDS, shuffle=True, random_state=seed).split(taught):
            chances[part] = _chances(
                make().fit(X_taught[rest], truth[rest]), X_taught[part], levels
            )
        held_out.append(chances)
        members.append(_chances(make().fit(X_taught, truth), X[rows], levels))
    return held_out, truth, members


def _chances(model: Any, X: np.ndarray, levels: int) -> np.ndarray:
    """Return chances (n, levels); of values that the model was not shown, none."""
    chances = np.zeros((len(X), levels))
    if len(X):
        chances[:, model.classes_] = model.predict_proba(X)
    return chances


def _pooled(parts: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Return the weighted mean of chances."""
    return np.tensordot(weights, np.stack(parts), axes=1)


def _pool_weights(parts: list[np.ndarray], truth: np.ndarray) -> np.ndarray:
    """Return the weights (m,) of m parts with which their mean makes the truth likeliest.

    One cell is added to each part, so that none is ruled out.
    """
    cells = np.arange(len(truth))
    likely = np.stack([part[cells, truth] for part in parts], axis=1)
    weights = np.full(len(parts), 1 / len(parts))
    for _ in range(_ROUNDS):
        shares = likely * weights
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), _LEAST_SURE)
        weights = shares.sum(axis=0) + 1.0
        weights /= weights.sum()
    return weights


def _how_often_right(chances: np.ndarray, truth: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what makes of the chance of a likeliest value how often such a value is right."""
    from sklearn.linear_model import LogisticRegression

    right = chances.argmax(axis=1) == truth
    if right.all() or not right.any():
        usual = (right.sum() + 1) / (len(right) + 2)
        return lambda top: np.full(len(top), usual)
    curve = LogisticRegression(C=10.0).fit(_odds(chances.max(axis=1)), right)
    return lambda top: curve.predict_proba(_odds(top))[:, 1]


def _odds(chances: np.ndarray) -> np.ndarray:
    """Return logarithms of odds, as a column."""
    safe = np.clip(chances, _LEAST_SURE, 1 - _LEAST_SURE)
    return np.log(safe / (1 - safe))[:, None]


def _with_top(chances: np.ndarray, right: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return chances of which the largest in each row is as it is right; it stays the largest."""
    if not chances.size:
        return chances
    cells = np.arange(len(chances))
    first = chances.argmax(axis=1)
    top = chances[cells, first]
    others = chances.copy()
    others[cells, first] = 0.0
    others /= np.maximum(others.sum(axis=1, keepdims=True), _LEAST_SURE)
    second = others.max(axis=1)
    new_top = np.maximum(right(top), second / (1 + second))
    found = others * (1 - new_top)[:, None]
    found[cells, first] = new_top
    return found
