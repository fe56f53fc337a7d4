"""Columns of cells as the rows that an endpoint is asked about."""

from collections.abc import Mapping, Sequence
from typing import Any


def rows_of_columns(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return a row for the first cells of all columns, for the second ones, and so on.

    The columns have to be of one length.
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
