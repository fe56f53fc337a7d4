"""Expected improvement and what remains of it, beside brute force."""

import numpy as np
import pytest
from scipy import integrate, stats

from easeml.errors import NotFound
from easeml.search import (
    Arm,
    Observation,
    Prior,
    SearchState,
    add_job,
    expected_improvement,
    observed,
    remaining,
    started,
)


@pytest.mark.parametrize("mean", [0.2, 0.7, 0.95, 1.3])
@pytest.mark.parametrize("deviation", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("best", [0.0, 0.6, 0.99])
def test_equals_the_integral(mean, deviation, best):
    got = expected_improvement(np.array([mean]), np.array([deviation**2]), best)[0]
    density = stats.norm(mean, deviation)
    inner, _ = integrate.quad(
        lambda a: (a - best) * density.pdf(a), best, 1, points=[np.clip(mean, best, 1)]
    )
    assert got == pytest.approx(inner + (1 - best) * density.sf(1), abs=1e-7)


def test_without_variance_it_is_the_difference():
    got = expected_improvement(np.array([0.4, 0.8, 1.2]), np.zeros(3), 0.5)
    np.testing.assert_allclose(got, [0.0, 0.3, 0.5])


def state_of(prior):
    arms = [Arm(f"a{i}", f"m{i}", 1.0) for i in range(prior.mean.size)]
    return add_job(SearchState(), "job", "tenant", arms, prior)


def test_remaining_equals_brute_force_over_the_joint_belief():
    covariance = np.array([[0.02, 0.01, 0.0], [0.01, 0.02, 0.005], [0.0, 0.005, 0.03]])
    state = observed(
        state_of(Prior(np.array([0.6, 0.65, 0.5]), covariance, 1e-4)),
        Observation("job", 0, 0.62, 1.0),
    )
    posterior = state.job("job").posterior
    left = np.array([1, 2])
    draws = np.random.default_rng(0).multivariate_normal(
        posterior.mean[left], posterior.covariance(left), 400_000
    )
    gains = np.maximum(np.minimum(draws.max(axis=1), 1) - 0.62, 0)
    got = remaining(state, "job")
    assert got.expected == pytest.approx(gains.mean(), rel=0.03)
    assert got.error == pytest.approx(gains.std(), rel=0.05)


def test_remaining_lies_between_the_best_arm_and_the_sum_of_all():
    prior = Prior(np.full(50, 0.6), 0.01 * np.eye(50) + 0.01, 1e-4)
    state = observed(state_of(prior), Observation("job", 0, 0.7, 1.0))
    hopes = state.job("job").improvement[1:]
    assert hopes.max() < remaining(state, "job").expected < hopes.sum()


def test_remaining_counts_runs_under_way_and_ends_at_zero():
    state = state_of(Prior(np.full(2, 0.6), 0.01 * np.eye(2), 1e-4))
    before = remaining(state, "job")
    assert remaining(started(state, "job", 1), "job") == before
    state = observed(state, Observation("job", 0, 0.8, 1.0))
    assert 0 < remaining(state, "job").expected < before.expected
    state = observed(state, Observation("job", 1, None, 1.0))
    assert remaining(state, "job") == (0.0, 0.0)
    with pytest.raises(NotFound):
        remaining(state, "other")


@pytest.mark.parametrize("results", [8, 20, 40])
def test_little_remains_of_qualities_that_pile_up_below_an_end(results: int):
    """A normal belief alone tells 2, 9 and 27 times what comes."""
    told, came = [], []
    for seed in range(20):
        qualities = np.random.default_rng(seed).uniform(0.5, 0.9, 60)
        state = state_of(Prior(np.full(60, 0.7), 0.4**2 / 12 * np.eye(60), 1e-4))
        for arm in range(results):
            state = observed(state, Observation("job", arm, qualities[arm], 1.0))
        told.append(remaining(state, "job").expected)
        came.append(max(qualities) - max(qualities[:results]))
    assert 0.5 < np.mean(told) / np.mean(came) < 3
