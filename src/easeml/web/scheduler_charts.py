"""Where the marks of the scheduler's pictures go, in percent of their boxes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from easeml.contract.scheduling import Device, DeviceTask, LossCurve, SchedulerView, Step
from easeml.web.charts import Tick

_TONES = 7  # colours of tenants, colour-blind safe; beyond them they repeat
_LEAST_LOSS, _MOST_FLOOR = 1e-4, 1e-2  # bounds of the lowest loss that is drawn
_NEAR_END = 1.1  # a replay is drawn to where all losses are gone, and a bit further
_LEAST_WIDTH = 0.15  # percent of the timeline: a mark that can be seen


@dataclass(frozen=True, slots=True)
class Mark:
    """A task on the timeline; ``end`` is None while it runs."""

    task: DeviceTask
    x: float
    width: float
    tone: int

    @property
    def end(self) -> float | None:
        return self.task.finished


@dataclass(frozen=True, slots=True)
class Lane:
    """A device on the timeline: what it runs now for the search, and all its tasks."""

    device: Device
    current: DeviceTask | None
    marks: list[Mark]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve in a box of 100 x 100: ``points`` of a polyline.

    ``kind``: average or worst; ``tone`` from 1.
    """

    name: str
    kind: str
    tone: int
    points: str


@dataclass(frozen=True, slots=True)
class LossChart:
    """Losses on a logarithmic axis."""

    lines: list[Line]
    across: list[Tick]
    up: list[Tick]


def tones(view: SchedulerView) -> dict[str, int]:
    """Return a colour for each tenant that is shown, by name in order, so that it keeps it."""
    names = {share.tenant for share in view.tenants} | {run.tenant for run in view.timeline}
    return {name: place % _TONES + 1 for place, name in enumerate(sorted(names))}


def lanes(view: SchedulerView, tone: dict[str, int]) -> list[Lane]:
    """Return the devices with their tasks; devices that are gone are shown while they have any."""
    span = view.now - view.since
    marks: list[list[Mark]] = [[] for _ in view.devices]
    for run in view.timeline:
        start, end = max(run.started, view.since), run.finished or view.now
        width = max(100 * (end - start) / span, _LEAST_WIDTH)
        marks[run.device].append(
            Mark(run, 100 * (start - view.since) / span, width, tone[run.tenant])
        )
    found = []
    for device, own in zip(view.devices, marks, strict=True):
        running = [mark.task for mark in own if mark.end is None and mark.task.lane == "search"]
        if device.here or own:
            found.append(Lane(device, running[-1] if running else None, own))
    return found


def time_ticks(span: float, count: int = 5) -> list[Tick]:
    """Return marks from ``span`` seconds ago to now."""
    unit, length = next(
        (u, n) for u, n in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)) if span >= 2 * n
    )
    ticks = [
        (100 * place / (count - 1), span * (1 - place / (count - 1))) for place in range(count)
    ]
    return [Tick(at, "now" if ago < 1 else f"−{ago / length:.3g} {unit}") for at, ago in ticks]


def loss_chart(curves: Sequence[LossCurve], across: list[Tick] | None = None) -> LossChart | None:
    """Return the picture of losses; without ``across`` its axis is device seconds.

    None if there is nothing to show.
    """
    curves = [curve for curve in curves if curve.at]
    if not curves:
        return None
    start, end = curves[0].at[0], max(curve.at[-1] for curve in curves)
    if across is None:
        end = min(end, max(_NEAR_END * curve.at[-2] for curve in curves)) or end
        across = [Tick(100 * part, f"{part * end:.3g} s") for part in (0, 0.25, 0.5, 0.75, 1)]
    seen = [loss for curve in curves for loss in (*curve.average, *curve.worst) if loss > 0]
    floor = 10 ** math.floor(math.log10(min(max(min(seen, default=1), _LEAST_LOSS), _MOST_FLOOR)))
    lines = []
    for tone, curve in enumerate(curves, 1):
        for kind, losses in (("worst", curve.worst), ("average", curve.average)):
            points = _steps(zip(curve.at, losses, strict=True), start, end, floor)
            lines.append(Line(curve.name, kind, tone, points))
    decades = round(-math.log10(floor))
    up = [Tick(100 * place / decades, f"{10**-place:g}") for place in range(decades + 1)]
    return LossChart(lines, across, up)


def intervals(step: Step) -> list[tuple[float, float, float]]:
    """Return for each candidate of a step where mean - sd, mean and mean + sd lie, in percent of
    their range.
    """
    spans = [(one.mean - one.sd, one.mean, one.mean + one.sd) for one in step.candidates]
    low = min((span[0] for span in spans), default=0.0)
    width = max((span[2] for span in spans), default=1.0) - low or 1.0
    return [tuple(4 + 92 * (value - low) / width for value in span) for span in spans]  # type: ignore[misc]


def _steps(points: Iterable[tuple[float, float]], start: float, end: float, floor: float) -> str:
    """Return the points of a line that holds each loss until the next one; without loss it runs
    along the floor.
    """
    placed, before = [], None
    for at, loss in points:
        x = 100 * (min(at, end) - start) / ((end - start) or 1.0)
        y = 100 * math.log10(min(max(loss, floor), 1.0)) / math.log10(floor)
        placed += [(x, y)] if before is None else [(x, before), (x, y)]
        before = y
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in placed)
