"""When a schedule runs: every few hours, each day, or on a day of the week, at a time of a zone."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from easeml.errors import InvalidInput

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EACH_DAY = ("day", "daily")
_HOUR = 3600.0
_MOST_HOURS = 24 * 31
_HOURS = re.compile(r"(?:(\d{1,3}) ?)?(?:h|hours?)")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SLACK = 3 * _HOUR  # more than clocks are put forward or back in a year
_LONGEST_DAYS = 8  # until a day of the week comes again


@dataclass(frozen=True, slots=True)
class When:
    """When something is done again and again.

    ``every``: "N hours", "day", or a day of the week. ``at``: "HH:MM" in ``zone``, a name of the
    IANA database; empty where every few hours are meant.
    """

    every: str
    at: str
    zone: str


def read_when(every: str, at: str, zone: str) -> When:
    """Return what people wrote in the one form that is kept; raises ``InvalidInput``."""
    text = " ".join(every.lower().split())
    hours = _HOURS.fullmatch(text)
    if hours is not None:
        return When(f"{_number_of_hours(hours[1] or '1')} hours", "", _checked_zone(zone))
    if text in _EACH_DAY:
        return When("day", _checked_time(at), _checked_zone(zone))
    found = [day for day in DAYS if len(text) >= 3 and day.startswith(text)]
    if not found:
        raise InvalidInput(
            f"{every!r} says no time.",
            where="every",
            remedy='Write "6 hours", "day", or a day of the week such as "monday".',
        )
    return When(found[0], _checked_time(at), _checked_zone(zone))


def next_after(when: When, now: float) -> float:
    """Return the first moment after ``now`` (seconds of the epoch) that is meant.

    A time that clocks skip is as much later as they are put forward; of one that comes twice, the
    first is meant. Raises ``InvalidInput`` where the zone is not known (any more).
    """
    hours = _HOURS.fullmatch(when.every)
    if hours is not None:
        return now + _HOUR * int(hours[1])
    zone = _zone(when.zone)
    hour, minute = map(int, when.at.split(":"))
    today = datetime.fromtimestamp(now, zone).date()
    for later in range(-1, _LONGEST_DAYS + 1):
        day = today + timedelta(days=later)
        moment = datetime.combine(day, time(hour, minute), zone).timestamp()
        if _is_meant(when, day) and moment > now:
            return moment
    raise AssertionError("each day of the week comes within eight days")


def is_too_far(when: When, next_time: float, now: float) -> bool:
    """Return whether a next time is later than any can be: a clock was wrong when it was reckoned."""
    hours = _HOURS.fullmatch(when.every)
    if hours is not None:
        period = _HOUR * int(hours[1])
    else:
        period = _HOUR * 24 * (1 if when.every == "day" else 7)
    return next_time - now > period + _SLACK


def _is_meant(when: When, day: date) -> bool:
    return when.every == "day" or DAYS[day.weekday()] == when.every


def _number_of_hours(text: str) -> int:
    hours = int(text)
    if not 1 <= hours <= _MOST_HOURS:
        raise InvalidInput(f"Say 1 to {_MOST_HOURS} hours, not {hours}.", where="every")
    return hours


def _checked_time(at: str) -> str:
    found = _TIME.fullmatch(at.strip())
    if found is None:
        raise InvalidInput(
            f"{at!r} is not a time of the day.", where="at", remedy="Write 03:00, or 17:30."
        )
    return f"{int(found[1]):02}:{found[2]}"


def _checked_zone(zone: str) -> str:
    name = zone.strip()
    _zone(name)
    return name


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        close = get_close_matches(name, available_timezones(), n=1)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise InvalidInput(
            f"There is no time zone {name!r}.",
            where="zone",
            remedy=f"{hint}Write a name such as Europe/Zurich, or UTC.",
        ) from error
