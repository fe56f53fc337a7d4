"""Beliefs about angles instead of qualities, beside integrals and draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from easeml.errors import InvalidInput
from easeml.search import (
    Arm,
    Observation,
    Posterior,
    Prior,
    SearchState,
    add_job,
    observed,
    policy_named,
    remaining,
)
from easeml.search.links import ARCSINE, IDENTITY

QUALITIES = st.floats(0, 1)


def belief(mean, deviation, link=ARCSINE, **more):
    means = np.array(mean, dtype=float)
    return Prior(means, deviation**2 * np.eye(means.size), 1e-3, link=link, **more)


def integral(mean, deviation, best):
    """E[sin^2(min(Z, pi / 2)) - best]+ of Z ~ N(mean, deviation^2)."""
    level, top = np.arcsin(np.sqrt(best)), np.pi / 2
    inner, _ = integrate.quad(
        lambda z: (np.sin(z) ** 2 - best) * stats.norm.pdf(z, mean, deviation),
        level,
        top,
        points=[np.clip(mean, level, top)],
    )
    return inner + (1 - best) * stats.norm.sf(top, mean, deviation)


@given(QUALITIES)
def test_a_quality_comes_back(quality):
    assert ARCSINE.quality(ARCSINE.latent(np.array(quality))) == pytest.approx(quality, abs=1e-12)


@pytest.mark.parametrize("best", [0.0, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("deviation", [0.02, 0.1, 0.2])
@pytest.mark.parametrize("apart", [-0.1, 0.0, 0.1])
def test_improvement_is_near_the_integral(best, deviation, apart):
    mean = np.arcsin(np.sqrt(best)) + 0.3 * (best == 0) + apart  # nobody expects a quality of 0
    got = float(ARCSINE.improvement(np.array([mean]), np.array([deviation**2]), best)[0])
    assert got == pytest.approx(integral(mean, deviation, best), rel=0.12, abs=1e-6)


@given(st.floats(-1, 3), st.floats(0, 2), QUALITIES)
def test_improvement_is_never_negative_nor_more_than_what_is_left(mean, deviation, best):
    got = float(ARCSINE.improvement(np.array([mean]), np.array([deviation**2]), best)[0])
    assert 0 <= got <= 1 - best + 1e-12


def test_improvement_grows_with_the_mean_and_shrinks_with_the_best():
    means = np.linspace(0.4, 1.5, 50)
    assert (np.diff(ARCSINE.improvement(means, np.full(50, 0.01), 0.6)) > -1e-12).all()
    levels = np.linspace(0, 1, 50)
    assert (np.diff(ARCSINE.improvement(np.full(50, 1.0), np.full(50, 0.01), levels)) < 1e-12).all()


def test_a_posterior_speaks_of_qualities():
    generator = np.random.default_rng(0)
    posterior = Posterior.of(belief([1.0, 1.2], 0.02)).observe(0, 0.75)
    draws = (
        np.sin(
            generator.normal(
                posterior.latent_mean, np.sqrt(posterior.latent_variance), (100_000, 2)
            )
        )
        ** 2
    )
    np.testing.assert_allclose(posterior.mean, np.median(draws, axis=0), atol=1e-3)
    np.testing.assert_allclose(posterior.variance, draws.var(axis=0), rtol=0.05)


def test_what_remains_is_in_quality():
    prior = belief([1.0, 1.1, 0.9], 0.15)
    arms = [Arm(name, name, 1.0) for name in "abc"]
    state = observed(
        add_job(SearchState(), "job", "tenant", arms, prior), Observation("job", 0, 0.8, 1.0)
    )
    posterior = state.job("job").posterior
    draws = np.random.default_rng(1).normal(
        posterior.latent_mean, np.sqrt(posterior.latent_variance), (400_000, 3)
    )
    gains = np.maximum(np.sin(np.minimum(draws[:, 1:].max(axis=1), np.pi / 2)) ** 2 - 0.8, 0)
    assert remaining(state, "job").expected == pytest.approx(gains.mean(), rel=0.03)


def test_near_perfection_the_same_angle_is_worth_less():
    half, good = (
        float(Posterior.of(belief([np.arcsin(np.sqrt(best))], 0.05)).improvement(best)[0])
        for best in (0.5, 0.97)
    )
    assert good < half / 2


@pytest.mark.parametrize("name", ["gittins", "ei-rate", "default", "gp-ucb-round-robin"])
def test_every_policy_can_decide_by_angles(name):
    arms = [Arm("slow", "slow", 9.0), Arm("good", "good", 1.0), Arm("poor", "poor", 1.0)]
    state = add_job(SearchState(), "job", "tenant", arms, belief([1.2, 1.2, 0.6], 0.1))
    state = observed(state, Observation("job", 2, 0.3, 1.0))
    (decision,) = policy_named(name).decide(state, 1)
    assert decision.arm == 1
    assert 0 <= decision.explanation["top"][0]["mean"] <= 1


def test_a_prior_with_another_link_is_refused():
    posterior = Posterior.of(belief([0.5], 0.1, link=IDENTITY))
    with pytest.raises(InvalidInput, match="link"):
        posterior.under(belief([0.5, 0.6], 0.1))
