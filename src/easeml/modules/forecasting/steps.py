"""The steps in which times follow each other: months, days of work, hours, or numbers."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_LEAST_OF_A_MONTH = 28 * _DAY
_LAST_DAY = 31
_SEASONS_OF_SECONDS = {  # of steps of so many
    7 * _DAY: (52,),
    _DAY: (7, 365),
    _HOUR: (24, 168),
    30 * _MINUTE: (48, 336),
    15 * _MINUTE: (96, 672),
    10 * _MINUTE: (144, 1008),
    5 * _MINUTE: (288, 2016),
    _MINUTE: (60, 1440),
}
_WEEK = 7  # days
_WHOLE_DAYS = range(_DAY, _WEEK * _DAY, _DAY)  # steps within a week
_EVERY_DAY = "1" * _WEEK
_MONDAY = np.datetime64("0001-01-01")  # before all times
_FEWEST_DAYS = 3 * _WEEK  # that are there, until one that never comes is a day of rest
_DENSE = 0.5  # share of the days of work that are there, at least
_SURE = 0.9  # share of distances that are alike, of steps that are no months
_LIKELY = 0.1  # share of the commonest distance, of steps that are regular
_CYCLES = {"month": 365 * _DAY, "day": 30 * _DAY, "weekday": 7 * _DAY, "hour": _DAY}  # seconds
_SEASONS_OF_MONTHS = {1: (12,), 2: (6,), 3: (4,), 4: (3,), 6: (2,)}
_WEEKS_OF_A_YEAR = 365.25 / _WEEK
_SECONDS_OF = {"month": _LEAST_OF_A_MONTH, "weekday": _DAY, "second": 1, "number": 1}  # at least
_SEASONS_OF_UNIT = {"second": _SEASONS_OF_SECONDS, "month": _SEASONS_OF_MONTHS}


@dataclass(frozen=True, slots=True)
class Steps:
    """``unit``: month, weekday, second or number. A step is ``length`` units long, and the one of
    place 0 is at ``start``. ``day``: of the month, where steps are months; 31 is the last.
    ``weekdays``: a 1 for each day from Monday on that is counted, where steps are days.
    """

    unit: str
    length: float
    start: float = 0.0
    day: int = 1
    weekdays: str = _EVERY_DAY

    @classmethod
    def of(cls, times: NDArray[Any], series: NDArray[np.int64]) -> "Steps":
        """Find the steps of times (values,) of one or several series: the commonest distance."""
        is_date = np.issubdtype(times.dtype, np.datetime64)
        if not is_date:
            return cls._of_numbers("number", times.astype(np.float64), series)
        seconds = _seconds(times)
        if not _are_months(times, series):
            steps = cls._of_numbers("second", seconds, series)
            return steps._on_days_of_work(times)
        months = cls._of_numbers("month", _months(times), series)
        are_last = _are_last_of_month(times)
        day = _LAST_DAY if are_last.all() else _commonest(_days(times))
        return replace(months, day=int(day))

    @classmethod
    def _of_numbers(cls, unit: str, numbers: NDArray[Any], series: NDArray[np.int64]) -> "Steps":
        length = _commonest_distance(numbers, series)
        return cls(unit, length, float(_commonest(numbers % length)))

    def _on_days_of_work(self, times: NDArray[Any]) -> "Steps":
        """Return steps from one day of work to the next, where some days of the week never come."""
        days = np.unique(times.astype("datetime64[D]"))
        if self.length not in _WHOLE_DAYS or len(days) < _FEWEST_DAYS:
            return self
        counts = np.bincount(_weekdays(days), minlength=_WEEK)
        weekdays = "".join(np.where(counts > 0, "1", "0"))
        expected = np.busday_count(days[0], days[-1], weekmask=weekdays)
        if weekdays == _EVERY_DAY or len(days) < expected * _DENSE:
            return self
        return replace(self, unit="weekday", length=1.0, start=self.start % _DAY, weekdays=weekdays)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Steps":
        """Return what ``to_json`` wrote."""
        return cls(**document)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        return asdict(self)

    def places(self, times: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many steps after the first each time is (values,)."""
        if self.unit == "weekday":
            days = np.floor((_seconds(times) - self.start) / _DAY + 0.5).astype("datetime64[D]")
            return np.busday_count(_MONDAY, days, weekmask=self.weekdays)
        numbers = _NUMBERS_OF[self.unit](times)
        return np.floor((numbers - self.start) / self.length + 0.5).astype(np.int64)

    def times(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Return the time of each place (places,): datetime64 in seconds, or float64."""
        if self.unit == "weekday":
            days = np.busday_offset(_MONDAY, places, roll="forward", weekmask=self.weekdays)
            return days.astype("datetime64[s]") + np.timedelta64(int(self.start), "s")
        numbers = places * self.length + self.start
        if self.unit == "number":
            return numbers
        if self.unit == "second":
            return numbers.astype(np.int64).astype("datetime64[s]")
        months = numbers.astype(np.int64).astype("datetime64[M]")
        first = months.astype("datetime64[D]")
        length = (months + 1).astype("datetime64[D]") - first
        days = np.minimum(np.timedelta64(self.day, "D"), length) - np.timedelta64(1, "D")
        return (first + days).astype("datetime64[s]")

    def calendar(self, places: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return where in days, weeks, months and years places lie, as far as steps tell."""
        if self.unit == "number":
            return {}
        times = self.times(places)
        seconds = self.length * _SECONDS_OF[self.unit]
        found = {
            "month": _months(times) % 12,
            "day": _days(times),
            "weekday": _weekdays(times),
            "hour": _seconds(times) // _HOUR % 24,
        }
        told = {}
        for name, numbers in found.items():
            if seconds < _CYCLES[name]:
                told[name] = numbers.astype(np.float64)
        return told

    def cycles_within(self, steps: int) -> tuple[str, ...]:
        """Return the names of what ``calendar`` tells that comes again in so many steps."""
        span = steps * self.length * _SECONDS_OF[self.unit]
        return tuple(name for name, cycle in _CYCLES.items() if 2 * cycle <= span)

    def seasons_within(self, steps: int) -> tuple[int, ...]:
        """Return after how many steps seasons of the calendar come again, of those that are seen
        twice in so many steps.
        """
        known = _SEASONS_OF_UNIT.get(self.unit, {}).get(int(self.length), ())
        if self.unit == "weekday":
            days = self.weekdays.count("1")
            known = (days, round(days * _WEEKS_OF_A_YEAR))
        return tuple(season for season in known if 2 * season <= steps)


def _are_months(times: NDArray[Any], series: NDArray[np.int64]) -> bool:
    """Tell whether times follow each other by months, and not by so many days: four weeks, say."""
    seconds = _seconds(times)
    length = _commonest_distance(seconds, series)
    if length < _LEAST_OF_A_MONTH:
        return False
    share = float((_distances(seconds, series) == length).mean())
    is_one_day = len(np.unique(_days(times))) == 1 or _are_last_of_month(times).all()
    return share < _SURE or bool(is_one_day)


def _are_last_of_month(times: NDArray[Any]) -> NDArray[np.bool_]:
    return _months(times + np.timedelta64(1, "D")) > _months(times)


def _weekdays(times: NDArray[Any]) -> NDArray[np.int64]:
    """Return days of the week, from 0 for Monday."""
    return (times.astype("datetime64[D]").astype(np.int64) + 3) % _WEEK


def _seconds(times: NDArray[Any]) -> NDArray[np.int64]:
    return times.astype("datetime64[s]").astype(np.int64)


def _months(times: NDArray[Any]) -> NDArray[np.int64]:
    return times.astype("datetime64[M]").astype(np.int64)


def _days(times: NDArray[Any]) -> NDArray[np.int64]:
    """Return days of the month, from 1."""
    since = times.astype("datetime64[D]") - times.astype("datetime64[M]").astype("datetime64[D]")
    return since.astype(np.int64) + 1


def _as_they_are(times: NDArray[Any]) -> NDArray[np.float64]:
    return times.astype(np.float64)


_NUMBERS_OF = {"month": _months, "second": _seconds, "number": _as_they_are}


def _commonest(numbers: NDArray[Any]) -> Any:
    """Return the commonest number; of several the least."""
    found, counts = np.unique(numbers, return_counts=True)
    return found[np.argmax(counts)]


def _commonest_distance(numbers: NDArray[Any], series: NDArray[np.int64]) -> float:
    """Return the commonest distance of numbers that follow each other in a series, above 0.

    Where none is common, they are irregular: then the median, not the least of all.
    """
    distances = _distances(numbers, series)
    if not len(distances):
        return 1.0
    commonest = _commonest(distances)
    if (distances == commonest).mean() >= _LIKELY:
        return float(commonest)
    return float(np.quantile(distances, 0.5, method="lower"))


def _distances(numbers: NDArray[Any], series: NDArray[np.int64]) -> NDArray[Any]:
    """Return the distances of numbers that follow each other in a series, those above 0."""
    order = np.lexsort([numbers, series])
    distances = np.diff(numbers[order])
    are_one_series = np.diff(series[order]) == 0
    return distances[are_one_series & (distances > 0)]
