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
    ups = [_drawn(upward, point.values[0]) for point in found.points]
    rights = [_drawn(across, point.values[1]) for point in found.points]
    return pareto(
        _axis(across, rights),
        _axis(upward, ups),
        list(zip(rights, ups, strict=True)),
        [point.on_front for point in found.points],
        [_note(found, point, called) for point in found.points],
        [f"/tasks/{point.task_id}" for point in found.points],
        [bool(point.breaks) for point in found.points],
    )


def _axis(axis: ParetoAxis, values: list[float]) -> Axis:
    unit = "ms" if axis.unit == "s" else axis.unit
    better = "less is better" if axis.lower_is_better else "more is better"
    is_wide = min(values) > 0 and max(values) > _WIDE * min(values)
    title = f"{axis.title}, {better}"
    return Axis(title, unit, scale="log" if is_wide else "linear")


def _drawn(axis: ParetoAxis, value: float) -> float:
    return _MILLI * value if axis.unit == "s" else value


def _note(found: Pareto, point: ParetoPoint, called: Callable[[str], str]) -> str:
    values = []
    for axis, value in zip(found.axes, point.values, strict=True):
        values.append(f"{axis.title} {value_on(axis, value)}")
    live = " (live)" if point.live else ""
    breaks = f". {point.breaks}" if point.breaks else ""
    return f"{called(point.name)}{live}: {', '.join(values)}{breaks}"
