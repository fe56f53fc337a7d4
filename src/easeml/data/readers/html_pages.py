"""Tables and text of an HTML page.

The parser of the standard library tells tags one after another and builds no tree, so that depth
costs nothing.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import compress
from operator import attrgetter, not_

from easeml.data.errors import DatasetError
from easeml.data.readers.encoding import decoded
from easeml.data.readers.found_tables import MOST_CELLS, Document, FoundTable, TextBlock, one_line
from easeml.data.readers.source import Source

_LARGEST = 64 << 20  # bytes of a page
_DEEPEST = 50  # tables within tables
_WIDEST, _HIGHEST = 1000, 65_534  # that a cell may span, as in browsers
_SILENT = frozenset({"script", "style", "template", "noscript", "svg", "title", "select"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | {
    "p", "div", "li", "dt", "dd", "pre", "blockquote", "section", "article", "header", "footer",
    "main", "nav", "aside", "ul", "ol", "dl", "figure", "figcaption", "hr", "body", "form",
}  # fmt: skip
_DECLARED = re.compile(
    rb"(?i)<meta\b[^>]*\bcharset\s*=\s*[\"']?\s*"
    rb"((?:iso-8859|windows|koi8)-\w+|shift_jis|euc-\w+|big5|gb\w+)"
)
_BEGINNING = 4096  # bytes in which a page names its encoding
_Attributes = list[tuple[str, str | None]]


def html_document(source: Source) -> Document:
    """Return the tables of a page, in the order in which they begin, and its text.

    A cell over several columns or rows stands in each of them. Rows of a foot, one cell over all
    columns, and names that are repeated are no rows of the table. Raises DatasetError for a page
    that is too large, and for tables within tables that are too deep.
    """
    data = source.read()
    if len(data) > _LARGEST:
        raise _too_much(f"the page is larger than {_LARGEST >> 20} MiB.", source.name)
    page = _Page(source.name)
    page.feed(_closed(_text(data, source.name)))
    page.close()
    return page.ended()


def _text(data: bytes, name: str) -> str:
    """Return a page as text: in the encoding that it names, where it is not one of Unicode."""
    text, encoding = decoded(data, name)
    declared = _DECLARED.search(data[:_BEGINNING])
    if declared is None or encoding.startswith("utf"):
        return text
    with suppress(LookupError, UnicodeDecodeError):
        return data.decode(declared[1].decode())
    return text


def _closed(text: str) -> str:
    """Return a page without what is begun at its end and not closed: a comment, a tag.

    The parser would look for the end again and again, from each place where one could begin.
    """
    comment = text.find("<!--", text.rfind("-->") + 1)
    if comment >= 0:
        text = text[:comment]
    tag = text.find("<", text.rfind(">") + 1)
    return text if tag < 0 else text[:tag]


def _too_much(message: str, where: str) -> DatasetError:
    return DatasetError(message, where=where, remedy="Save its table as CSV.")


@dataclass
class _Cell:
    """``columns``, ``rows``: how many it spans. ``is_name``: it is marked as a name (``th``)."""

    columns: int
    rows: int
    is_name: bool
    texts: list[str] = field(default_factory=list)


@dataclass
class _OpenTable:
    """A table that is being read; the last cell of the last row is open if ``in_cell``."""

    place: str
    in_cell: bool = False
    section: str = ""  # thead, tbody, tfoot
    in_row: bool = False
    rows: list[list[_Cell]] = field(default_factory=list)
    names: int = 0
    """How many rows from the first hold nothing but names."""

    def begin_row(self) -> None:
        """Begin a row; the one before it ends."""
        self.end_row()
        self.rows.append([])
        self.in_row = True

    def begin_cell(self, cell: _Cell) -> None:
        """Begin a cell, in a row of its own where none is open; the one before it ends."""
        if not self.in_row:
            self.begin_row()
        self.rows[-1].append(cell)
        self.in_cell = True

    def end_row(self) -> str:
        """End the row that is open, if one is; return its text."""
        self.in_cell = False
        if not self.in_row:
            return ""
        self.in_row = False
        cells = self.rows[-1]
        if not cells:
            del self.rows[-1]
            return ""
        are_names = self.section == "thead" or all(map(attrgetter("is_name"), cells))
        if are_names and self.section != "tfoot" and self.names == len(self.rows) - 1:
            self.names += 1
        if self.section == "tfoot":
            del self.rows[-1]
        texts = map(attrgetter("texts"), cells)
        return " | ".join(map(one_line, texts))

    def add(self, text: str) -> bool:
        """Add text to the cell that is open; tells whether one is."""
        if self.in_cell:
            self.rows[-1][-1].texts.append(text)
        return self.in_cell


def _found(table: _OpenTable, where: str) -> FoundTable:
    """Return a table that was read, without what is said of it in cells over all of its columns."""
    widths = [sum(cell.columns for cell in cells) for cells in table.rows if len(cells) > 1]
    width = max(widths, default=_WIDEST + 1)
    remarks = [len(cells) == 1 and cells[0].columns >= width for cells in table.rows]
    kept = list(compress(table.rows, map(not_, remarks)))
    rows = _laid_out(kept, where)
    names = table.names - sum(remarks[: table.names])
    heads = rows[:names]
    body = [row for row in rows[names:] if row not in heads]
    return FoundTable(
        rows=[*heads, *body],
        place=table.place,
        names=names or None,
    )


def _laid_out(rows: list[list[_Cell]], where: str) -> list[list[str]]:
    """Return the texts of a table by row and column."""
    made: list[list[str]] = []
    reaching: dict[int, tuple[int, str]] = {}  # by column: into how many more rows, and what
    held = 0
    for cells in rows:
        row: list[str] = []
        next_reaching: dict[int, tuple[int, str]] = {}
        waiting = list(reversed(cells))
        while waiting or len(row) in reaching:
            if len(row) in reaching:
                spanned, text, width = *reaching[len(row)], 1
            else:
                cell = waiting.pop()
                spanned, text, width = cell.rows, one_line(cell.texts), cell.columns
            for _ in range(width):
                if spanned > 1:
                    next_reaching[len(row)] = (spanned - 1, text)
                row.append(text)
        reaching = next_reaching
        made.append(row)
        held += len(row)
        if held > MOST_CELLS:
            raise _too_much(f"a table has more than {MOST_CELLS:,} cells.", where)
    return made


class _Page(HTMLParser):
    """What is read of a page: its tables, those within others too, and its text in blocks."""

    def __init__(self, name: str):
        super().__init__()
        self._name = name
        self._tables: list[_OpenTable] = []  # in the order in which they begin
        self._open: list[_OpenTable] = []  # one within the other
        self._blocks: list[TextBlock] = []
        self._texts: list[str] = []  # of the block that is being read
        self._heading = ""
        self._silent = ""  # the tag whose content is not shown

    def ended(self) -> Document:
        """Return what was read, once all was fed."""
        while self._open:
            self._end_table()
        self._end_block()
        tables = []
        for table in self._tables:
            tables.append(_found(table, f"{self._name}, {table.place}"))
        return Document(tables, self._blocks, "section")

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        """Take in that an element begins."""
        if self._silent:
            return
        if tag in _SILENT or _is_reference(tag, attrs):
            self._silent = tag
        elif tag == "table":
            self._begin_table()
        elif self._open:
            self._begin_in_table(self._open[-1], tag, attrs)
        elif tag in _BLOCKS:
            self._end_block()

    def handle_startendtag(self, tag: str, attrs: _Attributes) -> None:
        """Take in an element without content, which opens nothing."""
        if tag not in _SILENT:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Take in that an element ends."""
        if self._silent:
            if tag == self._silent:
                self._silent = ""
        elif tag == "table" and self._open:
            self._end_table()
        elif self._open:
            self._end_in_table(self._open[-1], tag)
        elif tag in _BLOCKS:
            self._end_block(is_heading=tag in _HEADINGS)

    def handle_data(self, data: str) -> None:
        """Take in text."""
        if self._silent:
            return
        if not self._open:
            self._texts.append(data)
        elif not self._open[-1].add(data):
            self._texts.append(data)  # a caption, or text that stands between rows

    def _begin_table(self) -> None:
        self._end_block()
        if len(self._open) == _DEEPEST:
            said = f"more than {_DEEPEST} tables are within each other."
            raise _too_much(said, f"{self._name}, line {self.getpos()[0]}")
        table = _OpenTable(f"line {self.getpos()[0]}")
        self._tables.append(table)
        self._open.append(table)

    def _end_table(self) -> None:
        table = self._open.pop()
        self._add_block(table.end_row())
        self._end_block()

    def _begin_in_table(self, table: _OpenTable, tag: str, attrs: _Attributes) -> None:
        if tag in ("td", "th"):
            self._end_block()
            table.begin_cell(_cell(tag, dict(attrs)))
        elif tag == "tr":
            self._add_block(table.end_row())
            table.begin_row()
        elif tag in ("thead", "tbody", "tfoot"):
            self._add_block(table.end_row())
            table.section = tag
        elif tag in _BLOCKS or tag == "br":
            table.add(" ")

    def _end_in_table(self, table: _OpenTable, tag: str) -> None:
        if tag in ("td", "th"):
            table.in_cell = False
        elif tag in ("tr", "thead", "tbody", "tfoot"):
            self._add_block(table.end_row())
            if tag == table.section:
                table.section = ""
        elif tag == "caption":
            self._end_block()
        elif tag in _BLOCKS:
            table.add(" ")

    def _end_block(self, *, is_heading: bool = False) -> None:
        text = one_line(self._texts)
        self._texts = []
        if is_heading and text:
            self._heading = text
        self._add_block(text)

    def _add_block(self, text: str) -> None:
        if text.strip(" |"):
            self._blocks.append(TextBlock(self._heading, text))


def _is_reference(tag: str, attrs: _Attributes) -> bool:
    """Tell whether an element is the mark of a note, as wikis write it: no part of a value."""
    return tag == "sup" and "reference" in (dict(attrs).get("class") or "").split()


def _cell(tag: str, attributes: dict[str, str | None]) -> _Cell:
    columns = _span(attributes.get("colspan"), _WIDEST)
    rows = _span(attributes.get("rowspan"), _HIGHEST)
    return _Cell(columns, rows, tag == "th")


def _span(given: str | None, most: int) -> int:
    """Return how many columns or rows a cell spans; 1 where that is no number above 0."""
    digits = (given or "").strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return 1
    return min(max(1, int(digits)), most)
