"""The mean of the target in each category, as features beside those of a table.

Codes and indicators tell a model which category a row has; only the mean tells at once what many
categories are worth (Micci-Barreca, SIGKDD Explorations 3(1), 2001). Small categories are drawn
towards the mean of all rows.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context, Data
from easeml.modules.files import load_arrays, save_arrays
from easeml.modules.weights import counts_of
from easeml.zoo.transforms.table_columns import Table, offsets

_FILE = "means.npz"
_FOLDS = 5  # the means of a training row come from the other four
_LEAST_ROWS = 20  # below this, means of parts of the rows tell nothing


@dataclass(frozen=True, slots=True)
class TargetMeans:
    """``places``: which categories of the table have means; ``means`` holds, for each of these, that
    of "missing" and of each label; ``starts``: where each begins.
    """

    places: NDArray[np.intp]
    starts: NDArray[np.intp]
    means: NDArray[np.float64]

    def of(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the means (rows, places) of the codes of all categories, -1 where missing."""
        return self.means[self.starts + 1 + codes[:, self.places]]

    def of_column(self, index: int) -> NDArray[np.float64]:
        """Return the means of the ``index``-th column that has some: "missing", then each label."""
        end = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.means)
        return self.means[self.starts[index] : end]

    def save(self, folder: Path) -> None:
        """Write a file beside those of the transform."""
        save_arrays(folder / _FILE, places=self.places, starts=self.starts, means=self.means)

    @classmethod
    def load(cls, folder: Path) -> "TargetMeans | None":
        """Read what was saved; None where nothing was, as by a transform without means."""
        path = folder / _FILE
        return cls(**load_arrays(path)) if path.exists() else None


def learn_means(
    table: Table, data: Data, most_plain: int, context: Context
) -> tuple[TargetMeans, NDArray[np.float64]] | None:
    """Return means of a number target, and those that the training rows get (rows, columns).

    ``data.X`` is the table of the training rows. ``most_plain``: columns of no more categories get
    none. None where there is no such column, the target is no number, or rows are too few. The mean
    that a training row gets is of other rows: of its own, it would tell the model the answer.
    """
    is_number = not data.classes and data.y.ndim == 1
    if not is_number or len(data.y) < _LEAST_ROWS:
        return None
    rows: Any = data.X
    codes = table.codes(rows)
    seen = np.array([len(np.unique(column)) for column in codes.T], dtype=int)
    places = np.flatnonzero(seen > most_plain)
    if len(places) == 0:
        return None

    starts = offsets(tuple(table.categories[place] for place in places))
    slots = starts[:-1] + 1 + codes[:, places]
    means, of_training = _cross_fitted(slots, data.y, starts[-1], context)
    return TargetMeans(places, starts[:-1], means), of_training


def _cross_fitted(
    slots: NDArray[np.intp], y: NDArray[np.float64], size: int, context: Context
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of each slot (size,), and for each entry of ``slots`` (rows, columns) that of
    the rows in other folds.
    """
    counts = counts_of(context.weights, len(y))
    centre = np.average(
        y, weights=context.weights
    )  # squares of small differences between large numbers would be lost
    fold_of = np.random.default_rng(context.seed).permutation(len(y)) % _FOLDS
    folds = [fold_of == fold for fold in range(_FOLDS)]
    totals = [_totals(slots[rows], y[rows] - centre, counts[rows], size) for rows in folds]
    every = np.sum(totals, axis=0)

    of_training = np.empty(slots.shape)
    for rows, own in zip(folds, totals, strict=True):
        of_others = _shrunk(every - own)
        of_training[rows] = of_others[slots[rows]]
    return centre + _shrunk(every), centre + of_training


def _totals(
    slots: NDArray[np.intp], y: NDArray[np.float64], counts: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """Return the rows of each slot, the sum of their targets, and that of the squares (3, size).

    ``counts`` (rows,): by which each row counts.
    """
    flat = slots.ravel()
    targets, each_counts = (np.repeat(one, slots.shape[1]) for one in (y, counts))
    weights = (each_counts, each_counts * targets, each_counts * targets**2)
    return np.array([np.bincount(flat, each, size) for each in weights], dtype=np.float64)


def _shrunk(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means drawn towards that of all rows, the more the fewer and the more different the
    rows of a slot are: the empirical Bayes estimate of Micci-Barreca, which scikit-learn's
    ``TargetEncoder`` makes, too.
    """
    counts, sums, squares = totals
    mean = sums.sum() / counts.sum()
    variance = squares.sum() / counts.sum() - mean**2

    rows = np.where(counts > 0, counts, 1)
    own = sums / rows
    spread = np.maximum(squares / rows - own**2, 0)
    known = counts * variance
    share = np.divide(known, known + spread, out=np.zeros_like(known), where=known > 0)
    return mean + share * (own - mean)
