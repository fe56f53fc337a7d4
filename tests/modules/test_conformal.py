"""Intervals of numbers hold the stated share of rows, and are not made up where rows are few."""

import numpy as np
import pytest

from easeml.modules import Predictions, conformal


def numbers(values: np.ndarray) -> Predictions:
    return Predictions(values, None, None)


@pytest.mark.parametrize("rows", [9, 30, 200])
def test_the_stated_share_of_new_rows_lies_within(rows: int) -> None:
    rng = np.random.default_rng(rows)
    held = []
    for _ in range(400):
        residuals = rng.standard_t(3, rows + 50)  # with long tails
        band = conformal.describe(residuals[:rows], numbers(np.zeros(rows)))
        assert band is not None
        lower, upper = conformal.bounds(band, numbers(np.zeros(50)))
        new = residuals[rows:]
        held.append(np.mean((np.array(lower) <= new) & (new <= np.array(upper))))
    # At least the share, and by the theorem at most 1 / (rows + 1) more; each to within its error.
    error = 3 * np.std(held) / np.sqrt(len(held))
    assert conformal.COVERAGE - error <= np.mean(held)
    assert np.mean(held) <= conformal.COVERAGE + 1 / (rows + 1) + error


def test_eight_rows_tell_no_interval() -> None:
    assert conformal.describe(np.arange(8.0), numbers(np.zeros(8))) is None


def test_categories_and_tensors_have_none() -> None:
    labels = np.array(["a", "b"] * 20, dtype=object)
    classes = np.array(["a", "b"], dtype=object)
    assert conformal.describe(labels, Predictions(labels, None, classes)) is None
    tensors = np.zeros((40, 3))
    assert conformal.describe(tensors, numbers(tensors)) is None
