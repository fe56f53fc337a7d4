"""What a figure shows, as plain values: axes with titles and units, series, reference lines.

A description knows nothing of pixels. ``easeml.figures.drawing`` turns it into SVG, alike for
pages, notebooks, reports and documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

_Value = TypeVar("_Value")
_Row = TypeVar("_Row", bound=Mapping[str, Any])
Scale = Literal["linear", "log", "category"]
Kind = Literal["line", "steps", "points", "bars", "band"]
Mark = Literal["dot", "ring", "square", "tick"]

TONES = 7
"""Colours that series can have, by the names "1" to "7"; ``tone_of`` repeats them."""

NAMED_TONES = ("muted", "good", "warn", "bad", "accent", "second", "text")
"""Tones that mean something; their colours follow the theme, as those of the numbered ones do."""

_KNOWN_TONES = {*NAMED_TONES, *map(str, range(1, TONES + 1))}


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis with its title.

    ``unit`` stands behind the title and every value. ``low`` and ``high`` bound what is drawn; the
    values decide where they are None. The positions of a category axis are the places in
    ``categories``, from 0. ``of_data``: its values are those of rows, and are written as files have
    them: a year has no thousands apart.
    """

    title: str
    unit: str = ""
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    categories: tuple[str, ...] = ()
    of_data: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for bounds that no axis can have."""
        low = self.low
        if low is None:
            return

        # A bound that is not given follows the values.
        high = math.inf if self.high is None else self.high
        if not low < high:
            raise ValueError(f"The axis {self.title!r} ends at {high} before it begins.")

        if self.scale == "log" and low <= 0:
            raise ValueError(f"The logarithmic axis {self.title!r} cannot begin at {low}.")


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one kind and colour.

    ``low`` and ``high`` are an interval around each value, along the y axis, or along the x axis
    where y has categories. A band has them only, and no ``y``. ``notes`` say what each point is,
    ``links`` where it leads. Bars begin at ``base`` (0 without it) and are ``width`` wide, in units
    of the axis that they stand on. A ``silent`` series is drawn and cannot be read point by point.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...] = ()
    kind: Kind = "line"
    tone: str = "1"
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    mark: Mark = "dot"
    base: tuple[float, ...] = ()
    width: float = 0.8
    dashed: bool = False
    silent: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError where lengths differ, a value is not finite, or a tone is unknown."""
        length = len(self.x)
        needed = (self.low, self.high) if self.kind == "band" else (self.y,)
        may_be_empty = (self.low, self.high, self.notes, self.links, self.base)
        given = filter(None, may_be_empty)
        lengths = {length, *map(len, needed), *map(len, given)}
        if len(lengths) > 1:
            raise ValueError(f"The series {self.name!r} has lists of different lengths.")

        drawn = (*self.x, *self.y, *self.low, *self.high, *self.base)
        if not all(map(math.isfinite, drawn)):
            raise ValueError(f"The series {self.name!r} has a value that is not finite.")

        if self.tone not in _KNOWN_TONES:
            raise ValueError(f"There is no tone {self.tone!r}.")


@dataclass(frozen=True, slots=True)
class Reference:
    """A line across the figure at ``value`` of an axis, or a region from ``value`` to ``end``."""

    value: float
    name: str
    axis: Literal["x", "y"] = "y"
    end: float | None = None
    tone: str = "muted"
    dashed: bool = True


@dataclass(frozen=True, slots=True)
class Description:
    """A figure as plain values: its title, two axes, and what stands between them.

    ``note`` is a sentence under the figure. ``easeml.figures.Figure`` can draw itself as well.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    references: tuple[Reference, ...] = ()
    note: str = ""

    @property
    def is_sideways(self) -> bool:
        """Tell whether values run along the x axis, because y has categories."""
        return self.y.scale == "category"


def tone_of(place: int) -> str:
    """Return the tone of the thing at a place from 0, by the order in which things were made."""
    return str(place % TONES + 1)


def numbers(values: Iterable[Any]) -> tuple[float, ...]:
    """Return values as a tuple of plain floats."""
    return tuple(map(float, values))


def column(rows: Iterable[Mapping[str, Any]], name: str) -> tuple[float, ...]:
    """Return what each row has under a name, as a tuple of plain floats."""
    return numbers(row[name] for row in rows)


def picked(values: Sequence[_Value], places: Iterable[int]) -> tuple[_Value, ...]:
    """Return the values at these places, in their order."""
    return tuple(map(values.__getitem__, places))


def grouped(rows: Iterable[_Row], name: str) -> dict[Any, list[_Row]]:
    """Return the rows by what they have under a name, in the order in which that first occurs."""
    groups: dict[Any, list[_Row]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups
