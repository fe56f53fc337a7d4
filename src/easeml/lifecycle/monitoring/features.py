"""What the error model sees of a row: its inputs, the prediction and how sure the model was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

LEVELS = 20


@dataclass(frozen=True)
class Column:
    """How a column becomes numbers.

    A number fills gaps by ``median`` (and flags them); a category has ``levels``.
    """

    name: str
    median: float | None
    levels: tuple[str, ...] = ()

    def encode(self, values: pd.Series) -> np.ndarray:
        """Return the column as float64; shape (rows, width)."""
        import pandas as pd

        if self.median is None:
            text = values.astype("string").to_numpy(dtype=object, na_value=None)
            return np.column_stack([text == level for level in self.levels]).astype(np.float64)
        numbers = pd.Series(pd.to_numeric(values, errors="coerce")).to_numpy(
            dtype=np.float64, na_value=np.nan
        )
        missing = ~np.isfinite(numbers)
        return np.column_stack(
            [np.where(missing, self.median, numbers), missing.astype(np.float64)]
        )


@dataclass(frozen=True)
class Encoder:
    """Frames with the same columns to matrices with the same columns.

    It is kept as plain values, so that it can be stored.
    """

    columns: tuple[Column, ...]

    @classmethod
    def learn(cls, frame: pd.DataFrame) -> Encoder:
        """Learn medians and levels.

        Dates are left out (time always shifts), as are text without repeats and pictures.
        """
        import pandas as pd

        return cls(
            tuple(
                column
                for name in frame.columns
                if (column := _learn(str(name), pd.Series(frame[name]))) is not None
            )
        )

    def encode(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the matrix of a frame; shape (rows, widths).

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
        blocks = [column.encode(pd.Series(frame[column.name])) for column in self.columns]
        return np.hstack([np.zeros((len(frame), 0)), *blocks])

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain JSON values."""
        return [
            {"name": c.name, "median": c.median, "levels": list(c.levels)} for c in self.columns
        ]

    @classmethod
    def from_json(cls, state: list[dict[str, Any]]) -> Encoder:
        """Return the encoder that gave these values."""
        columns = []
        for item in state:
            median = None if item["median"] is None else float(item["median"])
            levels = tuple(map(str, item["levels"]))
            columns.append(Column(str(item["name"]), median, levels))
        return cls(tuple(columns))


def _learn(name: str, values: pd.Series) -> Column | None:
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(values):
        return None
    if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        numbers = numbers[np.isfinite(numbers)]
        return Column(name, float(np.median(numbers)) if numbers.size else 0.0)
    if pd.api.types.infer_dtype(values, skipna=True) == "bytes":
        return None  # pictures: their bytes tell nothing one by one
    counts = values.astype("string").value_counts()
    levels = tuple(str(level) for level, count in counts.head(LEVELS).items() if count > 1)
    return Column(name, None, levels) if levels else None


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
