"""Small figures of searches and columns, and the unit of a time axis."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from easeml.contract.jobs import Improvement
from easeml.figures import Axis, Figure, Mark, Series, numbers

TIME_UNITS = ((3600.0, "h"), (60.0, "min"))  # beside seconds
_MOST_OF_UNIT = 2  # a unit is used from twice its length

T = TypeVar("T")


def time_unit(seconds: float, units: Sequence[tuple[float, str]] = TIME_UNITS) -> tuple[float, str]:
    """Return the length in seconds and the name of the unit for an axis of that many seconds.

    ``units``: those there are beside seconds, the largest first.
    """
    for length, name in units:
        if seconds >= _MOST_OF_UNIT * length:
            return length, name
    return 1.0, "s"


class Point(NamedTuple):
    """A point, with the ends of its interval, what it is and where it leads, as far as it has any."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    note: str | None = None
    link: str | None = None


def points_series(
    name: str, points: Sequence[Point], tone: str, mark: Mark = "dot"
) -> list[Series]:
    """Return a series of points, none without any. What one of them has, all have."""
    if not points:
        return []
    x, y, lows, highs, notes, links = zip(*points, strict=True)
    series = Series(
        name,
        x,
        y,
        kind="points",
        tone=tone,
        low=_given(lows),
        high=_given(highs),
        notes=_given(notes),
        links=_given(links),
        mark=mark,
    )
    return [series]


def _given(values: Sequence[T | None]) -> tuple[T, ...]:
    return tuple(value for value in values if value is not None)


def spark_figure(improvements: Sequence[Improvement], cost: float) -> Figure | None:
    """Return the best score against cost spent so far, None where there is nothing to draw."""
    if not improvements:
        return None
    first = improvements[0]
    last = improvements[-1]
    costs = [0.0]
    qualities = [first.quality]
    for one in improvements:
        costs.append(one.cost)
        qualities.append(one.quality)
    costs.append(max(cost, last.cost))
    qualities.append(last.quality)
    line = Series("best score", tuple(costs), tuple(qualities), kind="steps", tone="accent")
    return Figure("Best score over cost", Axis("device time", "s"), Axis("score"), (line,))


def histogram_figure(low: float, high: float, counts: Sequence[int]) -> Figure:
    """Return how the numbers of a column are spread over equal bins from ``low`` to ``high``."""
    width = (high - low) / len(counts) or 1.0
    middles = tuple(low + width * (place + 0.5) for place in range(len(counts)))
    bars = Series("rows", middles, numbers(counts), kind="bars", tone="accent", width=0.92 * width)
    values = Axis("value", of_data=True)
    if low < high:
        values = Axis("value", low=low, high=high, of_data=True)
    return Figure("Histogram", values, Axis("rows", low=0.0), (bars,))
