"""Objectives for numbers, and tensors of them, as skill: 1 is perfect, 0 what the best constant
reaches on these rows.

The elements of a tensor count alike, and the best constant is that of each element.

Worse than a constant is below 0; it ends at -1, so that one wild prediction does not hide the
differences of others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.weights import Weights, by_row, counts_of

_WORST = -1.0


class _Skill:
    """An objective of which the quality compares what rows lose with what the best constant loses."""

    needs_probabilities = False

    def losses_of_rows(
        self, actual: NDArray[Any], predicted: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what each row loses (rows,): the mean over the elements of a tensor."""
        lost = self._lost(actual, predicted)
        return lost.reshape(len(lost), -1).mean(axis=1)

    def losses_of_constant(self, actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
        """Return what each row loses (rows,) by the constant that is best on these rows."""
        constant = self._constant(actual, weights)
        return self.losses_of_rows(actual, np.broadcast_to(constant, actual.shape))

    def skill(self, mean: float, of_constant: float) -> float:
        """Return 1 - error / error of the constant, of means of what the rows lose by each."""
        if of_constant == 0:  # the rows have one value: right or not
            return 1.0 if mean == 0 else _WORST
        return float(1 - mean / of_constant)

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - error / error of the best constant, at least -1."""
        return max(_WORST, self._skill_on(actual, predicted, weights))

    def _skill_on(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights
    ) -> float:
        mean = _average(self.losses_of_rows(actual, predicted), weights)
        of_constant = _average(self.losses_of_constant(actual, weights), weights)
        return self.skill(mean, of_constant)

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each element loses, in the shape of ``actual``."""
        raise NotImplementedError

    def _constant(self, actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
        """Return the best constant, of each element."""
        raise NotImplementedError


class R2(_Skill):
    """Coefficient of determination: the share of the variance that is explained."""

    may_be_negative = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - squared error / squared deviation from the mean."""
        return self._skill_on(actual, predicted, weights)

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return (actual - predicted) ** 2

    def _constant(self, actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
        return np.average(actual, axis=0, weights=weights)


class _MeanOfLosses(_Skill):
    """An error: its value follows from the mean of what each row loses."""

    lower_is_better = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the error."""
        return self.value_of_mean(_average(self.losses_of_rows(actual, predicted), weights))

    def value_of_mean(self, mean: float) -> float:
        """Return the value that goes with a mean of losses."""
        return mean


class MeanAbsoluteError(_MeanOfLosses):
    """Mean absolute error, in the unit of the target."""

    in_unit_of_target = True

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(actual - predicted)

    def _constant(self, actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
        return _median(actual, weights)


class RootMeanSquaredError(_MeanOfLosses):
    """Root of the mean squared error, in the unit of the target."""

    in_unit_of_target = True

    def value_of_mean(self, mean: float) -> float:
        """Return the root of a mean of squares."""
        return float(np.sqrt(mean))

    def skill(self, mean: float, of_constant: float) -> float:
        """Return 1 - error / standard deviation, of means of squares."""
        return super().skill(self.value_of_mean(mean), self.value_of_mean(of_constant))

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return (actual - predicted) ** 2

    def _constant(self, actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
        return np.average(actual, axis=0, weights=weights)


class MeanAbsolutePercentageError(_MeanOfLosses):
    """Mean absolute error as a share of the true value: 0.1 is ten percent off.

    A true value of zero counts as the smallest step of a float, so one such row rules the mean: it
    is for targets that are never zero.
    """

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(actual - predicted) / _size(actual)

    def _constant(self, actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
        """Return the median with weights one over the true values."""
        counts = by_row(counts_of(weights, len(actual)), actual)
        return _weighted_median(actual, counts / _size(actual))


class PinballLoss(_MeanOfLosses):
    """Mean loss of predictions of a quantile, in the unit of the target (R.

    Koenker and G. Bassett, Econometrica 46, 1978). ``share`` in (0, 1): of the true values that are
    to lie below the prediction.
    """

    in_unit_of_target = True

    def __init__(self, share: float):
        """Above 0.5 it costs more to say too little than to say too much."""
        self._share = share

    def _lost(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        lacking = actual - predicted
        return np.maximum(self._share * lacking, (self._share - 1) * lacking)

    def _constant(self, actual: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
        """Return the rows' own quantile."""
        return np.quantile(actual, self._share, axis=0, method="inverted_cdf", weights=weights)


def _average(of_rows: NDArray[np.float64], weights: Weights) -> float:
    return float(np.average(of_rows, weights=weights))


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
