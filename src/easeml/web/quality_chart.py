"""The chart of a search: how good each finished task is over the device time that was spent."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from easeml.contract import measures
from easeml.contract.applications import Application
from easeml.contract.progress import Progress, ProgressPoint
from easeml.figures import Axis, Figure, Mark, Reference, Series
from easeml.web.charts import Point, points_series, time_unit

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

    @property
    def sign(self) -> int:
        """What values are multiplied by so that more is better."""
        return -1 if self.lower_is_better else 1

    def is_better(self, one: float, other: float) -> bool:
        return self.sign * one > self.sign * other

    @property
    def edge(self) -> str:
        """What is said of values that are too bad for the axis."""
        if self.lower_is_better:
            return "above the axis"
        return "below the axis"


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
    worst_end = high if measured.lower_is_better else low
    groups = _grouped(progress, measured, low, high)
    series = [_best_line(progress, measured, length)]
    for kind in _KINDS:
        series += _tasks(kind, groups[kind], measured, length, called)
    left_out = progress.tasks - len(progress.points)
    rows = measures.best_judged_on(application)
    return Figure(
        "Quality over device time",
        Axis("device time", unit, low=0.0),
        Axis(f"{measured.title} on {rows}", measured.unit, low=low, high=high),
        tuple(series),
        references=_baseline(measured, low, high),
        note=_note(len(groups["far"]), left_out, worst_end),
    )


def _grouped(
    progress: Progress, measured: _Measured, low: float, high: float
) -> defaultdict[str, list[ProgressPoint]]:
    """Return the tasks by kind; those beyond the axis are a kind of their own."""
    groups: defaultdict[str, list[ProgressPoint]] = defaultdict(list)
    for point in progress.points:
        is_on_axis = low <= measured.of(point) <= high
        kind = _kind(point) if is_on_axis else "far"
        groups[kind].append(point)
    return groups


def _measured(progress: Progress, application: Application) -> _Measured:
    first = progress.points[0].measure
    if first is None or any(point.measure is None for point in progress.points):
        return _Measured("score")
    title = application.objective_title or application.objective
    return _Measured(
        title,
        application.target if first.in_unit_of_target else "",
        first.lower_is_better,
        has_unit=True,
        baseline=first.baseline,
        guess=first.guess,
    )


def _kind(point: ProgressPoint) -> str:
    if point.promoted:
        return "promoted"
    if point.better:
        return "best so far"
    return "task"


def _tasks(
    kind: str,
    tasks: list[ProgressPoint],
    measured: _Measured,
    length: float,
    called: Callable[[str], str],
) -> list[Series]:
    """Return the tasks of a kind, each with its name and the way to its page."""
    points = []
    for task in tasks:
        spent = task.spent / length
        note = called(task.name)
        link = f"/tasks/{task.task_id}"
        points.append(Point(spent, measured.of(task), note=note, link=link))
    name = measured.edge if kind == "far" else kind
    tone, mark = _KINDS[kind]
    return points_series(name, points, tone, mark)


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


def _baseline(measured: _Measured, low: float, high: float) -> tuple[Reference, ...]:
    """Return the line of always guessing alike; at the edge, and said so, where it is far."""
    if measured.baseline is None:
        return ()
    told = measures.figure if measured.has_unit else measures.without_unit
    name = f"always guessing {measured.guess}: {told(measured.baseline)}"
    value = min(max(measured.baseline, low), high)
    if value != measured.baseline:
        name += f", {measured.edge}"
    return (Reference(value, name, tone="bad"),)


def _note(far: int, left_out: int, end: float) -> str:
    """Say what the picture does not show where it is."""
    sentences = []
    if far:
        sentences.append(
            f"{_tasks_are(far)} worse than {measures.figure(end)}, where the axis ends, "
            "and drawn at its edge."
        )
    if left_out:
        sentences.append(f"{_tasks_are(left_out)} left out.")
    return " ".join(sentences)


def _tasks_are(count: int) -> str:
    if count == 1:
        return "1 task is"
    return f"{count:,} tasks are"


def _bounds(progress: Progress, measured: _Measured) -> tuple[float, float]:
    """Return the range to draw."""
    sign = measured.sign
    # Errors are turned round, so that more is better for all, and in the end turned back.
    turned = [sign * measured.of(point) for point in progress.points]
    baseline = None if measured.baseline is None else sign * measured.baseline
    worst, best = quality_bounds(turned, baseline)
    low, high = sorted((sign * worst, sign * best))
    return low, high


def quality_bounds(
    qualities: Sequence[float], baseline: float | None = None
) -> tuple[float, float]:
    """Return the range to draw: all qualities but those far below the better half, with a margin at
    both ends, and the baseline where that leaves enough of the axis to them.
    """
    ordered = sorted(qualities)
    best = ordered[-1]
    middle = ordered[len(ordered) // 2]
    low = ordered[0]
    if best > middle:
        least = best - _FAR * (best - middle)
        low = ordered[bisect_left(ordered, least)]
    if baseline is not None and baseline < low:
        share_left = (best - low) / (best - baseline)
        if share_left >= _LEAST_SHARE:
            low = baseline
    margin = max((best - low) * _MARGIN, 0.001 * max(1.0, abs(best)))
    return low - margin, best + margin
