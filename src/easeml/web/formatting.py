"""Numbers, times and states as people read them."""

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import singledispatch, wraps
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

from markupsafe import Markup, escape

from easeml.contract import measures
from easeml.contract.models import TrainedModel
from easeml.contract.task_views import Task
from easeml.contract.work import why_in_doubt, why_judges
from easeml.web.page_words import in_page_words

T = TypeVar("T")

_UNITS = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"))
_MANY_DIGITS, _TOO_MANY_DIGITS = 1e4, 1e15
_ITEM = "- "  # begins the line of a fault in a message of several
_TONES = {  # state -> tone of its badge
    "serving": "good",
    "done": "good",
    "ready": "good",
    "passed": "good",
    "live": "good",
    "running": "busy",
    "searching": "busy",
    "ingesting": "busy",
    "checking": "busy",
    "preparing": "busy",
    "declared": "busy",
    "failed": "bad",
    "lost": "bad",
    "taken back": "bad",
}


def _or_dash(say: Callable[[T], str]) -> Callable[[T | None], str]:
    """Make a filter say – where there is no value."""

    @wraps(say)
    def said(value: T | None) -> str:
        if value is None:
            return "–"
        return say(value)

    return said


@_or_dash
def quality(value: float) -> str:
    """Say a score (1 is best) to four digits."""
    return measures.score(value)


def found(one: Task | TrainedModel, target: str = "") -> str:
    """Say how good a task's model is: in its own unit where that is known, else its score."""
    if one.measure is not None:
        return measures.in_unit(one.measure, target)
    return quality(one.quality)


@_or_dash
def gain(value: float) -> str:
    """Say a gain of quality; one that four digits do not show is said to be small."""
    if 0 < value < 0.0001:
        return "< 0.0001"
    return measures.score(value)


@_or_dash
def seconds(value: float) -> str:
    """Say a time that something took: 4.2 ms, 0.42 s, 12 s, 3 min 5 s, 2 h 4 min."""
    if 0 < value < 0.01:
        return f"{1000 * value:.2g} ms"
    if value < 10:
        return f"{value:.2g} s"
    if value < 60:
        return f"{value:.0f} s"
    whole = round(value)
    if whole < 3600:
        return _two(whole // 60, "min", whole % 60, "s")
    return _two(whole // 3600, "h", whole % 3600 // 60, "min")


def _two(large: int, unit: str, small: int, part: str) -> str:
    if not small:
        return f"{large} {unit}"
    return f"{large} {unit} {small} {part}"


def ago(moment: float | None) -> Markup:
    """Return the time element of a moment (seconds of the epoch): relative, with the exact one on hover."""
    if moment is None:
        return Markup("–")
    exact = datetime.fromtimestamp(moment, UTC)
    text = _ago(time.time() - moment)
    shown = exact.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact.isoformat(), shown, text)


def day(moment: float) -> str:
    """Say the date of a moment, in UTC."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def exactly(moment: float) -> Markup:
    """Return the time element of a moment (seconds of the epoch) that is still to come."""
    exact = datetime.fromtimestamp(moment, UTC)
    shown = exact.strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}">{}</time>').format(exact.isoformat(), shown)


def _ago(passed: float) -> str:
    for length, unit in _UNITS:
        if passed >= length:
            whole = int(passed // length)
            return f"{counted(whole, unit)} ago"
    return "just now"


def percent(share: float) -> str:
    """Say a share in percent, to a digit that tells something."""
    is_plain = share in (0, 1) or 0.1 <= share <= 0.9
    digits = 0 if is_plain else 1
    return f"{100 * share:.{digits}f} %"


@singledispatch
def number(value: Any) -> str:
    """Say a number to five digits, thousands apart, and lists of numbers so; other values as they are."""
    return str(value)


@number.register
def _no_number(value: None) -> str:
    return "–"


@number.register
def _truth(value: bool) -> str:
    return str(value)  # which Python takes for a whole number


@number.register
def _whole_number(value: int) -> str:
    return f"{value:,}"


@number.register
def _numbers(value: list) -> str:
    return f"[{', '.join(map(number, value))}]"


@number.register
def _five_digits(value: float) -> str:
    if _MANY_DIGITS <= abs(value) < _TOO_MANY_DIGITS:
        return f"{value:,.0f}"  # instead of 1.5566e+07
    return f"{value:,.5g}"


@singledispatch
def plain(value: Any) -> str:
    """Say a value of a row, or the id of a row, as files have it: a year has no thousands apart."""
    return number(value)


@plain.register
def _plain_number(value: int | float) -> str:
    return number(value).replace(",", "")


@plain.register
def _plain_text(value: str) -> str:
    return value.removesuffix("T00:00:00")  # a day is kept as its first second


@plain.register
def _plain_numbers(value: list) -> str:
    return f"[{', '.join(map(plain, value))}]"


def answered(value: Any) -> str:
    """Say what is predicted of a row: one value, or several labels or numbers."""
    if not isinstance(value, list):
        return plain(value)
    said = ", ".join(map(plain, value))
    return said or "no label"


def classes_of(schema_out: Mapping[str, Any]) -> list[str]:
    """Return the classes of a target that is a category; none of others."""
    if several_of(schema_out):
        return []
    named = schema_out.get("classes", {}).values()
    return list(chain.from_iterable(map(itemgetter("labels"), named)))


def several_of(schema_out: Mapping[str, Any]) -> str:
    """Return of what a row may have several: ``labels`` or ``numbers``; empty of one answer."""
    node = next(iter(schema_out.get("nodes", {}).values()), {})
    if node.get("labels"):
        return "labels"
    return "numbers" if node.get("parts") else ""


def minutes(seconds: float) -> str:
    """Say a limit as its field takes it: minutes to two digits, three of less than one."""
    value = seconds / 60
    if value < 1:
        return f"{value:.3g}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


@_or_dash
def size(count: int) -> str:
    """Say bytes: 640 B, 1.2 MB."""
    if count < 1000:
        return f"{count:.0f} B"
    value = float(count)
    unit = "B"
    for larger in ("kB", "MB", "GB", "TB"):
        value /= 1000
        unit = larger
        if value < 1000:
            break
    if value >= 100:
        return f"{value:.0f} {unit}"
    return f"{value:.2g} {unit}"


def rate(value: float) -> str:
    """Say a quality that is gained a device second, to two digits."""
    return f"{value:.2g}" if value else "0"


def badge(state: str) -> Markup:
    """Return the badge of a state; its tone is colour, its word carries the meaning."""
    tone = _TONES.get(state, "calm")
    return Markup('<span class="badge badge-{}">{}</span>').format(tone, escape(state))


def each_value(distribution: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return whole numbers and how many rows have each, the most first.

    ``distribution``: of a column. None where its bins hold more than one number each.
    """
    counts = distribution.get("counts", [])
    low = distribution.get("low", 0)
    width = distribution.get("high", 0) - low + 1
    if len(counts) != width:
        return []
    found = [(f"{low + place:g}", count) for place, count in enumerate(counts)]
    return sorted(found, key=itemgetter(1), reverse=True)


def counted(count: int, noun: str) -> str:
    """Say ``1 task``, ``2 tasks``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun}s"


_USES = {"input": "used", "drop": "left out", "target": "target", "weight": "weight of the row"}


def use(role: str) -> str:
    """Return what is done with a column of a role."""
    return _USES[role]


def message_parts(message: str) -> tuple[str, list[str]]:
    """Return the heading of a message, and the faults that it lists.

    A message of several faults has a line each, which begins with "- ".
    """
    heading, faults = [], []
    for line in message.splitlines():
        if line.startswith(_ITEM):
            faults.append(line.removeprefix(_ITEM))
        else:
            heading.append(line)
    return "\n".join(heading), faults


FILTERS = {
    "quality": quality,
    "gain": gain,
    "found": found,
    "kept": measures.kept,
    "in_unit": measures.in_unit,
    "value_on": measures.value_on,
    "interval": measures.interval,
    "measured_by": measures.called,
    "against_baseline": measures.against_baseline,
    "best_judged_on": measures.best_judged_on,
    "judged_on": measures.judged_on,
    "best_value": measures.best_value,
    "times_read": measures.times_read,
    "of_event": measures.of_event,
    "minutes": minutes,
    "seconds": seconds,
    "ago": ago,
    "exactly": exactly,
    "day": day,
    "percent": percent,
    "number": number,
    "plain": plain,
    "answered": answered,
    "rate": rate,
    "size": size,
    "badge": badge,
    "counted": counted,
    "json": json.dumps,
    "use": use,
    "each_value": each_value,
    "why_in_doubt": why_in_doubt,
    "why_judges": why_judges,
    "in_page_words": in_page_words,
    "message_parts": message_parts,
}
