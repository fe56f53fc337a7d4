"""Numbers of a tensor: its elements, or where there are many or its size differs, statistics of
them.
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
        if not all(isinstance(size, int) for size in dim) or cells[0].size > _MOST_ELEMENTS:
            return cls(None, len(dim))
        rows = _plain(np.stack([cell.reshape(-1) for cell in cells]))
        known = ~np.isnan(rows)
        return cls(
            np.where(known, rows, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), len(dim)
        )

    def transform(self, cells: list[Any]) -> NDArray[np.float64]:
        """Return the features of each tensor."""
        if self.fill is None:
            return np.stack([_statistics(_plain(cell)) for cell in cells])
        rows = _plain(np.stack([cell.reshape(-1) for cell in cells]))
        return np.where(np.isnan(rows), self.fill, rows)


def _plain(array: Any) -> NDArray[np.float64]:
    return np.clip(np.asarray(array, np.float64), -_LARGEST, _LARGEST)


def _statistics(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sizes, the share of missing elements, mean, deviation, least, largest, quartiles,
    and how values change along each axis."""
    known = array[~np.isnan(array)]
    known = known if len(known) else np.zeros(1)
    steps = [float(np.nanmean(np.abs(np.diff(np.nan_to_num(array), axis=axis)))) if array.shape[axis] > 1 else 0.0
             for axis in range(array.ndim)]  # fmt: skip
    plain = [known.mean(), known.std(), known.min(), known.max(), *np.quantile(known, _SHARES)]
    return np.array([*array.shape, float(np.isnan(array).mean()), *plain, *steps])
