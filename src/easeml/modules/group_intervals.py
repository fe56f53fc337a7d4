"""95 % intervals of the gap between groups of rows, and of the group where a measure is worst.

The largest of several estimates is too large, as the least is too small: by chance alone groups
that are alike differ. Resampled rows differ by chance twice, so quantiles of a bootstrap lie above
a gap of 0 every time. Here each group has an interval of its own, and these are put together.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution
_SURE = 0.975  # of each end


@dataclass(frozen=True, slots=True)
class Groups:
    """What was measured of K independent groups, each (K,), with the ends of 95 % intervals."""

    values: NDArray[np.float64]
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]

    def mirrored(self) -> "Groups":
        """Return what the negative of the measure is."""
        return Groups(-self.values, -self.highs, -self.lows)


def of_gap(groups: Groups) -> tuple[float, float]:
    """Return the interval of the difference between the largest and the least of K true values.

    Differences of two groups have the intervals of Zou and Donner (``of_mean_of_classes``). The gap
    is one of these differences, and no other is larger: so the largest upper end holds for it. The
    lower end allows for the choice of the largest of all differences, as J. Tukey's studentised
    range does.
    """
    below = groups.values - groups.lows
    above = groups.highs - groups.values
    apart = groups.values[:, None] - groups.values[None, :]
    up = np.hypot(above[:, None], below[None, :])
    down = np.hypot(below[:, None], above[None, :]) * _for_all_pairs(len(groups.values))
    np.fill_diagonal(up, 0.0)
    np.fill_diagonal(down, 0.0)
    return float((apart - down).max()), float((apart + up).max())


def of_least(groups: Groups) -> tuple[float, float]:
    """Return the interval of the least of K true values.

    It is that of one group, and no other is less: so the least lower end holds for it. The upper end
    allows for the choice among K (Z. Sidak, JASA 62, 1967), and passes no upper end of all.
    """
    above = (groups.highs - groups.values) * _for_all_groups(len(groups.values))
    high = min(float((groups.values + above).min()), float(groups.highs.max()))
    return float(groups.lows.min()), high


def of_largest(groups: Groups) -> tuple[float, float]:
    """Return the interval of the largest of K true values; see ``of_least``."""
    low, high = of_least(groups.mirrored())
    return -high, -low


@cache
def _for_all_pairs(groups: int) -> float:
    """Return how many times wider the intervals of all differences are, so that all hold at once."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(_SURE, groups, np.inf)) / (np.sqrt(2) * _Z)


def _for_all_groups(groups: int) -> float:
    """Return how many times farther the ends of all groups are, so that all hold at once."""
    from scipy.stats import norm

    return float(norm.ppf(_SURE ** (1 / groups))) / _Z
