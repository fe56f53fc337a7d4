"""When schedules run, in zones whose clocks jump."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.service.sources.timing import DAYS, When, is_too_far, next_after, read_when

ZONES = ("UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
_HOUR = 3600.0


def _at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("every", "at", "found"),
    [
        ("6h", "03:00", When("6 hours", "", "UTC")),
        ("1 hour", "", When("1 hours", "", "UTC")),
        ("hour", "", When("1 hours", "", "UTC")),
        (" Daily ", "3:05", When("day", "03:05", "UTC")),
        ("Mon", "17:30", When("monday", "17:30", "UTC")),
    ],
)
def test_times_are_read_in_plain_words(every: str, at: str, found: When) -> None:
    assert read_when(every, at, "UTC") == found


@pytest.mark.parametrize(
    ("every", "at", "zone", "where"),
    [
        ("0 hours", "", "UTC", "every"),
        ("745 hours", "", "UTC", "every"),
        ("-1 hours", "", "UTC", "every"),
        ("* * * * *", "", "UTC", "every"),
        ("", "", "UTC", "every"),
        ("t", "", "UTC", "every"),
        ("day", "24:00", "UTC", "at"),
        ("day", "noon", "UTC", "at"),
        ("day", "03:00", "Europe/Zürich", "zone"),
        ("day", "03:00", "../../etc/passwd", "zone"),
        ("day", "03:00", "/etc/localtime", "zone"),
        ("day", "03:00", "", "zone"),
        ("day", "03:00", "x\0y", "zone"),
    ],
)
def test_what_is_no_time_is_refused_at_its_place(
    every: str, at: str, zone: str, where: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_when(every, at, zone)
    assert refused.value.where == where


def test_a_time_that_clocks_skip_comes_an_hour_later_and_once() -> None:
    when = When("day", "02:30", "Europe/Zurich")
    first = next_after(when, _at("2026-03-28T12:00", "Europe/Zurich"))
    assert first == _at("2026-03-29T01:30")  # 03:30 of the summer
    assert next_after(when, first) == _at("2026-03-30T02:30", "Europe/Zurich")


def test_a_time_that_comes_twice_is_meant_once() -> None:
    when = When("day", "02:30", "Europe/Zurich")
    first = next_after(when, _at("2026-10-24T12:00", "Europe/Zurich"))
    assert first == _at("2026-10-25T00:30")
    assert next_after(when, first) == _at("2026-10-26T01:30")
    assert next_after(when, first + _HOUR) == _at("2026-10-26T01:30")


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2037, 1, 1)),
    st.sampled_from(["day", *DAYS]),
    st.times(),
    st.sampled_from(ZONES),
)
def test_next_is_the_first_minute_that_a_clock_on_the_wall_shows(
    now: datetime, every: str, at, zone: str
) -> None:
    when = When(every, f"{at:%H:%M}", zone)
    moment = now.replace(tzinfo=UTC).timestamp()
    found = next_after(when, moment)
    assert found > moment
    assert not is_too_far(when, found, moment)
    shown = datetime.fromtimestamp(found, ZoneInfo(zone))
    skipped = datetime.fromtimestamp(found - 2 * _HOUR, ZoneInfo(zone)).utcoffset()
    if shown.utcoffset() == skipped:  # no clock was moved just then
        assert f"{shown:%H:%M}" == when.at
        assert every in ("day", DAYS[shown.weekday()])
    assert next_after(when, found - 1) == found
    days = 1 if every == "day" else 7
    assert next_after(when, found) - found <= timedelta(days=days, hours=2).total_seconds()


def test_a_next_run_that_no_clock_can_mean_is_known() -> None:
    now = _at("2026-01-01T00:00")
    assert is_too_far(When("day", "03:00", "UTC"), now + 30 * _HOUR, now)
    assert not is_too_far(When("day", "03:00", "UTC"), now + 24 * _HOUR + 5, now)
    assert is_too_far(When("2 hours", "", "UTC"), now + 6 * _HOUR, now)
    assert not is_too_far(When("monday", "03:00", "UTC"), now + 168 * _HOUR, now)
