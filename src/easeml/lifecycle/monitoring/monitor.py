"""The monitor: a state fitted on labelled reference rows, and what it answers about batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.monitoring.alerts import AlertRules
from easeml.lifecycle.monitoring.backtest import Trust, backtest
from easeml.lifecycle.monitoring.cohorts import CohortTest
from easeml.lifecycle.monitoring.drawn import Drawn, DrawnTest
from easeml.lifecycle.monitoring.drift import DriftTest
from easeml.lifecycle.monitoring.estimators import Reference, learn
from easeml.lifecycle.monitoring.features import Encoder, as_frame
from easeml.lifecycle.monitoring.labels import (
    Labelled,
    Late,
)
from easeml.lifecycle.monitoring.priors import (
    ByClass,
    by_class,
    by_part,
)
from easeml.lifecycle.monitoring.rows import (
    Rows,
    Task,
    assemble,
    checked_probabilities,
    coded,
    feature_columns,
    feature_names,
    known_classes,
    width_of,
)
from easeml.lifecycle.monitoring.sequential import ConceptTest
from easeml.lifecycle.monitoring.tolerance import tolerance_for
from easeml.lifecycle.monitoring.tracking import Offset
from easeml.lifecycle.result import Progress, listener

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEAST = 50


@dataclass(frozen=True)
class Batch:
    """Facts about new rows.

    ``inputs``: frame (or matrix) with the columns of the reference, n rows; ``predictions``: what
    the model predicted (n,); ``probabilities``: as given to `fit`; ``labelled``: answers to
    `choose`, if any labels were asked; ``day``: when the rows came, if that is known. ``late``:
    rows of earlier batches whose truth came since; then there may be no new rows at all.

    ``at_random``: rows with a truth were drawn at random, as `choose` draws. Otherwise a truth may
    come sooner, or only, where the model was wrong: no alarm then rests on who it came for, but for
    those of ``drawn``: rows of which somebody says that they were drawn at random.
    """

    inputs: Any
    predictions: ArrayLike
    probabilities: ArrayLike | None = None
    labelled: Labelled | None = None
    day: date | None = None
    late: Late | None = None
    at_random: bool = True
    drawn: tuple[Drawn, ...] = ()


@dataclass(frozen=True)
class Monitor:
    """What is known of where a model tends to be right.

    Made by `fit`; holds plain values only, see `save` and `load`.

    ``quality`` of a classifier is its accuracy, of a regression the share of predictions within
    ``tolerance``. ``width`` is the number of probability columns, 1 for a single score, None for
    none. ``batches`` and ``seen`` count what was scored, and its rows: the levels of drift tests
    and the age of the labels depend on them. ``offset`` and ``concept`` carry what labels taught;
    ``unlabelled`` counts the rows since, and ``labelled_day`` is the day of the last labels.
    ``cohorts``: the rows of each batch, and which truths came; ``answered``: the share of rows with
    a truth in the batch that the estimate learned from last. ``drawn``: what truths of rows that
    were drawn at random have shown. ``known``: what the model says of each class; None in one that
    was fitted before that was kept.
    """

    task: Task
    tolerance: float | None
    encoder: Encoder
    classes: tuple[str, ...]
    width: int | None
    reference: Reference
    predictions: np.ndarray
    trust: Trust
    rules: AlertRules
    offset: Offset
    known: ByClass | None = None
    batches: int = 0
    seen: int = 0
    names: list[str] = field(default_factory=list)
    concept: ConceptTest = field(default_factory=ConceptTest)
    unlabelled: int = 0
    labelled_day: date | None = None
    cohorts: CohortTest = field(default_factory=CohortTest)
    answered: float = 1.0
    drawn: DrawnTest = field(default_factory=DrawnTest)

    def moved(self, test: DriftTest) -> dict[str, float]:
        """Return the least p-value of each input column's features, by column."""
        columns = feature_columns(self.encoder)
        found: dict[str, float] = {}
        for name, p_value in test.by_feature:
            if name in columns:
                column = columns[name]
                found[column] = min(p_value, found.get(column, 1.0))
        return found

    def rows(self, batch: Batch) -> Rows:
        """Return a batch as the error model sees it.

        Raises:
            InvalidInput: if the rows do not fit the reference.
        """
        frame = as_frame(batch.inputs)
        if len(frame) == 0:
            raise InvalidInput("The batch has no rows.", where="inputs")
        predicted, codes = coded(batch.predictions, self.task, self.classes)
        surety = checked_probabilities(batch.probabilities, len(frame))
        width = width_of(surety)
        if width != self.width:
            raise InvalidInput(
                f"The reference had {self.width or 'no'} probability columns, "
                f"the batch has {width or 'none'}.",
                where="probabilities",
            )
        return assemble(self.encoder.encode(frame), predicted, codes, surety)

    def right(self, predictions: np.ndarray, labels: ArrayLike) -> np.ndarray:
        """Return 1 where a prediction (as in `Rows`) is right, else 0."""
        truth, codes = coded(labels, self.task, self.classes)
        if self.tolerance is None:
            known = codes < len(self.classes)
            return ((predictions == codes) & known).astype(np.float64)
        return (np.abs(predictions - truth) <= self.tolerance).astype(np.float64)


def fit(
    inputs: Any,
    predictions: ArrayLike,
    labels: ArrayLike,
    probabilities: ArrayLike | None = None,
    *,
    task: Task = "classification",
    tolerance: float | None = None,
    rules: AlertRules | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Monitor:
    """Learn from labelled rows where a model is right, and how far that can be trusted later.

    Args:
        inputs: frame or matrix of n rows that the model was *not* trained on, in order of time.
        predictions: what the model predicted (n,).
        labels: what was true (n,).
        probabilities: what the model gave: shape (n, classes), or (n,) for the score of one class
            of two.
        task: for ``regression`` a prediction is right within ``tolerance``.
        tolerance: of a regression; by default `tolerance_for` these predictions.
        rules: when to raise an alert.
        seed: of the error model.
        progress: called with the share of the work that is done.

    Returns:
        The state that `ask` takes.

    Raises:
        InvalidInput: if there are fewer than 50 rows, or lengths differ, or a label is missing.
    """
    frame = as_frame(inputs)
    if len(frame) < LEAST:
        raise InvalidInput(
            f"{len(frame)} labelled rows that no model learned from are too few to compare with.",
            where="labels",
            remedy=f"It takes {LEAST} or more, such as validation rows.",
        )
    classes = known_classes(labels, predictions) if task == "classification" else ()
    truth, truth_codes = coded(labels, task, classes)
    predicted, codes = coded(predictions, task, classes)
    if not len(frame) == len(truth) == len(predicted):
        raise InvalidInput(
            f"{len(frame)} rows, {len(predicted)} predictions and {len(truth)} labels do not fit."
        )
    if task == "regression" and tolerance is None:
        tolerance = tolerance_for(truth, predicted)
    elif task == "classification" and tolerance is not None:
        raise InvalidInput("A tolerance is for regression only.", where="tolerance")
    surety = checked_probabilities(probabilities, len(frame))
    encoder = Encoder.learn(frame)
    encoded = encoder.encode(frame, are_reference=True)
    rows = assemble(encoded, predicted, codes, surety)
    if tolerance is None:
        right = (predicted == truth_codes).astype(np.float64)
    else:
        right = (np.abs(predicted - truth) <= tolerance).astype(np.float64)
    trust = backtest(rows.features, right, rows.scores, rows.codes, seed=seed, progress=progress)
    reference = learn(rows.features, right, rows.scores, rows.codes, seed=seed)
    if task == "regression":
        known = by_part(truth, predicted)
    else:
        known = by_class(truth_codes, codes, surety, len(classes))
    listener(progress)(1.0)
    return Monitor(
        task=task,
        tolerance=tolerance,
        encoder=encoder,
        classes=classes,
        width=width_of(surety),
        reference=reference,
        predictions=rows.predictions,
        trust=trust,
        rules=rules or AlertRules(),
        offset=trust.offset(0, 0),
        known=known,
        names=feature_names(encoder, rows.features.shape[1]),
    )
