"""Objectives for category targets. ``actual`` holds codes, ``predicted`` class probabilities."""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.contract import Area
from easeml.modules.intervals import of_gaps
from easeml.modules.weights import Weights, counts_of, of_rows
from easeml.sampling_error import effective

_TINY = 1e-15
_BINS = 15
_BETWEEN = 0.4  # powers from .3 to .6 are as good on 13 tables; 1 is worse than 0 (decision 0063)


class _Share(ABC):
    """A measure that is a quality already: a share in [0, 1], 1 best."""

    needs_probabilities = False
    counts_labels = True

    @abstractmethod
    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the share."""

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the share."""
        return self.value(actual, predicted, weights)


class Accuracy(_Share):
    """Share of the rows whose label is right."""

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the share of right labels."""
        return float(np.average(predicted.argmax(axis=1) == actual, weights=weights))


class BalancedAccuracy(_Share):
    """Mean, over the classes that occur, of the share of their rows whose label is right."""

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the mean recall."""
        size = predicted.shape[1]
        is_right = predicted.argmax(axis=1) == actual
        right = np.bincount(actual[is_right], of_rows(weights, is_right), minlength=size)
        rows = np.bincount(actual, weights, minlength=size)
        return float(np.mean(right[rows > 0] / rows[rows > 0]))

    def class_weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return one over the share of each class in the training rows, 0 for one without a row."""
        return _rarity(rows)


class MacroF1(_Share):
    """Mean of the classes' F1, over the classes that occur or are predicted."""

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the mean F1."""
        size = predicted.shape[1]
        labels = predicted.argmax(axis=1)
        is_right = labels == actual
        right = np.bincount(actual[is_right], of_rows(weights, is_right), minlength=size)
        true, said = (np.bincount(codes, weights, minlength=size) for codes in (actual, labels))
        total = true + said
        return float(np.mean(2 * right[total > 0] / total[total > 0]))

    def class_weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return weights between those of accuracy and of balanced accuracy, as this measure is."""
        return _rarity(rows) ** _BETWEEN


class WeightedF1(_Share):
    """Mean of the classes' F1, each weighted by the rows that it has."""

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the weighted mean F1."""
        table = _confusion(actual, predicted, weights)
        rows = table.sum(axis=1)
        total = rows + table.sum(axis=0)
        seen = rows > 0
        f1 = 2 * np.diag(table)[seen] / total[seen]
        return float(np.average(f1, weights=rows[seen]))


class Matthews(_Share):
    """Matthews' correlation of what is said with what is true, from -1 to 1, for any number of
    classes; 0 where one class alone occurs or is predicted.
    """

    may_be_negative = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return R_K (J. Gorodkin, Computational Biology and Chemistry 28, 2004, equation 8)."""
        table = _confusion(actual, predicted, weights)
        true = table.sum(axis=1)
        said = table.sum(axis=0)
        rows = table.sum()
        spread_true = rows**2 - np.sum(true**2)
        spread_said = rows**2 - np.sum(said**2)
        if spread_true == 0 or spread_said == 0:
            return 0.0
        together = rows * np.trace(table) - np.sum(true * said)
        return float(together / np.sqrt(spread_true * spread_said))

    def class_weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return weights between those of accuracy and of balanced accuracy, as this measure is."""
        return _rarity(rows) ** _BETWEEN


class QuadraticKappa(_Share):
    """Cohen's kappa, where a prediction that is two classes off costs four times what one is.

    The classes count in the order of the labels of the schema.
    """

    may_be_negative = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the kappa (J.

        Cohen, Psychological Bulletin 70, 1968); at least -1. Where all rows are of one class and
        predicted so, 1.
        """
        table = _confusion(actual, predicted, weights)
        places = np.arange(len(table))
        cost = np.subtract.outer(places, places) ** 2.0
        by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        reference = np.sum(cost * by_chance)
        if reference == 0:
            return 1.0
        return float(1 - np.sum(cost * table) / reference)


class AveragePrecision(_Share):
    """Area under the curve of precision over recall, the mean over the classes that occur of each
    class against the rest.
    """

    needs_probabilities = True
    counts_labels = False

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the mean, over a class's rows by falling probability, of the precision there."""
        return _mean(self.areas(actual, predicted, weights))

    def areas(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> dict[int, Area]:
        """Return the area of each class that occurs.

        Its spread is at most that of a share of the rows of the class (K. Boyd, K. Eng and C. Page,
        Area under the precision-recall curve, ECML PKDD 2013, section 4).
        """
        counts = counts_of(weights, len(actual))
        areas = {}
        for code in np.unique(actual).tolist():
            is_so = actual == code
            rows = effective(counts[is_so])
            areas[code] = Area(_precision(predicted[:, code], is_so, weights), rows, rows)
        return areas


class Brier:
    """Mean squared error of the probabilities: of the second class where there are two, else summed
    over the classes (G.

    Brier, Monthly Weather Review 78, 1950). From 0 to 1, or to 2 with more classes.
    """

    needs_probabilities = True
    lower_is_better = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the error."""
        return float(np.average(self.losses(actual, predicted), weights=weights))

    def losses(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the error of each row (rows,)."""
        errors = ((predicted - np.eye(predicted.shape[1])[actual]) ** 2).sum(axis=1)
        return errors / 2 if predicted.shape[1] == 2 else errors

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - error / the largest there is."""
        return self.quality_of(self.value(actual, predicted, weights), predicted.shape[1])

    def quality_of(self, value: float, classes: int) -> float:
        """Return the quality of an error."""
        largest = 1 if classes == 2 else 2
        return 1 - value / largest


class CalibrationError:
    """Expected calibration error: how far, over bins of the highest probability, its mean is from
    the share that is right; from 0 to 1 (C. Guo et al., On calibration of modern neural networks,
    ICML 2017, equation 3, with their 15 bins of equal width).
    """

    needs_probabilities = True
    lower_is_better = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the error."""
        right, sure, counts = self._bins(actual, predicted, weights)
        return float(np.abs(right - sure) @ counts / counts.sum())

    def ends(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> tuple[float, float]:
        """Return the interval of the error."""
        right, sure, counts = self._bins(actual, predicted, weights)
        rows = effective(counts_of(weights, len(actual)))
        return of_gaps(right, sure, counts * rows / counts.sum())

    def _bins(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return, of each bin that has rows, the share right, the mean probability and the rows."""
        sure = predicted.max(axis=1)
        is_right = predicted.argmax(axis=1) == actual
        bins = np.clip(np.ceil(sure * _BINS).astype(int) - 1, 0, _BINS - 1)
        counts = counts_of(weights, len(actual))
        _, places = np.unique(bins, return_inverse=True)
        rows = np.bincount(places, counts).astype(np.float64)
        return (
            np.bincount(places, counts * is_right) / rows,
            np.bincount(places, counts * sure) / rows,
            rows,
        )

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - error."""
        return 1 - self.value(actual, predicted, weights)

    def quality_of(self, value: float, classes: int) -> float:
        """Return the quality of an error."""
        return 1 - value


class RocAuc(_Share):
    """Area under the ROC curve, the mean over classes of each class against the rest; 0.5 where one
    class occurs.
    """

    needs_probabilities = True
    counts_labels = False

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the area by the rank-sum formula (J.

        Hanley and B. McNeil, Radiology 143, 1982).
        """
        areas = self.areas(actual, predicted, weights)
        return _mean(areas) if areas else 0.5

    def areas(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> dict[int, Area]:
        """Return the area of each class that occurs; of two classes, that of the second.

        Its spread is at least that of scores which fall off exponentially (Hanley and McNeil).
        """
        present = np.unique(actual).tolist()
        if len(present) < 2:
            return {}
        if predicted.shape[1] == 2:
            present = [1]
        counts = counts_of(weights, len(actual))
        areas = {}
        for code in present:
            is_so = actual == code
            value = _area(predicted[:, code], is_so, weights)
            own, others = effective(counts[is_so]), effective(counts[~is_so])
            areas[code] = Area(value, min(own, others), _rows_of_area(value, own, others))
        return areas


class LogLoss:
    """Mean negative log-probability of the right class, in nats."""

    needs_probabilities = True
    lower_is_better = True

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the loss; a probability of 0 counts as 1e-15."""
        return float(np.average(self.losses(actual, predicted), weights=weights))

    def losses(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of each row (rows,)."""
        right = predicted[np.arange(len(actual)), actual]
        return -np.log(np.clip(right, _TINY, 1.0))

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return exp(-loss), the geometric mean of the right classes' probabilities."""
        return math.exp(-self.value(actual, predicted, weights))

    def quality_of(self, value: float, classes: int) -> float:
        """Return the quality of a loss."""
        return math.exp(-value)


def _rarity(rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return one over the share of each class in the rows, 0 for one without a row."""
    weights = np.zeros(len(rows))
    seen = rows > 0
    weights[seen] = rows.sum() / (seen.sum() * rows[seen])
    return weights


def _area(scores: NDArray[np.float64], positive: NDArray[np.bool_], weights: Weights) -> float:
    """Return the weight of the pairs of a positive and another row that scores rank rightly, as a
    share; a pair of equal scores counts half.
    """
    counts = counts_of(weights, len(scores))
    _, places = np.unique(scores, return_inverse=True)
    others = np.bincount(places, np.where(positive, 0.0, counts))
    below = np.cumsum(others) - others / 2
    right = np.sum(counts[positive] * below[places[positive]])
    return float(right / (counts[positive].sum() * counts[~positive].sum()))


def _rows_of_area(area: float, own: float, others: float) -> float:
    """Return the rows of which a share has the spread of a ROC area.

    It is the variance of J. Hanley and B. McNeil (Radiology 143, 1982, equation 2) with their
    exponential scores, and with the mean of both numbers of rows, as method 5 of R. Newcombe
    (Statistics in Medicine 25, 2006) has it, over that of one row.
    """
    pairs = (own + others) / 2 - 1
    return own * others / (1 + pairs * ((1 - area) / (2 - area) + area / (1 + area)))


def _mean(areas: dict[int, Area]) -> float:
    return float(np.mean([area.value for area in areas.values()]))


def _precision(scores: NDArray[np.float64], positive: NDArray[np.bool_], weights: Weights) -> float:
    """Return the average precision of ranking by scores; rows of equal score count as one step."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    counts = counts_of(weights, len(scores))[order]
    found = np.cumsum(np.where(positive[order], counts, 0.0))
    is_last_of_score = np.append(falling[1:] != falling[:-1], True)
    places = np.flatnonzero(is_last_of_score)
    precision = found[places] / np.cumsum(counts)[places]
    gained = np.diff(found[places], prepend=0)
    return float(np.sum(precision * gained) / found[-1])


def _confusion(
    actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights
) -> NDArray[np.float64]:
    """Return rows by true class (first axis) and class that is said (second)."""
    size = predicted.shape[1]
    pairs = actual * size + predicted.argmax(axis=1)
    counts = np.bincount(pairs, weights, minlength=size * size)
    return counts.reshape(size, size).astype(np.float64)
