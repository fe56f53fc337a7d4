"""A prior over models learned from the runs of few jobs, or of none.

The angle of job j's model m is

    level_j + scale_j (effect_m + interaction_jm) + noise

with effects that are common to all jobs, around what is typical of the model's family, and
interactions that are a job's own. The variances of both add up to ``_MODEL_VARIANCE``; which share
of it is common is learned. Inference is as in Gelman et al., Bayesian Data Analysis (3rd edition),
chapters 5 and 15.
"""

from typing import NamedTuple

import numpy as np

from easeml.search.links import ARCSINE
from easeml.search.surrogates import Prior, Scales
from easeml.search.table_priors import CLIP, DOUBT

TYPICAL = float(ARCSINE.latent(np.array(0.72)))  # level of a job
_JOB_VARIANCE = 0.17**2  # of levels, at scale 1
_MODEL_VARIANCE = 0.055**2  # of the models of a job, at scale 1
_NOISE = 0.011**2
_SCALES = np.array([0.5, 1.0, 2.0, 4.0, 8.0])  # at 8, models are anywhere from useless to perfect
_ODDS = _SCALES / (
    1 + _SCALES**2
)  # the half-Cauchy density, for scales that are even in the logarithm
_SHARES = np.arange(10) / 10  # of the variance of models that is common to all jobs
_WEIGHT = 5.0  # of what is believed without history, in jobs
_COVARIANCE_WEIGHT = 20.0  # and of how interactions are related
_ROUNDS = 3


class _Common(NamedTuple):
    """What holds for all jobs.

    ``odds`` (G,) of scales; the middle ``level`` and the ``variance`` of levels; the ``effects``
    (K,) of models, with the variances (K,) of their ``errors``; and the ``own`` variance of a job's
    models.
    """

    odds: np.ndarray
    level: float
    variance: float
    effects: np.ndarray
    errors: np.ndarray
    own: float


class _Jobs(NamedTuple):
    """What holds for each of N jobs.

    ``odds`` (G, N) of its scale, the middle one, its level, and its angles (N, K) at level 0 and
    scale 1.
    """

    odds: np.ndarray
    scales: np.ndarray
    levels: np.ndarray
    standard: np.ndarray


def hierarchical_prior(
    angles: np.ndarray,
    typical: np.ndarray,
    within: float = 0.0,
    likeness: np.ndarray | None = None,
) -> Prior:
    """Return the prior of one more job after the ``angles`` (N, K) of N others, NaN where missing.

    ``typical`` (K,): the effects to be expected of models; ``within``: the part of a cell's
    variance, at scale 1, that is not its model's, and is taken out. ``likeness`` (K, K): how far
    models are believed to be alike, as correlations; None: not at all. A job's scale is one of five,
    with the odds of a half-Cauchy prior (Gelman, Bayesian Analysis 1, 2006) as if it had been seen
    in ``_WEIGHT`` jobs: with one scale, a baseline that is far worse than expected would be taken
    for a sign of a hopeless job, and a model that is far better than the others for the best there
    can be, and the job would get nothing more. For the same reason outliers are clipped and the
    belief is doubted as much as one learned from many jobs: see ``Prior``.
    """
    common = _Common(_ODDS / _ODDS.sum(), TYPICAL, _JOB_VARIANCE, *_effects(angles[:0], typical))
    jobs = _jobs(angles, common)
    for _ in range(_ROUNDS):
        common = _common(jobs, typical)
        jobs = _jobs(angles, common)
    alike = np.eye(typical.size) if likeness is None else likeness
    interactions = _covariance(jobs.standard - common.effects, common.own * alike, within)
    deviations = np.sqrt(common.errors)
    errors = alike * np.outer(deviations, deviations)
    covariance = common.variance + errors + interactions
    scales = Scales(_SCALES, np.full(_SCALES.size, common.level), common.odds)
    return Prior(common.effects, covariance, _NOISE, scales, CLIP, DOUBT, ARCSINE)


def _jobs(angles: np.ndarray, common: _Common) -> _Jobs:
    """Return level and scale of each job.

    For a given scale, its angles are normal with one correlation.
    """
    seen = ~np.isnan(angles)
    count = seen.sum(axis=1)
    scales = _SCALES[:, None]
    expected = common.level + scales[:, :, None] * common.effects
    apart = np.where(seen, angles - expected, 0.0)
    total = apart.sum(axis=2)
    squares = (apart * apart).sum(axis=2)
    own, shared = scales**2 * _MODEL_VARIANCE + _NOISE, scales**2 * common.variance
    whole = own + count * shared
    misfit = (squares - shared / whole * total**2) / own
    logs = np.log(common.odds)[:, None] - 0.5 * (misfit + (count - 1) * np.log(own) + np.log(whole))
    odds = np.exp(logs - logs.max(axis=0))
    odds /= odds.sum(axis=0)
    middle = (odds.cumsum(axis=0) < 0.5).sum(axis=0)
    each = np.arange(len(angles))
    levels = common.level + (shared / whole * total)[middle, each]
    standard = (angles - levels[:, None]) / _SCALES[middle][:, None]
    lowest = common.effects - CLIP * np.sqrt(
        _MODEL_VARIANCE
    )  # a model that broke down is no sign of what others reach
    return _Jobs(odds, _SCALES[middle], levels, np.maximum(standard, lowest))


def _common(jobs: _Jobs, typical: np.ndarray) -> _Common:
    count = len(jobs.levels)
    level = (jobs.levels.sum() + _WEIGHT * TYPICAL) / (count + _WEIGHT)
    apart = (jobs.levels - level) / jobs.scales
    variance = (apart @ apart + _WEIGHT * _JOB_VARIANCE) / (count + _WEIGHT)
    odds = (jobs.odds.sum(axis=1) + _WEIGHT * _ODDS / _ODDS.sum()) / (count + _WEIGHT)
    return _Common(odds, float(level), float(variance), *_effects(jobs.standard, typical))


def _effects(standard: np.ndarray, typical: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return ``effects``, ``errors`` and ``own`` of ``_Common``.

    ``standard``: angles (N, K) at level 0 and scale 1.

    The share of the variance that is common is its posterior mean among ``_SHARES``, of which none
    is likelier before.
    """
    seen = ~np.isnan(standard)
    count = seen.sum(axis=0)
    apart = np.where(seen, standard - typical, 0.0)
    total = apart.sum(axis=0)
    squares = (apart * apart).sum(axis=0)
    shared, own = _SHARES[:, None] * _MODEL_VARIANCE, (1 - _SHARES[:, None]) * _MODEL_VARIANCE
    whole = own + count * shared
    misfit = (squares - shared / whole * total**2) / own
    logs = -0.5 * (misfit + (count - 1) * np.log(own) + np.log(whole)).sum(axis=1)
    odds = np.exp(logs - logs.max())
    share = float(odds @ _SHARES / odds.sum())
    shared, own = share * _MODEL_VARIANCE, (1 - share) * _MODEL_VARIANCE
    weight = shared / (own + count * shared)
    return typical + weight * total, weight * own, own


def _covariance(interactions: np.ndarray, expected: np.ndarray, within: float) -> np.ndarray:
    """Return the covariance (K, K) of interactions (N, K).

    It is the mean of an inverse-Wishart posterior (Gelman et al., section 3.6) around the
    ``expected`` (K, K), pairwise where cells are missing, with negative eigenvalues set to 0.
    """
    seen = (~np.isnan(interactions)).astype(float)
    values = np.nan_to_num(interactions)
    before = _COVARIANCE_WEIGHT * expected - within * np.diag(seen.sum(axis=0))
    covariance = (values.T @ values + before) / (seen.T @ seen + _COVARIANCE_WEIGHT)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    return (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
