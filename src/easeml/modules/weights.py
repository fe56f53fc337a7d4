"""Weights of rows: a row of weight 2 counts as two rows.

Every weight is above 0. None: all rows count once; then each function here gives what it would
without weights, bit for bit.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Weights = NDArray[np.float64] | None


def scaled(weights: Weights) -> Weights:
    """Return weights (rows,) in the scale in which models take them; None where each is 1.

    Whole numbers say how often a row is there, and stay as they are. Others are known in proportion
    only: they get the mean 1, so that penalties and the least weight of a leaf mean what they mean
    without weights.
    """
    if weights is None:
        return None
    is_count = np.array_equal(weights, np.round(weights))
    counts = weights if is_count else weights / weights.mean()
    return None if np.all(counts == 1) else counts


def by_id(weights: "pd.Series | None", ids: Any) -> Weights:
    """Return the weights of rows (rows,), by their ids, in the scale of all ``weights``."""
    import pandas as pd

    if weights is None:
        return None
    counts = scaled(weights.to_numpy(dtype=np.float64))
    if counts is None:
        return None
    return pd.Series(counts, weights.index).loc[ids].to_numpy()


def of_rows(weights: Weights, rows: Any) -> Weights:
    """Return the weights of some rows, by a mask or by their places."""
    return None if weights is None else weights[rows]


def counts_of(weights: Weights, rows: int) -> NDArray[np.float64]:
    """Return how much each row counts (rows,)."""
    return np.ones(rows) if weights is None else weights


def by_row(counts: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.float64]:
    """Return counts (rows,) in a shape that multiplies ``values`` (rows, ...)."""
    return counts.reshape(-1, *[1] * (values.ndim - 1))


def mean_and_deviation(values: NDArray[Any], weights: Weights) -> tuple[Any, Any]:
    """Return mean and standard deviation of each element of ``values`` (rows, ...)."""
    mean = np.average(values, axis=0, weights=weights)
    if weights is None:
        return mean, values.std(axis=0)
    return mean, np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))


def quantiles(values: NDArray[Any], shares: Any, weights: Weights) -> NDArray[np.float64]:
    """Return quantiles (shares, ...) of each element of ``values`` (rows, ...).

    Without weights they lie between values; with weights each is a value, the first at which the
    share is reached.
    """
    if weights is None:
        return np.quantile(values, shares, axis=0)
    return np.quantile(values, shares, axis=0, weights=weights, method="inverted_cdf")
