"""Tables on a page of a PDF: where lines are drawn between cells, and where only blanks are.

Lines are pdfplumber's to find. Columns without lines are told as people tell them: rows of texts
with wide gaps between them, which lie below one another.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress, count, pairwise, starmap
from operator import attrgetter
from statistics import median, mode
from typing import TYPE_CHECKING, Any, TypeVar

from easeml.data.readers.found_tables import one_line
from easeml.data.readers.pdf_ruled import lefts, name_rows, ruled_rows

if TYPE_CHECKING:
    from pdfplumber.page import Page
    from pdfplumber.table import Table

_GAP = 0.5  # of the height of letters: a wider blank divides cells
_LINE = 0.5  # of the height of letters by which words of one line may stand apart
_APART = 2.5  # heights of a line between rows of one table
_FEWEST = 5  # lines and columns together of a table without lines around its cells
_LONGEST = 25  # letters of the shortest column, at the median, of such a table: prose is longer
_NEARER = 0.8  # of the usual distance of lines: what is nearer goes on with a cell
_FOOT = 2  # lines above or below a table that are the head or foot of the page
_PARAGRAPH = 1.6  # heights of a line above a new paragraph
_T = TypeVar("_T")
_Word = dict[str, Any]
_Edge = dict[str, Any]


@dataclass(frozen=True)
class PlacedTable:
    """``rows``: texts, as many in each. ``columns``: where each begins, in points. ``names``: how
    many rows from the first hold names; None: it does not say.

    ``is_first``, ``is_last``: there is no other text above it on the page, or below it, but for a
    line of head or foot.
    """

    rows: list[list[str]]
    columns: list[float]
    names: int | None = None
    is_first: bool = False
    is_last: bool = False


@dataclass(frozen=True)
class _Piece:
    """Words with common blanks between them. ``left``, ``right``: in points."""

    left: float
    right: float
    text: str


@dataclass(frozen=True)
class _Line:
    """The pieces of a line of text from the left; ``top``, ``bottom``: in points from above."""

    top: float
    bottom: float
    pieces: list[_Piece]

    @property
    def height(self) -> float:
        return self.bottom - self.top


@dataclass(frozen=True)
class _Region:
    """A table and the part of the page that it takes, in points."""

    top: float
    bottom: float
    rows: list[list[str]]
    columns: list[float]
    names: int | None = None


def tables_on(page: Page) -> list[PlacedTable]:
    """Return the tables on a page, from above."""
    words = page.extract_words()
    lines = _lines(words, page.vertical_edges)
    regions = []
    ruled = [table for table in page.find_tables() if _is_whole(table, words)]
    for table in ruled:
        rows = ruled_rows(table)
        if len(rows) > 1 and len(rows[0]) > 1:
            names = name_rows(table, len(rows))
            _, top, _, bottom = table.bbox
            region = _Region(
                top=top,
                bottom=bottom,
                rows=rows,
                columns=lefts(table),
                names=names,
            )
            regions.append(region)
    boxes = [(region.top, region.bottom) for region in regions]
    free = [line for line in lines if not _is_in(line, boxes)]
    regions += _unruled(free, page)
    regions.sort(key=lambda region: region.top)
    return [_placed(region, lines) for region in regions]


def paragraphs(page: Page) -> list[str]:
    """Return the text of a page: lines that follow each other closely are a paragraph."""
    lines = _lines(page.extract_words(), [])
    begins = [line.top - above.top > _PARAGRAPH * line.height for above, line in pairwise(lines)]
    texts = []
    for together in _divided(lines, begins):
        pieces = chain.from_iterable(map(attrgetter("pieces"), together))
        texts.append(one_line(list(map(attrgetter("text"), pieces))))
    return texts


def _divided(items: Sequence[_T], begins: Iterable[bool]) -> list[list[_T]]:
    """Return items in groups; ``begins``: which of them begin one, from the second on."""
    starts = [0, *compress(count(1), begins), len(items)]
    return [list(items[start:end]) for start, end in pairwise(starts) if start < end]


def _lines(words: Iterable[_Word], drawn: Iterable[_Edge]) -> list[_Line]:
    """Return words as lines, from above, and each line as pieces, from the left.

    ``drawn``: the lines on the page from above to below, which divide pieces.
    """
    rows: list[list[_Word]] = []
    for word in sorted(words, key=lambda word: (word["top"] + word["bottom"], word["x0"])):
        height = word["bottom"] - word["top"]
        if rows and _middle(word) - _middle(rows[-1][0]) <= _LINE * height:
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda word: word["x0"])

    cuts = _cuts(rows, drawn)
    return [_line(row, here) for row, here in zip(rows, cuts, strict=True)]


def _cuts(rows: Sequence[list[_Word]], drawn: Iterable[_Edge]) -> list[list[float]]:
    """Return for each line of words where drawn lines divide it: those with words on both sides."""
    middles = [_middle(row[0]) for row in rows]
    cuts: list[set[float]] = [set() for _ in rows]
    for edge in drawn:
        x = edge["x0"]
        crossed = range(bisect(middles, edge["top"]), bisect(middles, edge["bottom"]))
        begins = [rows[place][0]["x0"] for place in crossed]
        ends = [rows[place][-1]["x1"] for place in crossed]
        if min(begins, default=x) < x < max(ends, default=x):
            for place in crossed:
                cuts[place].add(x)
    return list(map(sorted, cuts))


def _middle(word: _Word) -> float:
    return (word["top"] + word["bottom"]) / 2


def _line(words: Sequence[_Word], cuts: Sequence[float]) -> _Line:
    """Return a line; pieces end at wide blanks or, where lines are drawn (``cuts``), at these."""
    is_apart = partial(_has_cut, cuts) if cuts else _has_gap
    pieces = []
    for group in _divided(words, starmap(is_apart, pairwise(words))):
        text = one_line([word["text"] for word in group])
        pieces.append(_Piece(group[0]["x0"], group[-1]["x1"], text))
    top = min(word["top"] for word in words)
    bottom = max(word["bottom"] for word in words)
    return _Line(top, bottom, pieces)


def _has_cut(cuts: Sequence[float], before: _Word, word: _Word) -> bool:
    return bisect(cuts, before["x0"]) < bisect(cuts, word["x0"])


def _has_gap(before: _Word, word: _Word) -> bool:
    height = word["bottom"] - word["top"]
    return word["x0"] - before["x1"] > _GAP * height


def _is_whole(table: Table, words: Iterable[_Word]) -> bool:
    """Tell whether no words stand beside a table, in the height of its rows.

    Where lines are drawn between some cells only, the outer ones are no cells to the library.
    """
    left, top, right, bottom = table.bbox
    for word in words:
        is_beside = word["x1"] <= left or word["x0"] >= right
        if is_beside and top < _middle(word) < bottom:
            return False
    return True


def _is_in(line: _Line, boxes: Sequence[tuple[float, float]]) -> bool:
    middle = (line.top + line.bottom) / 2
    return any(top <= middle <= bottom for top, bottom in boxes)


def _unruled(lines: Sequence[_Line], page: Page) -> list[_Region]:
    """Return the tables among lines of text that no lines are drawn around."""
    rules = sorted({edge["top"] for edge in page.horizontal_edges})
    regions = []
    for chunk in _chunks(lines):
        region = _region(chunk, rules)
        if region is not None:
            regions.append(region)
    return regions


def _chunks(lines: Sequence[_Line]) -> list[list[_Line]]:
    """Return lines that could be one table: near each other, and none of them prose."""
    chunks: list[list[_Line]] = [[]]
    for line in lines:
        chunk = chunks[-1]
        is_far = bool(chunk) and line.top - chunk[-1].bottom > _APART * (line.bottom - line.top)
        if is_far or not _is_row(line, chunk):
            chunk = []
            chunks.append(chunk)
        if chunk or len(line.pieces) > 1:
            chunk.append(line)
    return chunks


def _is_row(line: _Line, above: Sequence[_Line]) -> bool:
    """Tell whether a line may be part of a table.

    A text alone on its line goes on with a cell above it, unless it is as wide as prose.
    """
    if len(line.pieces) > 1:
        return True
    left = min((each.pieces[0].left for each in above), default=0.0)
    right = max((each.pieces[-1].right for each in above), default=0.0)
    (piece,) = line.pieces
    is_below = left <= piece.left and piece.right <= right
    return is_below and piece.right - piece.left < (right - left) / 2


def _overlapped(piece: _Piece, others: Sequence[_Piece]) -> list[int]:
    """Return the places of the pieces above or below which a piece stands."""
    return [
        place
        for place, other in enumerate(others)
        if piece.left < other.right and other.left < piece.right
    ]


def _region(lines: Sequence[_Line], rules: Sequence[float]) -> _Region | None:
    """Return the table that lines of text make, or None where they make none."""
    if len(lines) < 2:
        return None
    columns = _columns(lines)
    if len(lines) + len(columns) < _FEWEST:
        return None
    by_line = [_cells(line, columns) for line in lines]
    rows = list(map(_row, _grouped(lines, by_line, rules)))
    while rows and _filled(rows[-1]) == 1:
        rows.pop()  # a remark below the table
    if len(rows) < 2 or len(columns) < 2:
        return None
    shortest = min(map(_usual_length, zip(*rows, strict=True)))
    if shortest > _LONGEST:
        return None
    lefts = list(map(attrgetter("left"), columns))
    return _Region(lines[0].top, lines[-1].bottom, rows, lefts)


def _row(lines: Sequence[list[str]]) -> list[str]:
    """Return the row of a table that these lines make, each as its cells."""
    cells = zip(*lines, strict=True)
    return list(map(one_line, cells))


def _usual_length(cells: Sequence[str]) -> float:
    """Return the median number of letters in a column."""
    return median(map(len, cells))


def _filled(row: Sequence[str]) -> int:
    return len(row) - row.count("")


def _columns(lines: Sequence[_Line]) -> list[_Piece]:
    """Return what columns take of the width: that of pieces in lines with the usual number of them.

    Fewer pieces are a line with empty cells, or names over several columns.
    """
    counts = [len(line.pieces) for line in lines if len(line.pieces) > 1]
    usual = mode(counts)
    pieces: list[_Piece] = []
    for line in lines:
        if len(line.pieces) >= usual:
            pieces += line.pieces
    columns: list[_Piece] = []
    for piece in sorted(pieces, key=attrgetter("left")):
        if columns and piece.left <= columns[-1].right:
            last = columns[-1]
            columns[-1] = _Piece(last.left, max(last.right, piece.right), "")
        else:
            columns.append(piece)
    return columns


def _cells(line: _Line, columns: Sequence[_Piece]) -> list[str]:
    """Return the texts of a line by column; one over several columns stands in each of them."""
    cells = [""] * len(columns)
    for piece in line.pieces:
        for column in _overlapped(piece, columns) or [_nearest(piece, columns)]:
            cells[column] = f"{cells[column]} {piece.text}".strip()
    return cells


def _nearest(piece: _Piece, columns: Sequence[_Piece]) -> int:
    middle = (piece.left + piece.right) / 2
    far = [abs(middle - (column.left + column.right) / 2) for column in columns]
    return far.index(min(far))


def _grouped(
    lines: Sequence[_Line], by_line: Sequence[list[str]], rules: Sequence[float]
) -> list[list[list[str]]]:
    """Return the cells of lines by the rows of the table that they belong to.

    Where a line is drawn below each row, it ends there. Where first cells stand in the middle of
    their rows, that tells. Else a line goes on with the row above it
    where its first cell is empty and it is nearer than rows are.
    """
    between = [rule for rule in rules if lines[0].bottom <= rule + 1 <= lines[-1].top]
    begins = []
    centred = _centred([bool(cells[0]) for cells in by_line])
    usual = median([below.top - above.top for above, below in pairwise(lines)])
    for place, (above, line) in enumerate(pairwise(lines), 1):
        if len(between) > 1:
            begins.append(any(above.top < rule < line.bottom for rule in between))
        elif centred:
            begins.append(place in centred)
        else:
            is_far = line.top - above.top > _NEARER * usual
            is_apart = line.top >= above.bottom
            has_first = bool(by_line[place][0])
            begins.append(is_apart and (has_first or is_far))
    return _divided(by_line, begins)


def _centred(has_first: Sequence[bool]) -> set[int]:
    """Return the lines that begin a row, where each row's first cell stands in its middle.

    Then as many lines lie above it, in its row, as below. ``has_first``: which lines have a first
    cell. Empty where this cannot be: then rows do not stand so.
    """
    middles = [place for place, there in enumerate(has_first) if there]
    starts: set[int] = set()
    end = 0
    for middle in middles:
        starts.add(end)
        end = 2 * middle - end + 1
        if end <= middle:
            return set()
    if end == len(has_first) and len(starts) < len(has_first):
        return starts
    return set()


def _placed(region: _Region, lines: Sequence[_Line]) -> PlacedTable:
    above = sum(line.bottom <= region.top for line in lines)
    below = sum(line.top >= region.bottom for line in lines)
    return PlacedTable(
        region.rows,
        region.columns,
        region.names,
        is_first=above <= _FOOT,
        is_last=below <= _FOOT,
    )
