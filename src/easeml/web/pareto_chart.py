"""The chart of an application's models by two measures at once."""

from collections.abc import Callable

from easeml.contract.measures import value_on
from easeml.contract.pareto import Pareto, ParetoAxis, ParetoPoint
from easeml.figures import Axis, Figure
from easeml.figures.pareto import pareto

_WIDE = 20.0  # times the smallest value, from which on an axis is logarithmic
_MILLI = 1000.0


def pareto_figure(found: Pareto | None, called: Callable[[str], str] = str) -> Figure | None:
    """Return the models by the first two axes, the first upward; None without two measured models.

    ``called``: what to call a model.
    """
    if found is None or len(found.points) < 2:
        return None
    upward, across = found.axes[0], found.axes[1]
    ups = []
    rights = []
    notes = []
    links = []
    on_front = []
    barred = []
    for point in found.points:
        ups.append(_drawn(upward, point.values[0]))
        rights.append(_drawn(across, point.values[1]))
        notes.append(_note(found, point, called))
        links.append(f"/tasks/{point.task_id}")
        on_front.append(point.on_front)
        barred.append(bool(point.breaks))
    return pareto(
        _axis(across, rights),
        _axis(upward, ups),
        list(zip(rights, ups, strict=True)),
        on_front=on_front,
        notes=notes,
        links=links,
        barred=barred,
    )


def _axis(axis: ParetoAxis, values: list[float]) -> Axis:
    unit = "ms" if axis.unit == "s" else axis.unit
    better = "less is better" if axis.lower_is_better else "more is better"
    title = f"{axis.title}, {better}"
    least = min(values)
    is_wide = 0 < least * _WIDE < max(values)
    if is_wide:
        return Axis(title, unit, scale="log")
    return Axis(title, unit)


def _drawn(axis: ParetoAxis, value: float) -> float:
    if axis.unit == "s":
        return _MILLI * value
    return value


def _note(found: Pareto, point: ParetoPoint, called: Callable[[str], str]) -> str:
    """Say what a model is called, all that was measured of it, and which limit it breaks."""
    measured = []
    for axis, value in zip(found.axes, point.values, strict=True):
        measured.append(f"{axis.title} {value_on(axis, value)}")
    name = called(point.name)
    if point.live:
        name += " (live)"
    note = f"{name}: {', '.join(measured)}"
    if point.breaks:
        note += f". {point.breaks}"
    return note
