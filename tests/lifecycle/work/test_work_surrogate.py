"""What answers should bring, beside fitting again with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.lifecycle.questions.surrogate import Surrogate

ROWS, FEATURES, TARGETS = 30, 4, 2


def drawn(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray, Surrogate]:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(ROWS, FEATURES)), rng.normal(size=(ROWS, TARGETS))
    counted = rng.normal(size=(10, FEATURES))
    return rng, X, Y, counted, Surrogate.fitted(X, Y, counted)


def shift(model: Surrogate, X: np.ndarray, Y: np.ndarray, after: tuple, counted: np.ndarray):
    """Return the squared shift on the rows that count, by fitting again with the same penalty."""
    penalty = np.linalg.inv(model.inverse) - X.T @ X
    X2, Y2 = after
    weights = np.linalg.solve(X2.T @ X2 + penalty, X2.T @ Y2)
    return ((counted @ (weights - model.weights)) ** 2).sum(axis=1).mean()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_a_label_and_a_cell_move_predictions_as_fitting_again_does(seed: int) -> None:
    rng, X, Y, counted, model = drawn(seed)
    x, y = rng.normal(size=FEATURES), rng.normal(size=TARGETS)
    labelled = np.vstack([X, x]), np.vstack([Y, y])
    error = np.array([((y - x @ model.weights) ** 2).sum()])
    told = model.of_answers(x[None], error)[0]
    assert told == pytest.approx(shift(model, X, Y, labelled, counted), rel=1e-6)
    repaired = X.copy()
    repaired[3] = x
    told = model.of_cells(X[3:4], Y[3:4], x[None])[0]
    assert told == pytest.approx(shift(model, X, Y, (repaired, Y), counted), rel=1e-6)


def test_rows_in_turn_are_those_of_a_greedy_choice() -> None:
    rng, _, _, _, model = drawn(1)
    pool, variances = rng.normal(size=(12, FEATURES)), rng.random(12)
    found = model.of_answers_in_turn(pool, variances, 5)
    inverse, left, wanted = model.inverse, list(range(12)), []
    for _ in range(5):
        now = Surrogate(inverse, model.weights, model.counted, 0.0)
        gains = now.of_answers(pool[left], variances[left])
        best = int(np.argmax(gains))
        wanted.append((left[best], gains[best]))
        x = pool[left.pop(best)]
        inverse = np.linalg.inv(np.linalg.inv(inverse) + np.outer(x, x))
    assert [row for row, _ in found] == [row for row, _ in wanted]
    assert [gain for _, gain in found] == pytest.approx([gain for _, gain in wanted])


def test_rows_left_out_are_predicted_as_if_they_had_not_been_learned() -> None:
    _, X, Y, _, model = drawn(2)
    penalty = np.linalg.inv(model.inverse) - X.T @ X
    rest, known = np.delete(X, 5, axis=0), np.delete(Y, 5, axis=0)
    weights = np.linalg.solve(rest.T @ rest + penalty, rest.T @ known)
    assert model.left_out(X, Y)[5] == pytest.approx(X[5] @ weights)
