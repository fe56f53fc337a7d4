"""What a lifecycle tool answers: values, which pages, commands and notebooks show alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from easeml.figures import Figure

_SHOWN = 100  # rows of a table in a notebook


@dataclass(frozen=True, slots=True)
class Number:
    """A number of an answer, with the interval that is claimed for it; None: none is claimed."""

    name: str
    title: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an answer: each row has a cell, a text or a number, for each of ``columns``."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool found.

    ``advice``: in a sentence or two, what was found and what to do next. ``assumes``: what has to
    hold for it, a sentence each. ``verdict``: a word or two, where something was asked that has
    one. ``unfinished``: asked again with the same facts and the state that came with this answer,
    the tool says it more exactly. ``rows``: columns that say something of each row of the inputs,
    in their order. ``told``: of a tool that reads test rows, ln of the number of different things
    that it can have told of them by now.
    """

    advice: str
    numbers: tuple[Number, ...]
    assumes: tuple[str, ...]
    verdict: str = ""
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    unfinished: bool = False
    rows: Mapping[str, Any] | None = None
    told: float = 0.0

    def to_html(self) -> str:
        """Return HTML with all of it, for notebooks and pages; it loads nothing."""
        parts = [f"<p>{escape(self.advice)}</p>"]
        if self.numbers:
            parts.append(_html_table(("", "", "from", "to"), list(map(_cells, self.numbers))))
        parts += [figure.to_html() for figure in self.figures]
        for table in self.tables:
            parts.append(f"<h3>{escape(table.title)}</h3>")
            parts.append(_html_table(table.columns, table.rows[:_SHOWN]))
        parts += [f"<p>Assumed: {escape(text)}</p>" for text in self.assumes]
        parts += [f"<p>Note: {escape(text)}</p>" for text in self.notes]
        return "".join(parts)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return self.to_html()


def _cells(number: Number) -> tuple[Any, ...]:
    return number.title, number.value, number.low, number.high


def _html_table(columns: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = [f"<tr>{head}</tr>"]
    for row in rows:
        cells = "".join(f"<td>{escape(_text(value))}</td>" for value in row)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
