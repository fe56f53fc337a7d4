"""How the rows of a request are read, one column after the other: from JSON values, and from
tables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from easeml.data.errors import DatasetError, did_you_mean, shown
from easeml.data.types import cells
from easeml.data.types import values as v
from easeml.data.types.declared_columns import kind_of
from easeml.data.types.number_forms import plain_number_of
from easeml.data.types.text_tables import column_text
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Place = Callable[[int], str]  # of a row, from 0: how messages name it

_ABSENT = object()
_EXPECTED = {
    "number": "a number",
    "text": "text",
    "timestamp": "a date or time",
    "category": "one of its classes",
}
_FORMS = {
    "image": "Give the bytes of a picture file, as base64 text in JSON",
    "tensor": "Give nested lists of numbers",
    "graph": 'Give an object as {"node": {"field": [...]}, "links": [["node", 0, "node", 1]]}',
}


class _BadCell(ValueError):
    """A value that is not of its column's type."""


class CellColumn:
    """A column of pictures, tensors or graphs."""

    def __init__(self, name: str, kind: str, node: Node, schema: Schema):
        self.name, self.kind, self.node, self.schema = name, kind, node, schema

    def from_cells(self, rows: list[Mapping[str, Any]], notes: list[str] | None) -> Any:
        """Return the column from JSON rows."""
        found = []
        for number, row in enumerate(rows, 1):
            value = row.get(self.name, _ABSENT)
            if self.is_missing(value):
                self._fail(
                    f"row {number}",
                    "the column is not there" if value is _ABSENT else "the value is missing",
                )
            found.append(
                self._cell(f"row {number}", lambda value=value: cells.from_json(self.kind, value))
            )
        return cells.object_array(found)

    def from_table(self, table: pa.Table, notes: list[str] | None, place: Place) -> Any:
        """Return the column from a table; ``place`` names a row."""
        if table.schema.get_field_index(self.name) < 0:
            self._fail("the rows", "the column is not there")
        column = table.column(self.name)
        if cells.report_of(table.schema.field(self.name)) is not None:
            given = [lambda cell=cell: cell for cell in cells.from_arrow(self._held(table), column)]
        else:
            given = [lambda text=text: self._written(text) for text in column.to_pylist()]
        return cells.object_array([self._cell(place(row), cell) for row, cell in enumerate(given)])

    def is_missing(self, value: Any) -> bool:
        """Whether a JSON value stands for a missing one."""
        return value is None or value is _ABSENT

    def number_given(self, table: pa.Table) -> int:
        """Return how many rows of a table have a value."""
        return table.num_rows

    def _held(self, table: pa.Table) -> str:
        report = cells.report_of(table.schema.field(self.name))
        if report is None or report.type != self.kind:
            self._fail("the rows", f"it holds {report.type if report else 'text'}s")
        return report.type

    def _written(self, text: str) -> Any:
        try:
            return cells.from_json(self.kind, text if self.kind == "image" else json.loads(text))
        except (ValueError, RecursionError) as error:
            if isinstance(error, cells.BadCell):
                raise
            raise cells.BadCell(f"is not JSON ({error})") from error

    def _cell(self, where: str, read: Callable[[], Any]) -> Any:
        try:
            return cells.check(self.kind, read(), self.node, self.schema)
        except cells.BadCell as error:
            self._fail(where, f"the value {error}")

    def _fail(self, where: str, problem: str) -> NoReturn:
        shape = f" of the shape {cells.shown(self.node.dim)}" if self.kind != "graph" else ""
        raise DatasetError(
            f"{problem}.",
            where=f"{where}, column '{self.name}'",
            remedy=f"{_FORMS[self.kind]}{shape}.",
        )


class TextColumn:
    """A column of numbers, labels, text or timestamps."""

    def __init__(self, node: Node, schema: Schema):
        self.name, self.node, self.kind = node.label, node, kind_of(node)
        self.labels = schema.labels(node.name) if node.type == "category" else ()
        self.codes = {label: i for i, label in enumerate(self.labels)}
        self.numeric = v.numeric_labels(self.labels)
        self.codes_of_missing = (
            v.MISSING_NUMBER if self.kind in ("number", "timestamp") else v.MISSING
        )
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
        """The column from JSON rows.

        ``notes`` None: an unknown category is an error, not a note.
        """
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

    def from_table(self, table: pa.Table, notes: list[str] | None, place: Place) -> Any:
        """The column from a table of text; ``place`` names a row."""
        if table.schema.get_field_index(self.name) < 0:
            if not self.node.optional:
                self._missing("the header", True)
            return self.finish([None] * table.num_rows, self.labels)
        array = v.plain(
            column_text(table, self.name), self.kind, self.node.format, self.node.missing
        )
        made = v.convert(array, self.kind, self.labels, self.node.format)
        if made.missing.any() and not self.node.optional:
            self._missing(place(int(made.missing.argmax())), False)
        if made.bad.any():
            for row in (
                [int(made.bad.argmax())] if self.kind != "category" else made.bad.nonzero()[0]
            ):
                where, value = place(int(row)), array[int(row)].as_py()
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

    def number_given(self, table: pa.Table) -> int:
        """Return how many rows of a table have a value."""
        array = v.plain(column_text(table, self.name), self.kind, codes=self.node.missing)
        return int((~v.missing_mask(array, self.kind)).sum())

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
            notes.append(
                f"{where}: {shown(value)} is new in '{self.name}'; it is treated as missing."
            )


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
