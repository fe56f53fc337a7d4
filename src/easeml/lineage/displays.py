"""What notebooks and pages show of a relation: static HTML, which needs no script."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from easeml.relation import Content
from easeml.relation.exchange import likeliest_table

_ROWS, _COLUMNS = 8, 12  # shown at most


def table_html(content: Content) -> str:
    """Return the first rows as they are likeliest; cells in doubt are marked, with how likely."""
    table, rows = likeliest_table(content)
    shown = table.slice(0, _ROWS).select(table.column_names[:_COLUMNS])
    doubts = _doubts(content)
    head = "".join([f"<th>{escape(name)}</th>" for name in ["", *shown.column_names]])
    lines = []
    for number, cells in enumerate(shown.to_pylist()):
        position = int(rows[number])
        parts = [f"<th>{escape(str(content.row_ids[position]))}</th>"]
        for name, value in cells.items():
            parts.append(_cell(value, doubts.get((position, name))))
        lines.append(f"<tr>{''.join(parts)}</tr>")
    said = f"{len(rows):,} rows, {table.num_columns} columns, {len(content.blocks):,} in doubt"
    return (
        f"<table><caption>{said}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def answer_html(answer: Mapping[str, Any]) -> str:
    """Return an answer's plain values as a table; lists and tables within are counted."""
    lines = []
    for name, value in answer.items():
        shown = value
        if isinstance(value, list | Mapping):
            shown = f"{len(value):,} entries"
        if isinstance(value, float):
            shown = f"{value:.6g}"
        lines.append(f"<tr><th>{escape(name)}</th><td>{escape(str(shown))}</td></tr>")
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def _doubts(content: Content) -> dict[tuple[int, str], float]:
    """Return how likely the likeliest candidate is, by position and column, of the rows shown."""
    blocks = content.blocks
    found: dict[tuple[int, str], float] = {}
    for name, cells in blocks.cells.items():
        rows = blocks.row[blocks.block[cells.place]]
        weights = blocks.weight[cells.place]
        some = rows < 4 * _ROWS  # rows before those shown may not exist
        for row, weight in zip(rows[some].tolist(), weights[some].tolist(), strict=True):
            found[row, name] = max(found.get((row, name), 0.0), weight)
    return found


def _cell(value: Any, weight: float | None) -> str:
    text = (
        "" if value is None else escape(f"{value:.6g}" if isinstance(value, float) else str(value))
    )
    if weight is None:
        return f"<td>{text}</td>"
    return f'<td title="{weight:.0%} likely"><mark>{text}</mark></td>'
