"""What a wrong or missing cell could be, and how likely each of that is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDS = 5
"""Parts in which known cells are held out."""
MOST_TAUGHT = 2000
"""Known cells that models learn from; of more, a sample of so many."""
_EDGE = 0.1  # of the known cells: quartiles are nearest more often than what lies between them
_AS_GOOD = 0.98  # of the error of the mean: models that leave more know as little, and fit chance

Options = list[tuple[Any, float]]
"""Values that a cell could have, each once, with probabilities that sum to one."""


@dataclass(frozen=True)
class ColumnRepairs:
    """Repairs of a column.

    ``values[m][i]`` is what repairer m says of row i, ``weights[m]`` how often it is right.
    """

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    weights: np.ndarray

    def options(self, row: int) -> Options:
        """Return what a cell could be: equal values once, with their weights added."""
        found: dict[Any, float] = {}
        for values, weight in zip(self.values, self.weights, strict=True):
            value = values[row]
            if isinstance(value, np.generic):
                value = value.item()
            found[value] = found.get(value, 0.0) + float(weight)
        return list(found.items())


def number_repairs(
    values: np.ndarray, trusted: np.ndarray, others: np.ndarray, *, seed: int
) -> ColumnRepairs:
    """Repairs of a column of numbers.

    Repairers: smallest, first and ninth decile, mean and largest of the trusted cells (Karlas et
    al., VLDB 2021, section 5.1, take quartiles); in place of the mean, where it is nearer to cells
    that it was not shown, what models of the other columns say together (the ten rows most like this one, a
    regression tree, a ridge regression). Weights: see ``_contest``.

    Args:
        values: (N,) numbers; only those of trusted rows are read.
        trusted: (N,) bool, at least one True.
        others: (N, D) the other columns as numbers.
        seed: of folds and tree.
    """
    known = values[trusted]
    fixed = {
        "smallest": known.min(),
        "low": np.quantile(known, _EDGE),
        "mean": known.mean(),
        "high": np.quantile(known, 1 - _EDGE),
        "largest": known.max(),
    }
    told = {name: np.full(len(values), value) for name, value in fixed.items()}
    models = number_models(len(known), seed)
    said = _predictions(models, scaled(others), values, trusted, seed)
    blend = _blended(said, values, trusted)
    if blend is not None:
        # Both say what is usual: beside each other they would share what either is right in.
        del told["mean"]
        told["models"] = blend
    miss = np.stack([np.abs(column[trusted] - known) for column in told.values()], axis=1)
    whole = bool((known == np.floor(known)).all())
    shorten = np.round if whole else _short
    made = tuple(map(shorten, told.values()))
    return ColumnRepairs(tuple(told), made, _contest(miss == miss.min(axis=1, keepdims=True)))


def number_models(known: int, seed: int) -> Mapping[str, Callable[[], Any]]:
    """Return what makes each model that repairs numbers, of so many known cells."""
    from sklearn.linear_model import RidgeCV
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    return {
        "neighbours": lambda: KNeighborsRegressor(min(10, max(1, int(known * 0.6)))),
        "tree": lambda: DecisionTreeRegressor(min_samples_leaf=5, max_depth=8, random_state=seed),
        "linear": lambda: RidgeCV(np.logspace(-1, 4, 6)),
    }


def _blended(
    said: Mapping[str, np.ndarray], values: np.ndarray, trusted: np.ndarray
) -> np.ndarray | None:
    """Return what models say together; None where the mean of the known cells is as good.

    They are weighed so that the squared error is least on cells that they were not shown (stacking
    with weights that are not negative; Breiman, Machine Learning 24, 1996).
    """
    from scipy.optimize import nnls

    if not said:
        return None
    known = values[trusted]
    middle = known.mean()
    shifts = np.stack(list(said.values()), axis=1) - middle
    weights, left = nnls(shifts[trusted], known - middle)
    if left >= _AS_GOOD * np.linalg.norm(known - middle):
        return None
    return middle + shifts @ weights


def cell_options(
    original: Any, suggestion: Any, confidence: float, repairs: Callable[[], Options]
) -> Options:
    """Return what a suspicious cell could be.

    ``original``: its value, None where it cannot be right (missing, or no number in a column of
    numbers): then the suggestion, where there is one, is the only option. Otherwise the original is
    right with 1 - ``confidence``, and what is left goes to the suggestion, or to all ``repairs``.
    """
    others = repairs if suggestion is None else lambda: [(suggestion, 1.0)]
    if original is None:
        return others()
    if suggestion == original:
        return [(suggestion, 1.0)]
    doubt = min(max(confidence, 0.05), 0.95)
    merged: dict[Any, float] = {original: 1.0 - doubt}
    for value, weight in others():
        merged[value] = merged.get(value, 0.0) + doubt * weight
    return list(merged.items())


def row_options(cells: Mapping[str, Options], most: int) -> list[tuple[dict[str, Any], float]]:
    """Combine the options of a row's cells into at most ``most`` candidate rows.

    Each comes with its probability; these sum to 1. All combinations, as if cells were independent,
    where there are few enough. Otherwise candidate j takes the j-th likeliest option of every cell
    (cells with fewer start again), so every option is there, but not every combination.
    """
    count = math.prod(map(len, cells.values()))
    every_cell = list(cells.values())
    all_fit = count <= most
    picks = list(itertools.product(*every_cell)) if all_fit else _some_of_each(every_cell, most)
    worlds, chances = [], []
    for pick in picks:
        values, weights = zip(*pick, strict=True)
        worlds.append(dict(zip(cells, values, strict=True)))
        chances.append(float(np.prod(weights)))
    total = sum(chances)
    return [(world, chance / total) for world, chance in zip(worlds, chances, strict=True)]


def _some_of_each(cells: Sequence[Options], most: int) -> list[tuple[tuple[Any, float], ...]]:
    """Return at most ``most`` combinations that hold every option, as far as these suffice."""
    ranked = [sorted(options, key=lambda option: -option[1]) for options in cells]
    longest = max(map(len, ranked))
    picks = []
    for j in range(min(most, longest)):
        picks.append(tuple(options[j % len(options)] for options in ranked))
    return picks


def _contest(right: np.ndarray) -> np.ndarray:
    """Return each repairer's share of trusted cells on which it did best, of (n, m) bool.

    Shared where several did. A cell that a repairer learned from is not counted for it: models say
    cross-validated values there. One win is added to each, so that none is ruled out.
    """
    wins = (right / np.maximum(1, right.sum(axis=1, keepdims=True))).sum(axis=0) + 1.0
    return wins / wins.sum()


def _predictions(
    models: Mapping[str, Callable[[], Any]],
    X: np.ndarray,
    values: np.ndarray,
    trusted: np.ndarray,
    seed: int,
) -> dict[str, np.ndarray]:
    """Fit on trusted cells (a sample of them), and predict every cell of the column.

    The sample gets cross-validated predictions, so that they can be compared with its values.
    """
    from sklearn.model_selection import KFold, cross_val_predict

    rows = np.flatnonzero(trusted)
    if len(rows) < 2 * FOLDS:
        return {}
    generator = np.random.default_rng(seed)
    taught = rows
    if len(rows) > MOST_TAUGHT:
        taught = np.sort(generator.choice(rows, MOST_TAUGHT, replace=False))
    said = {}
    for name, make in models.items():
        column = np.asarray(make().fit(X[taught], values[taught]).predict(X))
        folds = KFold(FOLDS, shuffle=True, random_state=seed)
        column[taught] = cross_val_predict(make(), X[taught], values[taught], cv=folds)
        said[name] = column
    return said


def scaled(matrix: np.ndarray) -> np.ndarray:
    """Return columns of unit variance; those that never vary as they are."""
    spread = matrix.std(axis=0)
    return matrix / np.where(spread > 0, spread, 1.0)


def _short(column: np.ndarray) -> np.ndarray:
    """Round to six significant digits.

    Candidates are read by people, and near-equal ones should be equal.
    """
    scale = 10.0 ** (5 - np.floor(np.log10(np.maximum(np.abs(column), 1e-300))))
    return np.round(column * scale) / scale
