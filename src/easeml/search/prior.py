"""The belief about arms before a job's first run: from nothing, or from all finished runs.

The angle of a quality (``links.ARCSINE``) is modelled as: level of the job + effect of the model +
effect of the configuration + noise. All that follows is in angles; around the quality 0.72 one is
0.9 of quality.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from easeml.search import configurations
from easeml.search.arms import Arm
from easeml.search.hierarchical_prior import TYPICAL, hierarchical_prior
from easeml.search.links import ARCSINE
from easeml.search.surrogates import Prior
from easeml.search.table_priors import has_scales, scaled_prior

PastRun = tuple[str, str, tuple[float, ...], float]  # job, model, config features, quality

# Typical qualities by model family when nothing is known yet; the first part of a model's name that
# is found here counts. Only their order matters: Fernandez-Delgado et al., Do we need hundreds of
# classifiers (JMLR 2014), table 1, and Grinsztajn et al., Why do tree-based models still outperform
# deep learning on tabular data (NeurIPS 2022).
_FAMILIES = {
    "baseline": 0.50,
    "dummy": 0.50,
    "bayes": 0.68,
    "decision-tree": 0.70,
    "knn": 0.70,
    "elastic-net": 0.72,
    "logistic": 0.72,
    "ridge": 0.72,
    "mlp": 0.73,
    "svm": 0.74,
    "forest": 0.76,
    "extra-trees": 0.76,
    "boosting": 0.77,
    "lightgbm": 0.77,
    "xgboost": 0.77,
    "catboost": 0.78,
}
_KINDS = {
    "linear": ("elastic-net", "logistic", "ridge"),
    "trees": ("tree", "forest", "boosting", "lightgbm", "xgboost", "catboost"),
}
_LIKENESS = 0.8  # correlation of what two models of one kind do on the data of a job
_CONFIG_VARIANCE = 0.022**2
_WEIGHT = 5.0  # of what is believed without history, in runs
_LEARN_AGAIN = 1.2  # times as many runs of other jobs as when a job's prior was learned
_FEWEST_MODELS = 5  # that a job must have tried, or its scale cannot be told
_ENOUGH = 500  # runs of other jobs, after which more of them change little in a search under way


def default_prior(arms: Sequence[Arm]) -> Prior:
    """Return the prior of a cold start: typical qualities by model family, and a kernel.

    The kernel has three parts. All is relative to a typical level, and a job's differences may be
    half to eight times as large: see ``hierarchical_prior``. All arms share the level of the job;
    arms of one model share its effect; configurations of one model are alike as far as their
    features are near: see ``configurations.kernel``.
    """
    return learned(arms, []).over(arms)


def learned_prior(
    arms: Sequence[Arm], history: Sequence[PastRun], own: Sequence[PastRun] = ()
) -> Prior:
    """Return the prior over ``arms`` that ``learned`` knows."""
    return learned(arms, history, own).over(arms)


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned of ``models``, and how much configurations matter.

    ``by_model``: a prior over the models without what configurations add. ``config_variance``: how
    far, squared, configurations are from the mean of their model, at scale 1; ``past``: where past
    configurations lay around it.
    """

    models: Mapping[str, int]
    by_model: Prior
    config_variance: float
    past: configurations.Past

    def over(self, arms: Sequence[Arm]) -> Prior:
        """Return the prior over ``arms``; raises ``KeyError`` for a model not among ``models``."""
        mean = self._mean(arms)
        covariance = self._covariance(arms, arms)
        groups = self._places(arms)
        return replace(self.by_model, mean=mean, covariance=covariance, groups=groups)

    def extended(self, prior: Prior, arms: Sequence[Arm], more: Sequence[Arm]) -> Prior:
        """Return ``over`` of ``arms`` and ``more`` from the ``prior`` over ``arms``.

        Only what is new is computed.
        """
        across = self._covariance(arms, more)
        among = self._covariance(more, more)
        covariance = np.block([[prior.covariance, across], [across.T, among]])
        mean = np.append(prior.mean, self._mean(more))
        groups = self._places([*arms, *more])
        return replace(prior, mean=mean, covariance=covariance, groups=groups)

    def _mean(self, arms: Sequence[Arm]) -> np.ndarray:
        return self.by_model.mean[self._places(arms)] + self.past.smoothed(arms)

    def _covariance(self, arms: Sequence[Arm], others: Sequence[Arm]) -> np.ndarray:
        models = self.by_model.covariance[np.ix_(self._places(arms), self._places(others))]
        return models + self.config_variance * configurations.kernel(arms, others)

    def _places(self, arms: Sequence[Arm]) -> np.ndarray:
        return np.array([self.models[arm.model] for arm in arms], dtype=int)


def learned(
    arms: Sequence[Arm], history: Sequence[PastRun], own: Sequence[PastRun] = ()
) -> Learned:
    """Return what finished runs of any tenant, the ``history``, teach of the models of ``arms``.

    A run is (job, model, config features, quality). ``own``: runs of the job itself, which its
    posterior will be conditioned on. They only help to tell how much configurations matter.

    The mean angles of (job, model) make a table, of which ``hierarchical_prior`` learns, and from
    20 jobs and 15 models on ``scaled_prior``; where a model without history keeps its typical
    distance to the others. The effect of a configuration is a kernel smooth of its neighbours'
    deviations from the mean of their cell, shrunk; their variance is learned from runs with
    features only, and is taken out of the models'. Without history it is ``default_prior``.
    """
    history = _in_angles(history)
    own = _in_angles(own)
    table = _Table.of(arms, history)
    spread = _deviations(table, history)
    own_spread = _deviations(_Table.of(arms, own), own)
    deviations = np.array([deviation for *_, deviation in [*spread, *own_spread]])
    config_variance = _shrunk_variance(deviations, _CONFIG_VARIANCE)

    by_model = _of_models(table, config_variance)
    scales = by_model.scales
    middle = np.searchsorted(np.cumsum(scales.weights), 0.5)
    unit = float(scales.factors[middle])
    return Learned(
        models=table.columns,
        by_model=by_model,
        config_variance=config_variance / unit**2,
        past=configurations.Past.of(spread, unit, _WEIGHT),
    )


def _in_angles(runs: Sequence[PastRun]) -> list[PastRun]:
    qualities = np.array([quality for *_, quality in runs], dtype=float)
    angles = ARCSINE.latent(qualities).tolist()
    return [(*run[:3], angle) for run, angle in zip(runs, angles, strict=True)]


def _of_models(table: "_Table", config_variance: float) -> Prior:
    """Return the prior over the models of a table, without what configurations add."""
    tried = (~np.isnan(table.angle)).sum(axis=1)
    told = table.angle[tried >= _FEWEST_MODELS]
    if has_scales(told):
        unknown = np.asarray(np.isnan(told).all(axis=0))
        levels = np.nanmean(told - table.typical, axis=1)
        usual = levels[:, None] + table.typical
        prior = scaled_prior(np.where(unknown, usual, told))
        return replace(prior, covariance=_with_doubt(prior.covariance, unknown))

    runs = table.counts[table.counts > 0]
    within = config_variance * float(np.mean(1 / runs)) if runs.size else 0.0
    return hierarchical_prior(table.angle, table.typical, within, _likeness(list(table.columns)))


def _with_doubt(covariance: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """Return the covariance of models where what nobody ran varies as much as the others do."""
    usual = np.diagonal(covariance)[~unknown].mean()
    doubtful = covariance.copy()
    places = np.flatnonzero(unknown)
    doubtful[places, places] = np.maximum(doubtful[places, places], usual)
    return doubtful


def worth_learning(known: int, runs: int) -> bool:
    """Is it time to learn a job's prior anew from ``runs`` of other jobs?

    There were ``known`` the last time. Whenever they have grown by a fifth, so that all learning
    costs no more than a few times the last, and until they are 500.
    """
    return not knows_enough(known) and runs > 0 and runs >= _LEARN_AGAIN * known


def knows_enough(known: int) -> bool:
    """Is a job's prior from so many runs of other jobs that more of them change it no more?"""
    return known >= _ENOUGH


@dataclass(frozen=True)
class _Table:
    """Mean angle by job and model (NaN where missing) of ``counts`` runs.

    ``rows``: of jobs, ``columns``: of models. ``typical``: by model, the usual distance of its
    angle to the level of a job.
    """

    rows: Mapping[str, int]
    columns: Mapping[str, int]
    angle: np.ndarray
    counts: np.ndarray
    typical: np.ndarray

    @classmethod
    def of(cls, arms: Sequence[Arm], history: Sequence[PastRun]) -> "_Table":
        rows = _places(run[0] for run in history)
        columns = _places([*(run[1] for run in history), *(arm.model for arm in arms)])
        sums = np.zeros((len(rows), len(columns)))
        counts = np.zeros((len(rows), len(columns)))
        for job, model, _, angle in history:
            sums[rows[job], columns[model]] += angle
            counts[rows[job], columns[model]] += 1
        angle = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        typical = np.array(list(map(_typical, columns)))
        return cls(rows, columns, angle, counts, typical)


def _places(names: Iterable[str]) -> dict[str, int]:
    """Return the place of each name among all of them in alphabetical order."""
    return {name: place for place, name in enumerate(sorted(set(names)))}


def _shrunk_variance(deviations: np.ndarray, usual: float) -> float:
    """Return the mean square, with the usual one counted as some more deviations."""
    total = np.sum(deviations**2) + _WEIGHT * usual
    return float(total / (deviations.size + _WEIGHT))


def _deviations(
    table: _Table, history: Sequence[PastRun]
) -> list[tuple[str, tuple[float, ...], float]]:
    """Return (model, features, angle less the mean of its cell) of runs with features.

    A run that is alone in its cell tells nothing.
    """
    found = []
    for job, model, features, angle in history:
        cell = table.rows[job], table.columns[model]
        if features and table.counts[cell] > 1:
            deviation = float(angle - table.angle[cell])
            found.append((model, tuple(features), deviation))
    return found


def _typical(model: str) -> float:
    """Return the distance of a family's typical angle to that of a job; 0 for an unknown family."""
    for family, quality in _FAMILIES.items():
        if family in model:
            return float(ARCSINE.latent(np.array(quality))) - TYPICAL
    return 0.0


def _likeness(models: Sequence[str]) -> np.ndarray:
    """Return how far models are alike (K, K): those of one of ``_KINDS`` are, others not at all."""
    kinds = np.array(list(map(_kind, models)))
    alike = np.where(kinds[:, None] == kinds, _LIKENESS, 0.0)
    np.fill_diagonal(alike, 1.0)
    return alike


def _kind(model: str) -> str:
    """Return the kind of a model; one without is a kind of its own."""
    for kind, names in _KINDS.items():
        if any(name in model for name in names):
            return kind
    return model
