"""Objectives for numbers, and tensors of them, as skill: 1 is perfect, 0 what the best constant
reaches on these rows.

The elements of a tensor count alike, and the best constant is that of each element.

Worse than a constant is below 0; it ends at -1, so that one wild prediction does not hide the
differences of others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.weights import Weights, by_row, counts_of, mean_of, total

_WORST = -1.0


class R2:
    """Coefficient of determination: the share of the variance that is explained."""

    needs_probabilities = False

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - squared error / squared deviation from the mean."""
        mean = np.average(actual, axis=0, weights=weights)
        left, whole = (total(off**2, weights) for off in (actual - predicted, actual - mean))
        return _skill(left, whole)

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the value, at least -1."""
        return max(_WORST, self.value(actual, predicted, weights))


class _MeanOfLosses:
    """An objective of which the value follows from the mean of what each row loses."""

    def losses_of_rows(
        self, actual: NDArray[Any], predicted: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what each row loses (rows,): the mean over the elements of a tensor."""
        lost = self._lost(actual, predicted)
        return lost.reshape(len(lost), -1).mean(axis=1)

    def value_of_mean(self, mean: float) -> float:
        """Return the value that goes with a mean of losses."""
        return mean

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each element loses, in the shape of ``actual``."""
        raise NotImplementedError


class MeanAbsoluteError(_MeanOfLosses):
    """Mean absolute error, in the unit of the target."""

    needs_probabilities = False
    lower_is_better = True
    in_unit_of_target = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the error."""
        return float(mean_of(self._lost(actual, predicted), weights))

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(actual - predicted)

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - error / error of the median, at least -1."""
        constant = _median(actual, weights)
        reference = mean_of(np.abs(actual - constant), weights)
        return max(_WORST, _skill(self.value(actual, predicted, weights), reference))


class RootMeanSquaredError(_MeanOfLosses):
    """Root of the mean squared error, in the unit of the target."""

    needs_probabilities = False
    lower_is_better = True
    in_unit_of_target = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the error."""
        return self.value_of_mean(float(mean_of(self._lost(actual, predicted), weights)))

    def value_of_mean(self, mean: float) -> float:
        """Return the root of a mean of squares."""
        return float(np.sqrt(mean))

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return (actual - predicted) ** 2

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - error / standard deviation, at least -1."""
        mean = np.average(actual, axis=0, weights=weights)
        reference = np.sqrt(mean_of((actual - mean) ** 2, weights))
        return max(_WORST, _skill(self.value(actual, predicted, weights), reference))


class MeanAbsolutePercentageError(_MeanOfLosses):
    """Mean absolute error as a share of the true value: 0.1 is ten percent off.

    A true value of zero counts as the smallest step of a float, so one such row rules the mean: it
    is for targets that are never zero.
    """

    needs_probabilities = False
    lower_is_better = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the error."""
        return float(mean_of(self._lost(actual, predicted), weights))

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(actual - predicted) / _size(actual)

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - error / error of the best constant, at least -1.

        That is the median with weights one over the true values.
        """
        counts = by_row(counts_of(weights, len(actual)), actual)
        constant = _weighted_median(actual, counts / _size(actual))
        reference = mean_of(np.abs(actual - constant) / _size(actual), weights)
        return max(_WORST, _skill(self.value(actual, predicted, weights), reference))


class PinballLoss(_MeanOfLosses):
    """Mean loss of predictions of a quantile, in the unit of the target (R.

    Koenker and G. Bassett, Econometrica 46, 1978). ``share`` in (0, 1): of the true values that are
    to lie below the prediction.
    """

    needs_probabilities = False
    lower_is_better = True
    in_unit_of_target = True

    def __init__(self, share: float):
        """Above 0.5 it costs more to say too little than to say too much."""
        self._share = share

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the loss."""
        return float(mean_of(self._lost(actual, predicted), weights))

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        lacking = actual - predicted
        return np.maximum(self._share * lacking, (self._share - 1) * lacking)

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - loss / loss of the rows' own quantile, at least -1."""
        constant = np.quantile(actual, self._share, axis=0, method="inverted_cdf", weights=weights)
        reference = self.value(actual, np.broadcast_to(constant, actual.shape), weights)
        return max(_WORST, _skill(self.value(actual, predicted, weights), reference))


def _size(actual: NDArray[Any]) -> NDArray[np.float64]:
    return np.maximum(np.abs(actual), np.finfo(np.float64).eps)


def _median(actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
    """Return the best constant by absolute errors, of each element."""
    if weights is None:
        return np.median(actual, axis=0)
    counts = by_row(weights, actual)
    return _weighted_median(actual, np.broadcast_to(counts, actual.shape))


def _weighted_median(values: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each element of the rows, the value at which half of the weight is reached."""
    order = np.argsort(values, axis=0)
    reached = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    place = np.argmax(reached >= reached[-1] / 2, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    return np.take_along_axis(ranked, place[np.newaxis], axis=0)[0]


def _skill(error: Any, reference: Any) -> float:
    if reference == 0:  # the rows have one value: right or not
        return 1.0 if error == 0 else _WORST
    return float(1 - error / reference)
