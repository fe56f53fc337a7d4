"""How far a sheet of a binary workbook (.xlsb) reaches, before a library holds all its cells.

A part is a row of records: their kind and their length in one to two, and one to four bytes of
seven bits each, then the record ([MS-XLSB] 2.1.4). A row's record (BrtRowHdr, 2.4.743) begins with
the number of the row, that of a cell (2.5.9) with the number of its column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

_ROW = 0
_PLACED = range(12)  # a row, and its cells: BrtCellBlank to BrtFmlaError
_MORE = 0x80  # another byte of the number follows
_LONGEST = 1 << 24  # bytes of a record; no cell has as many


def extents(part: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield how many rows and columns a sheet has, as far as it was read: whenever there are more.

    ``part``: the stream of ``xl/worksheets/sheetN.bin``. What is no record ends it.
    """
    rows = columns = 0
    for kind, place in _places(part):
        if kind == _ROW:
            rows = max(rows, place + 1)
        else:
            columns = max(columns, place + 1)
        yield rows, columns


def _places(part: IO[bytes]) -> Iterator[tuple[int, int]]:
    """The kind of each record of a row or cell, and the number of its row or column."""
    while (kind := _number(part, 2)) >= 0:
        size = _number(part, 4)
        if not 0 <= size <= _LONGEST:
            return
        record = part.read(size)
        if len(record) < min(size, 4):
            return
        if kind in _PLACED:
            yield kind, int.from_bytes(record[:4], "little")


def _number(part: IO[bytes], most: int) -> int:
    """Return a number of at most so many bytes, seven bits each, the lowest first; -1 at the end."""
    found = 0
    for place in range(most):
        byte = part.read(1)
        if not byte:
            return -1
        found |= (byte[0] & ~_MORE) << (7 * place)
        if not byte[0] & _MORE:
            break
    return found
