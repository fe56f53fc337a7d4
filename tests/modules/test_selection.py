"""Models that together predict best: what is chosen, and that no row judges weights that it chose."""

import numpy as np
import pytest

from easeml.modules import Predictions, score
from easeml.modules.ensemble import combined
from easeml.modules.selection import choose

CLASSES = np.array(["no", "yes"], dtype=object)
ROWS = 200


def classifier(actual: np.ndarray, skill: float, rng: np.random.Generator) -> Predictions:
    """A model that leans to the right class by ``skill``, with mistakes of its own."""
    lean = skill * np.where(actual == "yes", 1.0, -1.0) + rng.normal(size=len(actual))
    share = 1 / (1 + np.exp(-lean))
    probabilities = np.column_stack([1 - share, share])
    return Predictions(CLASSES[probabilities.argmax(axis=1)], probabilities, CLASSES)


@pytest.fixture
def labels() -> np.ndarray:
    return CLASSES[np.random.default_rng(0).integers(2, size=ROWS)]


@pytest.fixture
def models(labels: np.ndarray) -> list[Predictions]:
    rng = np.random.default_rng(1)
    return [classifier(labels, skill, rng) for skill in (0.9, 1.0, 0.8, 0.0)]


@pytest.mark.parametrize("objective", ["accuracy", "balanced-accuracy", "roc-auc"])
def test_together_they_are_better_than_each(
    labels: np.ndarray, models: list[Predictions], objective: str
) -> None:
    choice = choose(objective, labels, models)
    assert choice.weights.sum() == pytest.approx(1)
    assert choice.weights[3] < 0.2  # it knows nothing
    best = max(score(objective, labels, one) for one in models)
    assert score(objective, labels, choice.unseen) > best


def test_numbers_are_averaged() -> None:
    rng = np.random.default_rng(2)
    actual = rng.normal(size=ROWS)
    models = [Predictions(actual + rng.normal(size=ROWS), None, None) for _ in range(3)]
    choice = choose("r2", actual, models)
    assert score("r2", actual, choice.unseen) > max(score("r2", actual, one) for one in models)


def test_no_row_judges_weights_that_it_chose(labels: np.ndarray, models: list[Predictions]) -> None:
    told = choose("log-loss", labels, models).unseen.probabilities
    assert told is not None
    for row in range(0, ROWS, 23):
        others = labels.copy()
        others[row] = "yes" if labels[row] == "no" else "no"
        now = choose("log-loss", others, models).unseen.probabilities
        assert now is not None
        np.testing.assert_array_equal(now[row], told[row])


def test_who_may_not_join_has_no_weight(labels: np.ndarray, models: list[Predictions]) -> None:
    choice = choose("accuracy", labels, models, may_join=lambda places: len(places) <= 2)
    assert np.count_nonzero(choice.weights) <= 2


def test_a_single_member_is_itself(labels: np.ndarray, models: list[Predictions]) -> None:
    choice = choose("accuracy", labels, models, may_join=lambda places: len(places) == 1)
    (place,) = np.flatnonzero(choice.weights)
    alone = combined(models, choice.weights.tolist())
    np.testing.assert_allclose(alone.probabilities, models[place].probabilities)
