"""Objectives for category targets. ``actual`` holds codes, ``predicted`` class probabilities."""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TINY = 1e-15


class _Share(ABC):
    """A measure that is a quality already: a share in [0, 1], 1 best."""

    needs_probabilities = False

    @abstractmethod
    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the share."""

    def quality(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the share."""
        return self.value(actual, predicted)


class Accuracy(_Share):
    """Share of the rows whose label is right."""

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the share of right labels."""
        return float(np.mean(predicted.argmax(axis=1) == actual))


class BalancedAccuracy(_Share):
    """Mean, over the classes that occur, of the share of their rows whose label is right."""

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the mean recall."""
        right = np.bincount(
            actual[predicted.argmax(axis=1) == actual], minlength=predicted.shape[1]
        )
        rows = np.bincount(actual, minlength=predicted.shape[1])
        return float(np.mean(right[rows > 0] / rows[rows > 0]))

    def class_weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return one over the share of each class in the training rows, 0 for one without a row."""
        weights = np.zeros(len(rows))
        seen = rows > 0
        weights[seen] = rows.sum() / (seen.sum() * rows[seen])
        return weights


class MacroF1(_Share):
    """Mean of the classes' F1, over the classes that occur or are predicted."""

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the mean F1."""
        size = predicted.shape[1]
        labels = predicted.argmax(axis=1)
        right = np.bincount(actual[labels == actual], minlength=size)
        total = np.bincount(actual, minlength=size) + np.bincount(labels, minlength=size)
        return float(np.mean(2 * right[total > 0] / total[total > 0]))


class RocAuc(_Share):
    """Area under the ROC curve, the mean over classes of each class against the rest; 0.5 where one
    class occurs.
    """

    needs_probabilities = True

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the area by the rank-sum formula (J.

        Hanley and B. McNeil, Radiology 143, 1982).
        """
        present = np.unique(actual)
        if len(present) < 2:
            return 0.5
        if predicted.shape[1] == 2:
            return _area(predicted[:, 1], actual == 1)
        return float(np.mean([_area(predicted[:, code], actual == code) for code in present]))


class LogLoss:
    """Mean negative log-probability of the right class, in nats."""

    needs_probabilities = True
    lower_is_better = True

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the loss; a probability of 0 counts as 1e-15."""
        right = predicted[np.arange(len(actual)), actual]
        return float(-np.mean(np.log(np.clip(right, _TINY, 1.0))))

    def quality(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return exp(-loss), the geometric mean of the right classes' probabilities."""
        return math.exp(-self.value(actual, predicted))


def _area(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    n, m = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))
