"""The target of a pipeline: between the user's labels or numbers and what models learn."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput
from easeml.objective_names import in_words
from easeml.optional import if_known

from .contract import Context, Predictions
from .decision import class_weights
from .labels import LabelChoice, at_temperature
from .temperature import LEAST, softened
from .weights import Weights

if TYPE_CHECKING:
    import pandas as pd

CHOSEN_FOR = "Labels are chosen for "  # begins what is said of a choice that is not the likeliest
_MOST_NAMED = 10  # classes in one sentence
_LEAST_ROWS = 20  # below this, fidelity takes no rows away


@dataclass(frozen=True, slots=True)
class Target:
    """The target column.

    ``classes``: all labels of the schema, None for numbers; ``seen``: those in training. ``shape``:
    of a tensor in a row; empty for a number. ``class_weights``: as of ``Predictions``.
    ``temperature``: of the model's probabilities (``calibration``); None before it is known.
    ``choice``: how labels are chosen where a row may have several; its ``shape`` is their number.
    ``scales`` (k,): of several numbers a row, how far each spreads, as of ``Predictions``.
    """

    column: str
    classes: NDArray[Any] | None
    seen: NDArray[np.intp] | None
    notes: tuple[str, ...] = ()
    numbers: NDArray[Any] | None = None  # of the training rows: codes into ``classes``, or values
    shape: tuple[int, ...] = ()
    class_weights: NDArray[np.float64] | None = None
    temperature: float | None = None
    choice: LabelChoice | None = None
    scales: NDArray[np.float64] | None = None

    @classmethod
    def learn(cls, frame: "pd.DataFrame", schema_out: Mapping[str, Any]) -> "Target":
        """Look at the target column of training rows.

        Raises ``InvalidInput`` where there are no rows, a value is missing, or all are the same.
        """
        name, node = next(iter(schema_out["nodes"].items()))
        column = node.get("column", name)
        if column not in frame.columns:
            raise InvalidInput(
                "The target column is not there.",
                where=column,
            )
        if node["type"] != "category":
            values = as_numbers(frame[column])
            finite = np.isfinite(values.reshape(len(values), -1)).all(axis=1)
            _check_values(values, column, finite)
            return cls(
                column,
                classes=None,
                seen=None,
                numbers=values,
                shape=values.shape[1:],
                **_of_several(node, values),
            )

        classes = np.asarray(labels_of(schema_out), dtype=object)
        codes = encode_labels(frame[column], classes)
        _check_values(codes, column, codes >= 0)
        return cls(
            column,
            classes=classes,
            seen=np.unique(codes),
            notes=tuple(_rare_classes(codes, classes)),
            numbers=codes,
        )

    def deciding_for(self, objective: str, row_weights: Weights = None) -> "Target":
        """Return the target whose labels are chosen for an objective; to be called in training.

        Raises ``NotFound`` for an unknown one.
        """
        if self.classes is None:
            return self
        assert self.numbers is not None
        rows = np.bincount(self.numbers, row_weights, minlength=len(self.classes))
        weights = class_weights(objective, rows, self.classes)
        if weights is None:
            return self
        how = "a class that is rare in the training rows is named from a lower probability on"
        if weights.ndim == 2:
            how = "that of the least expected cost is named"
        family = objective.partition("(")[0]
        note = f"{CHOSEN_FOR}{in_words(family)}: {how}. Probabilities stay as they are."
        return replace(self, class_weights=weights, notes=(*self.notes, note))

    def choosing(self, choice: LabelChoice | None) -> "Target":
        """Return the target with another choice of labels; None: it stays as it is."""
        return self if choice is None else replace(self, choice=choice)

    @property
    def codes(self) -> int:
        """How many classes a model learns; 0 for a number."""
        return 0 if self.seen is None else len(self.seen)

    def sample(self, context: Context) -> NDArray[np.intp] | None:
        """Return the positions of the rows to learn from at a fidelity; None for all.

        Every class is among them.
        """
        assert self.numbers is not None
        rows = len(self.numbers)
        if context.fidelity >= 1 or rows <= _LEAST_ROWS:
            return None

        order = np.random.default_rng(context.seed).permutation(rows)
        count = max(_LEAST_ROWS, int(rows * context.fidelity))
        chosen = order[:count]
        if self.seen is not None:
            _, first = np.unique(self.numbers[order], return_index=True)
            chosen = np.union1d(chosen, order[first])
        return np.sort(chosen)

    def encode(self, frame: "pd.DataFrame") -> NDArray[Any]:
        """Return what a model learns: codes 0 … of the seen classes, or values.

        Those of a tensor come one after the other.
        """
        if self.classes is None or self.seen is None:
            values = as_numbers(frame[self.column])
            return values.reshape(len(values), -1) if self.shape else values
        return np.searchsorted(self.seen, encode_labels(frame[self.column], self.classes))

    def predictions(self, predicted: NDArray[np.float64]) -> Predictions:
        """Return predictions in the user's terms; a class not seen in training has probability 0."""
        if self.choice is not None:
            if self.temperature is not None:
                predicted = at_temperature(predicted, self.temperature)
            return Predictions.of_labels(predicted, self.choice)
        if self.classes is None or self.seen is None:
            values = predicted.reshape(len(predicted), *self.shape)
            return Predictions(values, None, None, scales=self.scales)
        if self.temperature is not None:
            predicted = softened(np.maximum(predicted, LEAST), self.temperature)
        if len(self.seen) == len(self.classes):
            probabilities = predicted
        else:
            probabilities = np.zeros((len(predicted), len(self.classes)))
            probabilities[:, self.seen] = predicted
        return Predictions.of_probabilities(probabilities, self.classes, self.class_weights)

    def nothing(self) -> Predictions:
        """Return the predictions of no rows."""
        if self.choice is not None:
            return Predictions.of_labels(np.zeros((0, *self.shape)), self.choice)
        if self.classes is None:
            return Predictions(np.zeros((0, *self.shape)), None, None, scales=self.scales)
        return Predictions(self.classes[:0], np.zeros((0, len(self.classes))), self.classes)

    def to_json(self) -> dict[str, Any]:
        """Return what predicting needs."""
        if self.classes is None or self.seen is None:
            return self._numbers_to_json()
        told = {"column": self.column, "classes": self.classes.tolist(), "seen": self.seen.tolist()}
        if self.class_weights is not None:
            told["class_weights"] = self.class_weights.tolist()
        if self.temperature is not None:
            told["temperature"] = self.temperature
        return told

    def _numbers_to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "column": self.column,
            "classes": None,
            "seen": None,
            "shape": list(self.shape),
        }
        if self.choice is not None:
            told["choice"] = self.choice.to_json()
            told["temperature"] = self.temperature
        if self.scales is not None:
            told["scales"] = self.scales.tolist()
        return told

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Target":
        """Read what ``to_json`` gave."""
        if document["classes"] is None:
            scales = document.get("scales")
            return cls(
                document["column"],
                None,
                None,
                shape=tuple(document.get("shape", ())),
                temperature=document.get("temperature"),
                choice=LabelChoice.from_json(document.get("choice")),
                scales=if_known(scales, np.asarray),
            )
        weights = document.get("class_weights")
        return cls(
            document["column"],
            np.asarray(document["classes"], dtype=object),
            np.asarray(document["seen"], dtype=np.intp),
            class_weights=if_known(weights, np.asarray),
            temperature=document.get("temperature"),
        )


def labels_of(schema_out: Mapping[str, Any]) -> list[str] | None:
    """Return the labels of a target, in the order of their codes; None of a number or a tensor.

    There are none before the rows are read, where a first look did not tell them all.
    """
    _, node = next(iter(schema_out["nodes"].items()))
    if node["type"] != "category":
        return None
    return list(map(str, schema_out["classes"][node["class"]].get("labels", ())))


def _rare_classes(codes: NDArray[np.intp], classes: NDArray[Any]) -> list[str]:
    """Return what is said of the classes with one training row, and of those with none."""
    rows = np.bincount(codes, minlength=len(classes))
    single = classes[rows == 1].tolist()
    unseen = classes[rows == 0].tolist()
    notes = []
    if single:
        notes.append(f"{_named(single)} one training row.")
    if unseen:
        verb = "is" if len(unseen) == 1 else "are"
        notes.append(f"{_named(unseen)} no training row and {verb} never predicted.")
    return notes


def _named(classes: list[Any]) -> str:
    """Return classes as the beginning of a sentence: of several the number, and the first ones."""
    if len(classes) == 1:
        return f"Class {classes[0]!r} has"
    named = ", ".join(map(repr, classes[:_MOST_NAMED]))
    more = ", ..." if len(classes) > _MOST_NAMED else ""
    return f"{len(classes):,} classes ({named}{more}) have"


def _scales(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of each of several numbers a row; 1 of one that is constant."""
    spread = values.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _of_several(node: Mapping[str, Any], values: NDArray[np.float64]) -> dict[str, Any]:
    """Return what else a target knows of which a row has several answers (rows, k)."""
    if node.get("labels"):
        choice = LabelChoice.learn(node, values)
        return {"choice": choice, "notes": _rare_labels(values, choice)}
    if node.get("parts"):
        return {"scales": _scales(values)}
    return {}


def _rare_labels(values: NDArray[np.float64], choice: LabelChoice) -> tuple[str, ...]:
    """Return a sentence on the labels that no training row has, or one alone."""
    rows = values.sum(axis=0)
    names = np.array(choice.names, dtype=object)
    never = "Label {!r} is in no training row; it is never predicted.".format
    once = "Label {!r} is in one training row.".format
    return (
        *map(never, names[rows == 0]),
        *map(once, names[rows == 1]),
    )


def as_numbers(values: Any) -> NDArray[np.float64]:
    """Return numbers, or tensors of one shape, as one array with the rows as its first axis."""
    cells = np.asarray(values)
    if cells.dtype == object and len(cells) and isinstance(cells[0], np.ndarray):
        cells = np.stack(list(cells))
    return cells.astype(np.float64)


def encode_labels(labels: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the code of every label, -1 for one that is missing or not of ``classes``."""
    import pandas as pd

    known = pd.Index(classes.astype(str))
    places, values = pd.factorize(pd.Series(labels))  # -1 where one is missing
    codes = known.get_indexer(pd.Index(values).astype(str))
    return np.append(codes, -1)[places]


@dataclass(frozen=True, slots=True)
class Answers:
    """What is known of the target of rows, read once for all objectives that are asked about them.

    ``values`` (rows, ...): numbers, or codes of classes; ``are_known`` (rows,): which rows have one.
    """

    values: NDArray[Any]
    are_known: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)


def answers_of(told: Any, classes: NDArray[Any] | None) -> Answers:
    """Return labels of ``classes``, or numbers where there are none, as answers; answers stay so."""
    if isinstance(told, Answers):
        return told
    if classes is None:
        numbers = as_numbers(told)
        are_known = np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
        return Answers(numbers, np.asarray(are_known))
    codes = encode_labels(told, classes)
    return Answers(codes, codes >= 0)


def _check_values(values: NDArray[Any], column: str, good: Any) -> None:
    if len(values) == 0:
        raise InvalidInput(
            "There are no training rows.",
            where=column,
            remedy="Give the dataset more rows.",
        )
    if not good.all():
        position = int(np.flatnonzero(~good)[0])
        remedy = "Declare the dataset again; rows without a target are left out then."
        raise InvalidInput(
            "A target value is missing.",
            where=f"{column}, row {position}",
            remedy=remedy,
        )
    if len(np.unique(values, axis=0)) < 2:
        remedy = "Choose another target, or give rows with other values."
        raise InvalidInput(
            "The target is constant in the training rows.",
            where=column,
            remedy=remedy,
        )
