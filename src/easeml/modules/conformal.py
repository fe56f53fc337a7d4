"""Intervals of predicted numbers, by split conformal prediction.

Errors on rows that a model has not seen say how far off it is on other rows. An interval between
quantiles of them holds the answer of a new row with the stated chance, if that row comes from where
they come from (J. Lei et al., Distribution-free predictive inference for regression, JASA 113,
2018, section 2.2).

Most models are further off where they predict more: a dear house is missed by more than a cheap
one. So the interval grows and shrinks with the spread of errors at predictions of that size (the
same, section 5.2), and errors above and below have quantiles of their own. The chance is then about
the stated one among predictions of every size; it is not that of every kind of row.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.sampling_error import effective

from .contract import Predictions
from .weights import Weights, counts_of

if TYPE_CHECKING:
    from .forecasting import Past

COVERAGE = 0.9  # the share of rows whose answer lies within
FACT = "interval"
"""Under which name a manifest keeps what ``describe`` returns."""

_ROWS_A_GROUP = 5  # times the root of all rows: more groups would fit the errors' chance
_MOST_GROUPS = 10
_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of widths; the first where all are alike
_LEAST_SPREAD = 0.05  # of the median one: a few rows that are met exactly do not promise others
_Numbers = NDArray[np.float64]


def describe(
    actual: Any, predictions: Predictions, weights: Weights = None, past: "Past | None" = None
) -> dict[str, Any] | None:
    """Return what ``bounds`` needs, from predictions of rows (rows,) that the model has not seen.

    ``coverage``: the chance; ``rows``: how many told it; ``sizes`` and ``spreads``: how far errors
    spread at some sizes of predictions, in between on the line; ``below`` and ``above``: how many
    spreads the answer may lie below and above the prediction; ``least``: 0 where no answer is
    negative, else None; ``by_width``: the power of the ``widths`` of predictions of which all of it is.

    With ``weights`` (rows,) the share of rows is that of their weights; see ``_as_rows``.
    ``past``: of a forecast, what it knows of the past; see ``_wider``.
    None for categories and tensors, and where the rows are too few for the coverage.
    """
    values = np.asarray(predictions.values)
    if predictions.classes is not None or values.ndim != 1:
        return None
    answers = np.asarray(actual, dtype=np.float64)
    known = np.isfinite(answers - values)
    said = values[known].astype(np.float64)
    errors = answers[known] - said
    counts = _as_rows(counts_of(weights, len(known))[known])
    if (counts.sum() + 1) * COVERAGE > counts.sum():
        return None
    widths = _widths(predictions)[known]
    power = min(_POWERS, key=lambda one: _interval_score(np.abs(errors), widths**one, counts))
    errors /= widths**power
    sizes, spreads = _spreads(said, np.abs(errors), counts)
    scaled = errors / np.interp(said, sizes, spreads)
    if len(sizes) == 1:  # one quantile of all rows is told better than two of half of them
        below = above = _quantile(np.abs(scaled), counts, COVERAGE)
    else:
        below = _quantile(-scaled, counts, (1 + COVERAGE) / 2)
        above = _quantile(scaled, counts, (1 + COVERAGE) / 2)
    wider = 1.0 if past is None else _wider(len(errors) / past.rule.ahead)
    return {
        "coverage": COVERAGE,
        "rows": len(errors),
        "sizes": sizes.tolist(),
        "spreads": spreads.tolist(),
        "below": below * wider,
        "above": above * wider,
        "least": 0.0 if answers[known].min() >= 0 else None,
        "by_width": power,
    }


def bounds(
    interval: Mapping[str, Any], predictions: Predictions
) -> tuple[list[float], list[float]]:
    """Return the lower and the upper end of a row each, from what ``describe`` returned."""
    values = np.asarray(predictions.values, dtype=np.float64)
    if "half_width" in interval:  # of a model that an earlier easeml trained
        half_width = interval["half_width"]
        return (values - half_width).tolist(), (values + half_width).tolist()
    spreads = np.interp(values, interval["sizes"], interval["spreads"])
    by_width = interval.get("by_width", 0.0)  # of earlier models there is none
    spreads *= _widths(predictions) ** by_width
    lower = values - interval["below"] * spreads
    upper = values + interval["above"] * spreads
    if interval["least"] is not None:
        lower = np.maximum(lower, np.minimum(interval["least"], values))
    return lower.tolist(), upper.tolist()


def _as_rows(counts: _Numbers) -> _Numbers:
    """Return weights (rows,) in a scale in which a new row counts as one.

    Whole numbers say how often a row is there. Others add up to as many rows as tell as much: where
    a few weigh most, these few tell the interval, and the new row may weigh as much as they do.
    """
    if np.array_equal(counts, np.round(counts)):
        return counts
    return counts * (effective(counts) / counts.sum())


def _wider(origins: float) -> float:
    """Return how many times wider intervals are that so many origins of forecasts tell.

    What is forecast at once is too high or too low together: where a series turned, all that follows
    is off. So two origins of fourteen days each are nearer to two errors than to 28. Intervals are as
    much wider as Student's t of so many degrees than a normal number.
    """
    from scipy.stats import norm
    from scipy.stats import t as student

    share = (1 + COVERAGE) / 2
    return float(student.ppf(share, max(1.0, origins)) / norm.ppf(share))


def _interval_score(errors: _Numbers, widths: _Numbers, counts: _Numbers) -> float:
    """Return what intervals of these widths cost, less is better (Gneiting and Raftery, Strictly
    proper scoring rules, JASA 102, 2007, section 6.2).
    """
    halves = widths * _quantile(errors / widths, counts, COVERAGE)
    outside = np.maximum(errors - halves, 0.0)
    return float(np.average(halves + outside / (1 - COVERAGE), weights=counts))


def _widths(predictions: Predictions) -> _Numbers:
    """Return how far each may be off as against the others (rows,)."""
    if predictions.widths is None:
        return np.ones(len(predictions.values))
    return predictions.widths


def _spreads(said: _Numbers, errors: _Numbers, counts: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Return sizes of predictions, ascending, and the spread of errors at each.

    Rows in the order of their predictions are cut into groups of as many rows; a group has the mean
    of its predictions, and the error that the share ``COVERAGE`` of its rows does not exceed. Too
    few rows for two groups are one of spread 1.
    """
    one = np.zeros(1), np.ones(1)
    groups = min(_MOST_GROUPS, int(math.sqrt(counts.sum()) / _ROWS_A_GROUP))
    if groups < 2:
        return one
    group_of = np.searchsorted(_cuts(said, counts, groups), said)
    sizes = []
    spreads = []
    for group in np.unique(group_of):
        rows = group_of == group
        sizes.append(np.average(said[rows], weights=counts[rows]))
        spreads.append(_quantile(errors[rows], counts[rows], COVERAGE))
    least = _LEAST_SPREAD * float(np.median(spreads))
    if len(sizes) == 1 or least == 0:
        return one
    return np.asarray(sizes), np.maximum(spreads, least)


def _cuts(said: _Numbers, counts: _Numbers, groups: int) -> list[float]:
    """Return the largest prediction of each group but the last.

    Rows that are predicted alike are in one group. So that the next one does not have but a few
    rows, it has half of an even share at least, or there is none.
    """
    order = np.argsort(said, kind="stable")
    reached = np.cumsum(counts[order])
    even = reached[-1] / groups
    places = np.searchsorted(reached, np.arange(1, groups) * even)
    cuts = []
    begun = 0.0
    for cut in np.unique(said[order][places]):
        ended = counts[said <= cut].sum()
        if min(ended - begun, reached[-1] - ended) >= even / 2:
            cuts.append(float(cut))
            begun = ended
    return cuts


def _quantile(errors: _Numbers, counts: _Numbers, share: float) -> float:
    """Return what a new row exceeds with the chance 1 - ``share`` at most."""
    order = np.argsort(errors)
    reached = np.cumsum(counts[order])
    return float(errors[order][np.searchsorted(reached, share * (reached[-1] + 1))])
