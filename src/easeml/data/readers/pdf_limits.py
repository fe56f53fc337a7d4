"""What is refused of a PDF before much of it is held: bombs, and pages with very many marks."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pdfminer.pdfdevice import PDFDevice
from pdfminer.pdfinterp import PDFPageInterpreter

from easeml.data.errors import DatasetError

if TYPE_CHECKING:
    from pdfplumber.page import Page

LARGEST = 128 << 20
"""Bytes of a file."""
_UNPACKED = 64 << 20  # bytes of one of its streams
_MOST_MARKS = 40_000  # letters and lines of a page
_STREAM = re.compile(rb"stream\r?\n")
_PIECE = 1 << 20
_DEEPEST = 3  # times that a stream may be packed
REMEDY = "Save its table as CSV and send that."


def refusal(message: str, where: str, remedy: str = REMEDY) -> DatasetError:
    """Return the error of a PDF that is not read."""
    return DatasetError(message, where=where, remedy=remedy)


def check_size(data: bytes, name: str) -> None:
    """Raise ``DatasetError`` for a file that is large, or of which a part unpacks to very much."""
    if len(data) > LARGEST:
        raise refusal(f"the PDF is larger than {LARGEST >> 20} MiB.", name)
    for found in _STREAM.finditer(data):
        if _unpacks_to_much(memoryview(data)[found.end() :]):
            said = f"a part of the PDF unpacks to more than {_UNPACKED >> 20} MiB."
            raise refusal(said, f"{name}, byte {found.start()}")


def check_marks(page: Page, where: str) -> None:
    """Raise ``DatasetError`` for a page with more letters and lines than are held.

    The page is drawn on a device that counts only: to hold a letter takes a kilobyte.
    """
    manager = page.pdf.rsrcmgr
    PDFPageInterpreter(manager, _Counter(manager, where)).process_page(page.page_obj)


class _Counter(PDFDevice):
    """Counts what is drawn."""

    def __init__(self, manager: Any, where: str):
        super().__init__(manager)
        self._where = where
        self._marks = 0

    def paint_path(self, *told: Any, **named: Any) -> None:
        """Count the parts of a path, the last argument."""
        path = named.get("path", told[-1] if told else ())
        self._count(len(path))

    def render_string(
        self, textstate: Any, seq: Iterable[Any], ncs: Any, graphicstate: Any
    ) -> None:
        """Count the letters of a string, which comes in parts with numbers between them."""
        self._count(sum(len(part) for part in seq if isinstance(part, bytes)))

    def begin_figure(self, name: Any, bbox: Any, matrix: Any) -> None:
        """Count a figure, which may be empty and drawn very often."""
        self._count(1)

    def _count(self, marks: int) -> None:
        self._marks += marks
        if self._marks > _MOST_MARKS:
            said = f"it has more than {_MOST_MARKS:,} letters and lines, too many for a page."
            raise refusal(said, self._where)


def _unpacks_to_much(packed: bytes | memoryview) -> bool:
    """Tell whether bytes that are packed by zlib, if they are, become more than is held."""
    for _ in range(_DEEPEST):
        unpacked = _unpacked(packed)
        if len(unpacked) > _UNPACKED:
            return True
        packed = unpacked
    return False


def _unpacked(packed: bytes | memoryview) -> bytes:
    """Return what bytes unpack to, as far as they do, and hardly more than ``_UNPACKED`` of it."""
    unpacker = zlib.decompressobj()
    parts: list[bytes] = []
    size = place = 0
    try:
        while place < len(packed) and not unpacker.eof:
            waiting = bytes(packed[place : place + _PIECE])
            place += _PIECE
            while waiting and size <= _UNPACKED:
                parts.append(unpacker.decompress(waiting, _PIECE))
                size += len(parts[-1])
                waiting = unpacker.unconsumed_tail
            if size > _UNPACKED:
                break
    except zlib.error:
        pass  # the rest is damaged, or all of it is not packed
    return b"".join(parts)
