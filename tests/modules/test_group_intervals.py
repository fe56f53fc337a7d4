"""Intervals of gaps between groups, and of the worst one, hold what is true as often as stated."""

import numpy as np
import pytest

from easeml.modules.group_intervals import Groups, of_gap, of_largest, of_least
from easeml.sampling_error import wilson

DRAWS = 300
AT_MOST = 0.08  # misses of 5 % stated, allowing for 300 draws


def measured(rows: list[int], shares: list[float], seed: int) -> Groups:
    """Return shares of rows that are right, of groups with such true ones."""
    right = np.random.default_rng(seed).binomial(rows, shares)
    ends = [wilson(hits / of, of) for hits, of in zip(right, rows, strict=True)]
    lows, highs = np.array(ends).T
    return Groups(right / np.array(rows), lows, highs)


@pytest.mark.parametrize(
    ("rows", "shares"),
    [
        ([20] * 6, [0.8] * 6),
        ([100] * 6, [0.95] * 6),
        ([15, 400], [0.9, 0.9]),
        ([15, 400], [0.7, 0.9]),
        ([60] * 12, list(np.linspace(0.7, 0.95, 12))),
    ],
)
def test_intervals_hold_as_often_as_stated(rows: list[int], shares: list[float]) -> None:
    missed = np.zeros(2)
    for seed in range(DRAWS):
        groups = measured(rows, shares, seed)
        low, high = of_gap(groups)
        gap = max(shares) - min(shares)
        missed[0] += not low - 1e-9 <= gap <= high + 1e-9
        low, high = of_least(groups)
        missed[1] += not low <= min(shares) <= high
    assert (missed / DRAWS <= AT_MOST).all(), missed


def test_ends_hold_what_was_measured_and_no_share_passes_its_limits() -> None:
    for seed in range(50):
        groups = measured([12, 30, 500], [0.97, 0.5, 0.9], seed)
        low, high = of_gap(groups)
        assert 0 <= low <= np.ptp(groups.values) <= high <= 1
        low, high = of_least(groups)
        assert 0 <= low <= groups.values.min() <= high <= 1
        low, high = of_largest(groups)
        assert 0 <= low <= groups.values.max() <= high <= 1


def test_two_groups_have_the_interval_of_their_difference() -> None:
    groups = Groups(np.array([0.5, 0.8]), np.array([0.4, 0.7]), np.array([0.6, 0.88]))
    low, high = of_gap(groups)
    assert high == pytest.approx(0.3 + np.hypot(0.08, 0.1))
    assert 0 < low < 0.3 - np.hypot(0.1, 0.1)  # either of two could have been the larger one
