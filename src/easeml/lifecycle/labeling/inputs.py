"""What the tools are given, checked once at the door: matrices, labels, numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput


@dataclass(frozen=True)
class Task:
    """Training and validation rows, checked. ``y`` and ``y_valid`` are codes into ``classes``.

    Distances are squared Euclidean ones between rows of ``X`` (n, d) and ``X_valid`` (t, d), both
    float64.
    """

    X: np.ndarray
    y: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    classes: np.ndarray
    k: int


def check_task(
    X: Any, y: Any, X_valid: Any, y_valid: Any, k: int, metric: str = "euclidean"
) -> Task:
    """Return the inputs as a ``Task``.

    Raises: InvalidInput: if a matrix is not finite or empty, shapes do not fit, a label is missing,
        or ``k`` < 1.
    """
    rows = check_matrix(X, "X")
    valid = check_matrix(X_valid, "X_valid")
    if rows.shape[1] != valid.shape[1]:
        raise InvalidInput(
            f"It has {valid.shape[1]} columns, X has {rows.shape[1]}.",
            where="X_valid",
            remedy="Encode both with the same encoder, fitted on X.",
        )
    labels, valid_labels = (
        check_labels(y, len(rows), "y"),
        check_labels(y_valid, len(valid), "y_valid"),
    )
    classes, codes = _codes(np.concatenate([labels, valid_labels]))
    if metric == "cosine":
        rows = _unit(rows, "X")
        valid = _unit(valid, "X_valid")
    elif metric != "euclidean":
        raise InvalidInput(
            f"There is no metric {metric!r}.", where="metric", remedy="Use 'euclidean' or 'cosine'."
        )
    return Task(rows, codes[: len(rows)], valid, codes[len(rows) :], classes, check_count(k, "k"))


def check_matrix(X: Any, where: str) -> np.ndarray:
    """Return ``X`` as a finite float64 matrix with at least one row and column."""
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "It is not a matrix of numbers.",
            where=where,
            remedy="Encode it, as easeml.lifecycle.encode does.",
        ) from error
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidInput(
            f"Expected rows and columns, found shape {matrix.shape}.",
            where=where,
            remedy="Give a matrix (rows, columns) with at least one row and one column.",
        )
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise InvalidInput(
            f"{matrix[row, column]} is no finite number.",
            where=f"{where}, row {row}, column {column}",
            remedy="Impute missing values first, as easeml.lifecycle.encode does.",
        )
    return matrix


def check_numbers(y: Any, n: int, where: str) -> np.ndarray:
    """Return ``y`` as ``n`` finite float64 numbers."""
    values = check_matrix(np.asarray(y).reshape(-1, 1), where)[:, 0]
    if len(values) != n:
        raise InvalidInput(f"Expected {n} numbers, found {len(values)}.", where=where)
    return values


def check_labels(y: Any, n: int, where: str) -> np.ndarray:
    """Return ``y`` as an array of ``n`` labels, none of them missing."""
    import pandas as pd

    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InvalidInput(
            f"Expected {n} labels, found shape {labels.shape}.", where=where, remedy="One a row."
        )
    missing = pd.isna(labels)
    if missing.any():
        raise InvalidInput(
            "The label is missing.",
            where=f"{where}, row {int(missing.argmax())}",
            remedy="Leave out rows without a label; value_pool and next_to_label take them.",
        )
    return labels


def check_count(value: int, where: str, least: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(
            f"Expected a whole number of at least {least}, found {value!r}.", where=where
        )
    return int(value)


def check_posterior(posterior: Any, n: int, n_classes: int, where: str) -> np.ndarray:
    """Return class probabilities (n, classes) whose rows sum to 1."""
    matrix = check_matrix(posterior, where)
    if matrix.shape != (n, n_classes):
        raise InvalidInput(
            f"Expected shape {(n, n_classes)}, found {matrix.shape}.",
            where=where,
            remedy="One column a class, sorted.",
        )
    if (matrix < -1e-9).any() or np.abs(matrix.sum(axis=1) - 1).max() > 1e-6:
        raise InvalidInput("Rows must be probabilities that sum to 1.", where=where)
    return matrix


def _codes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and each label's code; labels of mixed types are sorted as text."""
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        classes, codes = np.unique(labels.astype(str), return_inverse=True)
    return classes, codes.astype(np.int32)


def _unit(X: np.ndarray, where: str) -> np.ndarray:
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    if not norms.all():
        raise InvalidInput(
            "A row of zeros has no direction.",
            where=f"{where}, row {int((norms[:, 0] == 0).argmax())}",
            remedy="Leave it out, or use the euclidean metric.",
        )
    return X / norms
