"""Predicted device seconds."""

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search import predict_cost

LINEAR = {"base": 0.5, "per_cell": 1e-4}


def test_hints_alone():
    assert predict_cost(LINEAR, 1000, 10, []) == pytest.approx(1.5)
    assert predict_cost({"seconds": 0.2, "rows": 2, "columns": 0.5}, 2000, 40, []) == pytest.approx(0.2 * 4 * 2)
    assert predict_cost({}, 0, 0, []) > 0


def test_little_history_corrects_little_and_much_corrects_all():
    hinted = predict_cost(LINEAR, 1000, 10, [])
    one = predict_cost(LINEAR, 1000, 10, [(1000, 10, 4 * hinted)])
    many = predict_cost(LINEAR, 1000, 10, [(1000, 10, 4 * hinted)] * 50)
    assert hinted < one < many == pytest.approx(4 * hinted, rel=0.05)


def test_growth_with_size_is_learned():
    generator = np.random.default_rng(0)
    history = []
    for rows in generator.integers(100, 100_000, 200).tolist():
        seconds = 1e-8 * (rows * 10) ** 1.5 * np.exp(generator.normal(0, 0.2))
        history.append((rows, 10, float(seconds)))
    hints = {"base": 0.0, "per_cell": 1e-5}
    for rows in (200, 5_000, 80_000):
        assert predict_cost(hints, rows, 10, history) == pytest.approx(1e-8 * (rows * 10) ** 1.5, rel=0.25)


def test_useless_history_is_left_out():
    assert predict_cost(LINEAR, 10, 10, [(10, 10, 0.0), (10, 10, float("nan"))]) == predict_cost(LINEAR, 10, 10)


@pytest.mark.parametrize("hints", [{"per_row": 1.0}, {"base": -1.0}, {"base": "1"}, {"seconds": 1.0, "base": 1.0}])
def test_wrong_hints_are_refused(hints):
    with pytest.raises(InvalidInput, match="cost"):
        predict_cost(hints, 10, 10)
