"""The rows of a file for a model, some at a time: what is predicted of long files."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from easeml.data.readers.encoding import OTHER_ENCODINGS
from easeml.data.readers.read import open_table
from easeml.data.readers.sliced import SlicedTable
from easeml.data.readers.source import Source, format_of
from easeml.data.rows.column_table import ColumnTable
from easeml.data.rows.faults import Findings
from easeml.data.rows.nameless import open_numbered
from easeml.data.rows.parsing import Reader, reader_of
from easeml.data.types.comma_files import decimal_among
from easeml.decimals import MARK, CsvStyle
from easeml.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

_JUDGED = 200  # rows by which it is told how numbers are written
_CELLS = 1 << 20  # of a part, at most


class RowParts:
    """The rows of a table file, typed as in training, in parts that are held one at a time.

    They are read as ``parse_rows`` reads a table, except that answers in the target's column are
    not looked at. ``count``: of all rows; ``names``: of the columns of the file.
    """

    def __init__(
        self,
        path: Path,
        filename: str,
        schema_in: Schema,
        schema_out: Schema,
        *,
        fill_absent: bool = False,
        fill_empty: bool = False,
    ):
        """Read through the file once; ``fill_absent``, ``fill_empty``: see ``parse_rows``.

        Raises ``DatasetError`` where it is no table.
        """
        self._reader = reader_of(schema_in, schema_out)
        self._table = _opened(path, filename, self._reader)
        self._findings = Findings(fill_absent=fill_absent, fill_empty=fill_empty)
        target = self._reader.target.name
        if target in self._table.names:
            self._findings.note(f"The answers in '{target}' were not compared with predictions.")
        self.count = self._table.rows
        self.names = self._table.names
        self._first = next(self._table.slices(_JUDGED))

    @property
    def style(self) -> CsvStyle:
        """How the file is written, as a table of text."""
        decimal = decimal_among(self._first, self._first.column_names)
        is_other = self._table.encoding in OTHER_ENCODINGS
        return CsvStyle(self._table.delimiter, decimal, MARK if is_other else "")

    @property
    def notes(self) -> list[str]:
        """What was unusual in the parts that were given."""
        return self._findings.notes

    def parts(self, rows: int) -> Generator[tuple[pa.Table, ColumnTable]]:
        """Each part of at most ``rows`` rows: as the texts of the file, and typed.

        Raises ``DatasetError`` for faults when all parts were looked at: it tells those of the
        whole file, with rows counted from its first. No part is given after one that has a fault.
        """
        size = max(1, min(rows, _CELLS // len(self.names)))
        decimal = self._reader.decimal_of(self._first)
        start = 0
        for part in self._table.slices(size):
            if start == 0:
                self._reader.look_at(part, self._findings)
            typed = self._reader.read_part(part, self._findings, start, decimal)
            start += part.num_rows
            if not self._findings.faults:
                yield part, typed
        self._findings.sort(self._reader.names)
        self._findings.check()


def _opened(path: Path, filename: str, reader: Reader) -> SlicedTable:
    is_text = format_of(Source(filename, path)) == "csv"
    if reader.is_numbered and is_text:
        return open_numbered(path, filename, reader.known, reader.target.name)
    return open_table(path, filename)
