"""Probabilities say how often a class is right, and say the same label as before."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.modules import Predictions, calibration
from easeml.modules.target import Target
from easeml.modules.temperature import softened, temperature_of

CLASSES = np.array(["a", "b", "c"], dtype=object)


def drawn(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return chances of the three classes, and codes that come with these chances."""
    random = np.random.default_rng(seed)
    chances = random.dirichlet([1, 1, 1], rows)
    codes = (random.random((rows, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    return chances, codes


def log_loss(codes: np.ndarray, chances: np.ndarray) -> float:
    return float(-np.log(chances[np.arange(len(codes)), codes]).mean())


@pytest.mark.parametrize("distortion", [0.3, 1.0, 3.0])
def test_the_temperature_is_the_likeliest_one(distortion: float) -> None:
    chances, codes = drawn(4000, 1)
    said = softened(chances, distortion)  # too sure below 1
    found = temperature_of(codes, said, np.ones(4000))
    tried = np.exp(np.linspace(-2, 2, 801))
    best = min(tried, key=lambda one: log_loss(codes, softened(said, one)))
    assert found == pytest.approx(best, rel=0.02)
    assert found == pytest.approx(1 / distortion, rel=0.1)

    new, truths = drawn(4000, 2)
    told = softened(new, distortion)
    before, after = log_loss(truths, told), log_loss(truths, softened(told, found))
    assert after <= before + 0.001
    assert after == pytest.approx(log_loss(truths, new), abs=0.005)


def test_a_row_of_weight_three_counts_as_three_rows() -> None:
    chances, codes = drawn(60, 3)
    counts = np.random.default_rng(3).integers(1, 4, 60)
    repeated = np.repeat(np.arange(60), counts)
    by_weight = temperature_of(codes, chances**2, counts.astype(float))
    by_row = temperature_of(codes[repeated], chances[repeated] ** 2, np.ones(len(repeated)))
    assert by_weight == pytest.approx(by_row)


@given(st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_few_rows_and_rows_that_tell_nothing_have_a_temperature(rows: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    said = np.eye(3)[random.integers(3, size=rows)].reshape(-1, 3)
    codes = random.integers(-1, 3, rows)
    assert 0.3 < temperature_of(codes, said, np.ones(rows)) < 30


@given(st.integers(0, 2**32 - 1), st.floats(0.2, 5))
def test_the_order_of_the_classes_in_a_row_stays(seed: int, temperature: float) -> None:
    chances, _ = drawn(20, seed)
    said = Predictions.of_probabilities(chances, CLASSES)
    told = calibration.at(said, temperature)
    assert (told.values == said.values).all()
    assert (told.probabilities.argsort(axis=1) == chances.argsort(axis=1)).all()
    np.testing.assert_allclose(told.probabilities.sum(axis=1), 1)


def test_what_was_learned_is_never_impossible_and_what_was_not_always() -> None:
    said = Predictions.of_probabilities(np.array([[1.0, 0, 0], [0, 1.0, 0]]), CLASSES)
    kept = calibration.at(calibration.floored(said), 2.0).probabilities
    assert kept[0] == pytest.approx([0.999, 0.001, 0], abs=1e-5)
    target = Target("kind", CLASSES, np.array([0, 1]), temperature=2.0)
    served = target.predictions(np.array([[1.0, 0], [0, 1.0]])).probabilities
    np.testing.assert_allclose(served, kept)  # what is served is what was judged
    assert Target.from_json(target.to_json()).temperature == 2.0
    assert Target.from_json({"column": "kind", "classes": ["a"], "seen": [0]}).temperature is None


def test_numbers_and_labels_alone_stay_as_they_are() -> None:
    numbers = Predictions(np.arange(3.0), None, None)
    labels = Predictions(CLASSES, None, CLASSES)
    changes: list[Callable[[Predictions], Predictions]] = [
        calibration.floored,
        lambda said: calibration.at(said, 2.0),
        lambda said: calibration.calibrated(np.arange(3), said)[1],
    ]
    for said in (numbers, labels):
        for change in changes:
            assert change(said) is said
