"""A model that is worse than no model: is the fault its own?

Every search holds a baseline, which always answers the same. A model may miss it by chance, or
because it gives rare classes more weight; significantly worse in every respect is a fault of the
module, and its provider should know.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .baseline import always_the_same
from .contract import Predictions
from .weights import Weights, counts_of, of_rows

_LEAST_ROWS = 20  # fewer say nothing
_Z = 3.09  # one-sided, a chance of 1 in 1,000


def fault_of(
    learnt: Any,
    actual: Any,
    predictions: Predictions,
    learnt_weights: Weights = None,
    weights: Weights = None,
) -> str:
    """Return in a sentence how a model fails against the baseline; nothing where it does not.

    ``learnt``: the answers of the train rows; ``actual``: those of the rows of ``predictions``. Of
    a category the baseline says the commonest class, of a number the mean. Tensors are not judged.
    ``learnt_weights`` and ``weights``: by which these rows count.
    """
    if predictions.values.ndim > 1:
        return ""
    known = ~np.asarray(actual.isna())
    if known.sum() < _LEAST_ROWS:
        return ""
    told = predictions.values[known]
    counts = of_rows(weights, known)
    (guess,) = always_the_same(learnt, 1, predictions.classes, weights=learnt_weights).values
    if predictions.classes is None:
        truth = actual[known].to_numpy(dtype=float)
        return _fault_of_numbers(float(guess), truth, told.astype(float), counts)
    truth = actual[known].astype(str).to_numpy()
    return _fault_of_classes(str(guess), truth, told.astype(str), counts)


def _fault_of_classes(
    commonest: str, truth: NDArray[Any], told: NDArray[Any], counts: Weights
) -> str:
    right = told == truth
    baseline_right = truth == commonest
    worse = _significantly_positive(baseline_right.astype(float) - right, counts)
    recalls = []
    for name in np.unique(truth):
        own = truth == name
        recalls.append(np.average(right[own], weights=of_rows(counts, own)))
    knows_the_classes = np.mean(recalls) >= 1 / len(recalls)
    if not worse or knows_the_classes:
        return ""
    return (
        f"This model is right for {np.average(right, weights=counts):.1%} of the validation rows; "
        f"always answering “{commonest}” is right for "
        f"{np.average(baseline_right, weights=counts):.1%}. That is a fault of the module."
    )


def _fault_of_numbers(
    mean: float, truth: NDArray[np.float64], told: NDArray[np.float64], counts: Weights
) -> str:
    error = np.abs(told - truth)
    baseline_error = np.abs(mean - truth)
    if not _significantly_positive(error - baseline_error, counts):
        return ""
    return (
        f"This model is off by {np.average(error, weights=counts):.4g} on average; always answering "
        f"the mean is off by {np.average(baseline_error, weights=counts):.4g}. That is a fault of the module."
    )


def _significantly_positive(differences: NDArray[np.float64], counts: Weights) -> bool:
    """Tell whether the mean is above 0 beyond chance, by the normal distribution.

    Its variance is that of a weighted mean of independent rows: sum w^2 (d - mean)^2 / (sum w)^2.
    """
    rows = len(differences)
    shares = counts_of(counts, rows)
    shares = shares / shares.sum()
    mean = shares @ differences
    variance = shares**2 @ (differences - mean) ** 2 * rows / (rows - 1)
    if variance == 0:
        return bool(mean > 0)
    return bool(mean > _Z * np.sqrt(variance))
