"""Predictions and labels as what a test needs: scores of both models, and where these differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.condition import groups_of
from easeml.lifecycle.ci.config import Config, Metric
from easeml.lifecycle.ci.groups import Group, masks_of
from easeml.lifecycle.labels import check_vocabularies, class_name, class_names, is_missing

_NEW, _OLD = "new predictions", "old predictions"


@dataclass(frozen=True)
class Examples:
    """What is known of a commit on N examples of the test set.

    ``new`` and ``old`` are scores (N,) in [0, scale], or for F1 (N, 2): true positive, and false
    positive or false negative. They mean nothing where ``known`` (N,) is False: there the label is
    missing. ``differ`` (N,) tells where the predictions of the two models differ; the scores of the
    others must be equal. ``groups``: which rows are in each group that the condition names (N,).
    """

    new: np.ndarray
    old: np.ndarray
    differ: np.ndarray
    known: np.ndarray
    groups: Mapping[Group, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.differ)

    def take(self, rows: np.ndarray) -> Examples:
        """Return the examples at ``rows``, in that order."""
        return Examples(
            new=self.new[rows],
            old=self.old[rows],
            differ=self.differ[rows],
            known=self.known[rows],
            groups={group: mask[rows] for group, mask in self.groups.items()},
        )


def score_examples(
    new: Sequence[Any],
    old: Sequence[Any] | None,
    labels: Sequence[Any],
    config: Config,
    rows: Any = None,
) -> Examples:
    """Return the scores of two models' predictions by the metric of ``config``.

    A label that is None or NaN is missing. ``old`` may be None for a first commit whose condition
    needs n alone. For the metric ``score``, ``new`` and ``old`` are scores already, and every
    example counts as labelled and different where they are not equal; ``labels`` only say (by None
    or NaN) which are known. ``rows``: a frame of their N rows, for a condition that names groups.

    Raises:
        InvalidInput: if lengths differ, a prediction is missing, an error metric meets what is no
            number, or a group is of a column that the rows lack.
    """
    target = _column(labels, "labels")
    first = _predictions(new, _NEW, len(target), config)
    second = first
    if old is not None:
        second = _predictions(old, _OLD, len(target), config)
    if not len(target):
        raise InvalidInput("There are no examples.", where="labels")
    score = _SCORED.get(config.metric, _number_examples)
    examples = score(first, second, target, config)
    return replace(examples, groups=masks_of(groups_of(config.condition), rows))


def _predictions(values: Sequence[Any], name: str, examples: int, config: Config) -> np.ndarray:
    """Return a model's predictions, one an example; scores may be missing, others not."""
    column = _column(values, name)
    if len(column) != examples:
        raise InvalidInput(
            f"There are {len(column):,} {name} and {examples:,} rows of labels.", where=name
        )
    gaps = np.flatnonzero(_missing(column))
    if gaps.size and config.metric is not Metric.SCORE:
        raise InvalidInput(f"{gaps.size:,} {name} are missing.", where=f"{name}, row {gaps[0]}")
    return column


def _class_examples(
    new: np.ndarray, old: np.ndarray, labels: np.ndarray, config: Config
) -> Examples:
    first = class_names(new)
    second = class_names(old)
    target = class_names(labels)
    _check_classes(target, [*first, *second], config)
    return Examples(
        new=_class_scores(first, target, config),
        old=_class_scores(second, target, config),
        differ=first != second,
        known=~_missing(labels),
    )


def _number_examples(
    new: np.ndarray, old: np.ndarray, labels: np.ndarray, config: Config
) -> Examples:
    first = _numbers(new, _NEW)
    second = _numbers(old, _OLD)
    known = ~_missing(labels)
    truth = np.where(known, _numbers(labels, "labels"), 0.0)
    return Examples(
        new=_number_scores(first, truth, known, config),
        old=_number_scores(second, truth, known, config),
        differ=first != second,
        known=known,
    )


def _chance_examples(
    new: np.ndarray, old: np.ndarray, labels: np.ndarray, config: Config
) -> Examples:
    target = class_names(labels)
    _check_classes(target, [], config)
    is_positive = (target == class_name(config.positive)).astype(np.float64)
    first = _numbers(new, _NEW)
    second = _numbers(old, _OLD)
    for chances, name in ((first, _NEW), (second, _OLD)):
        if not ((chances >= 0) & (chances <= 1)).all():
            raise InvalidInput(f"The {name} are not all chances from 0 to 1.", where=name)
    return Examples(
        new=(first - is_positive) ** 2,
        old=(second - is_positive) ** 2,
        differ=first != second,
        known=~_missing(labels),
    )


def _check_classes(target: np.ndarray, predicted: list[str], config: Config) -> None:
    check_vocabularies(target.tolist(), predicted)
    if config.metric is Metric.ACCURACY:
        return
    seen = {*target, *predicted} - {None}
    # A file of one class alone may well lack the positive one.
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
    said = predicted == positive
    is_true = target == positive
    return np.column_stack([said & is_true, said ^ is_true]).astype(np.float64)


def _number_scores(
    predicted: np.ndarray, target: np.ndarray, known: np.ndarray, config: Config
) -> np.ndarray:
    if config.metric is Metric.SCORE:
        scores = np.where(known, predicted, 0.0)
        within = (scores >= 0) & (scores <= config.scale)
        if not within.all():
            raise InvalidInput(f"A score is not in [0, {config.scale:g}].", where="scores")
        return scores
    error = np.abs(predicted - target)
    if config.metric is Metric.SQUARED_ERROR:
        error = error**2
    return np.minimum(error, config.scale)


def _column(values: Sequence[Any], name: str) -> np.ndarray:
    column = np.asarray(values)
    if column.dtype.kind == "U" and not isinstance(values, np.ndarray):
        column = np.asarray(values, dtype=object)  # else NaN among texts were the text "nan"
    if column.ndim != 1:
        raise InvalidInput(f"The {name} must be one value an example.", where=name)
    return column


def _missing(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    return np.array(list(map(is_missing, column)), dtype=bool)


def _numbers(column: np.ndarray, name: str) -> np.ndarray:
    given = column.tolist()
    try:
        # As float64, None becomes NaN.
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"The {name} are not all numbers.", where=name) from error
    if np.isinf(numbers).any():
        raise InvalidInput(f"The {name} hold an infinite number.", where=name)
    return numbers


_SCORED = {
    Metric.ACCURACY: _class_examples,
    Metric.F1: _class_examples,
    Metric.BRIER: _chance_examples,
}
"""How examples are scored; those of other metrics are numbers."""
