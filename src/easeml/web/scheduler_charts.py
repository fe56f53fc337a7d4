"""The scheduler in pictures: what devices did, and losses over time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from easeml.contract import states
from easeml.contract.scheduling import Device, DeviceTask, LossCurve, SchedulerView, Step
from easeml.figures import Axis, Figure, Series, tone_of
from easeml.web.charts import time_unit

_LEAST_LOSS, _MOST_FLOOR = 1e-4, 1e-2  # bounds of the lowest loss that is drawn
_NEAR_END = 1.1  # a replay is drawn to where all losses are gone, and a bit further
_LEAST_WIDTH = 0.15  # percent of the timeline: a mark that can be seen
_CURVE_TONES = ("accent", "second")  # of the policy, and of what it is compared with
_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


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
    places: dict[str, int] = {}
    for one in (*view.timeline, *view.tenants):
        places[one.tenant] = one.place
    in_order = sorted(places, key=lambda name: places[name])
    return {name: tone_of(places[name]) for name in in_order}


def lanes(view: SchedulerView, tone: dict[str, str]) -> list[Lane]:
    """Return the devices with their tasks; devices that are gone are shown while they have any."""
    marks: list[list[Mark]] = [[] for _ in view.devices]
    for run in view.timeline:
        marks[run.device].append(_mark(run, view, tone[run.tenant]))
    found = []
    for device, own in zip(view.devices, marks, strict=True):
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
        if mark.end is None and mark.task.lane == states.Lane.SEARCH:
            return mark.task
    return None


def time_ticks(span: float, count: int = 5) -> list[Tick]:
    """Return labels from ``span`` seconds ago to now."""
    unit, length = next((unit, length) for unit, length in _UNITS if span >= 2 * length)
    ticks = []
    for place in range(count):
        share = place / (count - 1)
        ago = span * (1 - share)
        ticks.append(Tick(100 * share, "now" if ago < 1 else f"−{ago / length:.3g} {unit}"))
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
        tuple(_lines(curve, places, "accent", named=False)),
    )


def spent_losses(curves: Sequence[LossCurve]) -> Figure | None:
    """Return the losses of policies against the device time that was spent, None for none."""
    curves = [curve for curve in curves if curve.at]
    if not curves:
        return None
    end = _end(curves)
    length, unit = time_unit(end)
    series = []
    for curve, tone in zip(curves, _CURVE_TONES, strict=False):
        series += _lines(curve, [at / length for at in curve.at], tone, named=True)
    whole = max(curve.at[-1] for curve in curves)
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


def _end(curves: Sequence[LossCurve]) -> float:
    """Return where a replay's picture ends: a bit after the last change of any loss."""
    whole, last_change = 0.0, 0.0
    for curve in curves:
        whole = max(whole, curve.at[-1])
        if len(curve.at) > 1:
            # The last point only draws the line out to the end of the work.
            last_change = max(last_change, curve.at[-2])
    end = min(whole, _NEAR_END * last_change)
    return end or whole or 1.0


def _loss_axis(curves: Sequence[LossCurve]) -> Axis:
    """Return a logarithmic axis from the power of ten below the least loss, within bounds, to 1."""
    least = 1.0
    for curve in curves:
        losses = [loss for loss in (*curve.average, *curve.worst) if loss > 0]
        least = min([least, *losses])
    shown = min(max(least, _LEAST_LOSS), _MOST_FLOOR)
    floor = 10.0 ** math.floor(math.log10(shown))
    return Axis("loss", scale="log", low=floor, high=1.0)


def _lines(curve: LossCurve, places: Sequence[float], tone: str, *, named: bool) -> list[Series]:
    """Return the lines of the worst search and of the average; the average is on top."""
    before = f"{curve.name}, " if named else ""
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
