"""Rows for an endpoint: a JSON or CSV body to a frame typed as in training, or an error that names the cell."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from easeml.data import _values as v
from easeml.data._columns import kind_of
from easeml.data._errors import DatasetError, did_you_mean, shown
from easeml.data._number_forms import plain_number_of
from easeml.data._read import column_text, table_from_bytes
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

_ABSENT = object()
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
_EXPECTED = {"number": "a number", "text": "text", "timestamp": "a date or time", "category": "one of its classes"}


@dataclass(frozen=True)
class ColumnTable:
    """Columns by name, each an array typed as in a frame: what a transform reads, at a tenth of a frame's cost."""

    columns: Mapping[str, Any]
    rows: int

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return self.rows


@dataclass(frozen=True)
class Rows:
    """Rows to predict. ``labels``: the target column, where every row has it. ``notes``: what was unusual."""

    table: ColumnTable
    labels: pd.Series | None
    notes: list[str]

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a data frame."""
        import pandas as pd

        return pd.DataFrame(dict(self.table.columns), copy=False)


class _BadCell(ValueError):
    """A value that is not of its column's type."""


def parse_rows(body: bytes, content_type: str, schema_in: Schema, schema_out: Schema) -> Rows:
    """Read the rows of a prediction request; see ``easeml.data`` for how frames are typed.

    JSON is ``{"rows": [{...}]}``, or the list alone; CSV has a header; JSON lines, Parquet, Arrow and Excel
    are read as uploads are. Columns that were dropped, and the target,
    may come along. A value may be missing where it was missing in training; a category that was not there in
    training becomes missing, with a note.

    Raises:
        DatasetError: naming row (counted from 1 in JSON; the header is row 1 in tables), column and remedy.
    """
    reader = _reader(schema_in, schema_out)
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("application/json", ""):
        return reader.read_json(body)
    if kind in _TABLES:
        return reader.read_table(body, f"rows.{_TABLES[kind]}")
    raise DatasetError(f"rows cannot be read as {shown(content_type)}.", remedy=_FORM)


@lru_cache(maxsize=256)
def _reader(schema_in: Schema, schema_out: Schema) -> _Reader:
    return _Reader(schema_in, schema_out)


class _Reader:
    """Everything about a pair of schemas that does not depend on the request, worked out once."""

    def __init__(self, schema_in: Schema, schema_out: Schema):
        self.columns = [_Column(node, schema_in) for node in schema_in.nodes.values()]
        self.names = [column.name for column in self.columns]
        self.target = _Column(next(iter(schema_out.nodes.values())), schema_out)
        self.known = frozenset([*self.names, *schema_in.dropped, self.target.name])

    def read_json(self, body: bytes) -> Rows:
        """Read rows from JSON, cell by cell: quick for few rows."""
        rows = self._json_rows(body)
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise DatasetError(f"expected an object, found {shown(row)}.", where=f"row {number}", remedy=_FORM)
            if not row.keys() <= self.known:
                self._unknown(next(name for name in row if name not in self.known), f"row {number}")
        notes: list[str] = []
        arrays = [column.from_cells(rows, notes) for column in self.columns]
        given = sum(not self.target.is_missing(row.get(self.target.name)) for row in rows)
        labels = self.target.from_cells(rows, None) if self._labelled(given, len(rows), notes) else None
        return self._rows(arrays, labels, len(rows), notes)

    def read_table(self, body: bytes, name: str) -> Rows:
        """Read rows from a table file, column by column."""
        table = table_from_bytes(body, name)
        for given in table.column_names:
            if given not in self.known:
                self._unknown(given, name)
        notes: list[str] = []
        arrays = [column.from_table(table, notes) for column in self.columns]
        labels = None
        if self.target.name in table.column_names:
            answers = column_text(table, self.target.name)
            missing = v.missing_mask(
                v.plain(answers, self.target.kind, codes=self.target.node.missing), self.target.kind
            )
            if self._labelled(int((~missing).sum()), len(missing), notes):
                labels = self.target.from_table(table, None)
        return self._rows(arrays, labels, table.num_rows, notes)

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
            f"the model knows no column {shown(name)}.", where=where, remedy=did_you_mean(name, self.names)
        )

    def _labelled(self, given: int, rows: int, notes: list[str]) -> bool:
        if 0 < given < rows:
            notes.append(f"{rows - given} of {rows} rows have no '{self.target.name}': quality is not computed.")
        return given == rows

    def _rows(self, arrays: list[Any], labels: Any, count: int, notes: list[str]) -> Rows:
        table = ColumnTable(dict(zip(self.names, arrays, strict=True)), count)
        if labels is None:
            return Rows(table, None, notes)
        import pandas as pd

        return Rows(table, pd.Series(labels, name=self.target.name), notes)


class _Column:
    """How the values of one column are read."""

    def __init__(self, node: Node, schema: Schema):
        self.name, self.node, self.kind = node.label, node, kind_of(node)
        self.labels = schema.labels(node.name) if node.type == "category" else ()
        self.codes = {label: i for i, label in enumerate(self.labels)}
        self.numeric = v.numeric_labels(self.labels)
        self.codes_of_missing = v.MISSING_NUMBER if self.kind in ("number", "timestamp") else v.MISSING
        self.declared_missing = v.codes_of(node.missing)
        readers: dict[str, Callable[[Any], Any]] = {
            "number": self._number,
            "category": self._code,
            "text": self._text,
            "timestamp": self._timestamp,
        }
        self.read = readers[self.kind]
        self.quick = self.kind == "number" and not self.declared_missing
        self.finish = _FINISH[self.kind]

    def from_cells(self, rows: list[Mapping[str, Any]], notes: list[str] | None) -> Any:
        """The column from JSON rows. ``notes`` None: an unknown category is an error, not a note."""
        cells = []
        for row in rows:
            value = row.get(self.name, _ABSENT)
            if type(value) is float and self.quick and math.isfinite(value):  # nearly every cell
                cells.append(value)
                continue
            if self.is_missing(value):
                if not self.node.optional:
                    self._missing(f"row {len(cells) + 1}", value is _ABSENT)
                cells.append(None)
                continue
            try:
                cell = self.read(value)
            except (_BadCell, ValueError, TypeError, OverflowError):
                self._bad(f"row {len(cells) + 1}", value)
            if cell is None:
                self._unseen(f"row {len(cells) + 1}", value, notes)
            cells.append(cell)
        return self.finish(cells, self.labels)

    def from_table(self, table: pa.Table, notes: list[str] | None) -> Any:
        """The column from a table of text."""
        if self.name not in table.column_names:
            if not self.node.optional:
                self._missing("the header", True)
            return self.finish([None] * table.num_rows, self.labels)
        array = v.plain(column_text(table, self.name), self.kind, self.node.format, self.node.missing)
        made = v.convert(array, self.kind, self.labels, self.node.format)
        if made.missing.any() and not self.node.optional:
            self._missing(f"row {int(made.missing.argmax()) + 2}", False)
        if made.bad.any():
            for row in [int(made.bad.argmax())] if self.kind != "category" else made.bad.nonzero()[0]:
                where, value = f"row {int(row) + 2}", array[int(row)].as_py()
                if self.kind != "category":
                    self._bad(where, value)
                self._unseen(where, value, notes)
        return made.values

    def is_missing(self, value: Any) -> bool:
        """Whether a JSON value stands for a missing one."""
        if value is None or value is _ABSENT:
            return True
        if isinstance(value, str):
            value = value.strip()
            return value.lower() in self.codes_of_missing or v.is_code(value, self.declared_missing)
        if isinstance(value, float) and math.isnan(value):
            return True
        return (
            bool(self.declared_missing)
            and isinstance(value, int | float)
            and v.is_code(str(value), self.declared_missing)
        )

    def _number(self, value: Any) -> float:
        if isinstance(value, str):
            value = plain_number_of(value.strip(), self.node.format)
            if not v.is_number(value):
                raise _BadCell
        elif not isinstance(value, int | float):
            raise _BadCell
        number = float(value)
        if math.isinf(number):
            raise _BadCell
        return number

    def _code(self, value: Any) -> int | None:
        """The index of the label, or None for one that is not known."""
        if isinstance(value, bool):
            spellings = ("true", "True", "TRUE", "1") if value else ("false", "False", "FALSE", "0")
            return next((self.codes[text] for text in spellings if text in self.codes), None)
        if not isinstance(value, str | int | float):
            raise _BadCell
        text = value.strip() if isinstance(value, str) else v.plain_number(str(value))
        code = self.codes.get(text)
        if code is None and self.numeric:
            code = self.codes.get(v.plain_number(text))
        return code

    def _text(self, value: Any) -> str:
        if not isinstance(value, str | int | float):
            raise _BadCell
        return str(value).strip()

    def _timestamp(self, value: Any) -> np.datetime64:
        if not isinstance(value, str):
            raise _BadCell
        return v.parse_timestamp(value.strip(), self.node.format)

    def _missing(self, where: str, absent: bool) -> None:
        raise DatasetError(
            "the column is not there." if absent else "the value is missing.",
            where=f"{where}, column '{self.name}'",
            remedy=f"Give {_EXPECTED[self.kind]}: the model was trained without missing values there.",
        )

    def _bad(self, where: str, value: Any) -> NoReturn:
        form = f" written like {self.node.format}" if self.node.format else ""
        raise DatasetError(
            f"{shown(value)} is not {_EXPECTED[self.kind]}.",
            where=f"{where}, column '{self.name}'",
            remedy=f"Give {_EXPECTED[self.kind]}{form}{', or null' if self.node.optional else ''}.",
        )

    def _unseen(self, where: str, value: Any, notes: list[str] | None) -> None:
        if notes is None:
            raise DatasetError(
                f"{shown(value)} is not one of the classes.",
                where=f"{where}, column '{self.name}'",
                remedy=did_you_mean(str(value), self.labels),
            )
        if len(notes) < 20:
            notes.append(f"{where}: {shown(value)} is new in '{self.name}'; it is treated as missing.")


def _finish_numbers(cells: list[float | None], labels: tuple[str, ...]) -> Any:
    import numpy as np

    return np.array(cells, dtype=float)  # None becomes NaN


def _finish_codes(cells: list[int | None], labels: tuple[str, ...]) -> Any:
    import numpy as np

    return v.categories(np.array([-1 if code is None else code for code in cells]), labels)


def _finish_text(cells: list[str | None], labels: tuple[str, ...]) -> Any:
    return v.text_array(cells)


def _finish_timestamps(cells: list[np.datetime64 | None], labels: tuple[str, ...]) -> Any:
    import numpy as np
    import pandas as pd

    nat = np.datetime64("NaT")
    return pd.array(np.array([nat if t is None else t for t in cells], dtype="datetime64[us]"))


_FINISH: dict[str, Callable[[list[Any], tuple[str, ...]], Any]] = {
    "number": _finish_numbers,
    "category": _finish_codes,
    "text": _finish_text,
    "timestamp": _finish_timestamps,
}
