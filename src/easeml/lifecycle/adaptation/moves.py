"""Number columns whose location and scale have moved: another unit, an offset, a new sensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.01  # of all columns together, after Bonferroni
_MOST_LEFT = 0.5  # of the distance between both distributions, where a move explains it


@dataclass(frozen=True)
class Move:
    """``recent = median_after + factor * (old - median_before)`` for a column.

    ``before`` and ``left``: greatest distance between both distribution functions (Kolmogorov and
    Smirnov), in [0, 1], as the column is and after the move.
    """

    column: str
    median_before: float
    median_after: float
    factor: float
    before: float
    left: float

    def apply(self, values: Any) -> np.ndarray:
        """Return values of the labelled rows as they would be read today."""
        old = np.asarray(values, dtype=np.float64)
        return self.median_after + self.factor * (old - self.median_before)


def moves_between(labelled: pd.DataFrame, recent: pd.DataFrame) -> tuple[Move, ...]:
    """Return the number columns that have moved, where a change of location and scale explains it.

    It does where it takes away half of the distance or more. Location is the median and scale the
    distance of the quartiles, so that outliers say little; a column whose quartiles fall together
    is left out.
    """
    names = [name for name in labelled.columns if _is_number(labelled[name])]
    found = []
    for name in names:
        move = _move(str(name), _known(labelled[name]), _known(recent[name]), _LEVEL / len(names))
        if move is not None:
            found.append(move)
    return tuple(found)


def _move(name: str, old: np.ndarray, new: np.ndarray, level: float) -> Move | None:
    from scipy.stats import ks_2samp

    if min(len(old), len(new)) < 20:
        return None
    spread, spread_after = _spread(old), _spread(new)
    if spread == 0 or spread_after == 0:
        return None
    apart: Any = ks_2samp(old, new, method="asymp")
    if apart.pvalue > level:
        return None
    move = Move(
        name,
        median_before=float(np.median(old)),
        median_after=float(np.median(new)),
        factor=spread_after / spread,
        before=float(apart.statistic),
        left=0.0,
    )
    still: Any = ks_2samp(move.apply(old), new, method="asymp")
    left = float(still.statistic)
    if left > _MOST_LEFT * move.before:
        return None
    return Move(**{**vars(move), "left": left})


def _spread(values: np.ndarray) -> float:
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


def _is_number(values: Any) -> bool:
    return values.dtype.kind in "fiu"


def _known(values: Any) -> np.ndarray:
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers[np.isfinite(numbers)]
