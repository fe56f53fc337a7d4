"""Intervals of numbers hold the stated share of rows, and are not made up where rows are few."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_it_is_as_wide_as_errors_are_at_predictions_of_that_size() -> None:
    rng = np.random.default_rng(3)

    def drawn(rows: int) -> tuple[np.ndarray, np.ndarray]:
        said = rng.uniform(1, 100, rows)
        return said, said * (1 + rng.normal(scale=0.2, size=rows))

    said, answers = drawn(2000)
    band = conformal.describe(answers, numbers(said))
    assert band is not None
    new, truths = drawn(20_000)
    lower, upper = map(np.asarray, conformal.bounds(band, numbers(new)))
    is_held = (lower <= truths) & (truths <= upper)
    for cheap, dear in ((1, 20), (20, 40), (40, 60), (60, 80), (80, 100)):
        of_size = (cheap <= new) & (new < dear)
        assert 0.83 < np.mean(is_held[of_size]) < 0.97
    width = upper - lower
    assert np.mean(width[new > 80]) > 5 * np.mean(width[new < 20])


def test_errors_above_and_below_have_ends_of_their_own() -> None:
    rng = np.random.default_rng(4)
    said = rng.normal(size=1000)
    band = conformal.describe(said + rng.exponential(size=1000), numbers(said))
    assert band is not None
    lower, upper = conformal.bounds(band, numbers(np.zeros(1)))
    assert 0 <= lower[0] < 0.2  # no answer lies below its prediction
    assert upper[0] == pytest.approx(np.log(20), rel=0.3)


def test_answers_that_are_never_negative_have_no_negative_end() -> None:
    rng = np.random.default_rng(5)
    said = np.exp(rng.normal(size=400))
    band = conformal.describe(rng.poisson(said).astype(float), numbers(said))
    assert band is not None
    lower, _ = conformal.bounds(band, numbers(np.asarray([0.01, 0.5, -0.3])))
    assert lower == [0.0, 0.0, -0.3]  # an interval holds what is predicted
    profit = conformal.describe(said - 1, numbers(said))
    assert profit is not None
    assert profit["least"] is None


@given(st.integers(9, 400), st.integers(0, 2**32 - 1))
def test_whole_numbers_and_rows_met_exactly_have_intervals_that_hold_their_prediction(
    rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    said = rng.integers(-2, 3, rows).astype(float)
    answers = said + rng.choice([0, 0, 0, 1, 5], rows)
    band = conformal.describe(answers, numbers(said))
    assert band is not None
    assert json.loads(json.dumps(band)) == band  # a manifest keeps it
    new = np.linspace(-9, 9, 50)
    lower, upper = map(np.asarray, conformal.bounds(band, numbers(new)))
    assert np.all(lower <= new)
    assert np.all(new <= upper)


def test_models_that_an_earlier_easeml_trained_keep_their_intervals() -> None:
    before = {"coverage": 0.9, "half_width": 2.0, "rows": 30}
    assert conformal.bounds(before, numbers(np.asarray([1.0, 5.0]))) == ([-1.0, 3.0], [3.0, 7.0])


def test_eight_rows_tell_no_interval() -> None:
    assert conformal.describe(np.arange(8.0), numbers(np.zeros(8))) is None


def test_categories_and_tensors_have_none() -> None:
    labels = np.array(["a", "b"] * 20, dtype=object)
    classes = np.array(["a", "b"], dtype=object)
    assert conformal.describe(labels, Predictions(labels, None, classes)) is None
    tensors = np.zeros((40, 3))
    assert conformal.describe(tensors, numbers(tensors)) is None


@pytest.mark.parametrize("others", [1, 4, 8, 30])
@pytest.mark.parametrize("is_above", [True, False])
def test_few_rows_beside_many_that_are_predicted_alike_are_no_group_of_their_own(
    others: int, is_above: bool
) -> None:
    """Trees of few leaves say the same of most rows; the training task failed for the rest."""
    random = np.random.default_rng(0)
    said = np.repeat([5.0, 5.0 + (1 if is_above else -1)], [400 - others, others])
    told = conformal.describe(said + random.normal(size=400), Predictions(said, None, None))
    assert told is not None
    lower, upper = conformal.bounds(told, Predictions(said, None, None))
    assert lower[0] == pytest.approx(5 - 1.645, abs=0.4)
    assert upper[0] == pytest.approx(5 + 1.645, abs=0.4)


def test_the_stated_share_of_the_weight_lies_within_where_few_rows_have_most() -> None:
    held = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        level = rng.normal(size=400)
        counts = np.exp(level)
        answers = rng.normal(size=400) * np.exp(0.4 * level)
        weights = counts[:40] / counts[:40].mean()
        band = conformal.describe(answers[:40], numbers(np.zeros(40)), weights)
        if band is None:  # too few rows have nearly all of the weight
            continue
        lower, upper = map(np.asarray, conformal.bounds(band, numbers(np.zeros(360))))
        is_held = (lower <= answers[40:]) & (answers[40:] <= upper)
        held.append(np.average(is_held, weights=counts[40:]))
    assert len(held) > 270
    assert np.mean(held) >= 0.89  # where a new row counts as one whatever it weighs: .880
