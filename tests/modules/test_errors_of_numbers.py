"""Intervals of errors of numbers hold where a few rows are far off."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from easeml.modules import Predictions, interval, measured

DRAWS = 150
ROWS = 300
TRUTH = {"mean-absolute-error": np.exp(0.5), "rmse": np.exp(1.0)}


@pytest.mark.parametrize(
    ("objective", "most"),
    [("mean-absolute-error", 0.06), ("rmse", 0.15)],  # resampled rows: .07 and .19
)
def test_errors_of_which_few_are_large_are_not_told_too_small(objective: str, most: float) -> None:
    below = above = 0
    for seed in range(DRAWS):
        off = np.exp(np.random.default_rng(seed).normal(size=ROWS))
        actual = pd.Series(np.zeros(ROWS))
        found = measured(objective, actual, Predictions(off, None, None), resamples=200)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.value <= found.high
        below += found.high < TRUTH[objective]
        above += found.low > TRUTH[objective]
    assert below / DRAWS <= most
    assert above / DRAWS <= 0.05


@pytest.mark.parametrize(
    ("objective", "value_of"),
    [("r2", lambda ratio: 1 - ratio), ("rmse", lambda ratio: 1 - ratio**0.5)],
)
def test_a_quality_of_which_few_rows_take_most_is_not_told_too_high(
    objective: str, value_of: Callable[[float], float]
) -> None:
    truth = value_of(4.2 / 9)  # squares: 1 and, in a twentieth of the rows, 64 more; 9 of the mean
    below = above = 0
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        actual = random.normal(10, 3, ROWS)
        far = random.normal(0, 8, ROWS) * (random.random(ROWS) < 0.05)
        said = Predictions(actual + random.normal(size=ROWS) + far, None, None)
        quality, low, high = interval(objective, actual, said, resamples=200)
        assert -1 <= low <= quality <= high <= 1
        below += high < truth
        above += low > truth
    assert above / DRAWS <= 0.04  # resampled rows: .11
    assert below / DRAWS <= 0.04


def test_a_model_as_good_as_the_mean_is_told_as_closely_as_by_resampled_rows() -> None:
    random = np.random.default_rng(3)
    actual = random.normal(10, 3, ROWS)
    said = 10 + 0.1 * (actual - 10) + random.normal(0, 0.5, ROWS)
    found = measured("r2", actual, Predictions(said, None, None))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.16 < found.high
    assert found.high - found.low < 0.15  # resampled rows: .08


def test_what_is_exactly_right_is_told_so_and_what_never_varies_is_right_or_wrong() -> None:
    actual = np.arange(40.0)
    assert interval("r2", actual, Predictions(actual.copy(), None, None)) == (1.0, 1.0, 1.0)
    same = np.zeros(40)
    assert interval("r2", same, Predictions(same + 1, None, None)) == (-1.0, -1.0, -1.0)


def test_rows_that_count_twice_are_as_two_and_no_error_stays_none() -> None:
    off = np.array([0.0, 1.0, 3.0] * 20)
    actual = pd.Series(np.zeros(60))
    said = Predictions(off, None, None)
    light = measured("rmse", actual, said, np.full(60, 1.0))
    heavy = measured("rmse", actual, said, np.full(60, 7.0))
    assert (light.low, light.high) == pytest.approx((heavy.low, heavy.high))
    none = measured("rmse", actual, Predictions(np.zeros(60), None, None))
    assert (none.low, none.high) == (0.0, 0.0)


def test_a_row_of_a_tensor_counts_once() -> None:
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(50, 1))
    wide = np.repeat(errors, 4, axis=1)
    one = measured("rmse", np.zeros((50, 1)), Predictions(errors, None, None))
    four = measured("rmse", np.zeros((50, 4)), Predictions(wide, None, None))
    assert (four.low, four.high) == pytest.approx((one.low, one.high))
