"""How a column of single values is read: from the rows of a request, and from tables of text.

A class a type of column knows how its values are written, and what to say where they are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from easeml.data.errors import did_you_mean, shown
from easeml.data.rows.faults import ALLOW_ABSENT, Findings
from easeml.data.rows.places import Place
from easeml.data.types import values as v
from easeml.data.types.cells import report_of
from easeml.data.types.number_forms import plain_number_of
from easeml.data.types.table_schemas import kind_of, labels_of
from easeml.data.types.text_tables import column_text
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_LOOKED_AT = 100  # cells of a column that do not fit; of more only the number is told
_BAD = "bad"  # a kind of faults
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_TRUTHS = {True: ("true", "True", "TRUE", "1"), False: ("false", "False", "FALSE", "0")}
_NEVER_MISSING = "the model was trained without missing values there."
_ALLOW = (
    f"Send it, with empty cells where there is no value; or allow absent columns: {ALLOW_ABSENT}."
)
_HAS_TO_COME = (
    f"Send it: {_NEVER_MISSING} To predict without it, make an application that leaves it out."
)


class _BadCell(ValueError):
    """A value that is not of its column's type."""


class _NewLabel(Exception):
    """A value that could be a label, and was none in training."""


class TextColumn:
    """A column of numbers, labels, text or timestamps; ``text_column`` makes the one of a node.

    ``is_answer``: it is compared with predictions, so that a label that is new is a fault.
    """

    codes_of_missing: ClassVar[frozenset[str]] = v.MISSING
    expected: ClassVar[str]
    """What a value is, in words."""

    def __init__(self, node: Node, schema: Schema, is_answer: bool):
        self.name = node.label
        self.node = node
        self.schema = schema
        self.is_answer = is_answer
        self.kind = kind_of(node)
        self.labels = labels_of(schema, node)
        self.declared_missing = v.codes_of(node.missing)
        self.takes_any_float = self.kind == "number" and not self.declared_missing

    def read(self, value: Any) -> Any:
        """The cell of a JSON value that is not missing.

        Raises ``_BadCell``, ``ValueError``, ``TypeError`` or ``OverflowError`` where it is no
        value of the column's type, ``_NewLabel`` where training rows had no such one.
        """
        raise NotImplementedError

    def finish(self, cells: list[Any]) -> Any:
        """The column as in a frame; None in ``cells`` is missing."""
        raise NotImplementedError

    def from_cells(self, rows: list[Mapping[str, Any]], findings: Findings) -> Any:
        """Return the column from JSON rows."""
        is_there = self.name in rows[0] or any(self.name in row for row in rows)
        if not is_there:
            self._absent("the rows", findings)
            return self.finish([None] * len(rows))

        cells = []
        for number, row in enumerate(rows):
            cells.append(self._cell(f"row {number}", row.get(self.name), findings))
        return self.finish(cells)

    def _cell(self, where: str, value: Any, findings: Findings) -> Any:
        """The cell as it goes into the column; None is missing."""
        if self.is_missing(value):
            self._missing(where, findings)
            return None
        try:
            return self.read(value)
        except _NewLabel:
            self._unfit(where, value, findings)
        except (_BadCell, ValueError, TypeError, OverflowError):
            self._bad(where, value, findings)
        return None

    def from_table(self, table: pa.Table, findings: Findings, place: Place) -> Any:
        """Return the column from a table of text; ``place`` names a row."""
        if table.schema.get_field_index(self.name) < 0:
            self._absent("the header", findings)
            return self.finish([None] * table.num_rows)
        report = report_of(table.schema.field(self.name))
        if report is not None:
            said = f"it holds {report.type}s."
            findings.fault_of_cell(_BAD, said, "the rows", self.name, f"Give {self.expected}.")
            return self.finish([None] * table.num_rows)

        text = column_text(table, self.name)
        array = v.plain(text, self.kind, self.node.format, self.node.missing)
        made = v.convert(array, self.kind, self.labels, self.node.format)
        if not self.node.optional:
            self._find_missing(made.missing, findings, place)
        self._find_unfit(array, self._are_unfit(made), findings, place)
        return made.values

    def _find_missing(self, missing: np.ndarray, findings: Findings, place: Place) -> None:
        rows, more = _first_of(missing)
        for row in rows:
            self._missing(place(row), findings)
        if more:
            findings.more_empty_cells(self.name, more)

    def _find_unfit(
        self, array: pa.Array, unfit: np.ndarray, findings: Findings, place: Place
    ) -> None:
        rows, more = _first_of(unfit)
        for row in rows:
            self._unfit(place(row), array[row].as_py(), findings)
        self._more_unfit(more, findings)

    def is_missing(self, value: Any) -> bool:
        """Whether a JSON value stands for a missing one."""
        if isinstance(value, str | int | float):
            return self._is_missing_text(str(value).strip())
        return value is None

    def _is_missing_text(self, text: str) -> bool:
        is_usual = text.lower() in self.codes_of_missing  # NaN is among them
        is_declared = bool(self.declared_missing) and v.is_code(text, self.declared_missing)
        return is_usual or is_declared

    def number_given(self, table: pa.Table) -> int:
        """Return how many rows of a table have a value."""
        array = v.plain(column_text(table, self.name), self.kind, codes=self.node.missing)
        return int((~v.missing_mask(array, self.kind)).sum())

    def _absent(self, where: str, findings: Findings) -> None:
        """A column that may be empty may be absent only where the caller allows it."""
        is_allowed = self.node.optional and findings.fill_absent
        if is_allowed and self.name not in findings.misspelt:
            findings.without(self.name)
            return

        remedy = _ALLOW if self.node.optional else _HAS_TO_COME
        likely = did_you_mean(self.name, findings.unknown)
        if likely.startswith("Did"):
            remedy = f"{likely} {remedy}"
        findings.absent_column(where, self.name, remedy)

    def _missing(self, where: str, findings: Findings) -> None:
        """Tell of a missing value where there has to be one."""
        if not self.node.optional:
            findings.empty_cell(self.name, where, self._needed)

    @property
    def _needed(self) -> str:
        return f"Give {self.expected}: {_NEVER_MISSING}"

    def _are_unfit(self, made: v.Converted) -> np.ndarray:
        """Which values of a table are none of the column."""
        return made.bad

    def _unfit(self, where: str, value: Any, findings: Findings) -> None:
        """Tell of a value that does not fit."""
        self._bad(where, value, findings)

    def _more_unfit(self, rows: int, findings: Findings) -> None:
        """Count further rows with values that do not fit."""
        findings.like_it(_BAD, self.name, rows)

    def _bad(self, where: str, value: Any, findings: Findings) -> None:
        """Tell of a value that is not of the column's type."""
        said = f"{shown(value)} is not {self._expected_for(value)}."
        findings.fault_of_cell(_BAD, said, where, self.name, self._remedy_for(value))

    def _expected_for(self, value: Any) -> str:
        return self.expected

    def _remedy_for(self, value: Any) -> str:
        form = self._form_in_words()
        null = ", or null" if self.node.optional else ""
        return f"Give {self.expected}{form}{null}."

    def _form_in_words(self) -> str:
        """How a value of the node's form is written."""
        return f" written like {self.node.format}" if self.node.format else ""


class _NumberColumn(TextColumn):
    codes_of_missing = v.MISSING_NUMBER
    expected = "a number"

    def read(self, value: Any) -> float:
        is_number = isinstance(value, int | float)
        if isinstance(value, str):
            value = plain_number_of(value.strip(), self.node.format)
            is_number = v.is_number(value)
        if not is_number or not -v.LARGEST <= float(value) <= v.LARGEST:
            raise _BadCell
        return float(value)

    def finish(self, cells: list[float | None]) -> Any:
        import numpy as np

        return np.array(cells, dtype=float)  # None becomes NaN

    def _are_unfit(self, made: v.Converted) -> np.ndarray:
        return made.bad | (abs(made.values) > v.LARGEST)

    def _expected_for(self, value: Any) -> str:
        text = plain_number_of(str(value).strip(), self.node.format)
        is_large = not isinstance(value, bool) and v.is_number(text)
        if is_large:
            return f"a number that models can compute with (at most {v.LARGEST:.1e})"
        return self.expected

    def _remedy_for(self, value: Any) -> str:
        remedy = super()._remedy_for(value)
        if _DECIMAL_COMMA.fullmatch(str(value).strip()):
            remedy += " Its decimals follow a point, not a comma."
        return remedy


class _CategoryColumn(TextColumn):
    expected = "one of its classes"

    def __init__(self, node: Node, schema: Schema, is_answer: bool):
        super().__init__(node, schema, is_answer)
        self.code_of = v.label_finder(self.labels)

    def read(self, value: Any) -> int:
        for text in self._spellings(value):
            code = self.code_of(text)
            if code is not None:
                return code
        raise _NewLabel

    def _spellings(self, value: Any) -> Sequence[str]:
        """The texts of which one may be the label that a JSON value stands for."""
        spell = _SPELLINGS.get(type(value))
        if spell is None:
            raise _BadCell
        return spell(value)

    def finish(self, cells: list[int | None]) -> Any:
        import numpy as np

        codes = [-1 if code is None else code for code in cells]
        return v.categories(np.array(codes), self.labels)

    def _unfit(self, where: str, value: Any, findings: Findings) -> None:
        if not self.is_answer:
            findings.new_value(self.name, value, where)
            return
        remedy = did_you_mean(str(value), self.labels)
        said = f"{shown(value)} is not one of the classes."
        findings.fault_of_cell(_BAD, said, where, self.name, remedy)

    def _more_unfit(self, rows: int, findings: Findings) -> None:
        if self.is_answer:
            super()._more_unfit(rows, findings)
        else:
            findings.more_new_values(self.name, rows)


def _spelled_number(value: float) -> Sequence[str]:
    return [v.plain_number(str(value))]


_SPELLINGS: dict[type, Callable[[Any], Sequence[str]]] = {
    bool: _TRUTHS.__getitem__,
    str: lambda text: [text.strip()],
    int: _spelled_number,
    float: _spelled_number,
}
"""How labels may be spelled, by the types of JSON values; others are no labels."""


class _WordsColumn(TextColumn):
    expected = "text"

    def read(self, value: Any) -> str:
        if not isinstance(value, str | int | float):
            raise _BadCell
        return str(value).strip()

    def finish(self, cells: list[str | None]) -> Any:
        return v.text_array(cells)


class _TimeColumn(TextColumn):
    codes_of_missing = v.MISSING_NUMBER
    expected = "a date or time"

    def _form_in_words(self) -> str:
        return f" written {v.form_in_words(self.node.format)}"

    def read(self, value: Any) -> np.datetime64:
        if not isinstance(value, str):
            raise _BadCell
        return v.parse_timestamp(value.strip(), self.node.format)

    def finish(self, cells: list[np.datetime64 | None]) -> Any:
        import numpy as np
        import pandas as pd

        return pd.array(np.array(cells, dtype="datetime64[us]"))  # None becomes NaT


def _first_of(marked: np.ndarray) -> tuple[list[int], int]:
    """The rows that are told of, and how many more are marked."""
    rows = marked.nonzero()[0].tolist()
    return rows[:_LOOKED_AT], len(rows[_LOOKED_AT:])


_COLUMNS: dict[str, type[TextColumn]] = {
    "number": _NumberColumn,
    "category": _CategoryColumn,
    "text": _WordsColumn,
    "timestamp": _TimeColumn,
}


def text_column(node: Node, schema: Schema, *, is_answer: bool = False) -> TextColumn:
    """What reads the column of a node of single values.

    ``is_answer``: it is compared with predictions, so that a label that is new is a fault, and no
    note.
    """
    return _COLUMNS[kind_of(node)](node, schema, is_answer)
