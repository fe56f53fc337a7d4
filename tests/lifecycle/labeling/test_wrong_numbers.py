"""Wrong numbers of a target, by models that have not seen their rows."""

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import find_wrong_numbers


def prices(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, numbers of which a tenth are drawn anew, and which these are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    values = 3 * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=rows) / 4
    wrong = rng.random(rows) < 0.1
    values[wrong] = rng.permutation(values)[wrong] + 12 * rng.choice([-1, 1], wrong.sum())
    return X, values, wrong


def test_wrong_numbers_come_first_and_trusted_rows_measure_the_precision():
    X, values, wrong = prices(250, 0)
    clean_X, clean, _ = prices(150, 1)
    kept = ~prices(150, 1)[2]
    found = find_wrong_numbers(X, values, clean_X[kept], clean[kept])
    first = found.rows[: int(wrong.sum())]
    assert wrong[first].mean() > 0.9
    assert found.assumes is None
    assert found.precision_low <= wrong[found.rows[found.flagged]].mean() <= found.precision_high
    assert list(found.labels) == list(values[found.rows])
    assert "look wrong; about" in found.advice
    assert found.figure().title


def test_without_trusted_rows_nothing_is_said_of_the_precision():
    X, values, _ = prices(80, 2)
    found = find_wrong_numbers(X, values)
    assert (found.precision_low, found.precision_high) == (0.0, 1.0)
    assert found.assumes is not None
    assert np.isnan(found.precision)
    assert "cannot tell" in found.advice


def test_what_makes_no_sense_is_refused():
    X, values, _ = prices(30, 3)
    with pytest.raises(InvalidInput):
        find_wrong_numbers(X, values[:-1])
    with pytest.raises(InvalidInput):
        find_wrong_numbers(X, np.full(30, np.nan))
    with pytest.raises(InvalidInput, match="columns"):
        find_wrong_numbers(X, values, X[:, :2], values)
    with pytest.raises(InvalidInput):
        find_wrong_numbers(X[:1], values[:1])
