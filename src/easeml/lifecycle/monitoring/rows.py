"""Batches as the monitor sees them: checked, encoded, with the features of the error model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labels import class_names
from easeml.lifecycle.monitoring.features import Encoder, confidence_features

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Rows:
    """A batch as the monitor sees it: features of the error model, codes, and calibrated scores.

    ``surety``: the probabilities as given, of shape (n,) or (n, classes); None: there are none.
    """

    features: np.ndarray
    predictions: np.ndarray
    scores: np.ndarray | None
    codes: np.ndarray
    surety: np.ndarray | None = None

    def at(self, places: np.ndarray) -> Rows:
        """Return the rows at these places."""
        return Rows(
            self.features[places],
            self.predictions[places],
            None if self.scores is None else self.scores[places],
            self.codes[places],
            None if self.surety is None else self.surety[places],
        )


def assemble(
    encoded: np.ndarray, predicted: np.ndarray, codes: np.ndarray, surety: np.ndarray | None
) -> Rows:
    """Join inputs, prediction and confidence to the features of the error model.

    Raises ``InvalidInput`` where the numbers of rows differ.
    """
    if len(encoded) != len(predicted):
        raise InvalidInput(
            f"{len(encoded)} rows and {len(predicted)} predictions do not fit.", where="predictions"
        )
    features = [encoded, predicted.astype(np.float64)]
    if surety is None:
        return Rows(np.column_stack(features), predicted, None, codes * 0)
    features.append(confidence_features(surety))
    if surety.ndim == 1:  # what a score of one class means depends on the predicted class
        return Rows(np.column_stack(features), predicted, surety, codes, surety)
    return Rows(np.column_stack(features), predicted, surety.max(axis=1), codes * 0, surety)


def width_of(surety: np.ndarray | None) -> int | None:
    """Return the number of probability columns, 1 for a single score, None for none."""
    if surety is None:
        return None
    return 1 if surety.ndim == 1 else surety.shape[1]


def feature_columns(encoder: Encoder) -> dict[str, str]:
    """Return the column that each feature of the inputs was made from, by the feature's name."""
    found: dict[str, str] = {}
    for column in encoder.columns:
        found.update(dict.fromkeys(column.features, column.name))
    return found


def feature_names(encoder: Encoder, width: int) -> list[str]:
    """Return a name for each feature."""
    names = list(chain.from_iterable(column.features for column in encoder.columns))
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
    """Return values as the monitor keeps them, and codes (0: numbers).

    Values are numbers or class codes; the number of classes stands for one never seen.

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
    bad = ~((found >= 0) & (found <= 1))  # NaN too
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise InvalidInput(
            "A probability must be a number in [0, 1].", where=f"probabilities, row {row}"
        )
    return found
