"""Objectives about one class, and about what each confusion costs.

``for_classes`` tells them the labels of the target; before, they measure nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput
from easeml.modules.weights import Weights, counts_of

_WORST = -1.0


def _code(label: str, classes: Sequence[str]) -> int:
    """Return the place of a label. Raises ``InvalidInput`` where it is none of the target."""
    known = list(map(str, classes))
    if label not in known:
        raise InvalidInput(
            f"{label!r} is not a class of the target.",
            where="objective",
            remedy=f"Classes: {', '.join(known[:20])}.",
        )
    return known.index(label)


class _OfClass(ABC):
    """A share in [0, 1], 1 best, about one class against the others.

    It is 0 where it divides nothing by nothing, as in scikit-learn.
    """

    needs_probabilities = False
    counts_labels = True

    def __init__(self, label: str):
        """``label``: the class."""
        self.label = label
        self.code = -1

    def for_classes(self, classes: Sequence[str]) -> Self:
        """Return the measure for a target. Raises ``InvalidInput`` without the class."""
        told = type(self)(**self._told())
        told.code = _code(self.label, classes)
        return told

    def _told(self) -> dict[str, Any]:
        return {"label": self.label}

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the share."""
        is_so = actual == self.code
        is_said = predicted.argmax(axis=1) == self.code
        counts = counts_of(weights, len(actual))
        hits, so, said = (counts[rows].sum() for rows in (is_so & is_said, is_so, is_said))
        return float(self._share(hits, so, said, counts.sum()))

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the share."""
        return self.value(actual, predicted, weights)

    @abstractmethod
    def _share(self, hits: float, so: float, said: float, rows: float) -> float:
        """Return the share. ``so``: rows of the class; ``said``: where it is said; ``hits``: both."""


class Recall(_OfClass):
    """Of the rows of the class, the share for which it is said (sensitivity)."""

    def _share(self, hits: float, so: float, said: float, rows: float) -> float:
        return hits / so if so else 0.0


class Precision(_OfClass):
    """Of the rows for which the class is said, the share that is of it."""

    def _share(self, hits: float, so: float, said: float, rows: float) -> float:
        return hits / said if said else 0.0


class Specificity(_OfClass):
    """Of the rows of other classes, the share for which the class is not said."""

    def _share(self, hits: float, so: float, said: float, rows: float) -> float:
        others = rows - so
        return (others - (said - hits)) / others if others else 0.0


class FBeta(_OfClass):
    """The harmonic mean of precision and recall, recall counting ``beta`` times as much
    (C. van Rijsbergen, Information Retrieval, 1979).
    """

    def __init__(self, label: str, beta: float):
        """``beta``: above 0. Raises ``InvalidInput``."""
        super().__init__(label)
        if not beta > 0:
            raise InvalidInput(
                "beta is not above 0.", where="objective", remedy=f"Write f-beta({label}, 2)."
            )
        self.beta = beta

    def _told(self) -> dict[str, Any]:
        return {"label": self.label, "beta": self.beta}

    def _share(self, hits: float, so: float, said: float, rows: float) -> float:
        weight = self.beta**2
        total = weight * so + said
        return (1 + weight) * hits / total if total else 0.0


class SelectionRate:
    """The share of the rows for which the class is said, whatever is true.

    Neither more nor less of it is better by itself: it is there to be compared between groups.
    """

    needs_probabilities = False
    counts_labels = True

    def __init__(self, label: str):
        """``label``: the class."""
        self.label = label
        self.code = -1

    def for_classes(self, classes: Sequence[str]) -> "SelectionRate":
        """Return the measure for a target. Raises ``InvalidInput`` without the class."""
        told = SelectionRate(self.label)
        told.code = _code(self.label, classes)
        return told

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the share."""
        return float(np.average(predicted.argmax(axis=1) == self.code, weights=weights))

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return 1 - how far the share is from that of the rows of the class."""
        share = float(np.average(actual == self.code, weights=weights))
        return 1 - abs(self.value(actual, predicted, weights) - share)


class Cost:
    """Mean cost of a row: what it costs to say one class where another is true.

    Labels are chosen that cost least in expectation (C. Elkan, The foundations of cost-sensitive
    learning, IJCAI 2001, equation 1).
    """

    needs_probabilities = False
    counts_labels = True
    lower_is_better = True
    may_be_negative = True

    def __init__(self, costs: Sequence[Sequence[Any]], unit: str = ""):
        """``costs``: true label, said label, cost; what is not named costs 0. ``unit``: of these."""
        self.costs = costs
        self.unit = unit
        self.table = np.zeros((0, 0))

    def for_classes(self, classes: Sequence[str]) -> "Cost":
        """Return the measure for a target, its costs as a table: true class by said class.

        Raises ``InvalidInput`` for a label that is none, where a wrong label costs less than the
        right one, and where nothing costs more than anything else.
        """
        told = Cost(self.costs, self.unit)
        told.table = np.zeros((len(classes), len(classes)))
        for true, said, cost in self.costs:
            told.table[_code(true, classes), _code(said, classes)] = cost
        _check_costs(told.table, list(map(str, classes)))
        return told

    def class_weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return what saying each class (second axis) saves where each (first axis) is true."""
        return self.table.max(axis=1, keepdims=True) - self.table

    def value(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return the mean cost."""
        costs = self.table[actual, predicted.argmax(axis=1)]
        return float(np.average(costs, weights=weights))

    def quality(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
    ) -> float:
        """Return how far the cost is from that of the best constant label (0) to the least (1)."""
        cost = self.value(actual, predicted, weights)
        least = float(np.average(self.table[actual, actual], weights=weights))
        constant = float(np.average(self.table[actual], axis=0, weights=weights).min())
        if constant <= least:  # the rows have one class: right or not
            return 1.0 if cost <= least else _WORST
        return max(_WORST, (constant - cost) / (constant - least))


def _check_costs(table: NDArray[np.float64], labels: list[str]) -> None:
    cheapest = table.min(axis=1)
    strange = np.flatnonzero(np.diag(table) > cheapest)
    if len(strange):
        true = labels[strange[0]]
        said = labels[int(table[strange[0]].argmin())]
        raise InvalidInput(
            f"Where {true!r} is true, saying {said!r} costs less than saying {true!r}.",
            where="objective",
            remedy="A row of the table is what is true, a column what is said.",
        )
    if np.all(table == table[:, :1]):
        raise InvalidInput(
            "Every answer costs the same: there is nothing to choose by.",
            where="objective",
            remedy="Write what each confusion costs.",
        )
