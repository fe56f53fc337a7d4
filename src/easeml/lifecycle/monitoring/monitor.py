"""The monitor: fitted once on labelled reference rows, then scores batches without labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labels import class_names
from easeml.lifecycle.monitoring.alerts import AlertRules
from easeml.lifecycle.monitoring.backtest import Trust, backtest
from easeml.lifecycle.monitoring.drift import concept_test, covariate_test, level_at, prior_test
from easeml.lifecycle.monitoring.estimators import Estimates, Reference, estimate, learn
from easeml.lifecycle.monitoring.features import Encoder, as_frame, confidence_features
from easeml.lifecycle.monitoring.labels import Labelled, Query, draw, measured
from easeml.lifecycle.monitoring.report import MonitorReport, decide
from easeml.lifecycle.monitoring.shift import Shift
from easeml.lifecycle.monitoring.tolerance import default_tolerance
from easeml.lifecycle.monitoring.tracking import Offset
from easeml.lifecycle.result import Progress

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Task = Literal["classification", "regression"]
LEAST = 50


@dataclass(frozen=True)
class Rows:
    """A batch as the monitor sees it: features of the error model, prediction codes, and calibrated
    scores.
    """

    features: np.ndarray
    predictions: np.ndarray
    scores: np.ndarray | None
    codes: np.ndarray


@dataclass
class Monitor:
    """Knows where a model tends to be right. Made by `fit`; holds plain values only, see `save` and
    `load`.

    ``quality`` of a classifier is its accuracy, of a regression the share of predictions within
    ``tolerance``. ``batches`` and ``seen`` count what was scored, and its rows: the levels of drift
    tests and the age of the labels depend on them. ``offset`` carries what labels taught.
    """

    task: Task
    tolerance: float | None
    encoder: Encoder
    classes: tuple[str, ...]
    width: int | None
    """Number of probability columns, 1 for a single score, None for none."""
    reference: Reference
    predictions: np.ndarray
    trust: Trust
    rules: AlertRules
    offset: Offset
    batches: int = 0
    seen: int = 0
    names: list[str] = field(default_factory=list)

    def score(
        self,
        inputs: Any,
        predictions: ArrayLike,
        probabilities: ArrayLike | None = None,
        labelled: Labelled | None = None,
    ) -> MonitorReport:
        """Estimate the model's quality on a batch, test for drift, and apply the alert rules.

        Args:
            inputs: frame (or matrix) with the columns of the reference; n rows.
            predictions: what the model predicted, one a row.
            probabilities: as given to `fit`.
            labelled: answers to `choose`, if any labels were asked.

        Raises:
            InvalidInput: if the rows do not fit the reference.
        """
        rows = self.rows(inputs, predictions, probabilities)
        found, chances, shift = estimate(self.reference, rows.features, rows.scores, rows.codes)
        base = found.constant + self.trust.share * (found.doubly_robust - found.constant)
        beyond = self.trust.beyond(shift.separation, found.doubly_robust - found.constant)
        label_quality, label_error = None, 0.0
        seen = self.seen + len(rows.predictions)
        unlabelled = self.trust.offset(seen, len(rows.predictions))
        doubt = sqrt(found.spread**2 + unlabelled.variance + beyond**2)
        offset = self.offset.ahead() if self.offset.labelled else unlabelled
        if labelled is not None:
            right = self.right(rows.predictions[labelled.query.rows], labelled.labels)
            label_quality, label_error = measured(chances, labelled.query, right)
            offset = offset.update(label_quality - base, label_error, beyond)
        self.batches += 1
        self.seen, self.offset = seen, offset
        return self._report(rows, found, shift, base, beyond, doubt, (label_quality, label_error))

    def choose(
        self,
        inputs: Any,
        predictions: ArrayLike,
        probabilities: ArrayLike | None = None,
        *,
        budget: int,
        seed: int,
    ) -> Query:
        """Choose rows of a batch whose labels say most about its quality; see `Query`."""
        rows = self.rows(inputs, predictions, probabilities)
        return draw(self.reference.forest.predict(rows.features), budget, seed)

    def rows(self, inputs: Any, predictions: ArrayLike, probabilities: ArrayLike | None) -> Rows:
        """Return a batch as the error model sees it."""
        frame = as_frame(inputs)
        if len(frame) == 0:
            raise InvalidInput("The batch has no rows.", where="inputs")
        predicted, codes = coded(predictions, self.task, self.classes)
        surety = checked_probabilities(probabilities, len(frame))
        width = None if surety is None else (1 if surety.ndim == 1 else surety.shape[1])
        if width != self.width:
            raise InvalidInput(
                f"The reference had {self.width or 'no'} probability columns, the batch has {width or 'none'}.",
                where="probabilities",
            )
        return assemble(self.encoder.encode(frame), predicted, codes, surety)

    def right(self, predictions: np.ndarray, labels: ArrayLike) -> np.ndarray:
        """Return 1 where a prediction (as in `Rows`) is right, else 0."""
        truth, codes = coded(labels, self.task, self.classes)
        if self.tolerance is None:
            return ((predictions == codes) & (codes < len(self.classes))).astype(np.float64)
        return (np.abs(predictions - truth) <= self.tolerance).astype(np.float64)

    def _report(
        self,
        rows: Rows,
        found: Estimates,
        shift: Shift,
        base: float,
        beyond: float,
        doubt: float,
        label: tuple[float | None, float],
    ) -> MonitorReport:
        level = level_at(self.batches, self.rules.alpha)
        tests = (
            covariate_test(self.reference.features, rows.features, self.names, level),
            prior_test(self.predictions, rows.predictions, level),
            concept_test(base, doubt, *label, level),
        )
        return decide(
            batch=self.batches,
            rows=len(rows.predictions),
            base=base,
            found=found,
            shift=shift,
            tests=tests,
            offset=self.offset,
            label=label[0],
            trust=self.trust,
            beyond=0.0 if self.offset.labelled else beyond,
            rules=self.rules,
        )


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

    Args: inputs: frame or matrix of n rows that the model was *not* trained on, in order of time.
        predictions, labels: what the model predicted and what was true; n each. probabilities: what
        the model gave: shape (n, classes), or (n,) for the score of one class of two. task: for
        ``regression`` a prediction is right within ``tolerance``, by default `default_tolerance` of
        labels. rules: when to raise an alert. seed: of the error model.

    Raises:
        InvalidInput: if there are fewer than 50 rows, or lengths differ, or a label is missing.
    """
    frame = as_frame(inputs)
    if len(frame) < LEAST:
        raise InvalidInput(
            f"{len(frame)} labelled rows are too few.",
            where="labels",
            remedy=f"Give {LEAST} or more.",
        )
    classes = known_classes(labels, predictions) if task == "classification" else ()
    truth, truth_codes = coded(labels, task, classes)
    predicted, codes = coded(predictions, task, classes)
    if not len(frame) == len(truth) == len(predicted):
        raise InvalidInput(
            f"{len(frame)} rows, {len(predicted)} predictions and {len(truth)} labels do not fit."
        )
    if task == "regression" and tolerance is None:
        tolerance = default_tolerance(truth)
    elif task == "classification" and tolerance is not None:
        raise InvalidInput("A tolerance is for regression only.", where="tolerance")
    surety = checked_probabilities(probabilities, len(frame))
    encoder = Encoder.learn(frame)
    rows = assemble(encoder.encode(frame), predicted, codes, surety)
    if tolerance is None:
        right = (predicted == truth_codes).astype(np.float64)
    else:
        right = (np.abs(predicted - truth) <= tolerance).astype(np.float64)
    trust = backtest(rows.features, right, rows.scores, rows.codes, seed=seed, progress=progress)
    reference = learn(rows.features, right, rows.scores, rows.codes, seed=seed)
    if progress is not None:
        progress(1.0)
    return Monitor(
        task=task,
        tolerance=tolerance,
        encoder=encoder,
        classes=classes,
        width=None if surety is None else (1 if surety.ndim == 1 else surety.shape[1]),
        reference=reference,
        predictions=rows.predictions,
        trust=trust,
        rules=rules or AlertRules(),
        offset=trust.offset(0, 0),
        names=feature_names(encoder, rows.features.shape[1]),
    )


def assemble(
    encoded: np.ndarray, predicted: np.ndarray, codes: np.ndarray, surety: np.ndarray | None
) -> Rows:
    """Join inputs, prediction and confidence to the features of the error model."""
    if len(encoded) != len(predicted):
        raise InvalidInput(
            f"{len(encoded)} rows and {len(predicted)} predictions do not fit.", where="predictions"
        )
    sure = confidence_features(surety)
    features = np.column_stack(
        [encoded, predicted.astype(np.float64), *([] if sure is None else [sure])]
    )
    scores = None if surety is None else surety if surety.ndim == 1 else surety.max(axis=1)
    return Rows(
        features, predicted, scores, codes if surety is not None and surety.ndim == 1 else codes * 0
    )


def feature_names(encoder: Encoder, width: int) -> list[str]:
    """Return a name for each feature."""
    names: list[str] = []
    for column in encoder.columns:
        if column.median is None:
            names += [f"{column.name} = {level}" for level in column.levels]
        else:
            names += [column.name, f"{column.name} missing"]
    return [*names, *["prediction", "confidence", "margin"][: width - len(names)]]


def known_classes(labels: ArrayLike, predictions: ArrayLike) -> tuple[str, ...]:
    """Return the classes' names in order."""
    return tuple(sorted({*_class_names(labels), *_class_names(predictions)}))


def _class_names(values: ArrayLike) -> list[str]:
    """Return classes by their names; refuse what is missing."""
    names = class_names(np.asarray(values, dtype=object).ravel()).tolist()
    if None in names:
        raise InvalidInput("A label or prediction is missing.", where=f"row {names.index(None)}")
    return names


def coded(values: ArrayLike, task: Task, classes: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return values as the monitor keeps them (class codes, the number of classes for one never
    seen; or numbers), and codes (0: numbers).

    Raises:
        InvalidInput: if one is missing, or is no number in a regression.
    """
    if task == "classification":
        index = {name: code for code, name in enumerate(classes)}
        codes = np.array(
            [index.get(name, len(classes)) for name in _class_names(values)], dtype=np.int64
        )
        return codes, codes
    try:
        numbers = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise InvalidInput("Labels and predictions of a regression must be numbers.") from error
    if not np.all(np.isfinite(numbers)):
        raise InvalidInput(
            "A number is missing or infinite.", where=f"row {int(np.argmin(np.isfinite(numbers)))}"
        )
    return numbers, np.zeros(len(numbers), dtype=np.int64)


def checked_probabilities(probabilities: ArrayLike | None, rows: int) -> np.ndarray | None:
    """Return probabilities as float64 of shape (rows,) or (rows, classes >= 2).

    Raises:
        InvalidInput: if they do not fit, or one is not in [0, 1].
    """
    if probabilities is None:
        return None
    try:
        found = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("Probabilities must be numbers.", where="probabilities") from error
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim not in {1, 2} or len(found) != rows:
        raise InvalidInput(
            f"Probabilities of shape {found.shape} do not fit {rows} rows.", where="probabilities"
        )
    if not np.all((found >= 0) & (found <= 1)):
        bad = ~((found >= 0) & (found <= 1))
        row = int(np.flatnonzero(bad if bad.ndim == 1 else bad.any(axis=1))[0])
        raise InvalidInput(
            "A probability must be a number in [0, 1].", where=f"probabilities, row {row}"
        )
    return found
