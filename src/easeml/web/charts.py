"""Small figures of searches and columns, and the unit of a time axis."""

from collections.abc import Sequence

from easeml.contract.jobs import Improvement
from easeml.figures import Axis, Figure, Series

_TIME_UNITS = ((3600.0, "h"), (60.0, "min"))
_MOST_OF_UNIT = 2  # a unit is used from twice its length


def time_unit(seconds: float) -> tuple[float, str]:
    """Return the length in seconds and the name of the unit for an axis of that many seconds."""
    for length, name in _TIME_UNITS:
        if seconds >= _MOST_OF_UNIT * length:
            return length, name
    return 1.0, "s"


def spark_figure(improvements: Sequence[Improvement], cost: float) -> Figure | None:
    """Return the best score against cost spent so far, None where there is nothing to draw."""
    if not improvements:
        return None
    last = improvements[-1]
    costs = (0.0, *(one.cost for one in improvements), max(cost, last.cost))
    qualities = (improvements[0].quality, *(one.quality for one in improvements), last.quality)
    line = Series("best score", costs, qualities, kind="steps", tone="accent")
    return Figure("Best score over cost", Axis("device time", "s"), Axis("score"), (line,))


def histogram_figure(low: float, high: float, counts: Sequence[int]) -> Figure:
    """Return how the numbers of a column are spread over equal bins from ``low`` to ``high``."""
    width = (high - low) / len(counts) or 1.0
    middles = tuple(low + width * (place + 0.5) for place in range(len(counts)))
    bars = Series(
        "rows", middles, tuple(map(float, counts)), kind="bars", tone="accent", width=0.92 * width
    )
    values = Axis("value", low=low, high=high) if low < high else Axis("value")
    return Figure("Histogram", values, Axis("rows", low=0.0), (bars,))
