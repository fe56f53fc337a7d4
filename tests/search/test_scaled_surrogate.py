"""The Gaussian process with unknown scale, beside one process for each scale; clips, doubts, new
arms.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from easeml.errors import InvalidInput
from easeml.search import Posterior, Prior, Scales, expected_improvement
from easeml.search.surrogates.gaussian import exact

FACTORS, LEVELS, WEIGHTS = (
    np.array([0.02, 0.05, 0.2]),
    np.array([0.9, 0.8, 0.6]),
    np.array([0.2, 0.5, 0.3]),
)


def scaled(size=6, seed=0, **more):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(size, size))
    return Prior(
        generator.normal(size=size),
        root @ root.T / size,
        0.01,
        Scales(FACTORS, LEVELS, WEIGHTS),
        **more,
    )


def apart(prior):
    """One plain prior in quality for each scale."""
    return [
        Prior(level + factor * prior.mean, factor**2 * prior.covariance, factor**2 * prior.noise)
        for factor, level in zip(FACTORS, LEVELS, strict=True)
    ]


def evidence(plain, observations):
    arms = [arm for arm, _ in observations]
    gram = plain.covariance[np.ix_(arms, arms)] + plain.noise * np.eye(len(arms))
    return stats.multivariate_normal(plain.mean[arms], gram).pdf(
        [quality for _, quality in observations]
    )


def test_a_belief_that_grows_again_and_again_is_the_one_from_scratch():
    """Arms join between observations, repeats and refreshes; what is believed of runs under way
    does not disturb.
    """
    generator, whole = np.random.default_rng(0), scaled(size=30)

    def first(size):
        return replace(whole, mean=whole.mean[:size], covariance=whole.covariance[:size, :size])

    grown = Posterior.of(first(3))
    for size in range(6, 31, 3):
        for arm in generator.integers(size - 3, size=7).tolist():
            grown = grown.observe(arm, float(generator.random()))
        grown = grown.believe([0]) if size == 30 else grown
        before = len(grown.factor)
        grown = grown.under(first(size))
        assert len(grown.factor) == before  # continued, and not solved anew
    direct = exact(whole, grown.counts, grown.sums).believe([0])
    np.testing.assert_allclose(grown.rows, direct.rows, atol=1e-8)
    np.testing.assert_allclose(grown.spread, direct.spread, atol=1e-8)
    np.testing.assert_allclose(grown.weights, direct.weights, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_equals_a_mixture_of_processes(seed):
    prior = scaled(seed=seed)
    generator = np.random.default_rng(seed)
    observations = [(arm, float(generator.normal(0.8, 0.1))) for arm in (3, 0, 5)]
    belief, parts = Posterior.of(prior), []
    for arm, quality in observations:
        belief = belief.observe(arm, quality)
    for plain in apart(prior):
        part = Posterior.of(plain)
        for arm, quality in observations:
            part = part.observe(arm, quality)
        parts.append(part)
    weights = WEIGHTS * [evidence(plain, observations) for plain in apart(prior)]
    weights /= weights.sum()
    np.testing.assert_allclose(belief.weights, weights, rtol=1e-8)
    mean = sum(w * part.mean for w, part in zip(weights, parts, strict=True))
    second = sum(w * (part.variance + part.mean**2) for w, part in zip(weights, parts, strict=True))
    np.testing.assert_allclose(belief.mean, mean, atol=1e-12)
    np.testing.assert_allclose(belief.variance, second - mean**2, atol=1e-10)
    hope = sum(
        w * expected_improvement(p.mean, p.variance, 0.85)
        for w, p in zip(weights, parts, strict=True)
    )
    np.testing.assert_allclose(belief.improvement(0.85), hope, atol=2e-3 * hope.max())


def test_repeats_do_not_change_the_scales_when_they_agree_with_the_mean():
    once = Posterior.of(scaled()).observe(1, 0.8).observe(2, 0.7)
    again = once.observe(1, 0.9).observe(1, 0.7).observe(1, 0.8)
    fresh = exact(again.prior, again.counts, again.sums)
    np.testing.assert_allclose(again.weights, fresh.weights, rtol=1e-9)
    np.testing.assert_allclose(again.rows, fresh.rows, atol=1e-10)
    np.testing.assert_allclose(again.weights, once.weights, atol=0.1)


def test_a_breakdown_counts_as_just_low():
    prior = scaled(clip=2.0)
    low, lower = Posterior.of(prior).observe(0, -5.0), Posterior.of(prior).observe(0, -50.0)
    np.testing.assert_array_equal(low.mean, lower.mean)
    assert low.mean[0] > -1
    high = Posterior.of(prior).observe(0, 0.99)
    np.testing.assert_array_equal(high.mean, Posterior.of(scaled()).observe(0, 0.99).mean)


def test_doubt_keeps_hope_where_the_belief_has_none():
    sure, doubting = scaled(), scaled(doubt=0.05)
    beliefs = [Posterior.of(prior) for prior in (sure, doubting)]
    for arm in (0, 1, 2, 3):
        beliefs = [belief.observe(arm, 0.1) for belief in beliefs]
    hopes = [belief.improvement(0.3) for belief in beliefs]
    first = expected_improvement(*doubting.marginals, 0.3)
    np.testing.assert_allclose(hopes[1], 0.95 * hopes[0] + 0.05 * first)


def test_a_run_says_something_of_the_arms_of_its_group_even_in_doubt():
    grouped = scaled(doubt=0.05, groups=np.array([0, 0, 1, 1, 2, 2]))
    sure = Posterior.of(replace(grouped, doubt=0.0)).observe(0, 0.1).observe(5, 0.1)
    belief = Posterior.of(grouped).observe(0, 0.1).observe(5, 0.1)
    first = expected_improvement(*grouped.marginals, 0.3)
    hope = sure.improvement(0.3)
    expected = np.where([True, True, False, False, True, True], hope, 0.95 * hope + 0.05 * first)
    np.testing.assert_allclose(belief.improvement(0.3), expected)
    under_way = belief.believe([2]).improvement(0.3)
    np.testing.assert_allclose(under_way[3], sure.believe([2]).improvement(0.3)[3])


def test_new_arms_join_at_any_time():
    whole = scaled(size=8)
    few = Prior(whole.mean[:6], whole.covariance[:6, :6], whole.noise, whole.scales)
    observations = [(0, 0.8), (4, 0.6), (0, 0.82)]
    grown, direct = Posterior.of(few), Posterior.of(whole)
    for arm, quality in observations:
        grown, direct = grown.observe(arm, quality), direct.observe(arm, quality)
    grown = grown.under(whole)
    np.testing.assert_allclose(grown.mean, direct.mean, atol=1e-10)
    np.testing.assert_allclose(grown.variance, direct.variance, atol=1e-10)
    with pytest.raises(InvalidInput, match="lacks 2 arms"):
        grown.under(few)


@pytest.mark.parametrize(
    "wrong",
    [
        {"factors": np.array([0.0])},
        {"weights": np.array([-1.0])},
        {"levels": np.zeros(2)},
        {"factors": np.array([np.nan])},
    ],
)
def test_malformed_scales_are_refused(wrong):
    with pytest.raises(InvalidInput):
        Scales(**wrong)


@pytest.mark.parametrize("wrong", [{"clip": 0.0}, {"doubt": 1.0}, {"groups": np.array([0])}])
def test_malformed_habits_are_refused(wrong):
    with pytest.raises(InvalidInput):
        scaled(**wrong)
