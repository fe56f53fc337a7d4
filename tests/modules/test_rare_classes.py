"""Intervals of qualities where a class has few rows: how often they hold the truth."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from easeml.modules import interval, measured, score
from easeml.modules.contract import Predictions

CLASSES = np.array(["no", "yes"], dtype=object)
THREE = np.array(["a", "b", "c"], dtype=object)
DRAWS = 40
Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def nearly_right(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two in a hundred are "yes"; of these 3 % are taken for the other, and of the others .05 %."""
    is_yes = random.random(rows) < 0.02
    is_wrong = random.random(rows) < np.where(is_yes, 0.03, 0.0005)
    scores = 0.4 * random.random(rows) + 0.6 * (is_yes ^ is_wrong)
    return is_yes.astype(int), np.column_stack([1 - scores, scores])


def by_chance(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two in a hundred are "yes", and two in a hundred are said to be, without any tie."""
    scores = 0.5 * random.random(rows) + 0.5 * (random.random(rows) < 0.02)
    return (random.random(rows) < 0.02).astype(int), np.column_stack([1 - scores, scores])


def a_third_kind(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, one of them rare and hard."""
    actual = random.choice(3, rows, p=(0.6, 0.37, 0.03))
    heights = random.normal(size=(rows, 3))
    heights[np.arange(rows), actual] += np.array([2.5, 2.0, 1.2])[actual]
    weights = np.exp(heights)
    return actual, weights / weights.sum(axis=1, keepdims=True)


def told(actual: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, Predictions]:
    classes = CLASSES if shares.shape[1] == 2 else THREE
    said = classes[shares.argmax(axis=1)]
    return classes[actual], Predictions(said, shares, classes)


def misses(name: str, draw: Draw, rows: int, weights: bool = False) -> tuple[int, int]:
    """Return how many intervals lie above the truth, and below it.

    ``weights``: rows of the first class are a third as many, and count three times.
    """
    truth = score(name, *told(*draw(60_000, np.random.default_rng(1))))
    random = np.random.default_rng(2)
    above = below = 0
    for _ in range(DRAWS):
        actual, shares = draw(rows, random)
        counted = None
        if weights:
            kept = (actual > 0) | (random.random(rows) < 1 / 3)
            actual, shares = actual[kept], shares[kept]
            counted = np.where(actual > 0, 1.0, 3.0)
        _, low, high = interval(name, *told(actual, shares), counted, resamples=100)
        above += low > truth
        below += high < truth
    return above, below


COUNTED = ["f1-macro", "f-beta(yes, 1)", "f-beta(yes, 2)", "precision(yes)", "recall(yes)"]
COUNTED += ["matthews", "quadratic-kappa"]


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("draw", [nearly_right, by_chance])
def test_counts_of_a_rare_class_hold_the_truth(name: str, draw: Draw) -> None:
    """The percentile bootstrap misses in a half to nine tenths of these."""
    above, below = misses(name, draw, 300)
    assert above <= 4  # of 40, where 2 are stated
    assert below <= 4


@pytest.mark.parametrize("name", ["roc-auc", "average-precision"])
@pytest.mark.parametrize("draw", [nearly_right, by_chance])
def test_areas_of_a_rare_class_hold_the_truth(name: str, draw: Draw) -> None:
    above, below = misses(name, draw, 300)
    assert above <= 4
    assert below <= 4


@pytest.mark.parametrize("name", ["f1-macro", "f1-weighted", "matthews", "roc-auc"])
def test_the_rare_one_of_three_classes_leaves_the_interval_at_the_truth(name: str) -> None:
    above, below = misses(name, a_third_kind, 200)
    assert above <= 4
    assert below <= 4


@pytest.mark.parametrize("name", ["f1-macro", "matthews", "roc-auc"])
def test_rows_that_count_more_say_no_more_than_they_are(name: str) -> None:
    above, below = misses(name, nearly_right, 900, weights=True)
    assert above <= 4
    assert below <= 4


ALL_KINDS = ["f1-macro", "matthews", "roc-auc", "average-precision", "brier", "log-loss"]


@pytest.mark.parametrize("name", ALL_KINDS)
def test_with_many_rows_of_each_class_the_interval_is_that_of_the_bootstrap(name: str) -> None:
    is_that_of_the_bootstrap(name)


@pytest.mark.parametrize("name", ["roc-auc", "average-precision"])
def test_areas_of_very_many_rows_are_told_by_resamples_of_some_of_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[interval.__module__], "_ROWS_RESAMPLED", 1_000)
    is_that_of_the_bootstrap(name)


def is_that_of_the_bootstrap(name: str) -> None:
    """The interval is as wide as resamples of as many rows are spread."""
    random, count = np.random.default_rng(3), 4_000
    heights = random.normal(size=count)
    actual = (heights + random.normal(size=count) > 0).astype(int)
    chances = 1 / (1 + np.exp(-2 * heights))
    shares = np.column_stack([1 - chances, chances])
    _, low, high = interval(name, *told(actual, shares), resamples=100)
    drawn = []
    for _ in range(100):
        rows = random.integers(count, size=count)
        drawn.append(score(name, *told(actual[rows], shares[rows])))
    spread = 2 * 1.96 * np.std(drawn)
    assert high - low == pytest.approx(spread, rel=0.25)


def sure_without_need(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two in a hundred are "yes", which the scores hardly show; they are near 0 or 1 all the same."""
    is_yes = random.random(rows) < 0.02
    odds = 6 * random.normal(size=rows) + 4 * is_yes - 10
    scores = 1 / (1 + np.exp(-odds))
    return is_yes.astype(int), np.column_stack([1 - scores, scores])


def as_sure_as_right(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of all sizes, each as often right as it says."""
    scores = random.random(rows)
    return (random.random(rows) < scores).astype(int), np.column_stack([1 - scores, scores])


@pytest.mark.parametrize("name", ["brier", "log-loss"])
@pytest.mark.parametrize("draw", [nearly_right, sure_without_need, a_third_kind])
def test_losses_of_a_rare_class_hold_the_truth(name: str, draw: Draw) -> None:
    """Where none of the rows that cost most was seen, the bootstrap knows of none."""
    above, below = misses(name, draw, 100)
    assert above <= 4
    assert below <= 4


@pytest.mark.parametrize("draw", [nearly_right, sure_without_need, as_sure_as_right, a_third_kind])
def test_the_calibration_error_holds_the_truth(draw: Draw) -> None:
    """Chance opens gaps between what is said and what is right: the bootstrap takes all for real."""
    above, below = misses("calibration-error", draw, 300)
    assert above <= 4
    assert below <= 4


def test_rows_that_count_more_say_no_more_of_losses_than_they_are() -> None:
    for name in ("brier", "log-loss", "calibration-error"):
        above, below = misses(name, sure_without_need, 900, weights=True)
        assert max(above, below) <= 4, name


def test_a_loss_of_two_values_has_the_interval_of_clopper_and_pearson() -> None:
    """Three wrong answers of forty, all of them sure: a share of wrong rows."""
    actual = np.repeat([1, 0], [3, 37])
    _, low, high = interval("brier", *told(actual, np.tile([1.0, 0.0], (40, 1))))
    assert 1 - high == pytest.approx(beta.ppf(0.025, 3, 38), abs=0.005)
    assert 1 - low == pytest.approx(beta.ppf(0.975, 4, 37), abs=0.015)


def test_a_perfect_row_or_two_do_not_make_losses_sure() -> None:
    for name in ("brier", "log-loss", "calibration-error"):
        for rows in ([1, 1], [95, 5]):
            found = measured(name, *perfect(rows))
            assert found.low is not None
            assert found.high is not None
            assert found.low == found.value == 0.0, name
            assert found.high > 1 / sum(rows), name


def perfect(rows: list[int]) -> tuple[np.ndarray, Predictions]:
    actual = np.repeat(np.arange(len(rows)), rows)
    return told(actual, np.eye(len(rows))[actual])


def test_five_rows_of_a_class_that_are_all_right_do_not_make_it_sure() -> None:
    for name in ("f-beta(yes, 1)", "recall(yes)", "matthews", "roc-auc", "average-precision"):
        quality, low, high = interval(name, *perfect([95, 5]))
        assert (quality, high) == (1.0, 1.0)
        assert 0.3 < low < 0.85, name
    recall = interval("recall(yes)", *perfect([95, 5]))
    assert recall[1] == pytest.approx(5 / (5 + 1.96**2), abs=1e-3)  # Wilson's


def test_of_a_class_without_rows_nothing_is_known() -> None:
    actual, said = perfect([40, 1])
    without: Any = actual[:40], Predictions(said.values[:40], said.probabilities[:40], CLASSES)  # type: ignore[index]
    for name in ("f-beta(yes, 1)", "recall(yes)", "roc-auc"):
        _, low, high = interval(name, *without)
        assert low <= 0.01, name
        assert high >= 0.99, name


@pytest.mark.parametrize("name", ["f1-macro", "f-beta(yes, 1)", "selection-rate(yes)", "matthews"])
def test_a_measure_and_its_interval_keep_to_what_is_possible(name: str) -> None:
    random = np.random.default_rng(4)
    least = -1.0 if name == "matthews" else 0.0
    for rows in (2, 3, 8):
        for _ in range(20):
            actual, shares = by_chance(rows, random)
            found = measured(name, *told(actual, shares))
            assert found.low is not None
            assert found.high is not None
            assert least <= found.low <= found.value <= found.high <= 1.0


def test_wrong_rows_may_go_where_none_was_seen_to_go() -> None:
    """Two of 100 rows of a are taken for c, none for b: for b a row may be taken all the same."""
    classes = np.array(["a", "b", "c"], dtype=object)
    actual = np.repeat(classes, [100, 10, 10])
    said = actual.copy()
    said[:2] = "c"
    value, low, high = interval("specificity(b)", actual, Predictions(said, None, classes))
    assert (value, high) == (1.0, 1.0)
    assert 0.95 < low < 0.99
