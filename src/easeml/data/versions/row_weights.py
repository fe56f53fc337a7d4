"""The column that says how much each row counts: read, checked, and kept beside the rows.

A row of weight 2 counts as two rows, and one of weight 0 is left out (decision 0093). Weights are a
series by row id that is named as their column; None: each row counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, shown
from easeml.data.types import values as v
from easeml.data.types.column_report import WEIGHT, ColumnReport
from easeml.data.types.text_tables import ROW, column_text, row_place

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

_LARGE = 100.0  # the mean from which whole numbers are rarely counts
_REMEDY = "Give each row a number of 0 or more; 0 leaves a row out."


def weight_report(reports: Sequence[ColumnReport]) -> ColumnReport | None:
    """Return the report of the column of weights; None where rows have none."""
    return next((report for report in reports if report.role == WEIGHT), None)


def weights_of_table(
    table: pa.Table, reports: Sequence[ColumnReport], is_row: np.ndarray, first_id: int = 0
) -> tuple[pd.Series | None, np.ndarray]:
    """Return the weights of the rows that count, and which rows of a table these are (rows,).

    ``is_row`` (rows,): of the others, such as erased ones, no weight is read. ``first_id``: of the
    first row. Raises ``DatasetError`` as ``_read``.
    """
    import numpy as np
    import pandas as pd

    report = weight_report(reports)
    if report is None:
        return None, is_row
    weights = _read(table, report, is_row)
    counts = is_row & (weights > 0)
    if not counts.any():
        raise DatasetError(
            "no row has a weight above 0.", where=f"column '{report.name}'", remedy=_REMEDY
        )
    ids = first_id + np.flatnonzero(counts)
    return pd.Series(weights[counts], index=ids, name=report.name), counts


def _read(table: pa.Table, report: ColumnReport, is_row: np.ndarray) -> np.ndarray:
    """Return the weights of a table (rows,).

    Raises ``DatasetError`` with the first row whose weight is missing, no number, or negative.
    """
    import numpy as np

    text = column_text(table, report.name)
    plain = v.plain(text, "number", report.format, report.missing_codes)
    made = v.convert(plain, "number")
    weights = np.asarray(made.values, dtype=np.float64)
    faults = {
        "the weight is missing": made.missing,
        "{value} is not a finite number": made.bad | np.isinf(weights),
        "the weight {value} is negative": weights < 0,
    }
    for said, is_faulty in faults.items():
        rows = np.flatnonzero(is_faulty & is_row)
        if len(rows):
            row = int(rows[0])
            raise DatasetError(
                f"{said.format(value=shown(text[row].as_py()))}.",
                where=f"column '{report.name}', {row_place(row)}",
                remedy=_REMEDY,
            )
    return weights


def count_notes(weights: pd.Series | None) -> list[str]:
    """Say what large whole numbers are taken for: nobody can tell counts from a survey's weights."""
    if weights is None or weights.mean() < _LARGE or (weights % 1).any():
        return []
    return [
        f"Column '{weights.name}' holds whole numbers, which are taken as counts: a row stands for "
        f"{weights.mean():,.0f} on average, and penalties of models hardly count against that. If they "
        "are proportions, divide them by their mean."
    ]


def left_out_notes(are_left_out: np.ndarray) -> list[str]:
    """Say how many rows count nothing, where some do."""
    rows = int(are_left_out.sum())
    if not rows:
        return []
    return [f"{rows:,} row{'' if rows == 1 else 's'} of weight 0: left out."]


def beside(frame: pd.DataFrame, weights: pd.Series | None) -> pd.DataFrame:
    """Return rows with their weights behind their ids; missing where a row has none."""
    if weights is None:
        return frame
    name = str(weights.name)
    weighed = frame.assign(**{name: weights.reindex(frame[ROW]).to_numpy()})
    return weighed.reindex(columns=[ROW, name, *frame.columns.drop(ROW)])


def together(weights: pd.Series | None, others: pd.Series | None) -> pd.Series | None:
    """Return the weights of these rows and of others."""
    import pandas as pd

    if weights is None or others is None:
        return weights
    return pd.concat([weights, others])


def with_usual_weight(table: pa.Table, weights: pd.Series | None) -> pa.Table:
    """Return rows that come without weights, such as those of production, with the mean weight."""
    import pyarrow as pa

    if weights is None:
        return table
    usual = f"{weights.mean():.9e}"  # which is read alike in whatever form the others are written
    return table.append_column(str(weights.name), pa.array([usual] * table.num_rows, pa.string()))


def taken_out(frames: Iterable[pd.DataFrame], name: str) -> pd.Series:
    """Take the column of this name out of frames, and return what it says by row id."""
    import pandas as pd

    parts = []
    for frame in frames:
        ids = frame[ROW].to_numpy()
        parts.append(pd.Series(frame.pop(name).to_numpy(), index=ids, dtype=float))
    return pd.Series(pd.concat(parts).dropna(), name=name)
