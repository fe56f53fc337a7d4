"""What a module written in Python implements, and what it is handed. Version 1 of the contract.

A candidate is a chain: the first transform fits on a data frame and transforms that or an
``easeml.data.ColumnTable`` (it reads columns by name); every further one and the model get what the
one before made. All classes are made without arguments; all state is in what ``fit`` returns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from .labels import LabelChoice, SaidLabels

CONTRACT_VERSION = 1


def _no_report(step: int, quality: float | None) -> None:
    """Nobody listens."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Context:
    """What a fit is given besides data and configuration.

    ``seed`` is the only source of randomness; ``threads`` the most threads it may use; ``fidelity``
    the share of the training rows in (0, 1]. A model calls ``report`` as it goes with its step and
    its quality so far (None where it measures none); ``report`` may raise to end the fit, and the
    model lets that pass. A model that learns in steps asks ``enough`` between them: where it is true,
    the fit ends and keeps what it has, with a note. ``objective``: by whose measure labels are
    chosen, see ``decision``; empty: the most probable ones. ``checkpoint``: a folder that a fit of the
    same data and configuration finds as one that was killed left it; None: none is kept.
    ``weights`` (rows,): how much each training row counts, above 0; None: each once. They are given to models
    alone that say ``weights = true``, and to the transforms before these. ``history``: of a
    forecast, all rows whose values are known, which the training rows are among; None: there are no
    others.
    """

    seed: int = 0
    threads: int = 1
    fidelity: float = 1.0
    report: Callable[[int, float | None], None] = field(default=_no_report)
    enough: Callable[[], bool] = field(default=_never)
    objective: str = ""
    checkpoint: Path | None = None
    weights: "NDArray[np.float64] | None" = None
    history: "pd.DataFrame | None" = None


@dataclass(frozen=True, slots=True)
class Data:
    """What a model learns from: ``X`` of shape (rows, features), float64, and ``y`` of shape
    (rows,), or for a target that is a tensor (rows, its elements).

    ``X`` is an array, or a sparse matrix of SciPy (CSR) where the transform before the model makes
    one, as ``table-words`` does; ``predict`` is given the same.

    ``classes`` is 0 for a number or a tensor; else ``y`` holds the codes 0 … classes - 1, each at
    least once, and there are at least two.

    ``monotonic``: for each feature 1 where what is predicted may never fall as it rises, -1 where it
    may never rise, and 0; empty where nothing is asked. It is asked of models alone that say
    ``monotonic = true``. What is predicted is the number, or the probability of class 1 of two.
    """

    X: "NDArray[np.float64]"
    y: "NDArray[Any]"
    classes: int
    monotonic: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Predictions:
    """One entry a row. Number or tensor target: ``values`` float64 and the rest None.

    Category target: ``values`` labels (object), ``probabilities`` of shape (rows, classes) in the
    order of ``classes``, all labels of the output schema. ``probabilities`` may be None where only
    labels are known. ``class_weights`` (classes,): by what probabilities count when a label is
    chosen; or (classes, classes): what the probability of each class (first axis) adds to each label;
    see ``decision``; None: all alike. ``widths`` (rows,): of numbers, how far each may be off as
    against the others, above 0; None: alike. ``plain`` (rows,): of a forecast, what a plain one
    says. ``labels``: of rows that may have several labels, the chance of each; ``values`` (rows,
    labels) are 1 where a row has a label, else 0. ``scales`` (k,): of several numbers a row, by
    which each is divided before it is judged; None: by nothing.
    """

    values: "NDArray[Any]"
    probabilities: "NDArray[np.float64] | None"
    classes: "NDArray[Any] | None"
    class_weights: "NDArray[np.float64] | None" = None
    widths: "NDArray[np.float64] | None" = None
    plain: "NDArray[np.float64] | None" = None
    labels: "SaidLabels | None" = None
    scales: "NDArray[np.float64] | None" = None

    @classmethod
    def of_probabilities(
        cls,
        probabilities: "NDArray[np.float64]",
        classes: "NDArray[Any]",
        class_weights: "NDArray[np.float64] | None" = None,
    ) -> "Predictions":
        """Return probabilities with the label of each row: that of the highest ``class_scores``."""
        scores = weighted(probabilities, class_weights)
        return cls(classes[scores.argmax(axis=1)], probabilities, classes, class_weights)

    @classmethod
    def of_labels(cls, chances: "NDArray[np.float64]", choice: "LabelChoice") -> "Predictions":
        """Return the chances (rows, k) of labels, with the labels that are chosen by them."""
        from .labels import SaidLabels

        said = SaidLabels(chances, choice)
        return cls(choice.chosen(chances), None, None, labels=said)

    @property
    def outputs(self) -> "NDArray[np.float64] | None":
        """What several models' predictions are averaged by: chances of labels, numbers, or
        probabilities; None where labels alone are known.
        """
        if self.labels is not None:
            return self.labels.chances
        return self.values if self.classes is None else self.probabilities

    def with_outputs(self, outputs: "NDArray[np.float64]") -> "Predictions":
        """Return other ``outputs`` as predictions of the same kind."""
        if self.labels is not None:
            return Predictions.of_labels(outputs, self.labels.choice)
        if self.classes is None:
            return replace(self, values=outputs)
        return Predictions.of_probabilities(outputs, self.classes, self.class_weights)

    @property
    def class_scores(self) -> "NDArray[np.float64]":
        """Probabilities (rows, classes) times the classes' weights, where there are any."""
        assert self.probabilities is not None
        return weighted(self.probabilities, self.class_weights)

    def of_rows(self, rows: "NDArray[np.bool_] | NDArray[np.intp]") -> "Predictions":
        """Return the entries of the rows for which ``rows`` is true, or that it counts off."""
        chosen = {}
        for name in ("probabilities", "widths", "plain"):
            of_all = getattr(self, name)
            chosen[name] = None if of_all is None else of_all[rows]
        labels = self.labels
        if labels is not None:
            labels = replace(labels, chances=labels.chances[rows])
        return replace(self, values=self.values[rows], labels=labels, **chosen)

    def with_values(self, values: "NDArray[Any]") -> "Predictions":
        """Return the same with other values."""
        return replace(self, values=values)


def weighted(
    probabilities: "NDArray[np.float64]", class_weights: "NDArray[np.float64] | None"
) -> "NDArray[np.float64]":
    """Return the scores (rows, classes) of which the highest is the label that is said."""
    if class_weights is None:
        return probabilities
    if class_weights.ndim == 1:
        return probabilities * class_weights
    return probabilities @ class_weights


@runtime_checkable
class FittedTransform(Protocol):
    """What a transform learnt.

    ``notes`` are sentences for the user about what it met in the training data.
    """

    notes: tuple[str, ...]

    def transform(self, data: Any) -> Any:
        """Return the transformed data, row for row. Unseen categories, missing values and
        infinities are no errors.

        Raises ``InvalidInput`` where a column is not there.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write everything into an existing empty folder, without pickle."""
        ...


@runtime_checkable
class Transform(Protocol):
    """Maps data of its input schema to data of its output schema."""

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedTransform:
        """Learn from the training data. Equal arguments give equal results.

        ``schema_in`` is the JSON form of the table's input schema. Raises ``InvalidInput`` for data
        that cannot be transformed; any other exception is a fault of the module.
        """
        ...

    def load(self, folder: Path) -> FittedTransform:
        """Return what was saved; it transforms alike.

        Raises ``Damaged`` where a file cannot be read.
        """
        ...


@runtime_checkable
class SupervisedTransform(Transform, Protocol):
    """A transform that learns from the target, too; in training this is called in place of
    ``fit``.
    """

    def fit_transform(
        self, data: Data, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> tuple[FittedTransform, Any]:
        """Learn as ``fit`` does; return with it the features of the training rows.

        ``data.X`` is what ``fit`` would be given. What a training row gets may not depend on its
        own target, so its features may differ from what ``transform`` makes of it later.
        """
        ...


@runtime_checkable
class Trained(Protocol):
    """What a model learnt.

    ``notes`` are sentences for the user, such as that it learnt from a part of the rows.
    """

    notes: tuple[str, ...]

    def predict(self, X: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return class probabilities of shape (rows, classes), or values of shape (rows,); all
        finite. One thread.

        Raises nothing for any finite ``X`` with the right number of features.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write everything into an existing empty folder, without pickle."""
        ...


@runtime_checkable
class CanBeShortened(Protocol):
    """What a trained model may have beside ``Trained``, so that an export can make it smaller."""

    def shortened(self, share: float) -> Trained:
        """Return the same model with a share in (0, 1) of its steps, such as trees; at least one.

        The model itself stays as it is.
        """
        ...


@runtime_checkable
class Model(Protocol):
    """Learns a target from features."""

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> Trained:
        """Learn. Equal arguments give equal predictions. ``config`` is complete: every name of the
        space is there.

        Raises ``InvalidInput`` for data it cannot learn from; any other exception is a fault of the
        module. What ``context.report`` raises passes through.
        """
        ...

    def load(self, folder: Path) -> Trained:
        """Return what was saved; it predicts alike.

        Raises ``Damaged`` where a file cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Area:
    """The area under a curve of one class against the rest, a share in [0, 1].

    ``of_class``: the rows of the class. ``rows``: of how many rows it is a share, at most, as far as
    its spread goes.
    """

    value: float
    of_class: float
    rows: float


@runtime_checkable
class Objective(Protocol):
    """Measures predictions. ``needs_probabilities`` says whether labels alone are not enough.

    An objective may also say ``lower_is_better`` (its value is an error), ``in_unit_of_target`` and
    ``may_be_negative`` (its value), all False where it does not, and ``unit``, a text. One that has
    to know the labels of the target has ``for_classes(labels)``, which returns what measures and
    raises ``InvalidInput``. One that says ``weights = true`` has a third argument in both methods:
    the weights of the rows (rows,), or None.

    Four more let intervals hold where a class has few rows, all for objectives with weights:
    ``counts_labels`` is True where the value depends only on how many rows of each class are taken
    for each; ``areas(actual, predicted, weights)`` returns an ``Area`` by the code of its class, of
    which the value is the mean, and nothing where there is no curve; ``losses(actual, predicted)``
    returns what each row of probabilities loses (rows,), of which the value is the mean;
    ``ends(actual, predicted, weights)`` returns the interval of the value. With either of the last
    two, ``quality_of(value, classes)`` gives the quality that goes with a value.

    One of numbers of which few rows may be far off has ``losses_of_rows(actual, predicted)``, what
    each row loses (rows,), at least 0, and ``value_of_mean(mean)``, the value of a mean of these. If
    its quality compares them with what the best constant loses, it has ``losses_of_constant(actual,
    weights)`` (rows,) and ``skill(mean, of_constant)``, the quality of two means, also below -1; a
    value that does the same has no ``value_of_mean``.
    """

    needs_probabilities: bool

    def value(self, actual: "NDArray[Any]", predicted: "NDArray[np.float64]") -> float:
        """Return the measure in its own unit.

        Category target: ``actual`` codes, ``predicted`` probabilities (one-hot where only labels
        are known). Number target: both are values. There is at least one row. Returns a number for
        every such input; raises nothing.
        """
        ...

    def quality(self, actual: "NDArray[Any]", predicted: "NDArray[np.float64]") -> float:
        """Return ``value`` mapped so that 1 is best, 0 is useless or worse, and -1 is the least."""
        ...
