"""The parts of monitoring: exact distributions, tolerances, drift tests, labels, shift."""

from itertools import product
from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.lifecycle.monitoring import (
    KINDS,
    default_tolerance,
    level_at,
    poisson_binomial,
    right_interval,
)
from easeml.lifecycle.monitoring.backtest import backtest
from easeml.lifecycle.monitoring.drift import covariate_test, prior_test
from easeml.lifecycle.monitoring.forest import grow
from easeml.lifecycle.monitoring.labels import draw, measured
from easeml.lifecycle.monitoring.shift import compare
from easeml.lifecycle.monitoring.tracking import Offset


def test_poisson_binomial_check():
    p = [0.9, 0.8, 0.7, 0.6, 0.55]
    pmf = poisson_binomial(p)
    assert pmf == pytest.approx([0.00108, 0.0195, 0.1187, 0.3161, 0.3783, 0.16632], abs=1e-9)
    mean = pmf @ np.arange(6)
    assert mean == pytest.approx(3.55, abs=1e-9)
    assert pmf @ np.arange(6) ** 2 - mean**2 == pytest.approx(0.9475, abs=1e-9)


@given(st.lists(st.floats(0, 1), max_size=8))
@settings(deadline=None, max_examples=40)
def test_poisson_binomial_is_the_sum_over_outcomes(p):
    expected = np.zeros(len(p) + 1)
    for outcome in product((0, 1), repeat=len(p)):
        expected[sum(outcome)] += np.prod(
            [q if hit else 1 - q for q, hit in zip(p, outcome, strict=True)]
        )
    assert np.allclose(poisson_binomial(p), expected)


def test_many_trials_by_halves():
    p = np.random.default_rng(0).random(3000)
    pmf = poisson_binomial(p)
    assert pmf.sum() == pytest.approx(1)
    assert pmf @ np.arange(3001) == pytest.approx(p.sum())
    low, high = right_interval(p)
    assert low < p.mean() < high < low + 0.04
    assert right_interval([]) == (0.0, 0.0)
    with pytest.raises(InvalidInput):
        poisson_binomial([0.5, float("nan")])


def test_published_gaps_of_model_performance_predictor():
    classification = [(0.92, 0.92), (0.95, 0.95), (0.78, 0.63), (0.65, 0.64), (0.71, 0.6)]
    regression = [(0.56, 0.56), (0.58, 0.61), (0.73, 0.71), (0.51, 0.85), (0.59, 0.72)]
    gaps = [
        float(np.mean([abs(a - b) for a, b in table])) for table in (classification, regression)
    ]
    assert gaps == pytest.approx([0.054, 0.104], abs=1e-6)


@pytest.mark.parametrize("rows", [1000, 20000])
@pytest.mark.parametrize("seed", range(3))
def test_tolerance_of_a_normal_target_is_its_deviation(rows, seed):
    target = np.random.default_rng(seed).normal(7, 2, rows)
    tolerance = default_tolerance(target)
    assert tolerance == pytest.approx(2.0, rel=0.15)
    assert np.mean(np.abs(target - target.mean()) <= tolerance) == pytest.approx(
        0.682689492137, abs=0.08
    )


@pytest.mark.parametrize("draw_target", ["laplace", "uniform"])
def test_tolerance_without_a_knee_is_the_median_deviation(draw_target):
    target = getattr(np.random.default_rng(0), draw_target)(size=20000)
    assert default_tolerance(target, "median") == pytest.approx(
        np.median(np.abs(target - np.median(target))), rel=1e-9
    )


@pytest.mark.parametrize(
    "target", [[], [3.0, 3.0, 3.0], [float("nan")]], ids=["empty", "constant", "nan"]
)
def test_no_tolerance_without_variation(target):
    with pytest.raises(InvalidInput):
        default_tolerance(target)


def test_levels_of_all_tests_sum_to_alpha():
    total = len(KINDS) * sum(level_at(t, 0.05) for t in range(1, 10**5))
    assert 0.0499 < total <= 0.05
    assert level_at(1, 0.05) == pytest.approx(0.05 / 3 * 6 / pi**2)


def test_false_alarms_are_rare_over_a_stream():
    rng = np.random.default_rng(0)
    streams = 0
    for _ in range(30):
        reference, codes = rng.normal(size=(400, 3)), rng.integers(0, 3, 400)
        alarms = [
            covariate_test(
                reference, rng.normal(size=(150, 3)), list("abc"), level_at(t, 0.05)
            ).alarm
            or prior_test(codes, rng.integers(0, 3, 150), level_at(t, 0.05)).alarm
            for t in range(1, 9)
        ]
        streams += any(alarms)
    assert streams <= 5  # P(Binomial(30, 0.05) > 5) < 0.01


def test_drift_is_found_and_named():
    rng = np.random.default_rng(0)
    reference, batch = rng.normal(size=(500, 3)), rng.normal(size=(300, 3)) + np.array([0, 0.6, 0])
    found = covariate_test(reference, batch, ["a", "b", "c"], 1e-4)
    assert found.alarm and found.where == "b"
    assert prior_test(np.repeat([0, 1], 200), np.repeat([0, 1], [20, 180]), 1e-4).alarm
    assert prior_test(rng.normal(size=400), rng.normal(1, 1, 300), 1e-4).alarm


def test_tests_that_cannot_be_made_raise_no_alarm():
    ones = np.ones((50, 2))
    assert covariate_test(ones, ones[:5], ["a", "b"], 0.5).p_value is None
    assert prior_test(np.zeros(50, int), np.zeros(1, int), 0.5).p_value is None


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_estimate_from_drawn_labels_is_unbiased_and_covered(power):
    """Whatever the error model says: here it is right (1) or knows nothing (0)."""
    rng = np.random.default_rng(1)
    chances = rng.uniform(0.3, 1.0, 400)
    truth = (rng.random(400) < (chances if power else 0.6)).astype(float)
    found, inside = [], 0
    for seed in range(400):
        query = draw(chances, 30, seed)
        estimate, error = measured(chances, query, truth[query.rows])
        found.append(estimate)
        inside += abs(estimate - truth.mean()) <= 1.96 * error
    assert np.mean(found) == pytest.approx(truth.mean(), abs=0.015)
    assert inside / 400 >= 0.92  # 0.95 less two and a half standard errors of 400 trials


def test_a_budget_must_be_positive():
    with pytest.raises(InvalidInput):
        draw(np.full(10, 0.5), 0, 0)


def test_sure_rows_are_drawn_less():
    chances = np.r_[np.full(100, 1.0), np.full(100, 0.5)]
    query = draw(chances, 2000, 0)
    assert 0.2 < np.mean(query.rows < 100) < 0.3
    assert draw(np.ones(10), 5, 0).chances == pytest.approx(np.full(5, 0.1))


def test_forest_predicts_as_its_trees_did():
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4)).astype(np.float32)
    right = (rng.random(300) < 1 / (1 + np.exp(-rows[:, 0]))).astype(float)
    forest, out_of_bag = grow(rows, right, seed=5, trees=40)
    same = RandomForestClassifier(40, min_samples_leaf=15, max_features=0.5, random_state=5).fit(
        rows, right
    )
    assert np.allclose(forest.predict(rows), same.predict_proba(rows)[:, 1])
    assert out_of_bag.shape == (300,)
    constant, chances = grow(rows, np.ones(300), seed=0)
    assert np.all(constant.predict(rows) == 1) and np.all(chances == 1)


def test_weights_follow_the_density_ratio():
    rng = np.random.default_rng(0)
    shift = compare(rng.normal(size=(4000, 1)), rng.normal(0.5, 1, size=(4000, 1)))
    assert shift.separation == pytest.approx(0.638, abs=0.02)
    assert shift.overlap == pytest.approx(4000 / np.exp(0.25), rel=0.1)
    assert compare(np.ones((50, 2)), np.ones((5, 2))).separation == 0.5


def test_what_labels_say_ages_as_the_past_shows():
    """A share of right rows that walks at random: the variance found grows with the lag, and with
    the rows scored.
    """
    rng = np.random.default_rng(0)
    found = []
    for _ in range(12):
        level = 0.7 + np.cumsum(rng.normal(0, 0.06, 8))
        right = (rng.random(1600) < np.repeat(np.clip(level, 0.05, 0.95), 200)).astype(float)
        found.append(
            backtest(rng.normal(size=(1600, 1)), right, None, np.zeros(1600, dtype=int), seed=0)
        )
    still = (rng.random(1600) < 0.7).astype(float)
    calm = backtest(rng.normal(size=(1600, 1)), still, None, np.zeros(1600, dtype=int), seed=0)
    assert 0.03 < np.mean([trust.drift**2 / 3 + trust.step**2 for trust in found]) ** 0.5 < 0.12
    assert calm.offset(1600, 200).variance ** 0.5 < 0.04
    walked = max(found, key=lambda trust: trust.step)
    assert walked.block == 200
    variances = [walked.offset(since, 200).variance for since in (200, 400, 4000)]
    assert variances == sorted(variances) and variances[0] < variances[-1]
    assert walked.offset(200, 200).step == pytest.approx(walked.step)


@pytest.mark.parametrize("labels", [20, 50, 150])
@pytest.mark.parametrize("fall", [0.0, 0.1, 0.2, 0.3])
def test_a_fall_at_once_lies_in_the_intervals_of_the_next_labels(labels: int, fall: float):
    """One slow level left most of these out: at 50 labels .84 of falls of .15."""
    rng = np.random.default_rng(0)
    held = np.zeros(2)
    for _ in range(100):
        offset = Offset(0.0, 0.0, 0.0)
        for batch in range(2):
            seen = rng.binomial(labels, 0.8 - fall) / labels
            error = np.sqrt(0.8 * 0.2 / labels + (0.5 / (labels + 2)) ** 2)
            offset = offset.ahead().update(seen - 0.8, error)
            half = 1.96 * np.hypot(np.sqrt(offset.variance), 0.02)
            held[batch] += abs(offset.mean + fall) <= half
    assert held[0] >= 70, held
    assert held[1] >= 85, held


def test_offset_tracks_a_jump_and_forgets_it_slowly():
    offset = Offset(0.0, 0.0, 0.0)
    for _ in range(5):
        offset = offset.ahead().update(-0.3, 0.05)
    assert offset.mean == pytest.approx(-0.3, abs=0.05)
    calm = offset.variance
    for _ in range(3):
        offset = offset.ahead()
    assert offset.variance > calm
