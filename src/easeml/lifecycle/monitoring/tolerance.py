"""When is a prediction of a number right?

The tolerance of the null model's regression error characteristic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GRID = 2048
DEEP_ENOUGH = 0.25
SMOOTHING = 0.75
USUALLY_RIGHT = 0.8  # share of the reference rows; errors a third larger then show most plainly
NEXT_TO_ZERO = 1.38  # in widths; a Laplace target dips at 1.28, a normal one at 1.67


def tolerance_for(target: ArrayLike, predictions: ArrayLike) -> float:
    """Return the error up to which a number that a model predicts counts as right.

    ``target``, ``predictions`` (n,): of reference rows. Four of five of them are right, or more
    where the knee of the target itself is nearer (``default_tolerance``): by that knee a good model
    is nearly always right, and stays so while its errors double. Where four of five errors are
    nothing, it is the knee.

    Raises:
        InvalidInput: if there is no finite target, or all are equal.
    """
    knee = default_tolerance(target)
    errors = np.abs(np.asarray(target, dtype=np.float64) - np.asarray(predictions))
    usual = float(np.quantile(errors[np.isfinite(errors)], USUALLY_RIGHT))
    return min(knee, usual) if usual > 0 else knee


def default_tolerance(target: ArrayLike, null: Literal["mean", "median"] = "mean") -> float:
    """Return the error up to which a predicted number counts as right.

    The regression error characteristic REC(e) (Bi and Bennett 2003) of the model that always
    predicts the mean (or median) is the share of targets within e of it. Its second derivative
    first dips at the knee, where tolerating more begins to pay less (Model Performance Predictor;
    Ghanta et al. 2019): for a normal target at one standard deviation. REC' is the density of the
    absolute deviations. Slopes of a sampled density are rough, so it is smoothed over 3/4 of its
    root mean square, and what that adds to the place of the dip is taken off again: ``sqrt(dip**2 -
    width**2)``, exact for a normal target. The dip is the first local minimum of the slope that is
    at least a quarter as deep as the deepest. Where smoothing alone makes one, next to zero
    (Laplace) or at the end of the support (uniform), it is no knee: then the median deviation is
    returned.

    Raises:
        InvalidInput: if there is no finite target, or all are equal.
    """
    from scipy.ndimage import gaussian_filter1d

    values = np.asarray(target, dtype=np.float64).ravel()
    values = values[np.isfinite(values)]
    if values.size == 0:
        raise InvalidInput("There is no finite target.", where="target")
    centre = float(np.mean(values) if null == "mean" else np.median(values))
    deviations = np.abs(values - centre)
    end = float(np.quantile(deviations, 0.995))
    if end <= 0:
        raise InvalidInput(
            "The target is constant, so no tolerance follows from it.", where="target"
        )
    fallback = float(np.median(deviations)) or end
    width = float(np.sqrt(np.mean(np.minimum(deviations, end) ** 2))) * SMOOTHING
    step = (end + 4 * width) / GRID
    counts, _ = np.histogram(deviations, bins=GRID, range=(0.0, step * GRID))
    slope = gaussian_filter1d(counts.astype(np.float64), width / step, order=1, mode="reflect")
    places = (np.arange(GRID) + 0.5) * step
    inner = (places > NEXT_TO_ZERO * width) & (places < end - width)
    dips = (
        np.flatnonzero((slope[1:-1] < slope[:-2]) & (slope[1:-1] <= slope[2:]) & (slope[1:-1] < 0))
        + 1
    )
    dips = dips[slope[dips] <= DEEP_ENOUGH * slope.min()]
    if dips.size == 0 or not inner[dips[0]]:
        return fallback
    return float(np.sqrt(places[dips[0]] ** 2 - width**2))
