"""Rows that are copies of others: they are counted, and told of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from easeml.data.types.column_report import ColumnReport

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_CELLS = 20_000_000  # more take too long to compare
_LEAST_SHARE = 0.01  # of the rows, from which on it is said


def copies_note(table: pa.Table, reports: Sequence[ColumnReport]) -> list[str]:
    """Say how many rows equal another in all columns but those that are proposed for dropping.

    ``table``: columns of text; those of pictures, tensors and graphs are not compared. Nothing is
    said of very large tables.
    """
    has_cells = any(report.content for report in reports)
    names = [report.name for report in reports if report.role != "drop"]
    cells = table.num_rows * len(names)
    if has_cells or not 0 < cells <= _MOST_CELLS:
        return []

    numbers = list(map(str, range(len(names))))  # a "." in a name is a path to Arrow
    compared = table.select(names).rename_columns(numbers)
    different = compared.group_by(numbers, use_threads=False).aggregate([]).num_rows
    copies = table.num_rows - different
    if copies < _LEAST_SHARE * table.num_rows:
        return []
    are = "is a copy of another row" if copies == 1 else "are copies of other rows"
    return [
        f"{copies:,} of {table.num_rows:,} rows {are}. At random, copies get "
        "one role, so that no test row was learned by heart; of many equal rows each counts as a "
        "row of its own. Where copies are one case entered twice, remove them."
    ]
