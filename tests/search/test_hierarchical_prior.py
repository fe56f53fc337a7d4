"""What few jobs teach: every formula beside the density that it abbreviates, and a search that
learns from others.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import multivariate_normal

from easeml.search import hierarchical_prior as module
from easeml.search import learned_prior, policy_named
from easeml.search.hierarchical_prior import hierarchical_prior
from easeml.search.simulator import Workload, belief, curve, simulate

ANGLES = arrays(float, (4, 3), elements=st.one_of(st.floats(0, np.pi / 2), st.just(np.nan)))
TYPICAL = np.array([-0.1, 0.0, 0.05])


def known(angles):
    return angles[~np.isnan(angles).all(axis=1)]


def unknown():
    """What holds for all jobs before any was seen."""
    effects = module._effects(np.empty((0, 3)), TYPICAL)
    return module._Common(
        module._ODDS / module._ODDS.sum(), module.TYPICAL, module._JOB_VARIANCE, *effects
    )


@given(ANGLES)
def test_levels_and_scales_are_those_of_the_whole_density(angles):
    angles, common = known(angles), unknown()
    jobs = module._jobs(angles, common)
    for job, row in enumerate(angles):
        seen = np.flatnonzero(~np.isnan(row))
        logs, levels = [], []
        for scale, odds in zip(module._SCALES, common.odds, strict=True):
            mean = common.level + scale * common.effects[seen]
            own = scale**2 * module._MODEL_VARIANCE + module._NOISE
            shared = scale**2 * common.variance
            covariance = shared + own * np.eye(seen.size)
            logs.append(np.log(odds) + multivariate_normal(mean, covariance).logpdf(row[seen]))
            levels.append(
                common.level + shared * np.linalg.solve(covariance, row[seen] - mean).sum()
            )
        odds = np.exp(np.array(logs) - max(logs))
        np.testing.assert_allclose(jobs.odds[:, job], odds / odds.sum(), atol=1e-9)
        np.testing.assert_allclose(
            jobs.levels[job], levels[int(np.searchsorted(module._SCALES, jobs.scales[job]))]
        )


@given(ANGLES)
def test_effects_are_those_of_the_whole_density(angles):
    standard = (known(angles) - 0.8) / 8
    effects, errors, own = module._effects(standard, TYPICAL)
    logs = []
    for share in module._SHARES:
        log = 0.0
        for model in range(3):
            values = standard[~np.isnan(standard[:, model]), model]
            if values.size:
                covariance = module._MODEL_VARIANCE * (share + (1 - share) * np.eye(values.size))
                log += multivariate_normal(np.full(values.size, TYPICAL[model]), covariance).logpdf(
                    values
                )
        logs.append(log)
    odds = np.exp(np.array(logs) - max(logs))
    share = odds @ module._SHARES / odds.sum()
    assert own == pytest.approx((1 - share) * module._MODEL_VARIANCE)
    for model in range(3):
        values = standard[~np.isnan(standard[:, model]), model]
        precision = 1 / (share * module._MODEL_VARIANCE) + values.size / own
        total = TYPICAL[model] / (share * module._MODEL_VARIANCE) + values.sum() / own
        assert effects[model] == pytest.approx(total / precision)
        assert errors[model] == pytest.approx(1 / precision)


@given(ANGLES, st.permutations(range(3)), st.randoms(use_true_random=False))
def test_the_order_of_jobs_and_models_does_not_matter(angles, models, random):
    angles = known(angles)
    jobs = random.sample(range(len(angles)), len(angles))
    one = hierarchical_prior(angles, TYPICAL)
    other = hierarchical_prior(angles[jobs][:, models], TYPICAL[models])
    np.testing.assert_allclose(other.mean, one.mean[models], atol=1e-9)
    np.testing.assert_allclose(other.covariance, one.covariance[np.ix_(models, models)], atol=1e-9)
    np.testing.assert_allclose(other.scales.weights, one.scales.weights, atol=1e-9)
    assert np.linalg.eigvalsh(one.covariance).min() > -1e-10


def test_a_model_that_is_better_everywhere_is_soon_expected_to_be_so():
    generator = np.random.default_rng(0)
    effects = np.array([-0.1, 0.15, 0.05])
    angles = generator.normal(0.9, 0.2, (12, 1)) + effects + generator.normal(0, 0.02, (12, 3))
    ahead = []
    for jobs in (0, 3, 12):
        prior = hierarchical_prior(angles[:jobs], TYPICAL)
        ahead.append(
            (prior.mean[1] - prior.mean[2]) * (prior.scales.weights @ prior.scales.factors)
        )
    assert ahead[0] < 0 < ahead[1]
    assert ahead[2] == pytest.approx(0.1, rel=0.3)


def with_common_effects(seed, tenants=8, models=24):
    """Which models are good is the same for all tenants, more or less, and nobody knows it; costs
    tell nothing.
    """
    generator = np.random.default_rng(seed)
    angle = generator.normal(0.9, 0.2, (tenants, 1)) + generator.normal(0, 0.15, models)
    quality = (
        np.sin(np.clip(angle + generator.normal(0, 0.03, (tenants, models)), 0, np.pi / 2)) ** 2
    )
    names = tuple(f"tenant-{n}" for n in range(tenants)), tuple(f"model-{n}" for n in range(models))
    return Workload(quality, generator.uniform(0.5, 1.5, quality.shape), *names)


def test_searches_that_learn_from_each_other_find_good_models_sooner():
    areas = {True: [], False: []}
    for seed in range(6):
        work = with_common_effects(seed)
        prior = belief(work.quality[:0], work.models, own=True)
        for learns, found in areas.items():
            trace = simulate(work, policy_named(), prior, learn=learned_prior if learns else None)
            found.append(curve(trace, work).area)
    assert np.mean(areas[True]) < 0.8 * np.mean(areas[False])
