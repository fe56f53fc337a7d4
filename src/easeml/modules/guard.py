"""A model that is worse than no model: is the fault its own?

Every search holds a baseline, which always answers the same. A model may miss it by chance, or
because it gives rare classes more weight; significantly worse in every respect is a fault of the
module, and its provider should know.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Predictions

_LEAST_ROWS = 20  # fewer say nothing
_Z = 3.09  # one-sided, a chance of 1 in 1,000


def fault_of(learnt: Any, actual: Any, predictions: Predictions) -> str:
    """Return in a sentence how a model fails against the baseline; nothing where it does not.

    ``learnt``: the answers of the train rows; ``actual``: those of the rows of ``predictions``. Of
    a category the baseline says the commonest class, of a number the mean. Tensors are not judged.
    """
    if predictions.values.ndim > 1:
        return ""
    known = ~np.asarray(actual.isna())
    if known.sum() < _LEAST_ROWS:
        return ""
    told = predictions.values[known]
    if predictions.classes is None:
        truth = actual[known].to_numpy(dtype=float)
        return _fault_of_numbers(float(np.mean(learnt.dropna())), truth, told.astype(float))
    truth = actual[known].astype(str).to_numpy()
    commonest = str(learnt.dropna().astype(str).mode().iloc[0])
    return _fault_of_classes(commonest, truth, told.astype(str))


def _fault_of_classes(commonest: str, truth: NDArray[Any], told: NDArray[Any]) -> str:
    right = told == truth
    baseline_right = truth == commonest
    worse = _significantly_positive(baseline_right.astype(float) - right)
    recalls = [right[truth == name].mean() for name in np.unique(truth)]
    knows_the_classes = np.mean(recalls) >= 1 / len(recalls)
    if not worse or knows_the_classes:
        return ""
    return (
        f"This model is right for {right.mean():.1%} of the validation rows; always answering "
        f"“{commonest}” is right for {baseline_right.mean():.1%}. That is a fault of the module."
    )


def _fault_of_numbers(mean: float, truth: NDArray[np.float64], told: NDArray[np.float64]) -> str:
    error = np.abs(told - truth)
    baseline_error = np.abs(mean - truth)
    if not _significantly_positive(error - baseline_error):
        return ""
    return (
        f"This model is off by {error.mean():.4g} on average; always answering the mean is off by "
        f"{baseline_error.mean():.4g}. That is a fault of the module."
    )


def _significantly_positive(differences: NDArray[np.float64]) -> bool:
    """Tell whether the mean is above 0 beyond chance, by the normal distribution."""
    spread = differences.std(ddof=1)
    mean = differences.mean()
    if spread == 0:
        return bool(mean > 0)
    return bool(mean > _Z * spread / np.sqrt(len(differences)))
