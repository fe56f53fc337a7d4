"""Rows for an endpoint: a body to a frame typed as in training, or an error that names the cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, did_you_mean, first_of, refusing, respelt, shown
from easeml.data.readers.read import table_from_bytes
from easeml.data.rows.cell_column import CellColumn
from easeml.data.rows.column_table import ColumnTable, Numbers
from easeml.data.rows.columns import TextColumn, text_column
from easeml.data.rows.faults import Findings
from easeml.data.rows.files import Files, files_of, table_of_files
from easeml.data.rows.label_column import LabelColumn
from easeml.data.rows.nameless import numbered_table, width_of
from easeml.data.rows.places import Place, places
from easeml.data.types import values as v
from easeml.data.types.cells import CELLS
from easeml.data.types.comma_files import decimal_among, without_dots_of_thousands
from easeml.data.types.table_schemas import kinds_of, node_of
from easeml.data.types.text_tables import noted
from easeml.data.types.together import with_joined, with_joined_value
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
_TEXTS = (".csv", ".tsv")  # whose first row may hold values
KEY = "key"  # the column by which feedback names rows
_SHOWN_NAMES = 8  # of columns, in one sentence
FILL_ABSENT = "fill-absent=true"  # a parameter of the media type
FILL_EMPTY = "fill-empty=true"  # another
EXPLAIN = "explain=true"  # and one of what the answer is to say
FORECAST = "forecast"  # and one of how many steps are to be forecast
MOST_STEPS = 10_000
_OF_QUERIES = {"fill_absent": FILL_ABSENT, "fill_empty": FILL_EMPTY, "explain": EXPLAIN}
_TRUTHS: dict[str, bool] = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
_FORM = 'Send {"rows": [{"column": value, ...}]} as application/json, or text/csv with a header.'
_PLAIN_NUMBERS = {int, float}  # types of JSON values; truth values are a type of their own
_FILES = ("application/octet-stream", "application/zip", "multipart/form-data")  # and every picture


@dataclass(frozen=True)
class Rows:
    """Rows to predict.

    ``labels``: the target column, where every row has it. ``values``: those of a target that is a
    number, NaN where a row has none; None where no row can have one. ``notes``: what was unusual.
    ``names``: those of the files that the rows are. ``absent``: columns that were not sent.
    ``filled``: columns with empty cells, where training rows had none.
    """

    table: ColumnTable
    labels: pd.Series | None
    notes: list[str]
    names: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    values: pd.Series | None = None

    @property
    def with_values(self) -> ColumnTable:
        """The table, with the target where rows have values of it: what a forecast knows."""
        if self.values is None:
            return self.table
        columns = {**self.table.columns, str(self.values.name): self.values.to_numpy()}
        return ColumnTable(columns, self.table.rows, self.table.numbers)

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a data frame."""
        import pandas as pd

        return pd.DataFrame(dict(self.table.columns), copy=False)


def parse_rows(
    body: bytes,
    content_type: str,
    schema_in: Schema,
    schema_out: Schema,
    loads: Callable[[bytes], Any] = json.loads,
    past_only: Collection[str] = (),
) -> Rows:
    """Read the rows of a prediction request; see ``easeml.data`` for how frames are typed.

    JSON is ``{"rows": [{...}]}``, or the list alone; CSV has a header, if the training file had
    one; JSON lines, Parquet, Arrow
    and Excel are read as uploads are. A picture, several as ``multipart/form-data``, a zip file of
    pictures or of an ease.ml data set, NumPy arrays and ``.ts`` series come as the files they are.
    Columns that were dropped, and the target, may come along. A value may be missing where it was
    missing in training; a column as a whole only where ``content_type`` has the parameter
    ``fill-absent=true`` (``FILL_ABSENT``), and with a note. In a column without missing values in
    training one is allowed by ``fill-empty=true`` (``FILL_EMPTY``), with a note.
    A category that was not there in training becomes missing, and a column that the model does
    not know is not used, with notes. ``loads`` reads JSON as ``json.loads`` does. ``past_only``:
    columns that a forecast knows of the past, and needs no more.

    Raises: DatasetError: naming rows (from 0), columns and remedies; the faults of a
        request all at once, but for very many.
    """
    reader = reader_of(schema_in, schema_out)
    kind = content_type.partition(";")[0].strip().lower()
    asked = content_type.lower()
    findings = Findings(
        fill_absent=FILL_ABSENT in asked, fill_empty=FILL_EMPTY in asked, past_only=past_only
    )
    if kind in ("application/json", ""):
        return reader.read_json(body, findings, loads)
    if kind in _TABLES:
        return reader.read_table(reader.table_of(body, f"rows.{_TABLES[kind]}"), findings)
    if kind in _FILES or kind.startswith("image/"):
        return reader.read_files(files_of(body, content_type), findings)
    raise DatasetError(f"rows cannot be read as {shown(content_type)}.", remedy=_FORM)


def permitted(query: Mapping[str, str]) -> str:
    """Return the parameters of the media type for what the query of a request permits or asks.

    Raises ``DatasetError`` for anything else: who asks for more would not get it.
    """
    known = [*_OF_QUERIES, FORECAST]
    unknown = sorted(query.keys() - known)
    if unknown:
        raise DatasetError(
            "This is nothing that a prediction can be asked for.",
            where=f"query: {unknown[0]}",
            remedy=did_you_mean(unknown[0], known),
        )
    said = []
    for name, value in query.items():
        if name == FORECAST:
            said.append(f"; {FORECAST}={_steps(value)}")
            continue
        if value.lower() not in _TRUTHS:
            raise DatasetError(
                f"{shown(value)} is neither true nor false.",
                where=f"query: {name}",
                remedy=f"Write {name}=true, or leave it out.",
            )
        if _TRUTHS[value.lower()]:
            said.append(f"; {_OF_QUERIES[name]}")
    asked = "".join(said)
    _check_explained(asked)
    return asked


def _check_explained(asked: str) -> None:
    """Raise ``DatasetError`` where a forecast is to be explained: nobody sends its rows."""
    if EXPLAIN in asked and f"{FORECAST}=" in asked:
        raise DatasetError(
            "A forecast is told without what its values are made of.",
            where="query: explain",
            remedy=f"Leave {FORECAST} out, and send the rows with their times and series.",
        )


def _steps(text: str) -> int:
    """Return how many steps are to be forecast. Raises ``DatasetError``."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_STEPS:
        return int(text)
    raise DatasetError(
        f"{shown(text)} is no number of steps.",
        where=f"query: {FORECAST}",
        remedy=f"Write a whole number from 1 to {MOST_STEPS:,}.",
    )


def read_rows(
    table: pa.Table, schema_in: Schema, schema_out: Schema, *, fills: bool = False
) -> Rows:
    """Read the rows of a table of text as ``parse_rows`` does; raises ``DatasetError``.

    ``fills``: whether ``FILL_ABSENT`` and ``FILL_EMPTY`` hold.
    """
    findings = Findings(fill_absent=fills, fill_empty=fills)
    return reader_of(schema_in, schema_out).read_table(table, findings)


@lru_cache(maxsize=256)
def reader_of(schema_in: Schema, schema_out: Schema) -> Reader:
    """What reads the rows of a pair of schemas, kept for the next ones."""
    return Reader(schema_in, schema_out)


class Reader:
    """Everything about a pair of schemas that does not depend on the request, worked out once."""

    def __init__(self, schema_in: Schema, schema_out: Schema):
        self.columns = _columns(schema_in)
        self.names = [column.name for column in self.columns]
        self.target = _columns(schema_out, is_answer=True)[0]
        self._given = _where_given(self.target)
        self.known = frozenset([*self.names, *schema_in.dropped, self.target.name])
        self.is_numbered = width_of(self.known) > 0
        numbers = [column.name for column in self.columns if _takes_plain_numbers(column)]
        self._numbers = {name: place for place, name in enumerate(numbers)}
        every = filter(_is_number, [*self.columns, self.target])
        self._quantities = {column.name for column in every}
        are_texts = all(isinstance(column, TextColumn) for column in self.columns)
        self.has_header = are_texts and len(self.names) > 1

    def table_of(self, body: bytes, name: str) -> pa.Table:
        """Read a table from its bytes; ``name``: with the ending of its form."""
        if self.is_numbered and name.endswith(_TEXTS):
            return numbered_table(body, name, self.known, self.target.name)
        return table_from_bytes(body, name)

    def read_json(self, body: bytes, findings: Findings, loads: Callable[[bytes], Any]) -> Rows:
        """Read rows from JSON, cell by cell: quick for few rows."""
        rows = _json_rows(body, loads)
        for number, row in enumerate(rows):
            if not isinstance(row, dict):
                findings.fault(f"expected an object, found {shown(row)}.", f"row {number}", _FORM)
        findings.check()

        if not self.known.issuperset(chain.from_iterable(rows)):
            self._note_unknown(dict.fromkeys(chain.from_iterable(rows)), "the rows", findings)
        rows = [with_joined_value(row, self.target.node) for row in rows]
        numbers = self._plain_numbers(rows)
        columns: Mapping[str, Any] = {} if numbers is None else numbers
        if len(columns) < len(self.columns):
            columns = self._columns_of_cells(rows, columns, findings)
        labels = self._labels_of_cells(rows, findings)
        values = self._values_of_cells(rows, labels, findings)
        findings.check()
        table = ColumnTable(columns, len(rows), numbers)
        return Rows(
            table,
            labels,
            findings.notes,
            absent=findings.absent,
            filled=[*findings.empty],
            values=values,
        )

    def _columns_of_cells(
        self, rows: list[Any], read: Mapping[str, Any], findings: Findings
    ) -> dict[str, Any]:
        """The columns of JSON rows in their order; ``read``: those that are known already."""
        columns = {}
        for column in self.columns:
            known = read.get(column.name)
            columns[column.name] = column.from_cells(rows, findings) if known is None else known
        return columns

    def _plain_numbers(self, rows: list[Any]) -> Numbers | None:
        """The columns of numbers, read at once where every cell of them is a JSON number.

        Else none: then it is looked what each cell says.
        """
        import numpy as np

        if not self._numbers:
            return None
        try:
            cells = [list(map(row.__getitem__, self._numbers)) for row in rows]
        except KeyError:
            return None
        if not _PLAIN_NUMBERS.issuperset(map(type, chain.from_iterable(cells))):
            return None
        try:
            block = np.array(cells, dtype=float)
        except OverflowError:
            return None
        if not (abs(block) <= v.LARGEST).all():  # NaN is no plain number, either
            return None
        return Numbers(self._numbers, block)

    def read_files(self, files: Files, findings: Findings) -> Rows:
        """Read rows from files: pictures, or one file of another kind."""
        are_series = list(map(_is_series, self.columns)) == [True]
        table, names = table_of_files(files, self.target.labels, are_series=are_series)
        table = table.rename_columns(self._names_for(table.column_names, names))
        return self.read_table(table, findings, names)

    def _names_for(self, given: list[str], files: list[str]) -> list[str]:
        """The columns of a table of files by the model's names, which files do not say.

        ``files``: the names of those of which each is a row.
        """
        told = {"label": self.target.name} if files else {}
        names = [told.get(name, name) for name in given]
        unknown = list(filterfalse(self.known.__contains__, names))
        is_the_only_input = len(unknown) == len(self.names) == 1
        if is_the_only_input:
            names[names.index(unknown[0])] = self.names[0]
        return names

    def read_table(self, table: pa.Table, findings: Findings, names: Sequence[str] = ()) -> Rows:
        """Read rows from a table, column by column; ``names``: of the file that each row is."""
        self.look_at(table, findings)
        with suppress(DatasetError):  # then the truth is not known
            table = with_joined(table, self.target.node)
        table = without_dots_of_thousands(table, self._quantities)
        place = places(names=names)
        inputs = self._inputs(table, findings, place)
        labels = self._labels_of_table(table, findings, place)
        values = self._values_of_table(table, labels, findings, place)
        findings.check()
        return Rows(
            inputs,
            labels,
            findings.notes,
            list(names),
            findings.absent,
            [*findings.empty],
            values,
        )

    def look_at(self, table: pa.Table, findings: Findings) -> None:
        """Note columns that are not known. Raises DatasetError where none is."""
        self._check_delimiter(table)
        if not findings.fill_absent:
            self._check_header(table.column_names)
        self._note_unknown(table.column_names, "the header", findings)

    def decimal_of(self, rows: pa.Table) -> str:
        """Return what stands before the decimals of a table that begins with these rows."""
        return decimal_among(rows, self._quantities)

    def read_part(
        self, part: pa.Table, findings: Findings, start: int, decimal: str
    ) -> ColumnTable:
        """Read the inputs of a part of a table, whose first row is row ``start`` of it, and values
        of a target that is a number.

        Faults are kept in ``findings``. ``decimal``: what stands before decimals in the table.
        """
        plain = without_dots_of_thousands(part, self._quantities, decimal)
        place = places(start)
        inputs = self._inputs(plain, findings, place)
        values = self._values_of_table(plain, None, findings, place)
        return Rows(inputs, None, [], values=values).with_values

    def _inputs(self, table: pa.Table, findings: Findings, place: Place) -> ColumnTable:
        columns = {}
        for column in self.columns:
            columns[column.name] = column.from_table(table, findings, place)
        return ColumnTable(columns, table.num_rows)

    def _check_delimiter(self, table: pa.Table) -> None:
        """Raise DatasetError where all cells stand in one column, as their delimiter is not read."""
        note = noted(table.schema, b"note")
        is_one_unknown = table.num_columns == 1 and self.known.isdisjoint(table.column_names)
        if is_one_unknown and note:
            raise DatasetError(note)

    def _check_header(self, given: list[str]) -> None:
        """Raise DatasetError for a first row without any name that is known, or nearly so."""
        if not self.has_header or self._has_known_name(given):
            return
        found = first_of(list(map(shown, given)), _SHOWN_NAMES, ", ...")
        names = first_of(list(map(repr, self.names)), _SHOWN_NAMES, ", ...")
        raise DatasetError(
            f"none of the columns is there. These are: {found}.",
            where="the header",
            remedy=f"Write the names into the first row, in any order: {names}.",
        )

    def _has_known_name(self, given: list[str]) -> bool:
        """Whether a name is known, or nearly one that is wanted."""
        if not self.known.isdisjoint(given):
            return True
        return any(did_you_mean(name, given).startswith("Did") for name in self.names)

    def _labels_of_cells(self, rows: list[Any], findings: Findings) -> pd.Series | None:
        """The answers in JSON rows, where each row has one."""
        values = [row.get(self.target.name) for row in rows]
        missing = sum(map(self.target.is_missing, values))
        if not self._are_all_labelled(len(rows) - missing, len(rows), findings):
            return None
        return self._labels(self.target.from_cells(rows, findings))

    def _labels_of_table(
        self, table: pa.Table, findings: Findings, place: Place
    ) -> pd.Series | None:
        """The answers in a table, where each row has one."""
        if self.target.name not in table.column_names:
            return None
        given = self.target.number_given(table)
        if not self._are_all_labelled(given, table.num_rows, findings):
            return None
        return self._labels(self.target.from_table(table, findings, place))

    def _values_of_cells(
        self, rows: list[Any], labels: pd.Series | None, findings: Findings
    ) -> pd.Series | None:
        """The numbers of the target in JSON rows; None where no row has one."""
        if not _is_number(self.target):
            return None
        if labels is not None:
            return labels
        if not any(self.target.name in row for row in rows):
            return None
        unread = Findings()
        values = self._given.from_cells(rows, unread)
        self._note_unread(unread, findings)
        return self._labels(values)

    def _values_of_table(
        self, table: pa.Table, labels: pd.Series | None, findings: Findings, place: Place
    ) -> pd.Series | None:
        """The numbers of the target in a table; None where no row has one."""
        if not _is_number(self.target) or self.target.name not in table.column_names:
            return None
        if labels is not None:
            return labels
        unread = Findings()
        values = self._given.from_table(table, unread, place)
        self._note_unread(unread, findings)
        return self._labels(values)

    def _note_unread(self, unread: Findings, findings: Findings) -> None:
        """Note that values of the target are no numbers; other rows may have some."""
        if unread.faults:
            findings.note(f"Some values of '{self.target.name}' are no numbers: they are unknown.")

    def _labels(self, answers: Any) -> pd.Series:
        import pandas as pd

        return pd.Series(answers, name=self.target.name)

    def _note_unknown(self, given: Iterable[str], where: str, findings: Findings) -> None:
        """Note columns that are not known; inputs that only have other names are a fault."""
        if self.known.issuperset(given):
            return
        meant = respelt(given, [*self.names, self.target.name])
        if not set(self.names).isdisjoint(meant.values()):
            findings.misspelt_columns(meant, where)
            given = filterfalse(meant.__contains__, given)
        findings.unknown = list(filterfalse(self.known.__contains__, given))
        for name in findings.unknown:
            said = _why_unused(name, findings.past_only)
            findings.note(f"{said} Did you mean '{meant[name]}'?" if name in meant else said)

    def _are_all_labelled(self, given: int, rows: int, findings: Findings) -> bool:
        """Whether all rows have an answer; of some alone there is a note."""
        if 0 < given < rows:
            without = f"{rows - given} of {rows} rows have no '{self.target.name}'"
            findings.note(f"{without}: quality is not computed. Send the others alone to see it.")
        return given == rows


def _why_unused(name: str, past_only: Collection[str]) -> str:
    """What is said of a column that is no input."""
    if name == KEY:
        return f"'{KEY}' is no input: it names rows, where requests are kept."
    if name in past_only:
        return (
            f"'{name}' is not used: a forecast looks at what it was before, and nobody has to know "
            "it ahead. Newer values of it come with rows that are fed (easeml app feed ID FILE), "
            "or with the rows of: easeml forecast ID --newer FILE."
        )
    return f"The model knows no column {shown(name)}; it is not used."


def _where_given(target: TextColumn | CellColumn) -> TextColumn | CellColumn:
    """Return the column of a target that not every row has."""
    if isinstance(target, CellColumn):
        return target
    return type(target)(replace(target.node, optional=True), target.schema, is_answer=True)


def _is_series(column: TextColumn | CellColumn) -> bool:
    is_tensor = isinstance(column, CellColumn) and column.kind == "tensor"
    return is_tensor and len(column.node.dim) == 2


def _is_number(column: TextColumn | CellColumn) -> bool:
    return isinstance(column, TextColumn) and column.kind == "number"


def _takes_plain_numbers(column: TextColumn | CellColumn) -> bool:
    return isinstance(column, TextColumn) and column.takes_any_float


def _json_rows(body: bytes, loads: Callable[[bytes], Any]) -> list[Any]:
    """The rows of a JSON body, at least one."""
    said = "the body is not JSON: {error}."
    with refusing((ValueError, RecursionError), said, where="", remedy=_FORM):
        document = loads(body)
    rows = document.get("rows") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise DatasetError("there is no list of rows.", where="rows", remedy=_FORM)
    if not rows:
        raise DatasetError("there is no row.", where="rows", remedy=_FORM)
    return rows


def _columns(schema: Schema, *, is_answer: bool = False) -> list[TextColumn | CellColumn]:
    """How the columns of a schema are read; a graph is of all its nodes with instances."""
    made: list[TextColumn | CellColumn] = []
    for name, kind in kinds_of(schema).items():
        node = node_of(schema, name)
        if node.labels:
            made.append(LabelColumn(name, kind, node, schema))
        elif kind in CELLS:
            made.append(CellColumn(name, kind, node, schema))
        else:
            made.append(text_column(node, schema, is_answer=is_answer))
    return made
