"""Device seconds of a run, with error bars, learned from finished runs."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from easeml.search.costs.hints import COLUMNS, LEAST, ROWS

Feature = tuple[str, ...]  # its group, and what tells it from the others of the group

# How far, in logarithms of seconds, each kind of effect may be off before anything was measured.
_USUAL = {
    "overhead": 0.7,
    "level": 1.0,
    "rows": 0.3,
    "columns": 0.3,
    "model": 1.0,
    "model rows": 0.3,
    "model columns": 0.3,
    "classes": 0.3,
    "model classes": 0.3,
    "bend": 0.2,
    "model bend": 0.2,
    "configuration": 0.5,
    "device": 1.0,
    "device model": 0.5,
    "device rows": 0.2,
    "job": 0.5,
    "model job": 0.3,
}
_OVERHEAD: Feature = ("overhead",)
_BENDS = (0.0, math.log(10))  # logarithms of rows / 1,000 from which time may grow otherwise

_NOISE = 0.3  # of one run: a factor of 1.35
_BELIEF = 3.0  # weights of a group that its usual spread counts for
_SWEEPS = 12
_FARTHEST = 0.5  # logarithms; by so much a sweep moves the overhead: a line holds no farther
_WIDEST = 12.0  # logarithms; beyond, a prediction is cut
_WIDEST_SD = 1.0  # logarithms; wider beliefs do not make the expected seconds higher
_KNOWN_WORKS = 2**15  # whose features are kept


@dataclass(frozen=True, slots=True)
class Work:
    """What a run's cost depends on; ``hinted``: its seconds by ``hinted_cost``, above 0.

    ``features``: the configuration in [0, 1]. ``device``: kind of device. ``job``: whatever its
    runs have in common besides their size, such as the data; empty when it says nothing. ``rows``,
    ``columns`` and ``classes`` of 0 are unknown, or there are none.
    """

    model: str
    rows: int = 0
    columns: int = 0
    features: tuple[float, ...] = ()
    device: str = ""
    job: str = ""
    hinted: float = 1.0
    classes: int = 0


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

    @property
    def expected(self) -> np.ndarray:
        """The mean (n,) of the seconds: what is less certain costs more than its median."""
        deviations = np.minimum(self.log_sd, _WIDEST_SD)
        return self.seconds * np.exp(deviations**2 / 2)


@dataclass(frozen=True, eq=False)
class CostModel:
    """seconds = overhead + hinted * exp(a sum of effects), times noise.

    The effects are of size, model, configuration, device, job, and model in job. ``overhead``: the
    seconds that every run takes before anything was measured, whatever its size; 0 for none.

    Each effect is a weight with a Gaussian prior around 0, and so is the logarithm of the overhead
    around what was believed of it. ``places``: feature -> index of its weight, the overhead's
    among them where there is one; ``mean`` (D,) and ``covariance`` (D, D) of the weights;
    ``variances`` of each group and ``noise`` of a run. A feature that was never seen has its
    group's variance, so that what is unlike all that was run has wide error bars. ``known``: places
    and values of the works that were asked about; places of features never change, new ones come
    behind them, so that a model and those after it share them. The logarithm of
    the seconds is linear in the weights where there is no overhead; else it is taken as linear
    around the mean (Bishop, Pattern Recognition and Machine Learning, 2006, section 5.7.1; for one
    more run, the extended Kalman filter).
    """

    places: Mapping[Feature, int]
    mean: np.ndarray
    covariance: np.ndarray
    variances: Mapping[str, float]
    noise: float
    overhead: float = 0.0
    known: dict[Work, "_Placed"] = field(default_factory=dict, repr=False)

    def predict(self, works: Sequence[Work]) -> Costs:
        """Return the costs of some works."""
        lines = self.lines_of(works)
        of_weights = np.zeros(len(works))
        if self.mean.size:
            pairs = lines.places[:, :, None] * self.mean.size + lines.places[:, None, :]
            between = self.covariance.ravel().take(pairs)
            half = np.einsum("nf,nfg->ng", lines.slopes, between)
            of_weights = np.einsum("ng,ng->n", half, lines.slopes)
        variances = np.maximum(of_weights, 0.0) + lines.unseen + self.noise
        return Costs(np.maximum(np.exp(lines.values), LEAST), np.sqrt(variances))

    def after(self, work: Work, seconds: float) -> "CostModel":
        """Return the model after one more run; what its groups vary by stays. O(D^2).

        A run whose time is no number above 0 changes nothing.
        """
        if not 0 < seconds < math.inf:
            return self
        grown = self._with_places_of(work)
        line = grown.lines_of([work])
        places, slopes = line.places[0], line.slopes[0]
        moved = grown.covariance[:, places] @ slopes
        variance = float(slopes @ moved[places]) + self.noise
        surprise = math.log(seconds) - float(line.values[0])
        return replace(
            grown,
            mean=grown.mean + moved * (surprise / variance),
            covariance=grown.covariance - np.outer(moved, moved) / variance,
        )

    def lines_of(self, works: Sequence[Work]) -> "Lines":
        """Return the logarithms of the seconds of works, and how they change with the weights."""
        placed = list(map(self._placed, works))
        counts = np.array([one.places.size for one in placed], dtype=int)
        most = 1 + int(counts.max(initial=0))  # the last is the overhead
        places = np.zeros((len(works), most), dtype=int)
        slopes = np.zeros((len(works), most))  # 0 where a work has fewer
        if placed:
            filled = np.arange(most) < counts[:, None]
            places[filled] = np.concatenate([one.places for one in placed])
            slopes[filled] = np.concatenate([one.values for one in placed])
        unseen = np.array([self._variance_of(one.unseen) for one in placed])

        effects = (slopes * self._weights(places)).sum(axis=1)
        hinted = np.log(np.array([max(work.hinted, LEAST) for work in works]))
        growing = hinted + np.clip(effects, -_WIDEST, _WIDEST)
        if self.overhead <= 0:
            return Lines(growing, places, slopes, unseen)

        place = self.places[_OVERHEAD]
        fixed = math.log(self.overhead) + float(self.mean[place])
        together = np.logaddexp(growing, fixed)
        share = np.exp(growing - together)  # of the seconds that is no overhead
        slopes *= share[:, None]
        unseen *= share**2
        places[:, -1] = place
        slopes[:, -1] = 1 - share
        return Lines(together, places, slopes, unseen)

    def _placed(self, work: Work) -> "_Placed":
        """Return the places of a work's features, looked up once."""
        found = self.known.get(work)
        if found is None:
            found = self.known[work] = _placed_in(self.places, features_of(work))
        return found

    def _variance_of(self, unseen: Mapping[Feature, float]) -> float:
        """Return the variance by features, with their values, that have no weight yet."""
        variance = 0.0
        for feature, value in unseen.items():
            variance += self.variances[feature[0]] * value * value
        return variance

    def _weights(self, places: np.ndarray) -> np.ndarray:
        return self.mean[places] if self.mean.size else np.zeros(places.shape)

    def _with_places_of(self, work: Work) -> "CostModel":
        """Return the model with weights for all features of a work, also those never seen."""
        new = [feature for feature, _ in features_of(work) if feature not in self.places]
        if not new:
            return self
        count = self.mean.size
        places = dict(self.places)
        covariance = np.zeros((count + len(new), count + len(new)))
        covariance[:count, :count] = self.covariance
        for place, feature in enumerate(new, start=count):
            places[feature] = place
            covariance[place, place] = self.variances[feature[0]]
        mean = np.append(self.mean, np.zeros(len(new)))
        known = _without(self.known, new)
        return replace(self, places=places, mean=mean, covariance=covariance, known=known)


class _Placed(NamedTuple):
    """The features of a work, as a model knows them.

    ``places`` (m,) of those that have a weight, and their ``values`` (m,); ``unseen``: the others,
    with their values.
    """

    places: np.ndarray
    values: np.ndarray
    unseen: Mapping[Feature, float]


def _placed_in(places: Mapping[Feature, int], features: Sequence[tuple[Feature, float]]) -> _Placed:
    """Return where features have their weights."""
    found: list[int] = []
    values: list[float] = []
    unseen: dict[Feature, float] = {}
    for feature, value in features:
        place = places.get(feature)
        if place is None:
            unseen[feature] = value
            continue
        found.append(place)
        values.append(value)
    return _Placed(np.array(found, dtype=int), np.array(values), unseen)


def _without(known: Mapping[Work, _Placed], new: Sequence[Feature]) -> dict[Work, _Placed]:
    """Return the works that have none of these features, which have got a weight."""
    return {work: one for work, one in known.items() if one.unseen.keys().isdisjoint(new)}


class Lines(NamedTuple):
    """ln(seconds) of n works around the mean of the weights.

    ``values`` (n,) there; ``slopes`` (n, m) by the weights at ``places`` (n, m), 0 where a work has
    fewer than m; ``unseen`` (n,): variance by features that have no weight yet.
    """

    values: np.ndarray
    places: np.ndarray
    slopes: np.ndarray
    unseen: np.ndarray

    def design(self, weights: int) -> np.ndarray:
        """Return the slopes by all weights (n, D)."""
        design = np.zeros((len(self.values), weights))
        rows = np.arange(len(self.values))[:, None]
        np.add.at(design, (rows, self.places), self.slopes)
        return design


def learn_costs(runs: Sequence[tuple[Work, float]], overhead: float = 0.0) -> CostModel:
    """Return the model of finished runs, each with its seconds.

    Runs whose time is no number above 0 are left out. ``overhead``: see ``CostModel``.

    Bayesian linear regression with one variance a group of weights and one of the noise, all found
    by EM (Bishop, 2006, sections 3.3 and 9.3.4; automatic relevance determination: Tipping, JMLR
    2001), held near their usual values as by a few more weights (the mode under an inverse-gamma
    prior). With an overhead each sweep takes the logarithm as linear around the last one's mean.
    O(n D^2 + D^3) for n runs and D features.
    """
    past = [(work, seconds) for work, seconds in runs if 0 < seconds < math.inf]
    kept = _features_in([work for work, _ in past])
    if overhead > 0:
        kept.append(_OVERHEAD)
    count = len(kept)
    empty = CostModel(
        dict(zip(kept, range(count), strict=True)),
        mean=np.zeros(count),
        covariance=np.diag([_USUAL[feature[0]] ** 2 for feature in kept]),
        variances=_squares(_USUAL),
        noise=_NOISE**2,
        overhead=overhead,
    )
    return _fitted(empty, past) if past else empty


def _features_in(works: Sequence[Work]) -> list[Feature]:
    """Return the features of some works that get a weight, in the order of their coming.

    What a single run has in common with no other cannot be told from its noise.
    """
    seen: Counter[Feature] = Counter()
    for work in works:
        seen.update(dict(features_of(work)).keys())
    return [feature for feature, runs in seen.items() if runs > 1 or feature[0] != "model job"]


@lru_cache(_KNOWN_WORKS)
def features_of(work: Work) -> tuple[tuple[Feature, float], ...]:
    """Return the features of a work with their values; the overhead is none of them."""
    model = work.model
    rows = _log_of(work.rows, ROWS)
    columns = _log_of(work.columns, COLUMNS)
    classes = max(0.0, _log_of(work.classes, 2))  # two are the usual, and a number has none
    found: list[tuple[Feature, float]] = [(("level",), 1.0), (("model", model), 1.0)]
    found += _unless_usual((("rows",), rows), (("model rows", model), rows))
    found += _unless_usual((("columns",), columns), (("model columns", model), columns))
    found += _unless_usual((("classes",), classes), (("model classes", model), classes))
    for place, start in enumerate(_BENDS):
        bend = max(0.0, rows - start)
        of_bend = str(place)
        found += _unless_usual((("bend", of_bend), bend), (("model bend", model, of_bend), bend))

    for place, coordinate in enumerate(work.features):
        found.append((("configuration", model, str(place)), coordinate - 0.5))

    if work.device:
        found += [(("device", work.device), 1.0), (("device model", work.device, model), 1.0)]
        found += _unless_usual((("device rows", work.device), rows))
    if work.job:
        found += [(("job", work.job), 1.0), (("model job", model, work.job), 1.0)]
    return tuple(found)


def _log_of(size: int, usual: int) -> float:
    """Return the logarithm of a size as a multiple of the usual one; 0 of one that is unknown."""
    return math.log(size / usual) if size > 0 else 0.0


def _unless_usual(*features: tuple[Feature, float]) -> Iterator[tuple[Feature, float]]:
    """Give the features that are not 0: a work of the usual size has none of them."""
    return filter(itemgetter(1), features)


def percentage_error(actual: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean absolute error in percent of the actual values, which are not 0."""
    return float(100 * np.mean(np.abs(np.asarray(predicted) - actual) / np.abs(actual)))


def _fitted(model: CostModel, past: Sequence[tuple[Work, float]]) -> CostModel:
    """Return the model that EM finds from runs."""
    groups: dict[str, list[int]] = {name: [] for name in _USUAL}
    for feature, place in model.places.items():
        groups[feature[0]].append(place)

    variances = _squares(_USUAL)
    noise = model.noise
    works, measured = zip(*past, strict=True)
    seconds = np.array(measured)
    design, targets = _linear(model, works, seconds)
    for sweep in range(_SWEEPS):
        if sweep and model.overhead > 0:
            design, targets = _linear(model, works, seconds)

        # Expectation: the weights, given the variances.
        precision = np.empty(len(model.places))
        for name, members in groups.items():
            precision[members] = 1 / variances[name]
        gram = design.T @ design
        covariance = np.linalg.inv(gram / noise + np.diag(precision))
        mean = covariance @ (design.T @ targets) / noise
        if model.overhead > 0:
            place = model.places[_OVERHEAD]
            before = model.mean[place]
            mean[place] = np.clip(mean[place], before - _FARTHEST, before + _FARTHEST)
        model = replace(model, mean=mean, covariance=covariance)

        # Maximisation: the variances, given the weights.
        second = mean * mean + np.diagonal(covariance)
        for name, members in groups.items():
            usual = _BELIEF * _USUAL[name] ** 2
            variances[name] = (float(second[members].sum()) + usual) / (len(members) + _BELIEF)
        errors = targets - design @ mean
        misfit = float(errors @ errors) + float((gram * covariance).sum())
        noise = (misfit + _BELIEF * _NOISE**2) / (len(targets) + _BELIEF)

    if not groups["model job"]:
        variances["model job"] = 0.0  # it is part of the noise
    return replace(model, variances=variances, noise=noise)


def _linear(
    model: CostModel, works: Sequence[Work], seconds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return features (n, D) and targets (n,) of a regression that is linear around the mean."""
    lines = model.lines_of(works)
    design = lines.design(model.mean.size)
    return design, np.log(seconds) - lines.values + design @ model.mean


def _squares(deviations: Mapping[str, float]) -> dict[str, float]:
    return {name: deviation * deviation for name, deviation in deviations.items()}
