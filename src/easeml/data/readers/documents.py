"""Documents: tables in the midst of text, of which one is read, or the text itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, first_of
from easeml.data.readers.found_tables import Document, FoundTable, one_line
from easeml.data.readers.header import is_header
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import check_names, no_row

if TYPE_CHECKING:
    import pyarrow as pa

DOCUMENTS = ("pdf", "html")
"""Formats of documents."""
TEXT = 0
"""The number that stands for the text of a document, in place of a table's."""
_NO_TEXT = {
    "page": "Pictures of pages have to be read by a program for text recognition first.",
    "section": "Save the page as a browser shows it, or its table as CSV.",
}
_LISTED = 5  # tables that a note names
_LOOKED_AT = 100  # rows by which is judged whether the first one holds names


def read_html(source: Source) -> pa.Table:
    """Read a table of an HTML page, or its text (``table_of``)."""
    from easeml.data.readers.html_pages import html_document

    return table_of(html_document(source), source)


def read_pdf(source: Source) -> pa.Table:
    """Read a table of a PDF, or its text (``table_of``)."""
    return table_of(_pdf_document(source), source)


def _pdf_document(source: Source) -> Document:
    """Read a PDF. Raises DatasetError, also where the library for it is not installed."""
    try:
        from easeml.data.readers.pdf_pages import pdf_document
    except ImportError as error:
        raise DatasetError(
            "PDFs need the library pdfplumber, which is not installed.",
            where=source.name,
            remedy="Ask the provider to install easeml[documents], or save the table as CSV.",
        ) from error
    return pdf_document(source)


def text_of(source: Source, form: str) -> str:
    """Return all text of a document as one line; ``form``: one of ``DOCUMENTS``."""
    from easeml.data.readers.html_pages import html_document

    document = _pdf_document(source) if form == "pdf" else html_document(source)
    return one_line([block.text for block in document.blocks])


def table_of(document: Document, source: Source) -> pa.Table:
    """Return the table that ``source.table`` names, from 1; by default the largest one.

    0, or a document without tables: its text, a row a block. The ``note`` says what else there is.

    Raises:
        DatasetError: where there is no table of this number, or no text.
    """
    tables = [table for table in document.tables if len(table.rows) > 1 and table.width > 1]
    number = source.table
    if number is None:
        sizes = [table.size for table in tables]
        number = 1 + sizes.index(max(sizes)) if tables else TEXT
    if number == TEXT:
        return _text_table(document, source.name).replace_schema_metadata(_note(tables, TEXT))
    if not 1 <= number <= len(tables):
        there = f"Choose one of them: {_listed(tables)}."
        raise DatasetError(
            f"there is no table {number}: the document has {_counted(len(tables))}.",
            where=source.name,
            remedy=there if tables else "Read its text: 0.",
        )
    read = _arrow_table(tables[number - 1], source)
    return read.replace_schema_metadata(_note(tables, number))


def _note(tables: list[FoundTable], number: int) -> dict[str | bytes, str]:
    """Return what is to be said of the choice, as metadata; nothing of an only table."""
    if len(tables) == number == 1:
        return {}
    what = f"table {number}" if number else "its text"
    said = f"The document has {_counted(len(tables))}; {what} was read."
    if tables:
        said += f" There are {_listed(tables)}; another one is chosen by its number, 0 is the text."
    return {"note": said, "several": "tables"} if tables else {"note": said}


def _counted(count: int) -> str:
    return {0: "no table", 1: "one table"}.get(count, f"{count} tables")


def _listed(tables: Sequence[FoundTable]) -> str:
    told = [f"{number} ({_told(table)})" for number, table in enumerate(tables, 1)]
    return first_of(told, _LISTED)


def _told(table: FoundTable) -> str:
    names = first_of([cell[:20] for cell in table.rows[0]], 3, ", ...")
    return f"{table.place}, {len(table.rows)} rows: {names}"


def _arrow_table(table: FoundTable, source: Source) -> pa.Table:
    import pyarrow as pa

    where = f"{source.name}, {table.place}"
    columns = list(map(list, zip_longest(*table.rows, fillvalue="")))
    names = _name_rows(table, source.header)
    if names == len(table.rows):
        raise no_row(where)
    heads = [_name(cells[:names], place) for place, cells in enumerate(columns, 1)]
    arrays = [pa.array(cells[names:], pa.string()) for cells in columns]
    return pa.table(arrays, check_names(_unlike(heads), where))


def _name_rows(table: FoundTable, header: bool | None) -> int:
    """Return how many rows hold the names of the columns."""
    if header is False:
        return 0
    if table.names:
        return table.names
    below = table.rows[1:_LOOKED_AT]
    return int(header is True or is_header(table.rows[0], below))


def _name(cells: Sequence[str], place: int) -> str:
    """Return the name of a column whose names stand in several rows, or over several columns."""
    different = list(dict.fromkeys(filter(None, cells)))
    return " ".join(different) or f"column {place}"


def _unlike(names: Sequence[str]) -> list[str]:
    """Return names of which none occurs twice: a document cannot be mended as a table can."""
    taken: dict[str, None] = {}
    for name in names:
        free = name
        number = 2
        while free in taken:
            free = f"{name} {number}"
            number += 1
        taken[free] = None
    return list(taken)


def _text_table(document: Document, where: str) -> pa.Table:
    import pyarrow as pa

    if not document.blocks:
        raise DatasetError(
            "there is neither a table nor text in it.",
            where=where,
            remedy=_NO_TEXT[document.places],
        )
    places = pa.array([block.place for block in document.blocks], pa.string())
    texts = pa.array([block.text for block in document.blocks], pa.string())
    text = pa.field("text", pa.string(), metadata={"type": "text"})
    schema = pa.schema([pa.field(document.places, pa.string()), text])
    return pa.table([places, texts], schema=schema)
