"""Does what was learned from the past hold for the searches of today?"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from easeml.search.arms import Arm
from easeml.search.links import ARCSINE
from easeml.search.prior import Learned, PastRun, learned
from easeml.search.surrogates import Prior

_TRUST = 10.0  # logarithm of the odds, before any run of today, that the past holds
_FOLDS = 2
_JOBS_ASKED = 20  # those with the most runs


def learned_beside(
    arms: Sequence[Arm],
    before: Sequence[PastRun],
    beside: Sequence[PastRun],
    own: Sequence[PastRun] = (),
) -> Learned:
    """Return what runs ``before`` teach together with those of jobs searched ``beside`` this one.

    If the latter contradict the past, it is what they teach alone. See ``learned``.
    """
    if before and beside:
        past = learned(arms, before)
        if is_contradicted(past.by_model, past.models, beside):
            return learned(arms, beside, own)
    return learned(arms, [*before, *beside], own)


def is_contradicted(prior: Prior, models: Mapping[str, int], runs: Sequence[PastRun]) -> bool:
    """Do ``runs`` of some jobs speak against a ``prior`` that was learned without them?

    It is over ``models``. They do when it is less likely than what the jobs teach of each other, by
    more than the trust in it: the Bayes factor (Kass and Raftery, JASA 90, 1995), with the density
    of half of the jobs under what the other half teaches.
    """
    most_runs = Counter(run[0] for run in runs).most_common(_JOBS_ASKED)
    jobs = [job for job, _ in most_runs]
    asked = [run for run in runs if run[0] in jobs]
    evidence = 0.0
    for fold in range(_FOLDS):
        left_out = set(jobs[fold::_FOLDS])
        for log_ratio in _log_ratios(prior, models, asked, left_out):
            evidence += log_ratio
    return evidence > _TRUST


def _log_ratios(
    prior: Prior, models: Mapping[str, int], runs: Sequence[PastRun], jobs: Collection[str]
) -> Iterator[float]:
    """Yield for each of some ``jobs`` how much likelier it is by the other jobs than by the prior.

    That is the logarithm of the ratio of its densities.
    """
    arms = [Arm(model, model, 1.0) for model in models]
    others = [run for run in runs if run[0] not in jobs]
    own = [run for run in runs if run[0] in jobs and run[1] in models]
    rest = learned(arms, others)
    for qualities in _qualities(own):
        angles = {model: _mean_angle(reached) for model, reached in qualities.items()}
        under_rest = _log_density(rest.by_model, rest.models, angles)
        under_past = _log_density(prior, models, angles)
        yield under_rest - under_past


def _qualities(runs: Iterable[PastRun]) -> Iterable[dict[str, list[float]]]:
    """Return the qualities of each model, for each job."""
    found: dict[str, dict[str, list[float]]] = {}
    for job, model, _, quality in runs:
        found.setdefault(job, {}).setdefault(model, []).append(quality)
    return found.values()


def _mean_angle(qualities: Sequence[float]) -> float:
    return float(ARCSINE.latent(np.array(qualities)).mean())


def _log_density(prior: Prior, models: Mapping[str, int], angles: Mapping[str, float]) -> float:
    """Return the log density of a job's ``angles`` by model, up to a constant; over all scales."""
    seen = np.array([models[model] for model in angles], dtype=int)
    covariance = prior.covariance[np.ix_(seen, seen)] + prior.noise * np.eye(seen.size)
    lower = np.linalg.cholesky(covariance)

    # One row a scale.
    factors = prior.scales.factors
    levels = prior.scales.levels
    values = np.array(list(angles.values()))
    apart = (values - levels[:, None]) / factors[:, None] - prior.mean[seen]
    white = np.linalg.solve(lower, apart.T)
    logs = (
        np.log(prior.scales.weights)
        - 0.5 * (white * white).sum(axis=0)
        - seen.size * np.log(factors)
    )
    return float(np.logaddexp.reduce(logs) - np.log(np.diagonal(lower)).sum())
