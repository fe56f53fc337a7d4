"""Device seconds of a run, with error bars, learned from finished runs."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from easeml.search.costs.hints import COLUMNS, LEAST, ROWS

Feature = tuple[str, ...]  # its group, and what tells it from the others of the group

# How far, in logarithms of seconds, each kind of effect may be off before anything was measured.
_USUAL = {
    "level": 1.0,
    "rows": 0.3,
    "columns": 0.3,
    "model": 1.0,
    "model rows": 0.3,
    "model columns": 0.3,
    "bend": 0.2,
    "model bend": 0.2,
    "configuration": 0.5,
    "device": 1.0,
    "device model": 0.5,
    "device rows": 0.2,
    "job": 0.5,
    "model job": 0.3,
}
_BENDS = (0.0, math.log(10))  # logarithms of rows / 1,000 from which time may grow otherwise

_NOISE = 0.3  # of one run: a factor of 1.35
_BELIEF = 3.0  # weights of a group that its usual spread counts for
_SWEEPS = 12
_WIDEST = 12.0  # logarithms; beyond, a prediction is cut


@dataclass(frozen=True, slots=True)
class Work:
    """What a run's cost depends on; ``hinted``: its seconds by ``hinted_cost``, above 0.

    ``features``: the configuration in [0, 1]. ``device``: kind of device. ``job``: whatever its
    runs have in common besides their size, such as the data; empty when it says nothing. ``rows``
    and ``columns`` of 0 are unknown.
    """

    model: str
    rows: int = 0
    columns: int = 0
    features: tuple[float, ...] = ()
    device: str = ""
    job: str = ""
    hinted: float = 1.0


class Costs(NamedTuple):
    """Costs of n runs: ``seconds`` (n,), the median, and ``log_sd`` (n,).

    ``log_sd`` is the standard deviation of the logarithm, noise included.
    """

    seconds: np.ndarray
    log_sd: np.ndarray

    def interval(self, deviations: float = 1.645) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds (n,) around the median; 1.645 deviations hold 90 %."""
        factor = np.exp(deviations * self.log_sd)
        return self.seconds / factor, self.seconds * factor


@dataclass(frozen=True, eq=False)
class CostModel:
    """ln(seconds / hinted) as a sum of effects and noise.

    The effects are of size, model, configuration, device, job, and model in job.

    Each effect is a weight with a Gaussian prior around 0. ``places``: feature -> index of its
    weight; ``mean`` (D,) and ``covariance`` (D, D) of the weights; ``variances`` of each group and
    ``noise`` of a run. A feature that was never seen has its group's variance, so that what is
    unlike all that was run has wide error bars.
    """

    places: Mapping[Feature, int]
    mean: np.ndarray
    covariance: np.ndarray
    variances: Mapping[str, float]
    noise: float

    def predict(self, works: Sequence[Work]) -> Costs:
        """Return the costs of some works."""
        design, unseen = self.rows_of(works)
        hinted = np.array([max(work.hinted, LEAST) for work in works])
        of_weights = np.einsum("nd,de,ne->n", design, self.covariance, design)
        variance = of_weights + unseen + self.noise
        logs = np.clip(design @ self.mean, -_WIDEST, _WIDEST)
        seconds = np.maximum(hinted * np.exp(logs), LEAST)
        return Costs(seconds, np.sqrt(variance))

    def rows_of(self, works: Sequence[Work]) -> tuple[np.ndarray, np.ndarray]:
        """Return the known features (n, D) of works, and the variance (n,) of what is unknown."""
        design = np.zeros((len(works), self.mean.size))
        unseen = np.zeros(len(works))
        for row, work in enumerate(works):
            for feature, value in features_of(work):
                place = self.places.get(feature)
                if place is None:
                    group = feature[0]
                    unseen[row] += self.variances[group] * value * value
                else:
                    design[row, place] = value
        return design, unseen


def learn_costs(runs: Sequence[tuple[Work, float]]) -> CostModel:
    """Return the model of finished runs, each with its seconds.

    Runs whose time is no number above 0 are left out.

    Bayesian linear regression with one variance a group of weights and one of the noise, all found
    by EM (Bishop, Pattern Recognition and Machine Learning, 2006, sections 3.3 and 9.3.4; automatic
    relevance determination: Tipping, JMLR 2001), held near their usual values as by a few more
    weights (the mode under an inverse-gamma prior). O(n D^2 + D^3) for n runs and D features.
    """
    past = [(work, seconds) for work, seconds in runs if 0 < seconds < math.inf]
    seen: Counter[Feature] = Counter()
    for work, _ in past:
        seen.update(feature for feature, _ in features_of(work))

    # What a single run has in common with no other cannot be told from its noise.
    kept = [feature for feature, runs in seen.items() if runs > 1 or feature[0] != "model job"]
    places = {feature: place for place, feature in enumerate(kept)}
    count = len(places)
    empty = CostModel(
        places,
        mean=np.zeros(count),
        covariance=np.zeros((count, count)),
        variances=_squares(_USUAL),
        noise=_NOISE**2,
    )
    if not past:
        return empty

    design, _ = empty.rows_of([work for work, _ in past])
    targets = np.array([math.log(seconds / max(work.hinted, LEAST)) for work, seconds in past])
    return _fitted(places, design, targets)


def features_of(work: Work) -> Iterable[tuple[Feature, float]]:
    """Return the features of a work with their values."""
    rows = math.log(work.rows / ROWS) if work.rows > 0 else 0.0
    columns = math.log(work.columns / COLUMNS) if work.columns > 0 else 0.0

    yield ("level",), 1.0
    yield ("model", work.model), 1.0
    if rows:
        yield ("rows",), rows
        yield ("model rows", work.model), rows
    if columns:
        yield ("columns",), columns
        yield ("model columns", work.model), columns

    for place, start in enumerate(_BENDS):
        if rows > start:
            yield ("bend", str(place)), rows - start
            yield ("model bend", work.model, str(place)), rows - start

    for place, coordinate in enumerate(work.features):
        yield ("configuration", work.model, str(place)), coordinate - 0.5

    if work.device:
        yield ("device", work.device), 1.0
        yield ("device model", work.device, work.model), 1.0
        if rows:
            yield ("device rows", work.device), rows

    if work.job:
        yield ("job", work.job), 1.0
        yield ("model job", work.model, work.job), 1.0


def percentage_error(actual: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean absolute error in percent of the actual values, which are not 0."""
    return float(100 * np.mean(np.abs(np.asarray(predicted) - actual) / np.abs(actual)))


def _fitted(places: Mapping[Feature, int], design: np.ndarray, targets: np.ndarray) -> CostModel:
    """Return the model that EM finds from the features (n, D) and the targets (n,)."""
    groups: dict[str, list[int]] = {name: [] for name in _USUAL}
    for feature, place in places.items():
        groups[feature[0]].append(place)

    variances = _squares(_USUAL)
    noise = _NOISE**2
    gram = design.T @ design
    moment = design.T @ targets
    squares = float(targets @ targets)
    mean = np.zeros(len(places))
    covariance = np.zeros_like(gram)
    for _ in range(_SWEEPS):
        # Expectation: the weights, given the variances.
        precision = np.empty(len(places))
        for name, members in groups.items():
            precision[members] = 1 / variances[name]
        covariance = np.linalg.inv(gram / noise + np.diag(precision))
        mean = covariance @ moment / noise

        # Maximisation: the variances, given the weights.
        second = mean * mean + np.diagonal(covariance)
        for name, members in groups.items():
            usual = _BELIEF * _USUAL[name] ** 2
            variances[name] = (float(second[members].sum()) + usual) / (len(members) + _BELIEF)
        misfit = (
            squares
            - 2 * float(mean @ moment)
            + float(mean @ gram @ mean)
            + float((gram * covariance).sum())
        )
        noise = (max(misfit, 0.0) + _BELIEF * _NOISE**2) / (len(targets) + _BELIEF)

    if not groups["model job"]:
        variances["model job"] = 0.0  # it is part of the noise
    return CostModel(
        places,
        mean=mean,
        covariance=covariance,
        variances=variances,
        noise=noise,
    )


def _squares(deviations: Mapping[str, float]) -> dict[str, float]:
    return {name: deviation * deviation for name, deviation in deviations.items()}
