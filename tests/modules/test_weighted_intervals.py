"""Intervals hold where the rows that count most are those that the model has wrong."""

import numpy as np
import pytest

from easeml.modules import Predictions, interval, measured
from easeml.sampling_error import effective, rows_of_share

DRAWS = 200


def test_a_share_is_of_fewer_rows_where_heavy_ones_are_wrong() -> None:
    counts = np.repeat([1.0, 5.0], [90, 10])
    light_wrong = np.arange(100) >= 10
    heavy_wrong = np.arange(100) < 90
    assert rows_of_share(light_wrong, counts) == effective(counts)
    assert rows_of_share(heavy_wrong, counts) < 0.8 * effective(counts)
    alike = np.full(100, 3.0)
    assert rows_of_share(heavy_wrong, alike) == pytest.approx(100)
    assert rows_of_share(np.ones(100, dtype=bool), counts) == effective(counts)


def test_accuracy_holds_where_heavy_rows_are_wrong() -> None:
    held = 0
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        is_heavy = random.random(200) < 0.2
        right = random.random(200) < np.where(is_heavy, 0.5, 0.95)
        weights = np.where(is_heavy, 4.0, 1.0) / 1.6
        said = Predictions(np.where(right, "a", "b"), None, np.array(["a", "b"]))
        _, low, high = interval("accuracy", np.full(200, "a"), said, weights)
        held += low <= 0.725 <= high  # half of the weight is heavy
    assert held / DRAWS >= 0.94  # by the weights alone: .915


def test_errors_hold_where_heavy_rows_are_far_off() -> None:
    held = 0
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        is_heavy = random.random(100) < 0.1
        weights = np.where(is_heavy, 6.0, 1.0) / 1.5
        off = random.normal(0, np.where(is_heavy, 4.0, 1.0))
        found = measured("rmse", np.zeros(100), Predictions(off, None, None), weights, resamples=50)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 7**0.5 <= found.high  # 16 and 1, of weights .4 and .6
    assert held / DRAWS >= 0.92  # where the row more is as far off as the farthest: .895
