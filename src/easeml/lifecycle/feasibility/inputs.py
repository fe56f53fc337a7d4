"""From what people hold (arrays, frames, texts, images) to checked inputs and targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from pandas.util import hash_pandas_object

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility.arms import Target

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Kind = Literal["numbers", "table", "texts", "images"]
Task = Literal["classification", "regression"]

FEWEST = 20  # rows
DISCRETE = 0.25  # a larger share of repeated rows is the nature of the domain, not copies
FEW_VALUES = 20  # whole numbers with at most so many values are classes


@dataclass(frozen=True)
class Inputs:
    """Checked inputs of one kind.

    ``rows``: a float64 array (two or more axes), a frame, or an array of texts.
    """

    kind: Kind
    rows: Any
    groups: np.ndarray
    duplicates: float

    def __len__(self) -> int:
        return len(self.rows)


def check_inputs(X: Any) -> Inputs:
    """Return the inputs, their kind, and which rows are copies of each other.

    Raises:
        InvalidInput: for no rows, infinities, or what is neither numbers, table, texts nor images.
    """
    kind, rows = _of_kind(X)
    if len(rows) < FEWEST:
        raise InvalidInput(
            f"{len(rows)} rows are too few to say anything.", remedy=f"Give at least {FEWEST}."
        )
    if kind in ("numbers", "images") and np.isinf(rows).any():
        where = f"row {int(np.argwhere(np.isinf(rows))[0][0])} of X"
        raise InvalidInput(
            "An input is infinite.", where=where, remedy="Replace it, or leave it out (NaN)."
        )
    groups = _same_rows(kind, rows)
    copies = 1 - len(np.unique(groups)) / len(groups)
    if copies > DISCRETE:
        groups = np.arange(len(groups))
    return Inputs(kind, rows, groups, float(copies))


def check_target(
    y: ArrayLike, rows: int, task: Task | None
) -> tuple[Target, tuple[str, ...], float]:
    """Return the target, the names of its classes, and its variance.

    A target of numbers has no names; that of classes counts as of variance 1.

    Raises:
        InvalidInput: where y does not fit X, has gaps, or holds one value only.
    """
    values = _target_values(y, rows)
    if values.nunique() < 2:
        raise InvalidInput("All targets are the same: there is nothing to predict.", where="y")
    if task is None:
        task = _fitting_task(values)
    if task == "regression":
        return _numbers(values)
    return _classes(values)


def _target_values(y: ArrayLike, rows: int) -> pd.Series:
    """Return y as one value a row, none of them missing."""
    array = y.to_numpy() if isinstance(y, pd.Series) else np.asarray(y).reshape(-1)
    values = pd.Series(array)
    if len(values) != rows:
        raise InvalidInput(
            f"X has {rows} rows, y has {len(values)} values.", remedy="Give one value a row."
        )
    missing = values.isna().to_numpy()
    if missing.any():
        raise InvalidInput(
            "A target is missing.",
            where=f"row {int(missing.argmax())} of y",
            remedy="Leave out rows without a target.",
        )
    return values


def _fitting_task(values: pd.Series) -> Task:
    """Return what is asked for by the values alone: a few whole numbers are classes."""
    if not _is_numeric(values):
        return "classification"
    whole = bool((values % 1 == 0).all())
    if whole and values.nunique() <= FEW_VALUES:
        return "classification"
    return "regression"


def _is_numeric(values: pd.Series) -> bool:
    """Tell whether the values are numbers; truth values are not."""
    if pd.api.types.is_bool_dtype(values):
        return False
    return pd.api.types.is_numeric_dtype(values)


def _numbers(values: pd.Series) -> tuple[Target, tuple[str, ...], float]:
    """Return what ``check_target`` does for a regression."""
    if not _is_numeric(values) or not np.isfinite(values).all():
        raise InvalidInput("The target of a regression must be finite numbers.", where="y")
    numbers = values.to_numpy(dtype=float)
    standard = (numbers - numbers.mean()) / numbers.std()
    return Target(standard, 0), (), float(numbers.var())


def _classes(values: pd.Series) -> tuple[Target, tuple[str, ...], float]:
    """Return what ``check_target`` does for a classification."""
    rows = len(values)
    codes, names = pd.factorize(values, sort=True)
    if len(names) > rows / 2:
        raise InvalidInput(
            f"The target has {len(names)} classes in {rows} rows.",
            where="y",
            remedy="Merge classes.",
        )
    return Target(codes.astype(np.int64), len(names)), tuple(map(str, names)), 1.0


def _of_kind(X: Any) -> tuple[Kind, Any]:
    """Return the kind of the inputs, and the inputs as ``Inputs.rows`` has them."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    if isinstance(X, pd.Series):
        X = X.to_frame()
    if isinstance(X, pd.DataFrame):
        return _kind_of_frame(X)
    array = np.asarray(X)
    if array.dtype.kind in "OUT":
        return _kind_of_words(array)
    return _kind_of_numbers(array)


def _kind_of_frame(given: pd.DataFrame) -> tuple[Kind, Any]:
    if given.shape[1] == 0:
        raise InvalidInput("There are no input columns.", where="X")
    frame = given.reset_index(drop=True).rename(columns=str)
    first = frame.iloc[:, 0]
    if frame.shape[1] == 1 and _is_text(first):
        return "texts", _texts(first)
    return "table", frame


def _kind_of_words(array: np.ndarray) -> tuple[Kind, Any]:
    if array.ndim == 1:
        return "texts", _texts(pd.Series(array))
    if array.ndim == 2:
        return "table", pd.DataFrame(array).infer_objects().rename(columns=str)
    raise _not_understood(array)


def _kind_of_numbers(array: np.ndarray) -> tuple[Kind, Any]:
    known_type = array.dtype.kind in "biuf"
    known_shape = 1 <= array.ndim <= 4 and 0 not in array.shape[1:]
    if not (known_type and known_shape):
        raise _not_understood(array)
    numbers = array.astype(np.float64)
    if numbers.ndim <= 2:
        return "numbers", numbers.reshape(len(numbers), -1)
    return "images", numbers


def _not_understood(array: np.ndarray) -> InvalidInput:
    return InvalidInput(
        f"X of {array.ndim} axes and type {array.dtype} is not understood.",
        remedy=(
            "Give a table, numbers (rows, columns), texts, or images "
            "(rows, height, width[, channels])."
        ),
    )


def _texts(column: pd.Series) -> np.ndarray:
    """Return the texts of a column; one that is missing is empty."""
    return column.fillna("").astype(str).to_numpy(dtype=object)


def _is_text(column: pd.Series) -> bool:
    """Tell texts from a category written out: mostly different, or long."""
    if not pd.api.types.is_string_dtype(column):
        return False
    return column.nunique() > len(column) / 2 or bool(column.str.len().mean() > 40)


def _same_rows(kind: Kind, rows: Any) -> np.ndarray:
    """Return a number a row; rows with equal contents share it."""
    if kind == "texts":
        return pd.factorize(pd.Series(rows))[0]
    frame = rows if kind == "table" else pd.DataFrame(rows.reshape(len(rows), -1))
    hashed: Any = hash_pandas_object  # typed as a plain object
    return pd.factorize(hashed(frame, index=False))[0]
