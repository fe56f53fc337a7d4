"""Objectives of rows that may have several labels, from arrays (rows, labels) of 1 and 0.

What each means: M. Sokolova and G. Lapalme, A systematic analysis of performance measures for
classification tasks, Information Processing and Management 45, 2009, table 3.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.intervals import of_scores
from easeml.modules.label_intervals import of_label_f1
from easeml.modules.weights import Weights, counts_of

_Numbers = NDArray[np.float64]


class _MeanOfRows:
    """The mean of what each row reaches, from 0 to 1."""

    needs_probabilities = False

    def scores_of_rows(self, actual: NDArray[Any], predicted: _Numbers) -> _Numbers:
        """Return what each row reaches (rows,), in [0, 1]."""
        raise NotImplementedError

    def value(self, actual: NDArray[Any], predicted: _Numbers, weights: Weights = None) -> float:
        """Return the mean over the rows."""
        return float(np.average(self.scores_of_rows(actual, predicted), weights=weights))

    def quality(self, actual: NDArray[Any], predicted: _Numbers, weights: Weights = None) -> float:
        """Return the mean over the rows."""
        return self.value(actual, predicted, weights)

    def ends(
        self, actual: NDArray[Any], predicted: _Numbers, weights: Weights = None
    ) -> tuple[float, float]:
        """Return the interval of the mean."""
        return of_scores(self.scores_of_rows(actual, predicted), weights)


class RowF1(_MeanOfRows):
    """F1 of the labels of each row; 1 of a row without labels for which none is said."""

    def scores_of_rows(self, actual: NDArray[Any], predicted: _Numbers) -> _Numbers:
        """Return 2 * right / (true + said) of each row."""
        right = (actual * predicted).sum(axis=1)
        return _shares(2 * right, actual.sum(axis=1) + predicted.sum(axis=1))


class Jaccard(_MeanOfRows):
    """The share of the labels that are true or said which are both; 1 of a row without any."""

    def scores_of_rows(self, actual: NDArray[Any], predicted: _Numbers) -> _Numbers:
        """Return right / (true or said) of each row."""
        right = (actual * predicted).sum(axis=1)
        return _shares(right, np.maximum(actual, predicted).sum(axis=1))


class SubsetAccuracy(_MeanOfRows):
    """The share of the rows whose labels are all right, with none too many."""

    def scores_of_rows(self, actual: NDArray[Any], predicted: _Numbers) -> _Numbers:
        """Return 1 of each row that is all right, else 0."""
        return (actual == predicted).all(axis=1).astype(np.float64)


class HammingScore(_MeanOfRows):
    """The share of all answers, one a row and label, that are right: 1 - Hamming loss."""

    def scores_of_rows(self, actual: NDArray[Any], predicted: _Numbers) -> _Numbers:
        """Return the share of the labels of each row that is right."""
        return (actual == predicted).mean(axis=1)


class LabelF1:
    """F1 of each label, averaged over the labels that a row has or is given; 1 without any."""

    needs_probabilities = False

    def value(self, actual: NDArray[Any], predicted: _Numbers, weights: Weights = None) -> float:
        """Return the mean over the labels."""
        met = (actual + predicted).any(axis=0)
        scores = self.scores_of_labels(actual, predicted, weights)
        return float(scores[met].mean()) if met.any() else 1.0

    def scores_of_labels(
        self, actual: NDArray[Any], predicted: _Numbers, weights: Weights = None
    ) -> _Numbers:
        """Return F1 of each label (labels,); 1 of one that no row has or is given."""
        counts = counts_of(weights, len(actual))
        right = counts @ (actual * predicted)
        return _shares(2 * right, counts @ actual + counts @ predicted)

    def quality(self, actual: NDArray[Any], predicted: _Numbers, weights: Weights = None) -> float:
        """Return the mean over the labels."""
        return self.value(actual, predicted, weights)

    def ends(
        self, actual: NDArray[Any], predicted: _Numbers, weights: Weights = None
    ) -> tuple[float, float]:
        """Return the interval of the mean."""
        return of_label_f1(actual, predicted, weights)


def _shares(parts: _Numbers, wholes: _Numbers) -> _Numbers:
    """Return parts of wholes, 1 where there is nothing."""
    return np.where(wholes > 0, parts / np.where(wholes > 0, wholes, 1.0), 1.0)
