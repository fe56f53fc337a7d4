"""Numbers of a tensor: its elements, or statistics of them.

Statistics are taken where there are many elements, or where the size differs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_ELEMENTS = 4096
_SHARES = (0.25, 0.5, 0.75)
_LARGEST = 1e30


@dataclass(frozen=True, slots=True)
class TensorFeatures:
    """``fill``: the mean of each element, for missing ones; None: statistics are taken.

    ``rank``: of the tensors.
    """

    fill: NDArray[np.float64] | None
    rank: int

    @classmethod
    def learn(cls, cells: list[Any], dim: list[int | str]) -> "TensorFeatures":
        """Look at the tensors of the training rows."""
        one_size = all(isinstance(size, int) for size in dim)
        if not one_size or cells[0].size > _MOST_ELEMENTS:
            return cls(None, len(dim))

        rows = _plain(np.stack([cell.reshape(-1) for cell in cells]))
        known = ~np.isnan(rows)
        sums = np.where(known, rows, 0.0).sum(axis=0)
        counts = np.maximum(known.sum(axis=0), 1)
        return cls(sums / counts, len(dim))

    def transform(self, cells: list[Any]) -> NDArray[np.float64]:
        """Return the features of each tensor."""
        if self.fill is None:
            return np.stack([_statistics(_plain(cell)) for cell in cells])
        rows = _plain(np.stack([cell.reshape(-1) for cell in cells]))
        return np.where(np.isnan(rows), self.fill, rows)


def _plain(array: Any) -> NDArray[np.float64]:
    return np.clip(np.asarray(array, np.float64), -_LARGEST, _LARGEST)


def _statistics(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a tensor is like, as many numbers for each of a rank.

    These are the sizes, the share of missing elements, mean, deviation, least, largest, quartiles,
    and how values change along each axis.
    """
    known = array[~np.isnan(array)]
    if len(known) == 0:
        known = np.zeros(1)
    plain = [known.mean(), known.std(), known.min(), known.max(), *np.quantile(known, _SHARES)]

    steps = np.zeros(array.ndim)
    filled = np.nan_to_num(array)
    for axis in range(array.ndim):
        if array.shape[axis] > 1:
            steps[axis] = np.abs(np.diff(filled, axis=axis)).mean()

    missing = float(np.isnan(array).mean())
    return np.array([*array.shape, missing, *plain, *steps])
