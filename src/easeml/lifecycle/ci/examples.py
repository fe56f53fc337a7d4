"""Predictions and labels as what a test needs: a score an example and model, and where the models
differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.config import Config, Metric
from easeml.lifecycle.labels import check_vocabularies, class_name, class_names


@dataclass(frozen=True)
class Examples:
    """What is known of a commit on N examples of the test set.

    ``new`` and ``old`` are scores (N,) in [0, scale], or for F1 (N, 2): true positive, and false
    positive or false negative. They mean nothing where ``known`` (N,) is False: there the label is
    missing. ``differ`` (N,) tells where the predictions of the two models differ; the scores of the
    others must be equal.
    """

    new: np.ndarray
    old: np.ndarray
    differ: np.ndarray
    known: np.ndarray

    def __len__(self) -> int:
        return len(self.differ)

    def take(self, rows: np.ndarray) -> Examples:
        """Return the examples at ``rows``, in that order."""
        return Examples(self.new[rows], self.old[rows], self.differ[rows], self.known[rows])


def score_examples(
    new: Sequence[Any], old: Sequence[Any] | None, labels: Sequence[Any], config: Config
) -> Examples:
    """Return the scores of two models' predictions by the metric of ``config``.

    A label that is None or NaN is missing. ``old`` may be None for a first commit whose condition
    needs n alone. For the metric ``score``, ``new`` and ``old`` are scores already, and every
    example counts as labelled and different where they are not equal; ``labels`` only say (by None
    or NaN) which are known.

    Raises: InvalidInput: if lengths differ, a prediction is missing, or an error metric meets what
        is no number.
    """
    target = _column(labels, "labels")
    known = ~_missing(target)
    first = _column(new, "new predictions")
    second = first if old is None else _column(old, "old predictions")
    for name, column in (("new predictions", first), ("old predictions", second)):
        if len(column) != len(target):
            raise InvalidInput(
                f"There are {len(column):,} {name} and {len(target):,} rows of labels.", where=name
            )
        if (gaps := np.flatnonzero(_missing(column))).size and config.metric is not Metric.SCORE:
            raise InvalidInput(
                f"{gaps.size:,} {name} are missing.", where=f"{name}, row {gaps[0] + 1}"
            )
    if not len(target):
        raise InvalidInput("There are no examples.", where="labels")
    if config.metric in (Metric.ACCURACY, Metric.F1):
        first, second, target = (class_names(column) for column in (first, second, target))
        _check_classes(target, [*first, *second], config)
        scored = [_class_scores(column, target, config) for column in (first, second)]
    else:
        first, second = _numbers(first, "new predictions"), _numbers(second, "old predictions")
        truth = np.where(known, _numbers(target, "labels"), 0.0)
        scored = [_number_scores(column, truth, known, config) for column in (first, second)]
    return Examples(scored[0], scored[1], first != second, known)


def _check_classes(target: np.ndarray, predicted: list[str], config: Config) -> None:
    check_vocabularies(target.tolist(), predicted)
    if config.metric is not Metric.F1:
        return
    seen = {name for name in (*target, *predicted) if name is not None}
    if len(seen) > 1 and class_name(config.positive) not in seen:
        raise InvalidInput(
            f"No example is labelled or predicted as '{config.positive}'.",
            where="positive",
            remedy=f"Name one of the classes: {', '.join(sorted(seen)[:8])}.",
        )


def _class_scores(predicted: np.ndarray, target: np.ndarray, config: Config) -> np.ndarray:
    if config.metric is Metric.ACCURACY:
        return (predicted == target).astype(np.float64)
    positive = class_name(config.positive)
    said, is_true = predicted == positive, target == positive
    return np.column_stack([said & is_true, said ^ is_true]).astype(np.float64)


def _number_scores(
    predicted: np.ndarray, target: np.ndarray, known: np.ndarray, config: Config
) -> np.ndarray:
    if config.metric is Metric.SCORE:
        scores = np.where(known, predicted, 0.0)
        if not ((scores >= 0) & (scores <= config.scale)).all():
            raise InvalidInput(f"A score is not in [0, {config.scale:g}].", where="scores")
        return scores
    error = np.abs(predicted - target)
    return np.minimum(error if config.metric is Metric.ABSOLUTE_ERROR else error**2, config.scale)


def _column(values: Sequence[Any], name: str) -> np.ndarray:
    column = np.asarray(values)
    if column.ndim != 1:
        raise InvalidInput(f"The {name} must be one value an example.", where=name)
    return column


def _missing(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    return np.array(
        [_is_missing(value) for value in column],
        dtype=bool,
    )


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _numbers(column: np.ndarray, name: str) -> np.ndarray:
    try:
        numbers = np.array(
            [np.nan if value is None else value for value in column.tolist()], dtype=np.float64
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"The {name} are not all numbers.", where=name) from error
    if np.isinf(numbers).any():
        raise InvalidInput(f"The {name} hold an infinite number.", where=name)
    return numbers
