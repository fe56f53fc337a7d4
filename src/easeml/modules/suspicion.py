"""A model that is too good: does a column know the answer before it can be known?

A leak that no look at the columns has found shows after training: in a class that is never
mistaken while others are, or in predictions without any error. It may be honest; so it is said,
with what to check, and nothing is refused.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Predictions

_LEAST_ROWS = 100  # that are all right: fewer happen
_LEAST_OF_CLASS = 10
_CHANCE = 1e-3  # at most, that a class as hard as the others has no error
_NO_ERROR = 1e-4  # share of the variance that is left
_CHECK = "Check that no column is known only after the answer is."


def suspicions(actual: Any, predictions: Predictions) -> list[str]:
    """Return what is too good to be believed at once, a sentence or two each.

    ``actual``: the answers of the validation rows that ``predictions`` are of. Tensors are not
    judged.
    """
    if predictions.values.ndim > 1:
        return []
    known = ~np.asarray(actual.isna())
    told = predictions.values[known]
    if predictions.classes is None:
        truth = actual[known].to_numpy(dtype=float)
        return _of_numbers(truth, told.astype(float))
    truth = actual[known].astype(str).to_numpy()
    return _of_classes(truth, told.astype(str))


def _of_numbers(truth: NDArray[np.float64], told: NDArray[np.float64]) -> list[str]:
    if len(truth) < _LEAST_ROWS:
        return []
    variance = float(np.var(truth))
    left = float(np.mean((truth - told) ** 2))
    if variance == 0 or left > _NO_ERROR * variance:
        return []
    return [f"It is right on all {len(truth):,} validation rows, almost to the digit. {_CHECK}"]


def _of_classes(truth: NDArray[Any], told: NDArray[Any]) -> list[str]:
    right = truth == told
    if right.all():
        if len(truth) < _LEAST_ROWS:
            return []
        return [f"It is right on all {len(truth):,} validation rows. {_CHECK}"]

    found = []
    for name in np.unique(truth):
        sentence = _of_class(str(name), truth, told)
        if sentence:
            found.append(sentence)
    return found


def _of_class(name: str, truth: NDArray[Any], told: NDArray[Any]) -> str:
    """Return that a class is never mistaken, where others of its size would be."""
    own = truth == name
    rows = int(own.sum())
    is_perfect = bool(np.array_equal(own, told == name))
    if not is_perfect or rows < _LEAST_OF_CLASS:
        return ""
    wrong = float(np.mean(truth[~own] != told[~own]))
    if (1 - wrong) ** rows > _CHANCE:
        return ""
    return (
        f"Class '{name}' is never mistaken: all {rows:,} of its validation rows are right and no "
        f"other row is taken for it, while {wrong:.1%} of the others are wrong. {_CHECK}"
    )
