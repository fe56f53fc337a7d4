"""The marks of series and reference lines, as SVG inside of a plot.

Each point is a line without length and with round ends, and strokes do not scale. So a plot can be
stretched to any width, and enlarged, and dots stay round.
"""

from __future__ import annotations

from collections.abc import Sequence

from easeml.figures.description import Reference, Series
from easeml.figures.frame import Frame
from easeml.figures.theme import colour_of

_Point = tuple[float, float]  # pixels from the left and from the top

_KEPT = 'vector-effect="non-scaling-stroke"'
_DOT_SIZE = {"dot": 9, "ring": 9, "square": 10, "tick": 3}
_TICK_LENGTH = 12
_INTERVAL_WIDTH = 1.5
_LINE_WIDTH = 2
_FAINT, _BAR = 0.15, 0.85  # opacity of bands and regions, and of bars


def drawn_reference(frame: Frame, reference: Reference) -> str:
    """Return the line of a reference, or its region."""
    if reference.end is not None:
        return _region(frame, reference)
    if reference.axis == "x":
        x = frame.across(reference.value)
        path = f"M{x:g} 0V{frame.height:g}"
    else:
        path = f"M0 {frame.down(reference.value):g}H{frame.width:g}"
    return _stroke(path, reference.tone, 1.5, dashed=reference.dashed)


def _region(frame: Frame, reference: Reference) -> str:
    assert reference.end is not None
    if reference.axis == "x":
        left = frame.across(reference.value)
        right = frame.across(reference.end)
        path = f"M{left:g} 0H{right:g}V{frame.height:g}H{left:g}Z"
    else:
        low = frame.down(reference.value)
        high = frame.down(reference.end)
        path = f"M0 {low:g}H{frame.width:g}V{high:g}H0Z"
    return _area(path, reference.tone, _FAINT)


def drawn_series(frame: Frame, series: Series) -> str:
    """Return all marks of a series."""
    draw = _DRAWN[series.kind]
    return draw(frame, series)


def _drawn_band(frame: Frame, series: Series) -> str:
    if not series.low:
        return ""
    return _area(_band(frame, series), series.tone, _FAINT)


def _drawn_line(frame: Frame, series: Series) -> str:
    line = _stroke(_line(points_of(frame, series)), series.tone, dashed=series.dashed)
    return _drawn_band(frame, series) + line


def _drawn_steps(frame: Frame, series: Series) -> str:
    line = _stroke(_steps(points_of(frame, series)), series.tone, dashed=series.dashed)
    return _drawn_band(frame, series) + line


def _drawn_bars(frame: Frame, series: Series) -> str:
    bars = _area(_bars(frame, series), series.tone, _BAR)
    return bars + _intervals(frame, series, "text")


def _drawn_points(frame: Frame, series: Series) -> str:
    dots = _dots(frame, series)
    return _intervals(frame, series, series.tone) + "".join(dots)


_DRAWN = {
    "band": _drawn_band,
    "line": _drawn_line,
    "steps": _drawn_steps,
    "bars": _drawn_bars,
    "points": _drawn_points,
}


def points_of(frame: Frame, series: Series) -> list[_Point]:
    """Return the places of a series' values, from the left and from the top."""
    return _placed(frame, series.x, series.y)


def _placed(frame: Frame, x: Sequence[float], y: Sequence[float]) -> list[_Point]:
    return list(zip(map(frame.across, x), map(frame.down, y), strict=True))


def _line(points: Sequence[_Point]) -> str:
    """Return the path from point to point."""
    if not points:
        return ""
    corners = [f"{x:g} {y:g}" for x, y in points]
    return "M" + "L".join(corners)


def _steps(points: Sequence[_Point]) -> str:
    """Return a path that holds each value until the next one."""
    if not points:
        return ""
    (first_x, first_y), *others = points
    path = f"M{first_x:g} {first_y:g}"
    for x, y in others:
        path += f"H{x:g}V{y:g}"
    return path


def _band(frame: Frame, series: Series) -> str:
    """Return the outline of an interval around a line, or around the steps of one."""
    high = _placed(frame, series.x, series.high)
    low = _placed(frame, series.x, series.low)
    if series.kind == "steps":
        high = _corners(high)
        low = _corners(low)
    there_and_back = [*high, *reversed(low)]
    return _line(there_and_back) + "Z"


def _corners(points: Sequence[_Point]) -> list[_Point]:
    """Return the points of a line that holds each value until the next one."""
    found = [points[0]]
    for x, y in points[1:]:
        found += [(x, found[-1][1]), (x, y)]
    return found


def _bars(frame: Frame, series: Series) -> str:
    """Return the outlines of bars, from their bases to their values."""
    bases = series.base or (0.0,) * len(series.x)
    half = series.width / 2
    parts = []
    for x, y, base in zip(series.x, series.y, bases, strict=True):
        if frame.figure.is_sideways:
            left = frame.across(base)
            right = frame.across(x)
            top = frame.down(y - half)
            bottom = frame.down(y + half)
        else:
            left = frame.across(x - half)
            right = frame.across(x + half)
            top = frame.down(y)
            bottom = frame.down(base)
        parts.append(f"M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}Z")
    return "".join(parts)


def _intervals(frame: Frame, series: Series, tone: str) -> str:
    """Return a line from the low to the high end of each value's interval."""
    if not series.low:
        return ""

    parts = []
    for x, y, low, high in zip(series.x, series.y, series.low, series.high, strict=True):
        if frame.figure.is_sideways:
            beside = frame.down(y)
            parts.append(f"M{frame.across(low):g} {beside:g}H{frame.across(high):g}")
        else:
            along = frame.across(x)
            parts.append(f"M{along:g} {frame.down(low):g}V{frame.down(high):g}")
    return _stroke("".join(parts), tone, _INTERVAL_WIDTH)


def _dots(frame: Frame, series: Series) -> list[str]:
    """Return the marks at the points, each with a rim in the colour of the ground."""
    size = _DOT_SIZE[series.mark]
    points = points_of(frame, series)
    if series.mark == "tick":
        half = _TICK_LENGTH / 2
        ticks = [f"M{x:g} {y - half:g}V{y + half:g}" for x, y in points]
        return [_stroke("".join(ticks), series.tone, size)]

    path = "".join(f"M{x:g} {y:g}h0" for x, y in points)
    cap = "square" if series.mark == "square" else "round"
    rim = _stroke(path, "surface", size + 2, cap)
    dots = [rim, _stroke(path, series.tone, size, cap)]
    if series.mark == "ring":
        dots.append(_stroke(path, "surface", size - 4, cap))
    return dots


def _stroke(
    path: str, tone: str, width: float = _LINE_WIDTH, cap: str = "butt", dashed: bool = False
) -> str:
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<path class="fig-stroke tone-{tone}" d="{path}" fill="none" stroke="{colour_of(tone)}" '
        f'stroke-width="{width:g}" stroke-linecap="{cap}" stroke-linejoin="round"{dash} {_KEPT}/>'
    )


def _area(path: str, tone: str, opacity: float) -> str:
    return (
        f'<path class="fig-area tone-{tone}" d="{path}" fill="{colour_of(tone)}" '
        f'fill-opacity="{opacity:g}"/>'
    )
