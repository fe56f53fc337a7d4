"""When the past misleads, the searches of today say so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from easeml.search import Arm, evidence, learned, learned_beside, learned_prior
from easeml.search.links import ARCSINE
from easeml.search.simulator import Setting, Workload, compare

MODELS = [f"model-{number}" for number in range(6)]
ARMS = [Arm(model, model, 1.0) for model in MODELS]
GOOD_LAST = np.linspace(-0.2, 0.2, 6)


def runs(name, jobs, effects, seed, models=6):
    """Runs of the first models, of jobs whose levels differ more than their models do."""
    generator = np.random.default_rng(seed)
    angle = generator.normal(0.8, 0.2, (jobs, 1)) + effects + generator.normal(0, 0.03, (jobs, 6))
    quality = np.sin(np.clip(angle, 0, np.pi / 2)) ** 2
    return [
        (f"{name}-{j}", MODELS[m], (), float(quality[j, m]))
        for j in range(jobs)
        for m in range(models)
    ]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_jobs_density_is_that_of_a_mixture_of_normals(qualities):
    known = learned(ARMS, runs("past", 3, GOOD_LAST, seed=0))
    angles = ARCSINE.latent(np.array(qualities))
    found = evidence._log_density(
        known.by_model, known.models, dict(zip(MODELS, angles.tolist(), strict=False))
    )
    prior, size, density = known.by_model, angles.size, 0.0
    for factor, level, weight in zip(
        prior.scales.factors, prior.scales.levels, prior.scales.weights, strict=True
    ):
        covariance = factor**2 * (prior.covariance[:size, :size] + prior.noise * np.eye(size))
        density += weight * multivariate_normal(level + factor * prior.mean[:size], covariance).pdf(
            angles
        )
    assert found == pytest.approx(np.log(density) + 0.5 * size * np.log(2 * np.pi))


def test_searches_like_those_of_the_past_leave_it_in_force():
    before, beside = runs("past", 30, GOOD_LAST, seed=1), runs("now", 8, GOOD_LAST, seed=2)
    together = learned_prior(ARMS, [*before, *beside])
    np.testing.assert_array_equal(
        learned_beside(ARMS, before, beside).over(ARMS).mean, together.mean
    )


def test_searches_that_contradict_the_past_end_it():
    before, beside = runs("past", 30, -GOOD_LAST, seed=1), runs("now", 8, GOOD_LAST, seed=2)
    alone = learned_prior(ARMS, beside)
    np.testing.assert_array_equal(learned_beside(ARMS, before, beside).over(ARMS).mean, alone.mean)


def test_a_surprise_or_two_do_not_end_the_past():
    before, beside = (
        runs("past", 30, -GOOD_LAST, seed=1),
        runs("now", 1, GOOD_LAST, seed=2, models=2),
    )
    together = learned_prior(ARMS, [*before, *beside])
    np.testing.assert_array_equal(
        learned_beside(ARMS, before, beside).over(ARMS).mean, together.mean
    )


def test_a_misleading_past_does_no_lasting_harm():
    """Much cheaper than the past's favourites are the models that are good; the past says the
    opposite.
    """
    generator = np.random.default_rng(3)
    effects = generator.normal(0, 0.2, 24)
    angle = generator.normal(0.8, 0.1, (48, 1)) + effects + generator.normal(0, 0.03, (48, 24))
    names = tuple(f"tenant-{n}" for n in range(48)), tuple(f"model-{n}" for n in range(24))
    work = Workload(
        np.sin(np.clip(angle, 0, np.pi / 2)) ** 2, generator.uniform(1, 10, (48, 24)), *names
    )
    found = compare(work, ["default", "ei-rate"], Setting(tenants=8, seeds=4, history="misleading"))
    areas = {name: np.mean([each.area for each in curves]) for name, curves in found.curves.items()}
    assert areas["default"] < 0.8 * areas["ei-rate"]
