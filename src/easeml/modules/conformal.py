"""Intervals of predicted numbers, by split conformal prediction.

Residuals of rows that a model has not seen say how far off it is on other rows. A band as wide as
a quantile of them holds the answer of a new row with the stated chance, if that row comes from where
they come from (J. Lei et al., Distribution-free predictive inference for regression, JASA 113,
2018, section 2.2). The chance is that of all rows together, not of every kind of row.
"""

from typing import Any

import numpy as np

from .contract import Predictions
from .weights import Weights, counts_of

COVERAGE = 0.9  # the share of rows whose answer lies within
FACT = "interval"
"""Under which name a manifest keeps what ``describe`` returns."""


def describe(
    actual: Any, predictions: Predictions, weights: Weights = None
) -> dict[str, float] | None:
    """Return ``{coverage, half_width, rows}`` from predictions of rows that the model has not seen.

    With ``weights`` (rows,) the share of rows is that of their weights; a new row counts as one.
    None for categories and tensors, and where the rows are too few for the coverage.
    """
    values = np.asarray(predictions.values)
    if predictions.classes is not None or values.ndim != 1:
        return None
    residuals = np.abs(np.asarray(actual, dtype=np.float64) - values)
    known = np.isfinite(residuals)
    order = np.argsort(residuals[known])
    residuals = residuals[known][order]
    reached = np.cumsum(counts_of(weights, len(known))[known][order])
    place = int(np.searchsorted(reached, (reached[-1:].sum() + 1) * COVERAGE))
    if place == len(residuals):
        return None
    half_width = float(residuals[place])
    return {"coverage": COVERAGE, "half_width": half_width, "rows": len(residuals)}


def bounds(interval: dict[str, float], predictions: Predictions) -> tuple[list[float], list[float]]:
    """Return the lower and the upper end of a row each, from what ``describe`` returned."""
    values = np.asarray(predictions.values, dtype=np.float64)
    half_width = interval["half_width"]
    return (values - half_width).tolist(), (values + half_width).tolist()
