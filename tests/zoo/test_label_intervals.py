"""Intervals of the F1 of labels hold where most labels are rare, and nearly all answers right."""

import numpy as np
import pytest
from numpy.typing import NDArray

from easeml.sampling_error import wilson
from easeml.zoo.objectives.labels import LabelF1

DRAWS = 200
Labels = tuple[NDArray[np.float64], NDArray[np.float64]]


def rare(rows: int, random: np.random.Generator) -> Labels:
    """Fifteen labels of three rows in a hundred, and five of thirty; three of five are found."""
    shares = np.r_[np.full(15, 0.03), np.full(5, 0.3)]
    has = random.random((rows, 20)) < shares
    said = np.where(has, random.random((rows, 20)) < 0.6, random.random((rows, 20)) < shares * 0.3)
    return has.astype(float), said.astype(float)


def nearly_right(rows: int, random: np.random.Generator) -> Labels:
    """Of ten labels of five rows in a hundred, one in fifty is not found."""
    has = random.random((rows, 10)) < 0.05
    return has.astype(float), (has & (random.random((rows, 10)) < 0.98)).astype(float)


def together(rows: int, random: np.random.Generator) -> Labels:
    """Twelve labels that the same rows have, and that are missed in the same rows."""
    has = (random.random((rows, 12)) < 0.9) & (random.random((rows, 1)) < 0.15)
    said = (has & (random.random((rows, 1)) > 0.3)) | (
        (random.random((rows, 1)) < 0.02) & (random.random((rows, 12)) < 0.8)
    )
    return has.astype(float), said.astype(float)


@pytest.mark.parametrize("draw", [rare, nearly_right, together])
@pytest.mark.parametrize("rows", [40, 150])
def test_intervals_hold_as_often_as_stated(draw, rows: int) -> None:
    truth = LabelF1().value(*draw(100_000, np.random.default_rng(1)))
    missed = 0
    for seed in range(DRAWS):
        has, said = draw(rows, np.random.default_rng(seed))
        low, high = LabelF1().ends(has, said)
        assert 0 <= low <= LabelF1().value(has, said) <= high <= 1
        missed += not low <= truth <= high
    assert missed / DRAWS <= 0.1  # 5 % stated, of 200 draws; resampled rows: up to .64


def test_the_interval_of_one_label_is_that_of_the_share_that_is_both() -> None:
    has = np.repeat([[1.0], [0.0]], [30, 70], axis=0)
    said = np.repeat([[1.0], [0.0], [1.0], [0.0]], [24, 6, 10, 60], axis=0)
    low, high = LabelF1().ends(has, said)
    least, most = wilson(24 / 40, 40)
    assert low == pytest.approx(2 * least / (1 + least))
    assert 2 * most / (1 + most) <= high < 2 * most / (1 + most) + 0.01


def test_rows_that_count_twice_tell_no_more_and_rows_that_count_little_less() -> None:
    has, said = rare(200, np.random.default_rng(5))
    plain = LabelF1().ends(has, said)
    assert LabelF1().ends(has, said, np.full(200, 2.0)) == pytest.approx(plain)
    uneven = np.where(np.arange(200) < 100, 1.0, 0.01)
    low, high = LabelF1().ends(has, said, uneven)
    assert high - low > 1.2 * (plain[1] - plain[0])


def test_no_label_at_all_tells_nothing() -> None:
    nothing = np.zeros((5, 3))
    assert LabelF1().ends(nothing, nothing) == (0.0, 1.0)
