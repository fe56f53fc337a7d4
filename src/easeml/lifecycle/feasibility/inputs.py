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
    """Return the target, the names of its classes (none for numbers), and its variance (1 for
    classes).

    Raises:
        InvalidInput: where y does not fit X, has gaps, or holds one value only.
    """
    values = pd.Series(np.asarray(y).reshape(-1) if not isinstance(y, pd.Series) else y.to_numpy())
    if len(values) != rows:
        raise InvalidInput(
            f"X has {rows} rows, y has {len(values)} values.", remedy="Give one value a row."
        )
    if values.isna().any():
        where = f"row {int(values.isna().to_numpy().argmax())} of y"
        raise InvalidInput(
            "A target is missing.", where=where, remedy="Leave out rows without a target."
        )
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if task is None:
        whole = numeric and bool((values % 1 == 0).all())
        task = (
            "regression"
            if numeric and not (whole and values.nunique() <= FEW_VALUES)
            else "classification"
        )
    if values.nunique() < 2:
        raise InvalidInput("All targets are the same: there is nothing to predict.", where="y")
    if task == "regression":
        if not numeric or not np.isfinite(values).all():
            raise InvalidInput("The target of a regression must be finite numbers.", where="y")
        numbers = values.to_numpy(dtype=float)
        return Target((numbers - numbers.mean()) / numbers.std(), 0), (), float(numbers.var())
    codes, names = pd.factorize(values, sort=True)
    if len(names) > rows / 2:
        raise InvalidInput(
            f"The target has {len(names)} classes in {rows} rows.",
            where="y",
            remedy="Merge classes.",
        )
    return Target(codes.astype(np.int64), len(names)), tuple(map(str, names)), 1.0


def _of_kind(X: Any) -> tuple[Kind, Any]:
    if hasattr(X, "toarray"):
        X = X.toarray()
    if isinstance(X, pd.Series):
        X = X.to_frame()
    if isinstance(X, pd.DataFrame):
        if X.shape[1] == 0:
            raise InvalidInput("There are no input columns.", where="X")
        frame = X.reset_index(drop=True).rename(columns=str)
        if frame.shape[1] == 1 and _is_text(frame.iloc[:, 0]):
            return "texts", frame.iloc[:, 0].fillna("").astype(str).to_numpy(dtype=object)
        return "table", frame
    array = np.asarray(X)
    if array.ndim == 1 and array.dtype.kind in "OUT":
        return "texts", pd.Series(array).fillna("").astype(str).to_numpy(dtype=object)
    if array.ndim == 2 and array.dtype.kind in "OUT":
        return "table", pd.DataFrame(array).infer_objects().rename(columns=str)
    if array.dtype.kind not in "biuf" or not 1 <= array.ndim <= 4 or 0 in array.shape[1:]:
        raise InvalidInput(
            f"X of {array.ndim} axes and type {array.dtype} is not understood.",
            remedy="Give a table, numbers (rows, columns), texts, or images (rows, height, width[, channels]).",
        )
    array = array.astype(np.float64)
    if array.ndim <= 2:
        return "numbers", array.reshape(len(array), -1)
    return "images", array


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
