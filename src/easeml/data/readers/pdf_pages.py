"""Tables and text of a PDF, whose letters and lines pdfplumber tells with their places."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pdfplumber
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfplumber.page import Page
from pdfplumber.pdf import PDF
from pdfplumber.utils.exceptions import PdfminerException

from easeml.data.errors import DatasetError, refusing
from easeml.data.readers.found_tables import MOST_CELLS, Document, FoundTable, TextBlock
from easeml.data.readers.pdf_limits import REMEDY, check_marks, check_size, refusal
from easeml.data.readers.pdf_tables import PlacedTable, paragraphs, tables_on
from easeml.data.readers.source import Source

_MOST_PAGES = 500
_SAME = 3.0  # points by which columns that go on may differ


def pdf_document(source: Source) -> Document:
    """Return the tables of a PDF, page after page from above, and its text.

    A table that goes on at the top of the next page is one; names that are repeated there are left
    out.

    Raises:
        DatasetError: naming the page, for a file that is damaged, locked or too large, or would
            take very much memory.
    """
    data = source.read()
    check_size(data, source.name)
    tables: list[tuple[int, PlacedTable]] = []
    blocks: list[TextBlock] = []
    cells = 0
    with _opened(data, source.name) as document:
        for number, page in enumerate(document.pages, 1):
            where = f"{source.name}, page {number}"
            with _reading("the page", where):
                check_marks(page, where)
                page = _turned(page)  # noqa: PLW2901 the page as it is read
                found = tables_on(page)
                texts = paragraphs(page)
                page.close()
            blocks += [TextBlock(str(number), text) for text in texts]
            tables += [(number, table) for table in found]
            cells += sum(len(row) for table in found for row in table.rows)
            if cells > MOST_CELLS:
                raise refusal(f"it has more than {MOST_CELLS:,} cells.", where)
    return Document(_joined(tables), blocks, "page")


@contextmanager
def _opened(data: bytes, name: str) -> Iterator[PDF]:
    """Open a PDF whose pages can be read. Raises DatasetError."""
    with _reading("the PDF", name):
        try:
            document = pdfplumber.open(io.BytesIO(data))
        except PdfminerException as error:
            raise _locked_or_damaged(error, name) from error
        count = len(document.pages)
    if count > _MOST_PAGES:
        raise refusal(
            f"it has {count:,} pages, more than {_MOST_PAGES}.",
            name,
            "Send the pages with the table, in several files if they are many.",
        )
    with document:
        yield document


def _locked_or_damaged(error: Exception, name: str) -> DatasetError:
    if any(isinstance(each, PDFPasswordIncorrect) for each in error.args):
        remedy = "Save it without a password and send that."
        return refusal("the PDF is locked by a password.", name, remedy)
    return refusal(f"the PDF cannot be read ({str(error)[:200] or 'it is damaged'}).", name)


@contextmanager
def _reading(what: str, where: str) -> Iterator[None]:
    """Turn what the library raises, of very many kinds, into a refusal."""
    too_deep = f"{what} has parts within parts without end."
    too_large = f"{what} takes more memory than there is for reading."
    with (
        refusing(Exception, f"{what} cannot be read ({{error}}).", where, REMEDY, longest=200),
        refusing(RecursionError, too_deep, where, REMEDY),
        refusing(MemoryError, too_large, where, REMEDY),
    ):
        yield


def _turned(page: Page) -> Page:
    """Return a page as people turn it to read it: most letters stand upright.

    A wide table is often written from the foot to the head of a page.
    """
    turns = Counter(_turn(letter["matrix"]) for letter in page.chars)
    turn = max(turns, key=turns.__getitem__, default=0)
    if not turn:
        return page
    told = page.page_obj
    told.rotate = told.attrs["Rotate"] = (page.rotation + turn) % 360
    page.close()
    return Page(page.pdf, told, page.page_number)


def _turn(matrix: tuple[float, ...]) -> int:
    """Return by how many degrees a page has to be turned, clockwise, for a letter to stand."""
    along, up, *_ = matrix
    quarters = round(math.atan2(up, along) / (math.pi / 2))
    return 90 * quarters % 360


def _joined(found: list[tuple[int, PlacedTable]]) -> list[FoundTable]:
    """Return the tables of all pages, those that go on from one page to the next put together."""
    tables: list[FoundTable] = []
    last: tuple[int, PlacedTable] | None = None
    for number, table in found:
        if last is not None and _goes_on(last, (number, table)):
            rows = tables[-1].rows
            names = tables[-1].names or 1
            repeats = table.rows[:names] == rows[:names]
            rows += table.rows[names:] if repeats else table.rows
        else:
            begun = FoundTable(
                rows=list(table.rows),
                place=f"page {number}",
                names=table.names,
            )
            tables.append(begun)
        last = number, table
    return tables


def _goes_on(above: tuple[int, PlacedTable], below: tuple[int, PlacedTable]) -> bool:
    """Tell whether a table is the rest of the one before it: on the next page, in the same columns."""
    (page, first), (next_page, second) = above, below
    if next_page != page + 1 or len(first.columns) != len(second.columns):
        return False
    if not (first.is_last and second.is_first):
        return False
    pairs: Any = zip(first.columns, second.columns, strict=True)
    return all(abs(left - right) <= _SAME for left, right in pairs) or (
        first.rows[0] == second.rows[0]
    )
