"""Rows that came after a version was made: typed as in training, with the answers known so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.rows.columns import text_column
from easeml.data.rows.faults import Findings
from easeml.data.rows.parsing import read_rows
from easeml.data.rows.places import places
from easeml.data.types.table_schemas import kind_of, kinds_of
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class NewerRows:
    """``inputs``: a frame of typed columns, n rows. ``answers``: the target (n,), missing where
    nobody has told it; None where the table has no target at all. ``notes``: what was unusual.
    """

    inputs: pd.DataFrame
    answers: pd.Series | None
    notes: list[str]


def read_newer(
    table: pa.Table, schema_in: Schema, schema_out: Schema, *, fills: bool = False
) -> NewerRows:
    """Read the rows of a table as a model with these schemas would; answers may be missing.

    ``fills``: whether cells may be empty that were never so in training, as a request may say of
    its own; columns that may be empty may then be absent. Raises ``DatasetError``, naming rows,
    columns and remedies, for a table that lacks a column, for cells that do not fit, and for an
    answer that was none in training.
    """
    name = next(iter(kinds_of(schema_out)))
    if name not in table.column_names:
        rows = read_rows(table, schema_in, schema_out, fills=fills)
        return NewerRows(rows.frame, None, rows.notes)
    rows = read_rows(table.drop_columns([name]), schema_in, schema_out, fills=fills)
    return NewerRows(rows.frame, _answers(table, schema_out), rows.notes)


def _answers(table: pa.Table, schema_out: Schema) -> pd.Series:
    import pandas as pd

    node = next(iter(schema_out.columns.values()), None)
    if node is None or kind_of(node) not in ("category", "number"):
        raise DatasetError(
            "answers that are no classes or numbers cannot be compared row by row.",
            remedy="Leave the target's column out.",
        )
    column = text_column(replace(node, optional=True), schema_out, is_answer=True)
    findings = Findings()
    values = column.from_table(table, findings, places())
    findings.check()
    return pd.Series(values, name=column.name)
