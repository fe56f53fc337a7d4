"""What notebooks and pages show of a relation: static HTML, which needs no script."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from html import escape
from itertools import starmap
from typing import Any

import numpy as np
import pyarrow as pa

from easeml.figures import Figure
from easeml.figures.lineage import doubts
from easeml.relation import Content
from easeml.relation.exchange import likeliest_table

_ROWS, _COLUMNS = 8, 12  # shown at most
_LETTERS = 24  # of a cell in a terminal


def table_html(content: Content) -> str:
    """Return the first rows as they are likeliest; cells in doubt are marked, with how likely."""
    table, rows = likeliest_table(content)
    shown = _first_rows(table)
    likely = _doubts(content)
    names = map(escape, ["", *shown.column_names])
    head = "".join(map("<th>{}</th>".format, names))
    row_html = partial(_row_html, content, likely)
    body = "".join(map(row_html, rows.tolist(), shown.to_pylist()))
    said = f"{len(rows):,} rows, {table.num_columns} columns, {content.blocks.doubts:,} in doubt"
    return (
        f"<table><caption>{said}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _row_html(
    content: Content,
    likely: Mapping[tuple[int, str], float],
    position: int,
    cells: Mapping[str, Any],
) -> str:
    parts = [f"<th>{escape(str(content.row_ids[position]))}</th>"]
    for name, value in cells.items():
        parts.append(_cell(value, likely.get((position, name))))
    return f"<tr>{''.join(parts)}</tr>"


def _first_rows(table: pa.Table) -> pa.Table:
    """Return the cells of a table that are shown."""
    columns = table.column_names[:_COLUMNS]
    return table.slice(0, _ROWS).select(columns)


def answer_html(answer: Mapping[str, Any]) -> str:
    """Return an answer's plain values as a table; lists and tables within are counted."""
    lines = starmap(_answer_line, answer.items())
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def _answer_line(name: str, value: Any) -> str:
    return f"<tr><th>{escape(name)}</th><td>{escape(value_text(value))}</td></tr>"


def value_text(value: Any) -> str:
    """Return a value of an answer in few words."""
    if isinstance(value, list | Mapping):
        return f"{len(value):,} entries"
    return number_text(value)


def number_text(value: Any) -> str:
    """Return a single value as text, a number in six digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def doubts_figure(content: Content) -> Figure | None:
    """Return a picture of how many cells are in doubt by column; None where none is."""
    blocks = content.blocks
    counts: dict[str, int] = {}
    for name, cells in blocks.cells.items():
        of_cells = blocks.block[cells.place]
        uncertain = of_cells[blocks.sizes[of_cells] > 1]
        if len(uncertain):
            rows = blocks.row[uncertain]
            counts[name] = len(np.unique(rows))
    if not counts:
        return None
    return doubts(counts)


def relation_html(content: Content) -> str:
    """Return the first rows, and a picture of what is in doubt."""
    table = table_html(content)
    figure = doubts_figure(content)
    if figure is None:
        return table
    return table + figure.to_html()


def relation_text(content: Content) -> str:
    """Return the first rows for a terminal; ``?`` stands behind a cell in doubt."""
    table, rows = likeliest_table(content)
    shown = _first_rows(table)
    uncertain = _doubts(content)
    row_text = partial(_row_text, content, uncertain)
    lines = map(row_text, rows.tolist(), shown.to_pylist())
    text = _aligned([["", *shown.column_names], *lines])
    more = table.num_rows - _ROWS
    if more > 0:
        text.append(f"... {more:,} more rows")
    return "\n".join(text)


def _row_text(
    content: Content,
    uncertain: Collection[tuple[int, str]],
    position: int,
    cells: Mapping[str, Any],
) -> list[str]:
    line = [str(content.row_ids[position])]
    for name, value in cells.items():
        mark = "?" if (position, name) in uncertain else ""
        line.append(_plain_text(value)[:_LETTERS] + mark)
    return line


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of cells as text, each column as wide as its widest cell."""
    columns = zip(*lines, strict=True)
    widths = [max(map(len, column)) for column in columns]
    text = []
    for line in lines:
        cells = map(str.rjust, line, widths)
        text.append("  ".join(cells).rstrip())
    return text


def _doubts(content: Content) -> dict[tuple[int, str], float]:
    """Return how likely the likeliest candidate is, by position and column, of the rows shown."""
    blocks = content.blocks
    found: dict[tuple[int, str], float] = {}
    for name, cells in blocks.cells.items():
        of_cells = blocks.block[cells.place]
        rows = blocks.row[of_cells]
        weights = blocks.weight[cells.place]
        # One candidate alone is what was found out. Rows before those shown may not exist.
        some = (rows < 4 * _ROWS) & (blocks.sizes[of_cells] > 1)
        for row, weight in zip(rows[some].tolist(), weights[some].tolist(), strict=True):
            before = found.get((row, name), 0.0)
            found[row, name] = max(before, weight)
    return found


def _cell(value: Any, weight: float | None) -> str:
    text = escape(_plain_text(value))
    if weight is None:
        return f"<td>{text}</td>"
    return f'<td title="{weight:.0%} likely"><mark>{text}</mark></td>'


def _plain_text(value: Any) -> str:
    """Return a cell in few letters; a missing one is empty."""
    if value is None:
        return ""
    return number_text(value)
