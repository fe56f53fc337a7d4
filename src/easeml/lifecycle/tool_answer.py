"""What a lifecycle tool answers: values, which pages, commands and notebooks show alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from easeml.figures import Figure

PERSON_SECOND = 20.0
"""Device seconds that a second of a person's time is worth."""
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
    """A table of an answer: each row has a cell, a text or a number, for each of ``columns``.

    ``is_detail``: it is for those who ask how the answer was found; a page shows it folded.
    ``data``: the columns that hold values of rows, or their ids: a year is no quantity, and is
    shown as files have it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    is_detail: bool = False
    data: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """Something that a person is asked: about the cell of ``column`` in training row ``row``.

    ``suspicion``: how likely it is wrong. ``suggestion``: what may be right; empty: nothing is
    known.
    """

    row: int
    column: str
    suspicion: float
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to do about what was found.

    ``kind``: ``check-labels`` or ``repair-cells`` ask people for ``items``; ``collect``: rows with
    answers; ``repair-source``: a column where it comes from; ``retrain``: learn from rows of
    production; ``search``: go on. ``about``: in words, which rows it is for; ``conditions``: the
    same as JSON (``easeml.lifecycle.debugging.Slice``). ``corrected``: mistakes among the rows
    looked at that it should correct, with a 95 % interval. ``instead``: rows of before
    that are like these are learned from no more. ``mistakes`` of ``rows`` ``judged`` rows
    (validation or production) of which the conditions hold are there now; 0 of 0: that does not say
    what it corrects. ``tolerance``: of numbers.
    """

    kind: str
    title: str
    reason: str
    about: str
    corrected: float
    low: float
    high: float
    human_minutes: float = 0.0
    device_seconds: float = 0.0
    conditions: tuple[Mapping[str, Any], ...] = ()
    items: tuple[Asked, ...] = ()
    instead: bool = False
    judged: str = ""
    rows: int = 0
    mistakes: int = 0
    tolerance: float | None = None

    @property
    def cost(self) -> float:
        """Device seconds, with a person's time at its worth."""
        return self.device_seconds + 60 * self.human_minutes * PERSON_SECOND

    @property
    def worth(self) -> float:
        """Mistakes that it should correct for the cost of an hour of a person."""
        return self.corrected / max(self.cost, 1.0) * 3600 * PERSON_SECOND


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool found.

    ``advice``: in a sentence or two, what was found and what to do next. ``assumes``: what has to
    hold for it, a sentence each. ``verdict``: a word or two, where something was asked that has
    one. ``unfinished``: asked again with the same facts and the state that came with this answer,
    the tool says it more exactly. ``rows``: columns that say something of each row of the inputs,
    in their order. ``remedies``: what can be done, the best for its cost first. ``of_model``: what
    of the notes is to be said wherever the model in question is described. ``told``: of a
    tool that reads test rows, ln of the number of different things
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
    remedies: tuple[Remedy, ...] = ()
    of_model: tuple[str, ...] = ()
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
        sentences = [f"Remedy: {one.title}. {one.reason}." for one in self.remedies]
        sentences += map("Assumed: {}".format, self.assumes)
        sentences += map("Note: {}".format, self.notes)
        parts += [f"<p>{escape(text)}</p>" for text in sentences]
        return "".join(parts)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return self.to_html()


def _cells(number: Number) -> tuple[Any, ...]:
    return number.title, number.value, number.low, number.high


def yes_or_no(holds: bool) -> str:
    """Return what a table says of something that holds or not."""
    return "yes" if holds else "no"


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
    return f"{value:.6g}" if isinstance(value, float) else str(value)
