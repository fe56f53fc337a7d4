"""The predictions of the models on the unlabelled pool, in the form that the rules work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labels import as_number, class_name, class_names


@dataclass(frozen=True)
class Pool:
    """``n`` examples predicted by ``k`` models that all differ.

    Models that predict alike everywhere are merged.

    Each example numbers the classes that somebody predicts for it: ``slots[i, j]`` is the place of
    model j's prediction among the ``width[i]`` different ones of example i, from the most voted
    one, 0. Slot ``width[i]`` stands for "none of them".
    """

    names: tuple[str, ...]
    classes: np.ndarray
    codes: np.ndarray
    slots: np.ndarray
    width: np.ndarray
    merged: np.ndarray
    members: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, predictions: Any, names: Sequence[str] | None = None) -> Pool:
        """Read an array or frame of hard labels, (n, k): a row an example, a column a model.

        Raises:
            InvalidInput: where it is no such matrix, or a prediction is missing.
        """
        if names is None and hasattr(predictions, "columns"):
            names = list(map(str, predictions.columns))
        matrix = np.asarray(predictions)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InvalidInput(
                f"The predictions have the shape {matrix.shape}.",
                where="predictions",
                remedy="Give one row an example and one column a model, at least one of each.",
            )
        _refuse_missing(matrix)
        if names is None:
            names = [f"model {column}" for column in range(matrix.shape[1])]
        if len(names) != matrix.shape[1] or len(set(names)) != len(names):
            raise InvalidInput(
                "Every model needs a name of its own.", where="names", remedy="Rename the columns."
            )
        # Mixed objects (numbers beside texts) have no order of their own: their names have one.
        values = matrix
        if matrix.dtype.kind in "OUS":
            values = class_names(matrix.ravel()).astype(str).reshape(matrix.shape)
        classes, codes = np.unique(values, return_inverse=True)
        codes = np.ascontiguousarray(codes.reshape(matrix.shape), dtype=np.int32)
        distinct, first, merged = np.unique(codes, axis=1, return_index=True, return_inverse=True)
        order = np.argsort(first)
        merged = np.argsort(order)[merged.ravel()]
        codes = np.ascontiguousarray(distinct[:, order])
        slots, width = _slots(codes)
        members = tuple(
            tuple(np.flatnonzero(merged == model).tolist()) for model in range(codes.shape[1])
        )
        return cls(tuple(names), classes, codes, slots, width, merged, members)

    @property
    def examples(self) -> int:
        """Return the number of examples, n."""
        return self.codes.shape[0]

    @property
    def models(self) -> int:
        """Return the number of different models, k."""
        return self.codes.shape[1]

    @cached_property
    def dissent(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return who predicts something else than the most, by example: (starts, models, slots).

        Those of example i lie from ``starts[i]`` to ``starts[i + 1]``.
        """
        rows, models = np.nonzero(self.slots)
        starts = np.searchsorted(rows, np.arange(self.examples + 1)).astype(np.uint64)
        return starts, models.astype(np.uint32), self.slots[rows, models].astype(np.uint32)

    @cached_property
    def apart(self) -> np.ndarray:
        """Return on how many examples two models differ, shape (k, k)."""
        from easeml.lifecycle.picking import kernels

        dissents = np.bincount(self.dissent[1], minlength=self.models).astype(float)
        counts = np.tril(dissents[:, None] + dissents[None, :], -1)
        kernels.less_shared(*self.dissent, counts)
        return counts + counts.T

    @cached_property
    def outcomes(self) -> np.ndarray:
        """Return how many slots the label of each example may fall in, shape (n,).

        "None of them" is one, unless the predictions for the example cover all classes.
        """
        return self.width + (self.width < max(len(self.classes), 2))

    @cached_property
    def contested(self) -> np.ndarray:
        """Return which examples the models disagree on, a boolean of shape (n,)."""
        return self.width > 1

    def code(self, label: Any) -> int:
        """Return the number of a class; -1 for one that no model ever predicts.

        Raises:
            InvalidInput: where the label is missing.
        """
        value = np.asarray(label)
        if value.ndim:
            raise InvalidInput(
                f"The label {label!r} is not a single value.",
                where="label",
                remedy="Give one class.",
            )
        _refuse_missing(value.reshape(1, 1))
        if self.classes.dtype.kind in "US":
            value = np.asarray(class_name(value.item()))
        elif value.dtype.kind in "USO":
            number = as_number(value.item())
            if number is None:
                return -1
            value = np.asarray(number)
        places = np.flatnonzero(self.classes == value)
        return int(places[0]) if len(places) else -1

    def slot(self, row: int, code: int) -> int:
        """Return the slot of a class for an example; ``width[row]`` if nobody predicts it."""
        agreeing = np.flatnonzero(self.codes[row] == code)
        if len(agreeing):
            return int(self.slots[row, agreeing[0]])
        return int(self.width[row])


def _slots(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(codes, axis=1, kind="stable")
    ranked = np.take_along_axis(codes, order, axis=1)
    steps = np.cumsum(np.diff(ranked, axis=1, prepend=ranked[:, :1]) != 0, axis=1)
    width = steps[:, -1] + 1
    votes = np.zeros((len(codes), int(width.max())), dtype=np.int32)
    np.add.at(votes, (np.arange(len(codes))[:, None], steps), 1)
    by_votes = np.argsort(np.argsort(-votes, axis=1, kind="stable"), axis=1)
    slots = np.empty(codes.shape, dtype=np.int32)
    np.put_along_axis(
        slots, order, np.take_along_axis(by_votes, steps, axis=1).astype(np.int32), axis=1
    )
    return slots, width.astype(np.int32)


def _refuse_missing(matrix: np.ndarray) -> None:
    missing = np.zeros(matrix.shape, dtype=bool)
    if matrix.dtype.kind in "fc":
        missing = ~np.isfinite(matrix)
    elif matrix.dtype == object:
        import pandas as pd

        missing = pd.isna(matrix)
    if missing.any():
        row, column = np.argwhere(missing)[0].tolist()
        raise InvalidInput(
            "A prediction or label is missing.",
            where=f"row {row}, column {column}",
            remedy="Fill it with a class, or leave the row out.",
        )
