"""How a search does, as figures: quality over the device time that it spent."""

from collections.abc import Sequence

from easeml.contract.progress import Progress, ProgressPoint
from easeml.contract.resources import Improvement
from easeml.figures import Axis, Figure, Mark, Series

_FAR = 4.0  # times the distance from the best to the middle: what lies lower is at the edge
_ROOM = 0.08  # of the qualities that are drawn, at both ends
_TIME_UNITS = ((3600.0, "h"), (60.0, "min"))
_MOST_OF_UNIT = 2  # a unit is used from twice its length


def time_unit(seconds: float) -> tuple[float, str]:
    """Return the length in seconds and the name of the unit for an axis of that many seconds."""
    for length, name in _TIME_UNITS:
        if seconds >= _MOST_OF_UNIT * length:
            return length, name
    return 1.0, "s"


def spark_figure(improvements: Sequence[Improvement], cost: float) -> Figure | None:
    """Return best quality against cost spent so far, None where there is nothing to draw."""
    if not improvements:
        return None
    last = improvements[-1]
    costs = (0.0, *(one.cost for one in improvements), max(cost, last.cost))
    qualities = (improvements[0].quality, *(one.quality for one in improvements), last.quality)
    line = Series("best quality", costs, qualities, kind="steps", tone="accent")
    return Figure("Best quality over cost", Axis("device time", "s"), Axis("quality"), (line,))


def quality_figure(progress: Progress) -> Figure | None:
    """Return the quality of a job's finished training tasks over the device time that the job had
    spent when they ended, None while there are none.

    Tasks far below the better half would press all others together. They stand at the lower edge,
    as a series of their own whose name says so.
    """
    if not progress.points:
        return None
    length, unit = time_unit(progress.cost)
    low, high = quality_bounds([point.quality for point in progress.points])
    groups: dict[str, list[ProgressPoint]] = {name: [] for name in _KINDS}
    for point in progress.points:
        groups[_kind(point, low)].append(point)
    series = [_best_line(progress, length)]
    for kind, points in groups.items():
        if points:
            series.append(_tasks(kind, points, length))
    return Figure(
        "Quality over device time",
        Axis("device time", unit, low=0.0),
        Axis("quality on validation rows", low=low, high=high),
        tuple(series),
        note=_note(len(groups["far"]), progress.tasks - len(progress.points), low),
    )


_KINDS: dict[str, tuple[str, str, Mark]] = {  # name, tone and mark
    "far": ("below the axis", "warn", "tick"),
    "tried": ("task", "muted", "ring"),
    "best": ("best so far", "accent", "dot"),
    "promoted": ("promoted", "second", "square"),
}


def _kind(point: ProgressPoint, low: float) -> str:
    if point.quality < low:
        return "far"
    if point.promoted:
        return "promoted"
    return "best" if point.better else "tried"


def _tasks(kind: str, points: list[ProgressPoint], length: float) -> Series:
    name, tone, mark = _KINDS[kind]
    return Series(
        name,
        tuple(point.spent / length for point in points),
        tuple(point.quality for point in points),
        kind="points",
        tone=tone,
        mark=mark,
        notes=tuple(point.name for point in points),
        links=tuple(f"/tasks/{point.task_id}" for point in points),
    )


def _best_line(progress: Progress, length: float) -> Series:
    """Return the best quality so far, until the end of what was spent."""
    spent, qualities = [], []
    for point in progress.points:
        if not qualities or point.quality > qualities[-1]:
            spent.append(point.spent / length)
            qualities.append(point.quality)
    spent.append(max(progress.cost / length, spent[-1]))
    qualities.append(qualities[-1])
    return Series("", tuple(spent), tuple(qualities), kind="steps", tone="accent", silent=True)


def _note(far: int, left_out: int, low: float) -> str:
    """Say what the picture does not show where it is."""
    sentences = []
    if far:
        tasks = "1 task is" if far == 1 else f"{far} tasks are"
        sentences.append(f"{tasks} worse than {low:.4g}, where the axis begins.")
    if left_out:
        tasks = "1 task is" if left_out == 1 else f"{left_out:,} tasks are"
        sentences.append(f"{tasks} left out.")
    return " ".join(sentences)


def quality_bounds(qualities: Sequence[float]) -> tuple[float, float]:
    """Return the range to draw: all qualities but those far below the better half, with room at
    both ends.
    """
    ordered = sorted(qualities)
    best, middle = ordered[-1], ordered[len(ordered) // 2]
    least = best - _FAR * (best - middle) if best > middle else ordered[0]
    low = min(quality for quality in ordered if quality >= least)
    room = max((best - low) * _ROOM, 0.001 * max(1.0, abs(best)))
    return low - room, best + room


def histogram_figure(low: float, high: float, counts: Sequence[int]) -> Figure:
    """Return how the numbers of a column are spread over equal bins from ``low`` to ``high``."""
    width = (high - low) / len(counts) or 1.0
    middles = tuple(low + width * (place + 0.5) for place in range(len(counts)))
    bars = Series(
        "rows", middles, tuple(map(float, counts)), kind="bars", tone="accent", width=0.92 * width
    )
    values = Axis("value", low=low, high=high) if low < high else Axis("value")
    return Figure("Histogram", values, Axis("rows", low=0.0), (bars,))
