"""The picture of what tenants used: device time of each day, stacked."""

from collections.abc import Sequence

from easeml.contract.administration import TenantUsage, Usage
from easeml.figures import Axis, Figure, Series, tone_of
from easeml.web.charts import time_unit

_MOST = 6  # tenants with a colour of their own; the others are one
_MOST_LABELS = 8


def usage_figure(usage: Usage) -> Figure | None:
    """Return the device time of each day by tenant, None where nothing was used.

    Those that used most stand at the bottom; beyond ``_MOST`` of them the others are added up.
    """
    used = [one for one in usage.tenants if sum(one.seconds) > 0]
    if not used:
        return None
    ranked = sorted(used, key=lambda one: -sum(one.seconds))
    shown = [(one.name, one.seconds) for one in ranked[:_MOST]]
    if len(ranked) > _MOST:
        shown.append(("all others", _added(ranked[_MOST:])))
    tallest = max(sum(day) for day in zip(*(seconds for _, seconds in shown), strict=True))
    length, unit = time_unit(tallest)
    places = tuple(float(place) for place in range(len(usage.days)))
    base = [0.0] * len(usage.days)
    series = []
    for number, (name, seconds) in enumerate(shown):
        heights = [amount / length for amount in seconds]
        tops = [low + height for low, height in zip(base, heights, strict=True)]
        notes = []
        for day, height in zip(usage.days, heights, strict=True):
            notes.append(f"{name}, {day}: {height:.3g} {unit}")
        tone = tone_of(number) if number < _MOST else "muted"
        bars = Series(name, places, tuple(tops), "bars", tone, base=tuple(base), notes=tuple(notes))
        series.append(bars)
        base = tops
    axis = Axis("day (UTC)", scale="category", categories=_labels(usage.days))
    return Figure("Device time by day", axis, Axis("device time", unit, low=0.0), tuple(series))


def _labels(days: Sequence[str]) -> tuple[str, ...]:
    """Return month and day, of as many days as can be read beside each other; today is one."""
    step = -(-len(days) // _MOST_LABELS)
    last = len(days) - 1
    return tuple(day[5:] if (last - place) % step == 0 else "" for place, day in enumerate(days))


def _added(tenants: Sequence[TenantUsage]) -> list[float]:
    return [sum(day) for day in zip(*(one.seconds for one in tenants), strict=True)]
