"""Intervals of errors of numbers hold where a few rows are far off."""

import numpy as np
import pandas as pd
import pytest

from easeml.modules import Predictions, measured

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
