"""Rows for an endpoint: a JSON or CSV body to a frame typed as in training, or an error that names
the cell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, did_you_mean, shown
from easeml.data.readers.read import table_from_bytes
from easeml.data.rows.columns import CellColumn, TextColumn
from easeml.data.rows.files import Files, files_of, table_of_files
from easeml.data.types.cells import CELLS, report_of
from easeml.data.types.declared_columns import kinds_of
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_TABLES = {  # media types and the endings of their files
    "text/csv": "csv",
    "application/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/x-ndjson": "jsonl",
    "application/vnd.apache.parquet": "parquet",
    "application/vnd.apache.arrow.file": "arrow",
    "application/vnd.apache.arrow.stream": "arrows",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_FORM = 'Send {"rows": [{"column": value, ...}]} as application/json, or text/csv with a header.'
_FILES = ("application/octet-stream", "application/zip", "multipart/form-data")  # and every picture


@dataclass(frozen=True)
class ColumnTable:
    """Columns by name, each an array typed as in a frame: what a transform reads, at a tenth of a
    frame's cost.
    """

    columns: Mapping[str, Any]
    rows: int

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return self.rows


@dataclass(frozen=True)
class Rows:
    """Rows to predict. ``labels``: the target column, where every row has it. ``notes``: what was
    unusual. ``names``: those of the files that the rows are."""

    table: ColumnTable
    labels: pd.Series | None
    notes: list[str]
    names: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a data frame."""
        import pandas as pd

        return pd.DataFrame(dict(self.table.columns), copy=False)


def parse_rows(body: bytes, content_type: str, schema_in: Schema, schema_out: Schema) -> Rows:
    """Read the rows of a prediction request; see ``easeml.data`` for how frames are typed.

    JSON is ``{"rows": [{...}]}``, or the list alone; CSV has a header; JSON lines, Parquet, Arrow
    and Excel are read as uploads are. A picture, several as ``multipart/form-data``, a zip file of
    pictures or of an ease.ml data set, NumPy arrays and ``.ts`` series come as the files they are.
    Columns that were dropped, and the target, may come along. A value may be missing where it was
    missing in training; a category that was not there in training becomes missing, with a note.

    Raises: DatasetError: naming row (counted from 1 in JSON; the header is row 1 in tables), column
        and remedy.
    """
    reader = _reader(schema_in, schema_out)
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("application/json", ""):
        return reader.read_json(body)
    if kind in _TABLES:
        return reader.read_table(table_from_bytes(body, f"rows.{_TABLES[kind]}"))
    if kind in _FILES or kind.startswith("image/"):
        return reader.read_files(files_of(body, content_type))
    raise DatasetError(f"rows cannot be read as {shown(content_type)}.", remedy=_FORM)


@lru_cache(maxsize=256)
def _reader(schema_in: Schema, schema_out: Schema) -> _Reader:
    return _Reader(schema_in, schema_out)


class _Reader:
    """Everything about a pair of schemas that does not depend on the request, worked out once."""

    def __init__(self, schema_in: Schema, schema_out: Schema):
        self.columns = _columns(schema_in)
        self.names = [column.name for column in self.columns]
        self.target = _columns(schema_out)[0]
        self.known = frozenset([*self.names, *schema_in.dropped, self.target.name])

    def read_json(self, body: bytes) -> Rows:
        """Read rows from JSON, cell by cell: quick for few rows."""
        rows = self._json_rows(body)
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise DatasetError(
                    f"expected an object, found {shown(row)}.", where=f"row {number}", remedy=_FORM
                )
            if not row.keys() <= self.known:
                self._unknown(next(name for name in row if name not in self.known), f"row {number}")
        notes: list[str] = []
        arrays = [column.from_cells(rows, notes) for column in self.columns]
        given = sum(not self.target.is_missing(row.get(self.target.name)) for row in rows)
        labels = (
            self.target.from_cells(rows, None) if self._labelled(given, len(rows), notes) else None
        )
        return self._rows(arrays, labels, len(rows), notes)

    def read_files(self, files: Files) -> Rows:
        """Read rows from files: pictures, or one file of another kind."""
        labels = self.target.labels if isinstance(self.target, TextColumn) else ()
        table, names = table_of_files(files, labels)
        told = {"label": self.target.name} if names else {}
        given = [told.get(name, name) for name in table.column_names]
        unknown = [name for name in given if name not in self.known]
        if len(unknown) == len(self.names) == 1:  # files do not say what the column is called
            given = [self.names[0] if name in unknown else name for name in given]
        table = table.rename_columns(given)
        return self.read_table(table, names)

    def read_table(self, table: pa.Table, names: list[str] | None = None) -> Rows:
        """Read rows from a table, column by column."""
        for given in table.column_names:
            if given not in self.known:
                self._unknown(given, "the header")
        first = (
            1 if any(report_of(column) for column in table.schema) else 2
        )  # the header of others is row 1

        def place(row: int) -> str:
            return f"row {first + row} ({names[row]})" if names else f"row {first + row}"

        notes: list[str] = []
        arrays = [column.from_table(table, notes, place) for column in self.columns]
        labels = None
        if self.target.name in table.column_names and self._labelled(
            self.target.number_given(table), table.num_rows, notes
        ):
            labels = self.target.from_table(table, None, place)
        return self._rows(arrays, labels, table.num_rows, notes, names)

    def _json_rows(self, body: bytes) -> list[Any]:
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"the body is not JSON: {error}.", remedy=_FORM) from error
        rows = document.get("rows") if isinstance(document, dict) else document
        if not isinstance(rows, list):
            raise DatasetError("there is no list of rows.", where="rows", remedy=_FORM)
        if not rows:
            raise DatasetError("there is no row.", where="rows", remedy=_FORM)
        return rows

    def _unknown(self, name: str, where: str) -> None:
        raise DatasetError(
            f"the model knows no column {shown(name)}.",
            where=where,
            remedy=did_you_mean(name, self.names),
        )

    def _labelled(self, given: int, rows: int, notes: list[str]) -> bool:
        if 0 < given < rows:
            notes.append(
                f"{rows - given} of {rows} rows have no '{self.target.name}': quality is not computed."
            )
        return given == rows

    def _rows(
        self,
        arrays: list[Any],
        labels: Any,
        count: int,
        notes: list[str],
        names: list[str] | None = None,
    ) -> Rows:
        table = ColumnTable(dict(zip(self.names, arrays, strict=True)), count)
        if labels is None:
            return Rows(table, None, notes, names or [])
        import pandas as pd

        return Rows(table, pd.Series(labels, name=self.target.name), notes, names or [])


def _columns(schema: Schema) -> list[TextColumn | CellColumn]:
    """How the columns of a schema are read; a graph is of all its nodes with instances."""
    made: list[TextColumn | CellColumn] = []
    for name, kind in kinds_of(schema).items():
        node = schema.columns.get(name) or next(iter(schema.nodes.values()))
        made.append(
            CellColumn(name, kind, node, schema) if kind in CELLS else TextColumn(node, schema)
        )
    return made
