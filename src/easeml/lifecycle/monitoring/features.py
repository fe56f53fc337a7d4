"""What the error model sees of a row: its inputs, the prediction and how sure the model was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.monitoring import columns
from easeml.lifecycle.monitoring.columns import Column

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Encoder:
    """Frames with the same columns to matrices with the same columns.

    It is kept as plain values, so that it can be stored.
    """

    columns: tuple[Column, ...]

    @classmethod
    def learn(cls, frame: pd.DataFrame) -> Encoder:
        """Learn what the columns of the reference rows are like. Dates are left out."""
        import pandas as pd

        found = []
        for name in frame.columns:
            column = columns.learn(str(name), pd.Series(frame[name]))
            if column is not None:
                found.append(column)
        return cls(tuple(found))

    def encode(self, frame: pd.DataFrame, *, are_reference: bool = False) -> np.ndarray:
        """Return the matrix of a frame; shape (rows, features).

        ``are_reference``: the rows are those that it learned from.

        Raises:
            InvalidInput: if a column is missing.
        """
        import pandas as pd

        absent = [column.name for column in self.columns if column.name not in frame.columns]
        if absent:
            raise InvalidInput(
                f"The rows lack the column {absent[0]!r}.",
                where="inputs",
                remedy="Send the columns of the reference.",
            )
        blocks = []
        for column in self.columns:
            values = pd.Series(frame[column.name])
            blocks.append(column.encode(values, are_reference=are_reference))
        return np.hstack([np.zeros((len(frame), 0)), *blocks])

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain JSON values."""
        return list(map(columns.to_json, self.columns))

    @classmethod
    def from_json(cls, state: list[dict[str, Any]]) -> Encoder:
        """Return the encoder that gave these values."""
        return cls(tuple(map(columns.from_json, state)))


def as_frame(inputs: Any) -> pd.DataFrame:
    """Return inputs as a frame with text names; a matrix gets the names x0, x1, ...

    Raises:
        InvalidInput: if it is neither a frame nor a matrix.
    """
    import pandas as pd

    if isinstance(inputs, pd.DataFrame):
        return inputs.rename(columns=str)
    matrix = np.asarray(inputs)
    if matrix.ndim != 2:
        raise InvalidInput(
            f"Inputs must be a frame or a matrix, not of shape {matrix.shape}.", where="inputs"
        )
    return pd.DataFrame(matrix).add_prefix("x")


def confidence_features(probabilities: np.ndarray | None) -> np.ndarray | None:
    """Return what tells how sure the model was, (rows, 2); None where it gave no probabilities.

    One column of scores: the score, and its distance from 1/2. A column a class: the greatest
    probability, and by how much it exceeds the second.
    """
    if probabilities is None:
        return None
    if probabilities.ndim == 1:
        return np.column_stack([probabilities, np.abs(probabilities - 0.5)])
    ranked = np.sort(probabilities, axis=1)
    return np.column_stack([ranked[:, -1], ranked[:, -1] - ranked[:, -2]])
