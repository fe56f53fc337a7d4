"""The chart of a search: how good each finished task is over the device time that was spent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from easeml.contract import measures
from easeml.contract.applications import Application
from easeml.contract.progress import Progress, ProgressPoint
from easeml.figures import Axis, Figure, Mark, Reference, Series
from easeml.web.charts import time_unit

_FAR = 4.0  # times the distance from the best to the middle: what is worse is at the edge
_MARGIN = 0.08  # of the values that are drawn, at both ends
_LEAST_SHARE = 0.15  # of the axis, for the tasks, if the baseline is to be on it

_KINDS: dict[str, tuple[str, Mark]] = {  # tone and mark
    "far": ("warn", "tick"),
    "task": ("muted", "ring"),
    "best so far": ("accent", "dot"),
    "promoted": ("second", "square"),
}


@dataclass(frozen=True, slots=True)
class _Measured:
    """In what tasks are measured, and what always guessing alike reaches.

    Tasks of older versions of easeml have a score alone; then all are shown by their scores.
    """

    title: str
    unit: str = ""
    lower_is_better: bool = False
    has_unit: bool = False
    baseline: float | None = None
    guess: str = ""

    def of(self, point: ProgressPoint) -> float:
        if self.has_unit and point.measure is not None:
            return point.measure.value
        return point.quality

    def is_better(self, one: float, other: float) -> bool:
        return one < other if self.lower_is_better else one > other


def quality_figure(
    progress: Progress, application: Application, called: Callable[[str], str] = str
) -> Figure | None:
    """Return the measure of a job's finished training tasks over the device time that the job had
    spent when they ended, None while there are none. ``called``: what to call a candidate.

    Tasks far worse than the better half would press all others together. They stand at the edge, as
    a series of their own whose name says so. So does the baseline.
    """
    if not progress.points:
        return None
    measured = _measured(progress, application)
    length, unit = time_unit(progress.cost)
    low, high = _bounds(progress, measured)
    groups = _grouped(progress, measured, low, high)
    edge = "above the axis" if measured.lower_is_better else "below the axis"
    series = [_best_line(progress, measured, length)]
    for kind, points in groups.items():
        if points:
            name = edge if kind == "far" else kind
            notes = tuple(called(point.name) for point in points)
            series.append(_tasks(name, kind, points, measured, length, notes))
    end = high if measured.lower_is_better else low
    return Figure(
        "Quality over device time",
        Axis("device time", unit, low=0.0),
        Axis(f"{measured.title} on validation rows", measured.unit, low=low, high=high),
        tuple(series),
        references=_baseline(measured, low, high, edge),
        note=_note(len(groups["far"]), progress.tasks - len(progress.points), end),
    )


def _grouped(
    progress: Progress, measured: _Measured, low: float, high: float
) -> dict[str, list[ProgressPoint]]:
    """Return the tasks by kind; those beyond the axis are a kind of their own."""
    groups: dict[str, list[ProgressPoint]] = {name: [] for name in _KINDS}
    for point in progress.points:
        is_on_axis = low <= measured.of(point) <= high
        kind = _kind(point) if is_on_axis else "far"
        groups[kind].append(point)
    return groups


def _measured(progress: Progress, application: Application) -> _Measured:
    first = progress.points[0].measure
    if first is None or any(point.measure is None for point in progress.points):
        return _Measured("score")
    return _Measured(
        application.objective_title or application.objective,
        application.target if first.in_unit_of_target else "",
        first.lower_is_better,
        has_unit=True,
        baseline=first.baseline,
        guess=first.guess,
    )


def _kind(point: ProgressPoint) -> str:
    if point.promoted:
        return "promoted"
    return "best so far" if point.better else "task"


def _tasks(
    name: str,
    kind: str,
    points: list[ProgressPoint],
    measured: _Measured,
    length: float,
    notes: tuple[str, ...],
) -> Series:
    tone, mark = _KINDS[kind]
    return Series(
        name,
        tuple(point.spent / length for point in points),
        tuple(measured.of(point) for point in points),
        kind="points",
        tone=tone,
        mark=mark,
        notes=notes,
        links=tuple(f"/tasks/{point.task_id}" for point in points),
    )


def _best_line(progress: Progress, measured: _Measured, length: float) -> Series:
    """Return the best so far, until the end of what was spent."""
    spent: list[float] = []
    values: list[float] = []
    for point in progress.points:
        value = measured.of(point)
        if not values or measured.is_better(value, values[-1]):
            spent.append(point.spent / length)
            values.append(value)
    spent.append(max(progress.cost / length, spent[-1]))
    values.append(values[-1])
    return Series("", tuple(spent), tuple(values), kind="steps", tone="accent", silent=True)


def _baseline(measured: _Measured, low: float, high: float, edge: str) -> tuple[Reference, ...]:
    """Return the line of always guessing alike; at the edge, and said so, where it is far."""
    if measured.baseline is None:
        return ()
    told = measures.figure if measured.has_unit else measures.without_unit
    name = f"always guessing {measured.guess}: {told(measured.baseline)}"
    if not low <= measured.baseline <= high:
        name += f", {edge}"
    value = min(max(measured.baseline, low), high)
    return (Reference(value, name, tone="bad"),)


def _note(far: int, left_out: int, end: float) -> str:
    """Say what the picture does not show where it is."""
    sentences = []
    if far:
        tasks = "1 task is" if far == 1 else f"{far} tasks are"
        sentences.append(
            f"{tasks} worse than {measures.figure(end)}, where the axis ends, and drawn at its edge."
        )
    if left_out:
        tasks = "1 task is" if left_out == 1 else f"{left_out:,} tasks are"
        sentences.append(f"{tasks} left out.")
    return " ".join(sentences)


def _bounds(progress: Progress, measured: _Measured) -> tuple[float, float]:
    """Return the range to draw. Errors are turned round, so that more is better for all."""
    sign = -1.0 if measured.lower_is_better else 1.0
    values = [sign * measured.of(point) for point in progress.points]
    baseline = None if measured.baseline is None else sign * measured.baseline
    low, high = quality_bounds(values, baseline)
    return (low, high) if sign > 0 else (-high, -low)


def quality_bounds(
    qualities: Sequence[float], baseline: float | None = None
) -> tuple[float, float]:
    """Return the range to draw: all qualities but those far below the better half, with a margin at
    both ends, and the baseline where that leaves enough of the axis to them.
    """
    ordered = sorted(qualities)
    best = ordered[-1]
    middle = ordered[len(ordered) // 2]
    least = best - _FAR * (best - middle) if best > middle else ordered[0]
    low = min(quality for quality in ordered if quality >= least)
    if baseline is not None and baseline < low:
        share_left = (best - low) / (best - baseline)
        if share_left >= _LEAST_SHARE:
            low = baseline
    margin = max((best - low) * _MARGIN, 0.001 * max(1.0, abs(best)))
    return low - margin, best + margin
