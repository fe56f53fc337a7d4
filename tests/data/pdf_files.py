"""PDFs, written by hand: texts at places, lines, and streams that are packed."""

import zlib
from collections.abc import Container, Iterable, Sequence
from itertools import product

import pandas as pd

ROWS = 45  # on a page
_HEIGHT = 16  # points of a row
_TOP = 780
_WIDTH = 110


def text(x: float, y: float, words: str) -> bytes:
    """Return what writes words; ``y`` is counted from below."""
    plain = words.encode("cp1252").replace(b"\\", b"\\\\")
    plain = plain.replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT /F1 9 Tf %.1f %.1f Td (%s) Tj ET\n" % (x, y, plain)


def line(x: float, y: float, to_x: float, to_y: float) -> bytes:
    """Return what draws a line."""
    return b"%.1f %.1f m %.1f %.1f l S\n" % (x, y, to_x, to_y)


def cells(
    rows: Sequence[Sequence[str]],
    top: float = _TOP,
    *,
    grid: bool,
    merged: Container[tuple[int, int]] = (),
) -> bytes:
    """Return what draws a table, with lines around its cells or none.

    ``merged``: row and column of cells with no line before them.
    """
    drawn = b""
    for place, row in enumerate(rows):
        y = top - place * _HEIGHT
        for column, cell in enumerate(row):
            drawn += text(44 + column * _WIDTH, y, cell)
    if not grid:
        return drawn
    top, right = top + 12, 40 + _WIDTH * len(rows[0])
    for place in range(len(rows) + 1):
        drawn += line(40, top - place * _HEIGHT, right, top - place * _HEIGHT)
    for place, column in product(range(len(rows)), range(len(rows[0]) + 1)):
        if (place, column) not in merged:
            x, y = 40 + column * _WIDTH, top - place * _HEIGHT
            drawn += line(x, y, x, y - _HEIGHT)
    return drawn


def pdf(pages: Iterable[bytes], packing: bytes = b"/FlateDecode", packed: int = 1) -> bytes:
    """Return a PDF of pages that are packed so many times by zlib."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", font]
    kids = []
    for drawn in pages:
        page = drawn
        for _ in range(packed):
            page = zlib.compress(page)
        filters = b" ".join([packing] * packed)
        told = b"<< /Length %d /Filter [%s] >>" % (len(page), filters)
        objects.append(told + b"\nstream\n" + page + b"\nendstream")
        number = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % number
        )
        kids.append(b"%d 0 R" % (number + 1))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    written = b"%PDF-1.4\n"
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    root = b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return written + root + b"startxref\n%d\n%%%%EOF" % start


def pdf_of_frame(frame: pd.DataFrame) -> bytes:
    """Return a table with lines over several pages, each of which begins with the names."""
    rows = frame.astype(object).where(frame.notna(), "").astype(str).to_numpy().tolist()
    names = list(frame.columns)
    parts = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    return pdf(cells([names, *part], grid=True) for part in parts)
