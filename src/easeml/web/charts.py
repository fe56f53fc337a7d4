"""Where the marks of a chart go.

Templates draw them as SVG; all coordinates are percentages, so charts stretch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from easeml.contract.progress import Progress, ProgressPoint
from easeml.contract.resources import Improvement
from easeml.web.formatting import seconds

_SPARK_HEIGHT, _SPARK_WIDTH = 40.0, 200.0
_LEAST_SECONDS = 1e-3  # that the axis of device time spans
_FAR = 4.0  # times the distance from the best to the middle: what lies lower is drawn at the edge


def spark(improvements: Sequence[Improvement], cost: float) -> str:
    """Return the points of a polyline: best quality against cost spent so far, in a box of 200 x
    40.

    Empty where there is nothing to draw.
    """
    if not improvements:
        return ""
    qualities = [one.quality for one in improvements]
    low, high = min(qualities), max(qualities)
    width = max(cost, improvements[-1].cost) or 1.0
    span = (high - low) or 1.0

    def y(quality: float) -> float:
        return (
            _SPARK_HEIGHT * (0.9 - 0.8 * (quality - low) / span)
            if high > low
            else _SPARK_HEIGHT / 2
        )

    points = [(0.0, y(qualities[0]))]
    for one in improvements:
        x = _SPARK_WIDTH * one.cost / width
        points += [(x, points[-1][1]), (x, y(one.quality))]
    points.append((_SPARK_WIDTH, points[-1][1]))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


@dataclass(frozen=True, slots=True)
class Dot:
    """A finished task: its place in percent of the chart, from the left and from the top."""

    x: float
    y: float
    kind: str  # tried, best (the best so far), promoted
    task: ProgressPoint


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid with its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class QualityChart:
    """Quality of tasks against the device time that the job had spent when they ended.

    ``steps``: the line of the best so far, as segments (x1, y1, x2, y2) in percent. ``below``: dots
    drawn at the lower edge because they are far below the others. ``thinned``: tasks that are not
    drawn.
    """

    dots: list[Dot]
    steps: list[tuple[float, float, float, float]]
    across: list[Tick]
    up: list[Tick]
    below: int
    thinned: int


def quality_chart(progress: Progress) -> QualityChart | None:
    """Return the chart of a job's finished training tasks, None while there are none."""
    if not progress.points:
        return None
    qualities = [point.quality for point in progress.points]
    low, high = _bounds(qualities)
    total = max(progress.cost, _LEAST_SECONDS)
    dots = [
        Dot(100 * one.spent / total, _up(one.quality, low, high), _kind(one), one)
        for one in progress.points
    ]
    across = [Tick(100 * value / total, seconds(value)) for value in round_values(0.0, total)]
    up = [Tick(_up(value, low, high), f"{value:.4g}") for value in round_values(low, high)]
    return QualityChart(
        dots, _steps(dots), across, up, sum(q < low for q in qualities), progress.tasks - len(dots)
    )


def _kind(point: ProgressPoint) -> str:
    return "promoted" if point.promoted else "best" if point.better else "tried"


def _steps(dots: Sequence[Dot]) -> list[tuple[float, float, float, float]]:
    """Return the segments of the best so far: along, then up at each dot that is better."""
    segments, x, y = [], dots[0].x, dots[0].y
    for dot in dots[1:]:
        if dot.y < y:
            segments += [(x, y, dot.x, y), (dot.x, y, dot.x, dot.y)]
            x, y = dot.x, dot.y
    return [*segments, (x, y, 100.0, y)]


def _bounds(qualities: Sequence[float]) -> tuple[float, float]:
    """Return the range to draw: all qualities but those far below the better half, with room at
    both ends.
    """
    ordered = sorted(qualities)
    best, middle = ordered[-1], ordered[len(ordered) // 2]
    least = best - _FAR * (best - middle) if best > middle else ordered[0]
    low = min(quality for quality in ordered if quality >= least)
    room = max((best - low) * 0.08, 0.001 * max(1.0, abs(best)))
    return low - room, best + room


def _up(quality: float, low: float, high: float) -> float:
    return 100 * min(1.0, 1 - (quality - low) / (high - low))


def round_values(low: float, high: float) -> list[float]:
    """Return about five values of one, two or five times a power of ten between two bounds."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [step * count for count in range(first, math.floor(high / step) + 1)]
