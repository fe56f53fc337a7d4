"""The one renderer: from a description to SVG, for pages to stretch and for files to keep."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from easeml.figures.description import Axis, Description, Reference, Series
from easeml.figures.frame import Frame, frame_of
from easeml.figures.marks import drawn_reference, drawn_series, points_of
from easeml.figures.scales import Span, Tick, exact, ticks_of, told
from easeml.figures.theme import colour_of

_WIDTH, _HEIGHT = 720, 260  # of a plot, before it is stretched
_CATEGORY_HEIGHT, _MOST_HEIGHT = 30, 720  # of a plot whose y axis has categories
_LETTER = 6.8  # pixels of a letter at 12 pixels, about
_LEFT_STEPS = (44, 60, 84, 120, 160, 190)  # pixels that labels on the left may take; in figure.css
_RIGHT, _TOP, _BOTTOM = 20, 64, 52
_ROW = 18  # pixels of a row of the legend
_MOST_READABLE = 3000  # points that can be read one by one


_SWATCHES = {  # the path of each shape in a legend
    "line": 'd="M0 7H14" stroke-width="2.5"',
    "dashed": 'd="M0 7H14" stroke-width="2.5" stroke-dasharray="4 3"',
    "tick": 'd="M7 1V13" stroke-width="3"',
    "square": 'd="M7 7h0" stroke-width="10" stroke-linecap="square"',
    "dot": 'd="M7 7h0" stroke-width="9" stroke-linecap="round"',
    "ring": 'd="M3 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" stroke-width="2"',
}


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """What a colour means. ``shape``: a line, a dashed line, a dot or an area."""

    name: str
    tone: str
    shape: str


def legend_of(figure: Description) -> list[LegendEntry]:
    """Return what a figure's colours mean; empty where there is one and nothing to tell apart."""
    entries = [LegendEntry(one.name, one.tone, _shape(one)) for one in figure.series]
    for reference in figure.references:
        shape = _shape_of_reference(reference)
        entries.append(LegendEntry(reference.name, reference.tone, shape))

    kept = list(dict.fromkeys(entry for entry in entries if entry.name))
    if len(kept) == 1 and not figure.references:
        return []
    return kept


def _shape_of_reference(reference: Reference) -> str:
    if reference.end is not None:
        return "area"
    return _shape_of_line(reference.dashed)


def _shape(series: Series) -> str:
    if series.kind in ("bars", "band"):
        return "area"
    if series.kind == "points":
        return series.mark
    return _shape_of_line(series.dashed)


def _shape_of_line(dashed: bool) -> str:
    if dashed:
        return "dashed"
    return "line"


def label_margin(figure: Description) -> int:
    """Return the step, from 1, of the margin that the labels of the y axis need on the left."""
    frame = plot_frame(figure)
    longest = max((len(tick.text) for tick in ticks_of(figure.y, frame.y)), default=1)
    needed = longest * _LETTER + 16
    step = bisect_left(_LEFT_STEPS, needed) + 1
    return min(step, len(_LEFT_STEPS))


def plot(figure: Description, id: str = "") -> str:
    """Return the SVG of axes and marks, which its style stretches; values are in ``data-figure``.

    ``id`` names it on its page: what a visitor reads there stays in sight when the page changes.
    """
    frame = plot_frame(figure)
    values = json.dumps(_readable(frame), separators=(",", ":"), ensure_ascii=False)
    name = f' id="{escape(id)}"' if id else ""
    return (
        f'<svg class="fig-plot"{name} height="{frame.height:g}" '
        f'role="application" aria-roledescription="chart" tabindex="0" '
        f'aria-label="{escape(summary(figure))}" data-figure="{escape(values)}">{_inside(frame)}</svg>'
    )


def plot_frame(figure: Description) -> Frame:
    """Return the frame of a figure before it is stretched; many categories make it higher."""
    height = _HEIGHT
    if figure.is_sideways:
        needed = _CATEGORY_HEIGHT * len(figure.y.categories)
        height = min(max(needed, 60), _MOST_HEIGHT)
    return frame_of(figure, _WIDTH, height)


def small_plot(figure: Description, label: str, css: str) -> str:
    """Return the SVG of the marks alone, as a small picture beside text."""
    frame = frame_of(figure, 200, 40)
    return (
        f'<svg class="fig-small {css}" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 200 40" preserveAspectRatio="none">{_marks(frame)}</svg>'
    )


def summary(figure: Description) -> str:
    """Return a sentence on what a figure shows, for those who do not see it."""
    lengths = [len(series.x) for series in figure.series if not series.silent]
    count = sum(lengths)
    values = "1 value" if count == 1 else f"{count:,} values"
    return f"{figure.title}: {_titled(figure.y)} by {_titled(figure.x)}, {values}"


def picture_file(figure: Description) -> str:
    """Return the text of an SVG file: title, axes, marks and legend at a fixed size."""
    left = _LEFT_STEPS[label_margin(figure) - 1]
    frame = plot_frame(figure)
    legend, rows = _placed_legend(figure, left, _TOP + frame.height + _BOTTOM)
    width = left + _WIDTH + _RIGHT
    height = _TOP + frame.height + _BOTTOM + _ROW * rows
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:g}" '
        f'viewBox="0 0 {width} {height:g}" font-family="system-ui, sans-serif" font-size="12" '
        f'role="img" aria-label="{escape(summary(figure))}">',
        f'<rect class="tone-surface fig-ground" width="100%" height="100%" fill="{colour_of("surface")}"/>',
        f'<text class="tone-text" x="12" y="24" font-size="15" font-weight="600" '
        f'fill="{colour_of("text")}">{escape(figure.title)}</text>',
        f'<svg x="{left}" y="{_TOP}" width="{_WIDTH}" height="{frame.height:g}" overflow="visible">'
        f"{_inside(frame)}</svg>",
        *legend,
        "</svg>\n",
    ]
    return "\n".join(parts)


def _inside(frame: Frame) -> str:
    """Return grid, ticks, titles and marks; positions of texts are shares of the plot."""
    figure = frame.figure
    down = ticks_of(figure.y, frame.y)
    across = ticks_of(figure.x, frame.x)
    title = f'class="fig-title" fill="{colour_of("text")}"'
    return (
        f'<g class="fig-ticks" fill="{colour_of("muted")}">{_y_ticks(figure, down)}'
        f"{_x_ticks(across)}</g>"
        f'<svg class="fig-marks" width="100%" height="100%" overflow="visible" preserveAspectRatio="none" '
        f'viewBox="0 0 {frame.width:g} {frame.height:g}">{_marks(frame)}</svg>'
        f'<text {title} x="100%" y="100%" dy="40" text-anchor="end">{escape(_titled(figure.x))}'
        f'</text><text {title} x="0" y="0" dx="-36" dy="-14">{escape(_titled(figure.y))}</text>'
    )


def _marks(frame: Frame) -> str:
    figure = frame.figure
    references = [drawn_reference(frame, reference) for reference in figure.references]
    series = [drawn_series(frame, one) for one in figure.series]
    return "".join([*references, *series])


def _y_ticks(figure: Description, ticks: list[Tick]) -> str:
    parts = []
    for tick in ticks:
        # Categories are listed from the top, numbers grow from below.
        share = tick.share if figure.is_sideways else 1 - tick.share
        at = f"{100 * share:.2f}%"
        parts.append(
            f'<line class="fig-grid" x1="0" x2="100%" y1="{at}" y2="{at}" stroke="#dde2e8"/>'
            f'<text x="0" y="{at}" dx="-10" dy="4" text-anchor="end">{escape(tick.text)}</text>'
        )
    return "".join(parts)


def _x_ticks(ticks: list[Tick]) -> str:
    parts = []
    for place, tick in enumerate(ticks):
        # Every second text is left out where there is no room.
        spare = ' class="fig-spare"' if place % 2 else ""
        parts.append(
            f'<text{spare} x="{100 * tick.share:.2f}%" y="100%" dy="20" text-anchor="middle">'
            f"{escape(tick.text)}</text>"
        )
    return "".join(parts)


def _titled(axis: Axis) -> str:
    if not axis.unit:
        return axis.title
    return f"{axis.title} ({axis.unit})"


def _readable(frame: Frame) -> dict[str, object]:
    """Return what ``figure.js`` needs to tell values and to enlarge a part."""
    figure = frame.figure
    series = []
    for one in figure.series:
        if not one.silent and one.kind != "band":
            series.append(_readable_series(frame, one))
    return {
        "x": _readable_axis(figure.x, frame.x),
        "y": _readable_axis(figure.y, frame.y),
        "series": series,
    }


def _readable_axis(axis: Axis, span: Span) -> dict[str, object]:
    found: dict[str, object] = {"title": axis.title, "unit": axis.unit}
    if axis.scale == "category":
        return {**found, "names": [tick.text for tick in ticks_of(axis, span)]}
    if axis.of_data:
        found["data"] = True
    return {**found, "low": span.low, "high": span.high, "log": span.log}


def _readable_series(frame: Frame, series: Series) -> dict[str, object]:
    """Return a series' name and points.

    A point is its place from the left and the top, its values of x and y, and as far as there are
    any its interval, note and link.
    """
    figure = frame.figure
    points = []
    for place, (across, down) in enumerate(points_of(frame, series)[:_MOST_READABLE]):
        x = _told(figure.x, series.x[place])
        y = _told(figure.y, series.y[place])
        point: list[object] = [across, down, x, y, *_told_more(series, place)]
        # What is empty at the end need not be sent.
        while point[-1] == "":
            point.pop()
        points.append(point)
    return {"name": series.name, "points": points}


def _told_more(series: Series, place: int) -> list[str]:
    """Return interval, note and link of a point; empty where there is none."""
    interval = ""
    if series.low:
        interval = f"{exact(series.low[place])} to {exact(series.high[place])}"
    return [interval, _of_point(series.notes, place), _of_point(series.links, place)]


def _of_point(texts: Sequence[str], place: int) -> str:
    if texts:
        return texts[place]
    return ""


def _told(axis: Axis, value: float) -> str:
    if axis.scale == "category":
        return axis.categories[round(value)]
    return told(axis, value)


def _placed_legend(figure: Description, left: float, top: float) -> tuple[list[str], int]:
    """Return the legend of a file below its plot, and how many rows it takes."""
    entries = legend_of(figure)
    if not entries:
        return [], 0

    parts = []
    x = float(left)
    row = 0
    for entry in entries:
        length = 34 + len(entry.name) * _LETTER
        overflows = x + length > left + _WIDTH
        if overflows and x > left:
            x = float(left)
            row += 1
        y = top + _ROW * row
        parts.append(
            f'<svg x="{x:g}" y="{y - 11:g}" width="14" height="14" viewBox="0 0 14 14">'
            f"{swatch(entry)}</svg>"
            f'<text class="tone-text" x="{x + 20:g}" y="{y:g}" fill="{colour_of("text")}">'
            f"{escape(entry.name)}</text>"
        )
        x += length
    return parts, row + 1


def swatch(entry: LegendEntry) -> str:
    """Return the inside of a 14 x 14 picture of a legend's colour and shape."""
    colour = colour_of(entry.tone)
    shared = f'class="fig-stroke tone-{entry.tone}" stroke="{colour}" fill="none"'
    if entry.shape == "area":
        shape = 'y="2" width="14" height="10" rx="2" fill-opacity="0.7"'
        return f'<rect class="fig-area tone-{entry.tone}" {shape} fill="{colour}"/>'
    return f"<path {shared} {_SWATCHES[entry.shape]}/>"
