"""The scheduler in pictures: what devices did, and losses over time."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from easeml.contract import states
from easeml.contract.scheduling import Device, DeviceTask, LossCurve, SchedulerView, Step
from easeml.figures import Axis, Figure, Series, tone_of
from easeml.web.charts import TIME_UNITS, time_unit

_LEAST_LOSS, _MOST_FLOOR = 1e-4, 1e-2  # bounds of the lowest loss that is drawn
_NEAR_END = 1.1  # a replay is drawn to where all losses are gone, and a bit further
_LEAST_WIDTH = 0.15  # percent of the timeline: a mark that can be seen
_CURVE_TONES = ("accent", "second")  # of the policy, and of what it is compared with
_UNITS = ((86_400.0, "d"), *TIME_UNITS)


@dataclass(frozen=True, slots=True)
class Tick:
    """A label beside the timeline, at a place in percent."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A task on the timeline, in percent of its width; ``end`` is None while it runs."""

    task: DeviceTask
    x: float
    width: float
    tone: str

    @property
    def end(self) -> float | None:
        return self.task.finished


@dataclass(frozen=True, slots=True)
class Lane:
    """A device on the timeline: what it runs now for the search, and all its tasks."""

    device: Device
    current: DeviceTask | None
    marks: list[Mark]


def tones(view: SchedulerView) -> dict[str, str]:
    """Return a tone for each tenant that is shown, by name.

    It follows the order in which tenants came, so nobody's changes when another joins.
    """
    places = {one.tenant: one.place for one in (*view.timeline, *view.tenants)}
    in_order = sorted(places, key=places.__getitem__)
    return {name: tone_of(places[name]) for name in in_order}


def lanes(view: SchedulerView, tone: dict[str, str]) -> list[Lane]:
    """Return the devices with their tasks; devices that are gone are shown while they have any."""
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    for run in view.timeline:
        marks[run.device].append(_mark(run, view, tone[run.tenant]))
    found = []
    for number, device in enumerate(view.devices):
        own = marks[number]
        if device.here or own:
            found.append(Lane(device, _current(own), own))
    return found


def _mark(run: DeviceTask, view: SchedulerView, tone: str) -> Mark:
    span = view.now - view.since
    start = max(run.started, view.since)
    end = run.finished or view.now
    return Mark(
        task=run,
        x=100 * (start - view.since) / span,
        width=max(100 * (end - start) / span, _LEAST_WIDTH),
        tone=tone,
    )


def _current(marks: list[Mark]) -> DeviceTask | None:
    """Return what a device runs now for the search."""
    for mark in reversed(marks):
        if (mark.task.lane, mark.end) == (states.Lane.SEARCH, None):
            return mark.task
    return None


def time_ticks(span: float, count: int = 5) -> list[Tick]:
    """Return labels from ``span`` seconds ago to now."""
    length, unit = time_unit(span, _UNITS)
    ticks = []
    for place in range(count):
        share = place / (count - 1)
        ago = span * (1 - share)
        label = f"−{ago / length:.3g} {unit}"
        if ago < 1:
            label = "now"
        ticks.append(Tick(100 * share, label))
    return ticks


def recent_losses(curve: LossCurve, now: float) -> Figure | None:
    """Return average and worst loss until now, None if there is nothing to show."""
    if not curve.at:
        return None
    length, unit = time_unit(now - curve.at[0])
    places = [(at - now) / length for at in curve.at]
    return Figure(
        "Loss over time",
        Axis("time before now", unit, high=0.0),
        _loss_axis([curve]),
        tuple(_lines(curve, places, "accent")),
    )


def spent_losses(curves: Sequence[LossCurve]) -> Figure | None:
    """Return the losses of policies against the device time that was spent, None for none."""
    curves = [curve for curve in curves if curve.at]
    if not curves:
        return None
    end, whole = _ends(curves)
    length, unit = time_unit(end)
    series = []
    for curve, tone in zip(curves, _CURVE_TONES, strict=False):
        places = [at / length for at in curve.at]
        series += _lines(curve, places, tone, f"{curve.name}, ")
    note = ""
    if end < whole:
        note = f"All losses are gone here; the work goes on to {whole / length:.3g} {unit}."
    return Figure(
        "Loss over device time",
        Axis("device time spent, all devices together", unit, low=0.0, high=end / length),
        _loss_axis(curves),
        tuple(series),
        note=note,
    )


def _ends(curves: Sequence[LossCurve]) -> tuple[float, float]:
    """Return where a replay's picture ends, a bit after the last change of any loss, and the work."""
    whole = 0.0
    last_change = 0.0
    for curve in curves:
        # The last point only draws the line out to the end of the work.
        *changes, end = curve.at
        whole = max(whole, end)
        last_change = max([last_change, *changes[-1:]])
    shown = min(whole, _NEAR_END * last_change)
    return shown or whole or 1.0, whole


def _loss_axis(curves: Sequence[LossCurve]) -> Axis:
    """Return a logarithmic axis from the power of ten below the least loss, within bounds, to 1."""
    least = 1.0
    for curve in curves:
        losses = [loss for loss in (*curve.average, *curve.worst) if loss > 0]
        least = min([least, *losses])
    shown = min(max(least, _LEAST_LOSS), _MOST_FLOOR)
    floor = 10.0 ** math.floor(math.log10(shown))
    return Axis("loss", scale="log", low=floor, high=1.0)


def _lines(curve: LossCurve, places: Sequence[float], tone: str, before: str = "") -> list[Series]:
    """Return the lines of the worst search and of the average; the average is on top.

    ``before``: what their names begin with.
    """
    worst = Series(
        f"{before}worst search",
        tuple(places),
        tuple(curve.worst),
        "steps",
        tone,
        dashed=True,
    )
    average = Series(
        f"{before}average",
        tuple(places),
        tuple(curve.average),
        "steps",
        tone,
        dashed=False,
    )
    return [worst, average]


def intervals(step: Step) -> list[tuple[float, float, float]]:
    """Return for each candidate of a step where mean - sd, mean and mean + sd lie.

    In percent of the range of all candidates, with a margin at both ends.
    """
    if not step.candidates:
        return []
    low = min(one.mean - one.sd for one in step.candidates)
    high = max(one.mean + one.sd for one in step.candidates)
    width = high - low or 1.0
    found = []
    for one in step.candidates:
        middle = 4 + 92 * (one.mean - low) / width
        half = 92 * one.sd / width
        found.append((middle - half, middle, middle + half))
    return found
