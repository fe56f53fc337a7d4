"""How the rows of a request are read, one column after the other: from JSON, and from tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from easeml.data.errors import did_you_mean, shown
from easeml.data.rows.faults import MISSING, Findings
from easeml.data.types import cells
from easeml.data.types import values as v
from easeml.data.types.number_forms import plain_number_of
from easeml.data.types.table_schemas import kind_of
from easeml.data.types.text_tables import column_text
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Place = Callable[[int], str]  # of a row, from 0: how messages name it

LARGEST = (2 - 2**-23) * 2.0**127  # of 32 bits, with which models compute
_ABSENT = object()
_LOOKED_AT = 100  # cells of a column that do not fit; of more only the number is told
_BAD = "bad"  # a kind of faults
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_NEVER_MISSING = "the model was trained without missing values there."
_ALLOW = (
    "Send it, with empty cells where there is no value; "
    "or allow absent columns: fill_absent=true in the query, --fill-absent for `easeml predict`."
)
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
        self.name = name
        self.kind = kind
        self.node = node
        self.schema = schema

    def from_cells(self, rows: list[Mapping[str, Any]], findings: Findings) -> Any:
        """Return the column from JSON rows."""
        found = []
        for number, row in enumerate(rows):
            value = row.get(self.name, _ABSENT)
            where = f"row {number}"
            if self.is_missing(value):
                said = "the column is not there" if value is _ABSENT else "the value is missing"
                self._fail(where, said, findings)
                continue

            read = partial(cells.from_json, self.kind, value)
            found.append(self._cell(where, read, findings))
        return cells.object_array(found)

    def from_table(self, table: pa.Table, findings: Findings, place: Place) -> Any:
        """Return the column from a table; ``place`` names a row."""
        given = self._given(table, findings)
        found = [self._cell(place(row), read, findings) for row, read in enumerate(given)]
        return cells.object_array(found)

    def _given(self, table: pa.Table, findings: Findings) -> list[Callable[[], Any]]:
        """A function a row that reads its cell."""
        if table.schema.get_field_index(self.name) < 0:
            self._fail("the rows", "the column is not there", findings)
            return []
        column = table.column(self.name)
        report = cells.report_of(table.schema.field(self.name))
        if report is None:
            return [partial(self._written, text) for text in column.to_pylist()]
        if report.type != self.kind:
            self._fail("the rows", f"it holds {report.type}s", findings)
            return []
        return [partial(_same, cell) for cell in cells.from_arrow(self.kind, column)]

    def is_missing(self, value: Any) -> bool:
        """Whether a JSON value stands for a missing one."""
        return value is None or value is _ABSENT

    def number_given(self, table: pa.Table) -> int:
        """Return how many rows of a table have a value."""
        return table.num_rows

    def _written(self, text: str) -> Any:
        try:
            value = text if self.kind == "image" else json.loads(text)
            return cells.from_json(self.kind, value)
        except cells.BadCell:
            raise
        except (ValueError, RecursionError) as error:
            raise cells.BadCell(f"is not JSON ({error})") from error

    def _cell(self, where: str, read: Callable[[], Any], findings: Findings) -> Any:
        try:
            return cells.check(self.kind, read(), self.node, self.schema)
        except cells.BadCell as error:
            return self._fail(where, f"the value {error}", findings)

    def _fail(self, where: str, problem: str, findings: Findings) -> None:
        shape = f" of the shape {cells.shown(self.node.dim)}" if self.kind != "graph" else ""
        remedy = f"{_FORMS[self.kind]}{shape}."
        findings.fault_of_cell(problem, f"{problem}.", where, self.name, remedy)


def _same(cell: Any) -> Any:
    return cell


class TextColumn:
    """A column of numbers, labels, text or timestamps."""

    def __init__(self, node: Node, schema: Schema):
        self.name = node.label
        self.node = node
        self.kind = kind_of(node)
        self.labels = schema.labels(node.name) if node.type == "category" else ()
        self.code_of = v.label_finder(self.labels)
        counts = self.kind in ("number", "timestamp")
        self.codes_of_missing = v.MISSING_NUMBER if counts else v.MISSING
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

    def from_cells(
        self, rows: list[Mapping[str, Any]], findings: Findings, *, labels: bool = False
    ) -> Any:
        """Return the column from JSON rows.

        ``labels``: they are labels to compare with, so that an unknown one is a fault, not a note.
        """
        is_there = self.name in rows[0] or any(self.name in row for row in rows)
        if not is_there:
            self._absent("the rows", findings)
            return self.finish([None] * len(rows), self.labels)

        cells = []
        for number, row in enumerate(rows):
            value = row.get(self.name, _ABSENT)
            # Nearly every cell is a plain number, which needs no more than this.
            if type(value) is float and self.quick and -LARGEST <= value <= LARGEST:
                cells.append(value)
            else:
                cells.append(self._cell(f"row {number}", value, findings, labels))
        return self.finish(cells, self.labels)

    def _cell(self, where: str, value: Any, findings: Findings, labels: bool) -> Any:
        """The cell as it goes into the column; None is missing."""
        if self.is_missing(value):
            if not self.node.optional:
                self._missing(where, findings)
            return None
        try:
            cell = self.read(value)
        except (_BadCell, ValueError, TypeError, OverflowError):
            self._bad(where, value, findings)
            return None
        if cell is None:
            self._unseen(where, value, findings, labels)
        return cell

    def from_table(
        self, table: pa.Table, findings: Findings, place: Place, *, labels: bool = False
    ) -> Any:
        """Return the column from a table of text; ``place`` names a row; ``labels`` as above."""
        if table.schema.get_field_index(self.name) < 0:
            self._absent("the header", findings, table.column_names)
            return self.finish([None] * table.num_rows, self.labels)

        text = column_text(table, self.name)
        array = v.plain(text, self.kind, self.node.format, self.node.missing)
        made = v.convert(array, self.kind, self.labels, self.node.format)
        if not self.node.optional:
            self._find_missing(made.missing, findings, place)
        if self.kind == "category":
            self._find_unseen(array, made.bad, findings, place, labels)
        else:
            self._find_bad(array, made, findings, place)
        return made.values

    def _find_missing(self, missing: np.ndarray, findings: Findings, place: Place) -> None:
        rows = missing.nonzero()[0].tolist()
        for row in rows[:_LOOKED_AT]:
            self._missing(place(row), findings)
        findings.like_it(MISSING, self.name, len(rows[_LOOKED_AT:]))

    def _find_unseen(
        self, array: pa.Array, unseen: np.ndarray, findings: Findings, place: Place, labels: bool
    ) -> None:
        rows = unseen.nonzero()[0].tolist()
        for row in rows[:_LOOKED_AT]:
            self._unseen(place(row), array[row].as_py(), findings, labels)
        rest = len(rows[_LOOKED_AT:])
        if labels:
            findings.like_it(_BAD, self.name, rest)
        else:
            findings.more_new_values(self.name, rest)

    def _find_bad(
        self, array: pa.Array, made: v.Converted, findings: Findings, place: Place
    ) -> None:
        bad = made.bad
        if self.kind == "number":
            bad = bad | (abs(made.values) > LARGEST)
        rows = bad.nonzero()[0].tolist()
        for row in rows[:_LOOKED_AT]:
            self._bad(place(row), array[row].as_py(), findings)
        findings.like_it(_BAD, self.name, len(rows[_LOOKED_AT:]))

    def is_missing(self, value: Any) -> bool:
        """Whether a JSON value stands for a missing one."""
        if value is None or value is _ABSENT:
            return True
        if isinstance(value, str):
            text = value.strip()
            is_usual = text.lower() in self.codes_of_missing
            return is_usual or v.is_code(text, self.declared_missing)
        if isinstance(value, float) and math.isnan(value):
            return True
        if not self.declared_missing or not isinstance(value, int | float):
            return False
        return v.is_code(str(value), self.declared_missing)

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
        if not -LARGEST <= number <= LARGEST:
            raise _BadCell
        return number

    def _code(self, value: Any) -> int | None:
        """The index of the label, or None for one that is not known."""
        if isinstance(value, bool):
            return self._code_of_truth(value)
        if not isinstance(value, str | int | float):
            raise _BadCell

        text = value.strip() if isinstance(value, str) else v.plain_number(str(value))
        return self.code_of(text)

    def _code_of_truth(self, value: bool) -> int | None:
        """The index of the label that stands for true or false."""
        spellings = ("true", "True", "TRUE", "1") if value else ("false", "False", "FALSE", "0")
        codes = [self.code_of(text) for text in spellings]
        return next((code for code in codes if code is not None), None)

    def _text(self, value: Any) -> str:
        if not isinstance(value, str | int | float):
            raise _BadCell
        return str(value).strip()

    def _timestamp(self, value: Any) -> np.datetime64:
        if not isinstance(value, str):
            raise _BadCell
        return v.parse_timestamp(value.strip(), self.node.format)

    def _absent(self, where: str, findings: Findings, given: Sequence[str] = ()) -> None:
        """A column that may be empty may be absent only where the caller allows it."""
        if self.node.optional and findings.fill_absent:
            findings.note(f"The column '{self.name}' is not there; it is treated as missing.")
            return
        remedy = _ALLOW
        if not self.node.optional:
            remedy = f"Give {_EXPECTED[self.kind]}: {_NEVER_MISSING}"
        likely = did_you_mean(self.name, given) if given else ""
        if likely.startswith("Did"):
            remedy = f"{likely} {remedy}"
        findings.fault_of_column("the column is not there.", where, self.name, remedy)

    def _missing(self, where: str, findings: Findings) -> None:
        remedy = f"Give {_EXPECTED[self.kind]}: {_NEVER_MISSING}"
        findings.fault_of_cell(MISSING, "the value is missing.", where, self.name, remedy)

    def _bad(self, where: str, value: Any, findings: Findings) -> None:
        expected = _EXPECTED[self.kind]
        if self.kind == "number" and self._is_large(value):
            expected = f"a number that models can compute with (at most {LARGEST:.1e})"
        form = f" written like {self.node.format}" if self.node.format else ""
        null = ", or null" if self.node.optional else ""
        remedy = f"Give {_EXPECTED[self.kind]}{form}{null}."
        if self.kind == "number" and _DECIMAL_COMMA.fullmatch(str(value).strip()):
            remedy = f"{remedy} Its decimals follow a point, not a comma."
        said = f"{shown(value)} is not {expected}."
        findings.fault_of_cell(_BAD, said, where, self.name, remedy)

    def _is_large(self, value: Any) -> bool:
        text = plain_number_of(str(value).strip(), self.node.format)
        return not isinstance(value, bool) and v.is_number(text)

    def _unseen(self, where: str, value: Any, findings: Findings, labels: bool) -> None:
        if labels:
            remedy = did_you_mean(str(value), self.labels)
            said = f"{shown(value)} is not one of the classes."
            findings.fault_of_cell(_BAD, said, where, self.name, remedy)
        else:
            findings.new_value(self.name, value, where)


def _finish_numbers(cells: list[float | None], labels: tuple[str, ...]) -> Any:
    import numpy as np

    return np.array(cells, dtype=float)  # None becomes NaN


def _finish_codes(cells: list[int | None], labels: tuple[str, ...]) -> Any:
    import numpy as np

    codes = [-1 if code is None else code for code in cells]
    return v.categories(np.array(codes), labels)


def _finish_text(cells: list[str | None], labels: tuple[str, ...]) -> Any:
    return v.text_array(cells)


def _finish_timestamps(cells: list[np.datetime64 | None], labels: tuple[str, ...]) -> Any:
    import numpy as np
    import pandas as pd

    nat = np.datetime64("NaT")
    times = [nat if time is None else time for time in cells]
    return pd.array(np.array(times, dtype="datetime64[us]"))


_FINISH: dict[str, Callable[[list[Any], tuple[str, ...]], Any]] = {
    "number": _finish_numbers,
    "category": _finish_codes,
    "text": _finish_text,
    "timestamp": _finish_timestamps,
}
