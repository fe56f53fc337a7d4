"""The rows of a table file, as they are sent to an endpoint: whole, or in parts."""

import codecs
import csv
import io
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from easeml.cli import nameless
from easeml.cli.named_files import reading
from easeml.data import DatasetError, bare_text, is_header
from easeml.decimals import MARK, most_frequent_delimiter
from easeml.errors import InvalidInput

_JSON = {".jsonl", ".ndjson", ".json"}
_TEXT = {".csv", ".tsv", ".txt", ".tab", ""}
_JUDGED = 200  # rows by which it is told whether the first holds names


@dataclass(frozen=True)
class SentRows:
    """A table, and how it is sent: ``content`` as the argument ``sent_as`` of ``Client.predict``.

    ``divided`` returns parts of the content, each of at most so many rows, that can be sent alone.
    ``may_lack_names``: the first row may be one of the rows. ``note``: on what was left out.
    ``mark``: what a file of them begins with.
    """

    header: list[str]
    cells: list[list[Any]]
    content: Any
    sent_as: str
    divided: Callable[[Any, int], list[Any]]
    delimiter: str = ","
    may_lack_names: bool = False
    note: str = ""
    mark: str = ""

    def with_first_row(self) -> "SentRows":
        """Return the table whose columns have no names: what stood for them is a row."""
        names = nameless.numbered(self.header)
        return replace(self, header=names, cells=[self.header, *self.cells])


def rows_of_table(file: Path) -> SentRows:
    """Return the rows of a table file. Raises ``InvalidInput`` where it is none."""
    suffix = file.suffix.lower()
    if suffix in _JSON:
        return _of_json(file)
    body = read_bytes(file) if suffix in _TEXT else _as_csv(file)
    return _of_text(body, str(file))


def _of_json(file: Path) -> SentRows:
    rows = read_json(read_bytes(file), str(file))
    header, cells = _cells_of(rows)
    return SentRows(header, cells, rows, "rows", _parts_of)


def _of_text(content: bytes, where: str) -> SentRows:
    body, note, mark = _bare(content, where)
    header, cells = read_csv(body, where)
    if not is_header(header, cells[:_JUDGED]):
        # Each part needs the names that the service gives to columns without one.
        body = nameless.numbers_of(header, delimiter_of(body)) + _decoded(body).encode()
        header, cells = read_csv(body, where)
    delimiter = delimiter_of(body)
    may_lack_names = nameless.has_number(header)
    return SentRows(header, cells, body, "csv", split_csv, delimiter, may_lack_names, note, mark)


def _bare(content: bytes, where: str) -> tuple[bytes, str, str]:
    """Return a text table in UTF-8 without what stands around it, as the service reads it.

    The second is a sentence about what was left out below; the third what a file of the rows begins
    with. What is no table is left as it is: that is told later.
    """
    with suppress(DatasetError):
        bare = bare_text(content, where)
        return bare.text.encode(), bare.left_out, "" if bare.is_utf_8 else MARK
    return content, "", ""


def _parts_of(rows: list[dict[str, Any]], rows_at_once: int) -> list[list[dict[str, Any]]]:
    starts = range(0, max(1, len(rows)), rows_at_once)
    return [rows[start : start + rows_at_once] for start in starts]


def split_csv(body: bytes, rows_at_once: int) -> list[bytes]:
    """Return a CSV file as several, each with the header and at most ``rows_at_once`` rows.

    Rows keep their text as it is: what is quoted stays quoted.
    """
    lines = io.StringIO(_decoded(body), newline="").readlines()
    reader = csv.reader(lines, delimiter=delimiter_of(body))
    next(reader)
    header_end = reader.line_num
    header = "".join(lines[:header_end])
    parts = []
    start = header_end
    for row, _ in enumerate(reader, start=1):
        if row % rows_at_once == 0:
            parts.append(header + "".join(lines[start : reader.line_num]))
            start = reader.line_num
    if start < len(lines):
        parts.append(header + "".join(lines[start:]))
    return list(map(str.encode, parts))


def read_csv(body: bytes, where: str) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a CSV file; empty lines are no rows.

    Raises:
        InvalidInput: for an empty file, or one that is no CSV.
    """
    # The service takes longer cells than Python does by default.
    csv.field_size_limit(max(len(body), csv.field_size_limit()))
    text = io.StringIO(_decoded(body), newline="")
    try:
        rows = list(filter(None, csv.reader(text, delimiter=delimiter_of(body))))
    except csv.Error as error:
        raise InvalidInput(
            f"This is not CSV: {error}.", where=where, remedy="Check quotes and line ends."
        ) from error
    if not rows:
        raise InvalidInput(
            "The file is empty.", where=where, remedy="Give a header and at least one row."
        )
    return rows[0], rows[1:]


def delimiter_of(body: bytes) -> str:
    """Return the delimiter that is most frequent in the header."""
    return most_frequent_delimiter(_decoded(body).lstrip())


def read_json(body: bytes, where: str) -> list[dict[str, Any]]:
    """Return the rows of a JSON file: a list of objects, ``{"rows": [...]}``, or one object a line.

    Raises InvalidInput naming the line, or the row, that is none.
    """
    try:
        document = json.loads(_decoded(body))
    except ValueError:
        return _read_json_lines(body, where)
    rows = document
    if isinstance(document, dict):
        rows = document.get("rows", [document])
    if not isinstance(rows, list):
        raise InvalidInput(
            "There is no list of rows.", where=where, remedy='Write [{"age": 3}, ...].'
        )
    for number, row in enumerate(rows):
        _check_object(row, f"{where}, row {number}", 'Say {"age": 3}.')
    return rows


def _read_json_lines(body: bytes, where: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_decoded(body).splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"This is not JSON: {error}.", where=place) from error
        _check_object(row, place, 'Write one object a line, say {"age": 3}.')
        rows.append(row)
    return rows


def _check_object(row: Any, where: str, remedy: str) -> None:
    if not isinstance(row, dict):
        raise InvalidInput("This is not a JSON object.", where=where, remedy=remedy)


def _as_csv(file: Path) -> bytes:
    """Return a table of another format as CSV. Raises InvalidInput where it is none."""
    from easeml.data import read_table

    table = read_table(file)
    columns = [column.to_pylist() for column in table.columns]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode()


def _cells_of(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return the names of all columns, in the order in which they come up, and the cells."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    header = list(names)
    return header, [_cells_under(header, row) for row in rows]


def _cells_under(header: list[str], row: dict[str, Any]) -> list[Any]:
    return [row.get(name, "") for name in header]


def _decoded(body: bytes) -> str:
    """Return a file's text.

    UTF-16 where it begins with its mark, UTF-8, or Latin-1, which fits any bytes.
    """
    try:
        if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return body.decode("utf-16")
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("latin-1")


def read_bytes(file: Path) -> bytes:
    """Return what a file holds. Raises ``InvalidInput``."""
    with reading(file):
        return file.read_bytes()
