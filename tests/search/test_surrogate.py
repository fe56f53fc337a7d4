"""The Gaussian process over finitely many arms, beside a solve from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.search import Posterior, Prior
from easeml.search.surrogates.gaussian import exact

THREE = Prior(
    np.array([0.5, 0.6, 0.4]),
    np.array([[0.04, 0.02, 0.01], [0.02, 0.05, 0.015], [0.01, 0.015, 0.03]]),
    1e-4,
)


def from_scratch(prior, observations):
    """Rasmussen and Williams, equations 2.25 and 2.26, on all observations at once."""
    arms = np.array([arm for arm, _ in observations], dtype=int)
    values = np.array([value for _, value in observations])
    gram = prior.covariance[np.ix_(arms, arms)] + prior.noise * np.eye(arms.size)
    gain = np.linalg.solve(gram, prior.covariance[arms]).T
    return prior.mean + gain @ (
        values - prior.mean[arms]
    ), prior.covariance - gain @ prior.covariance[arms]


def random_prior(size, seed, noise=1e-3):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(size, size)) * 0.1
    return Prior(generator.random(size), root @ root.T, noise)


def observe_all(prior, observations):
    posterior = Posterior.of(prior)
    for arm, value in observations:
        posterior = posterior.observe(arm, value)
    return posterior


def test_known_example():
    posterior = observe_all(THREE, [(0, 0.70), (2, 0.35), (0, 0.72)])
    np.testing.assert_allclose(
        posterior.mean, [0.709691498455, 0.667736012049, 0.350371097372], atol=1e-9
    )
    np.testing.assert_allclose(
        posterior.variance, [4.9931932e-05, 0.036385181433, 9.9637722e-05], atol=1e-9
    )


observation = st.tuples(st.integers(0, 5), st.floats(0, 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(observation, min_size=1, max_size=60), st.integers(0, 5))
def test_equals_solve_from_scratch_in_any_order(observations, seed):
    prior = random_prior(6, seed)
    mean, covariance = from_scratch(prior, observations)
    for order in (observations, observations[::-1]):
        posterior = observe_all(prior, order)
        np.testing.assert_allclose(posterior.mean, mean, atol=1e-7)
        np.testing.assert_allclose(posterior.covariance(np.arange(6)), covariance, atol=1e-7)
        np.testing.assert_allclose(
            posterior.variance, np.maximum(np.diag(covariance), 0), atol=1e-7
        )


def test_many_repeats_neither_grow_nor_drift():
    prior = random_prior(20, 1)
    generator = np.random.default_rng(0)
    arms, values = generator.integers(0, 5, 4_000), generator.random(4_000)
    posterior = observe_all(prior, zip(arms.tolist(), values.tolist(), strict=True))
    assert len(posterior.factor) <= 2 * 5 + 8
    fresh = exact(prior, posterior.counts, posterior.sums)
    np.testing.assert_allclose(posterior.mean, fresh.mean, atol=1e-8)
    np.testing.assert_allclose(posterior.variance, fresh.variance, atol=1e-8)
    assert (posterior.variance >= 0).all()


def test_identical_arms_share_what_is_seen_and_variance_stays_nonnegative():
    prior = Prior(np.full(3, 0.5), np.full((3, 3), 0.04), 1e-8)
    posterior = observe_all(prior, [(0, 0.9), (1, 0.9), (2, 0.9), (0, 0.9)])
    np.testing.assert_allclose(posterior.mean, 0.9, atol=1e-5)
    assert (posterior.variance >= 0).all()
    assert posterior.variance.max() < 1e-7


def test_believing_keeps_means_and_shrinks_variance_as_an_observation_would():
    prior = random_prior(6, 3)
    posterior = Posterior.of(prior).observe(1, 0.8)
    believed, seen = posterior.believe([4]), posterior.observe(4, float(posterior.mean[4]))
    np.testing.assert_array_equal(believed.mean, posterior.mean)
    np.testing.assert_allclose(believed.mean, seen.mean)
    np.testing.assert_allclose(believed.variance, seen.variance)


def test_believing_at_once_is_believing_one_after_the_other():
    posterior = Posterior.of(random_prior(6, 3)).observe(1, 0.8)
    at_once, in_turn = (
        posterior.believe([4, 0, 2]),
        posterior.believe([4]).believe([0]).believe([2]),
    )
    np.testing.assert_allclose(at_once.variance, in_turn.variance)
    np.testing.assert_allclose(
        at_once.covariance(np.arange(6)), in_turn.covariance(np.arange(6)), atol=1e-12
    )
    np.testing.assert_array_equal(posterior.believe([]).variance, posterior.variance)


def test_observing_leaves_the_old_belief_alone():
    first = Posterior.of(THREE)
    first.observe(0, 0.9)
    np.testing.assert_array_equal(first.mean, THREE.mean)
    with pytest.raises(ValueError, match="read-only"):
        first.variance[0] = 1


@pytest.mark.parametrize(
    ("mean", "covariance", "noise"),
    [
        ([0.5, 0.5], np.eye(3), 0.1),
        ([0.5, np.nan], np.eye(2), 0.1),
        ([0.5, 0.5], np.array([[1.0, 0.5], [0.2, 1.0]]), 0.1),
        ([0.5, 0.5], np.diag([1.0, -1.0]), 0.1),
        ([0.5, 0.5], np.eye(2), 0.0),
    ],
)
def test_malformed_priors_are_refused(mean, covariance, noise):
    with pytest.raises(InvalidInput):
        Prior(np.array(mean), covariance, noise)
