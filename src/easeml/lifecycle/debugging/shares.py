"""Intervals of shares and of their differences, and exact tests of two shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from easeml.lifecycle.exact_shares import exact_interval

_LEVEL = 0.95


def interval(count: float, of: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Clopper and Pearson, Biometrika 26, 1934)."""
    return exact_interval(count, of, tail=(1 - _LEVEL) / 2)


def difference(now: tuple[int, int], before: tuple[int, int]) -> tuple[float, float, float]:
    """Return now - before of two shares (count, of), with its 95 % interval.

    R. G. Newcombe, Statistics in Medicine 17, 1998, method 10, of exact intervals.
    """
    share = now[0] / max(now[1], 1)
    other = before[0] / max(before[1], 1)
    low, high = interval(*now)
    other_low, other_high = interval(*before)
    gap = share - other
    down = np.hypot(share - low, other_high - other)
    up = np.hypot(high - share, other - other_low)
    return gap, max(-1.0, float(gap - down)), min(1.0, float(gap + up))


def is_more(count: int, of: int, other_count: int, other_of: int) -> float:
    """Return the p-value of a share being no greater than another (Fisher's exact test)."""
    from scipy.stats import fisher_exact

    table = [[count, of - count], [other_count, other_of - other_count]]
    tested: Any = fisher_exact(table, alternative="greater")
    return float(tested.pvalue)
