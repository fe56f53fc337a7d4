"""Table files for the commands that need no service."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from easeml.data import CELLS, ROW, DatasetError, Rows, declare, infer_table, parse_rows, read_table
from easeml.data.types.declared_columns import with_one_answer
from easeml.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True)
class LabelledTable:
    """A table with a target.

    ``rows`` are the 0-based rows of the file; those without a target are left out.
    """

    inputs: pd.DataFrame
    target: pd.Series
    rows: np.ndarray
    schema_in: Schema
    schema_out: Schema
    notes: list[str]


def read_labelled(path: Path, target: str, *, keep: tuple[str, ...] = ()) -> LabelledTable:
    """Read a table file with inferred types.

    Columns that look like identifiers or are constant are left out, but for those in ``keep``. The
    target is a category (a pandas Categorical) or a number (float64).

    Raises: DatasetError: if the file is no table, or the target is not one of its columns or not
        possible.
    """
    import pandas as pd

    table = read_table(path)
    reports = infer_table(table, target).columns
    held = [report.name for report in reports if report.type in CELLS]
    if held:
        remedy = "This works on tables of single values."
        raise DatasetError(
            "each row holds more than one value.", where=f"column '{held[0]}'", remedy=remedy
        )
    declared = declare(table, reports, target, with_one_answer(reports, target), keep=keep)
    known = pd.concat(declared.frames.values()).dropna(subset=[declared.target])
    frame = known.sort_values(ROW)
    return LabelledTable(
        inputs=frame.drop(columns=[ROW, declared.target]).reset_index(drop=True),
        target=pd.Series(frame[declared.target]).reset_index(drop=True),
        rows=frame[ROW].to_numpy(),
        schema_in=declared.schema_in,
        schema_out=declared.schema_out,
        notes=declared.notes,
    )


def read_like(path: Path, table: LabelledTable) -> Rows:
    """Read a CSV file whose rows are like those of ``table``.

    ``labels`` are there if the file has the target.

    Raises:
        DatasetError: naming row and column, where a row does not fit.
    """
    try:
        body = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}.", where=str(path)) from error
    return parse_rows(body, "text/csv", table.schema_in, table.schema_out)
