"""Where the values of a figure go: in pixels of a plot that may be stretched afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from easeml.figures.description import Description, Series
from easeml.figures.scales import Span, span_of


@dataclass(frozen=True, slots=True)
class Frame:
    """A plot of ``width`` times ``height`` pixels, and the values that its axes cover."""

    figure: Description
    width: float
    height: float
    x: Span
    y: Span

    def across(self, value: float) -> float:
        """Return the place of an x value, from the left."""
        return round(self.width * self.x.share(value), 1)

    def down(self, value: float) -> float:
        """Return the place of a y value, from the top. Categories are listed from the top, too."""
        share = self.y.share(value)
        if self.figure.y.scale != "category":
            share = 1 - share
        return round(self.height * share, 1)


def frame_of(figure: Description, width: float, height: float) -> Frame:
    """Return the frame in which all of a figure's values have their place."""
    x: list[float] = []
    y: list[float] = []
    for series in figure.series:
        along, beside = _covered(series, figure.is_sideways)
        x += along
        y += beside

    for reference in figure.references:
        values = x if reference.axis == "x" else y
        values.append(reference.value)
        if reference.end is not None:
            values.append(reference.end)

    return Frame(
        figure,
        width,
        height,
        x=span_of(figure.x, x),
        y=span_of(figure.y, y),
    )


def _covered(series: Series, sideways: bool) -> tuple[list[float], list[float]]:
    """Return the x and the y values that a series covers, with intervals, bases and bar widths."""
    x = list(series.x)
    y = list(series.y)
    stand, values = (y, x) if sideways else (x, y)

    values += series.low
    values += series.high
    if series.kind == "bars":
        values += series.base or [0.0]
        half = series.width / 2
        left = [place - half for place in stand]
        right = [place + half for place in stand]
        stand += left
        stand += right
    return x, y
