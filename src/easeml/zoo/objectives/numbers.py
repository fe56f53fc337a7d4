"""Objectives for numbers, and tensors of them, as skill: 1 is perfect, 0 what the best constant
reaches on these rows.

The elements of a tensor count alike, and the best constant is that of each element.

Worse than a constant is below 0; it ends at -1, so that one wild prediction does not hide the
differences of others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORST = -1.0


class R2:
    """Coefficient of determination: the share of the variance that is explained."""

    needs_probabilities = False

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return 1 - squared error / squared deviation from the mean."""
        return _skill(
            np.sum((actual - predicted) ** 2), np.sum((actual - actual.mean(axis=0)) ** 2)
        )

    def quality(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the value, at least -1."""
        return max(_WORST, self.value(actual, predicted))


class MeanAbsoluteError:
    """Mean absolute error, in the unit of the target."""

    needs_probabilities = False
    lower_is_better = True
    in_unit_of_target = True

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the error."""
        return float(np.mean(np.abs(actual - predicted)))

    def quality(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return 1 - error / error of the median, at least -1."""
        return max(
            _WORST,
            _skill(
                self.value(actual, predicted), np.mean(np.abs(actual - np.median(actual, axis=0)))
            ),
        )


class RootMeanSquaredError:
    """Root of the mean squared error, in the unit of the target."""

    needs_probabilities = False
    lower_is_better = True
    in_unit_of_target = True

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the error."""
        return float(np.sqrt(np.mean((actual - predicted) ** 2)))

    def quality(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return 1 - error / standard deviation, at least -1."""
        return max(
            _WORST,
            _skill(
                self.value(actual, predicted), np.sqrt(np.mean((actual - actual.mean(axis=0)) ** 2))
            ),
        )


def _skill(error: Any, reference: Any) -> float:
    if reference == 0:  # the rows have one value: right or not
        return 1.0 if error == 0 else _WORST
    return float(1 - error / reference)
