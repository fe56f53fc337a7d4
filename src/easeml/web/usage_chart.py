"""The picture of what tenants used: device time of each day, stacked."""

from collections.abc import Iterator, Sequence
from operator import add

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
    length, unit = time_unit(max(_added(ranked)))
    base = [0.0] * len(usage.days)
    series = []
    for name, seconds, tone in _shown(ranked):
        heights = [amount / length for amount in seconds]
        notes = []
        for day, height in zip(usage.days, heights, strict=True):
            notes.append(f"{name}, {day}: {height:.3g} {unit}")
        bars = _bars(name, tone, base, heights, notes)
        series.append(bars)
        base = list(bars.y)
    days = Axis("day (UTC)", scale="category", categories=_labels(usage.days))
    times = Axis("device time", unit, low=0.0)
    return Figure("Device time by day", days, times, tuple(series))


def _shown(ranked: Sequence[TenantUsage]) -> Iterator[tuple[str, Sequence[float], str]]:
    """Yield name, seconds of each day and tone: those that used most, then all others together."""
    for number, one in enumerate(ranked[:_MOST]):
        yield one.name, one.seconds, tone_of(number)
    others = ranked[_MOST:]
    if others:
        yield "all others", _added(others), "muted"


def _bars(
    name: str, tone: str, base: Sequence[float], heights: Sequence[float], notes: Sequence[str]
) -> Series:
    """Return bars that stand on others, a bar a day."""
    places = tuple(map(float, range(len(base))))
    tops = tuple(map(add, base, heights))
    return Series(name, places, tops, "bars", tone, base=tuple(base), notes=tuple(notes))


def _labels(days: Sequence[str]) -> tuple[str, ...]:
    """Return month and day, of as many days as can be read beside each other; today is one."""
    step = -(-len(days) // _MOST_LABELS)
    labels = [""] * len(days)
    for place in range(len(days) - 1, -1, -step):
        labels[place] = days[place][5:]
    return tuple(labels)


def _added(tenants: Sequence[TenantUsage]) -> list[float]:
    """Return the seconds of all tenants together, day by day."""
    by_tenant = [tenant.seconds for tenant in tenants]
    return list(map(sum, zip(*by_tenant, strict=True)))
