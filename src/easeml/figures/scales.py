"""From values to places on an axis, and the ticks beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from easeml.figures.description import Axis

_MARGIN = 0.04  # of a linear axis, beyond the outermost values
_INTERVALS = 6  # between the ticks of a linear axis, at most about
_MOST_POWERS = 7  # ticks of a logarithmic axis
_LONGEST = 24  # characters of a category's name
_LAST = 8  # of them from its end, where it is shortened
_LEAST_DECADES = 2  # below this a logarithmic axis has ticks at 2 and 5, too


@dataclass(frozen=True, slots=True)
class Tick:
    """A value beside an axis. ``share``: its place from the beginning (0) to the end (1)."""

    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """The values that an axis covers."""

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Return the place of a value in [0, 1]; what lies outside is at the nearer end."""
        inside = min(max(value, self.low), self.high)
        if self.log:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)


def span_of(axis: Axis, values: Sequence[float]) -> Span:
    """Return what an axis covers: its bounds, and where it has none, the values with a margin."""
    if axis.scale == "category":
        return Span(-0.5, max(len(axis.categories), 1) - 0.5)
    if axis.scale == "log":
        return _log_span(axis, values)

    low = min(values, default=0.0)
    high = max(values, default=1.0)
    margin = _margin(low, high)
    # Nothing lies beyond a zero, so no margin is left there.
    begin = _given(axis.low, low - margin * (low != 0))
    end = _given(axis.high, high + margin * (high != 0))
    # A single number up to 1 may be a share, and no share is above 1.
    if low == high <= 1.0 and axis.high is None:
        end = min(end, 1.0)

    # A bound that is given may lie beyond all values.
    if begin >= end:
        end = begin + 1
    return Span(begin, end)


def _given(bound: float | None, usual: float) -> float:
    if bound is None:
        return usual
    return bound


def _margin(low: float, high: float) -> float:
    """Return how far an axis reaches beyond its outermost values."""
    if low < high:
        return _MARGIN * (high - low)
    return 0.5 * abs(low) or 0.5


def _log_span(axis: Axis, values: Sequence[float]) -> Span:
    # What is not positive has no place on a logarithmic axis.
    positive = [value for value in values if value > 0]
    low = _given(axis.low, min(positive, default=0.1))
    high = _given(axis.high, max(positive, default=1.0))

    # A single value stands in the middle.
    if low >= high:
        return Span(low / 2, low * 2, log=True)
    return Span(low, high, log=True)


def ticks_of(axis: Axis, span: Span) -> list[Tick]:
    """Return the ticks of an axis, in ascending order."""
    if axis.scale == "category":
        shares = map(span.share, range(len(axis.categories)))
        names = map(shortened, axis.categories)
        return list(map(Tick, shares, names))

    if span.log:
        values = log_values(span.low, span.high)
        digits = 0
    else:
        values = round_values(span.low, span.high)
        digits = _digits(values)

    shares = map(span.share, values)
    texts = [_tick_text(value, digits) for value in values]
    if axis.of_data:
        texts = list(map(_as_in_files, texts))
    return list(map(Tick, shares, texts))


def round_values(low: float, high: float) -> list[float]:
    """Return three to eight round values between two bounds.

    They are multiples of one, two or five times a power of ten.
    """
    rough = (high - low) / _INTERVALS
    power = 10.0 ** math.floor(math.log10(rough))
    steps = [power, 2 * power, 5 * power]
    step = next((step for step in steps if step >= rough), 10 * power)

    # Bounds that miss a multiple by rounding only count as it.
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [step * count for count in range(first, last + 1)]


def log_values(low: float, high: float) -> list[float]:
    """Return the powers of ten between two positive bounds; 2 and 5 times them if there are few."""
    first = math.floor(math.log10(low))
    last = math.ceil(math.log10(high))
    stride = max(1, math.ceil((last - first) / _MOST_POWERS))

    decades = math.log10(high / low)
    factors = (1,) if decades >= _LEAST_DECADES else (1, 2, 5)

    found = []
    for power in range(first, last + 1, stride):
        found += [factor * 10.0**power for factor in factors]

    # A value may miss a bound by rounding.
    least = low * (1 - 1e-9)
    most = high * (1 + 1e-9)
    return [value for value in found if least <= value <= most]


def told(axis: Axis, value: float) -> str:
    """Return a value of an axis of numbers as it is told on hover."""
    text = exact(value)
    if axis.of_data:
        return _as_in_files(text)
    return text


def _as_in_files(text: str) -> str:
    return text.replace(",", "")


def exact(value: float) -> str:
    """Return a value as it is told on hover: whole numbers in full, others to six digits."""
    # Larger ones are no counts, and are told by their size.
    is_whole = value == round(value)
    if is_whole and abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.6g}"


def shortened(name: str) -> str:
    """Return a category's name as it fits beside an axis: numbered names differ at their ends."""
    if len(name) <= _LONGEST:
        return name
    begin = name[: _LONGEST - _LAST - 1]
    return f"{begin}…{name[-_LAST:]}"


def _digits(values: Sequence[float]) -> int:
    """Return how many decimals tell the ticks of a linear axis apart."""
    if len(values) < 2:
        return 3
    step = values[1] - values[0]
    magnitude = math.floor(math.log10(step) + 1e-9)
    return max(0, -magnitude)


def _tick_text(value: float, digits: int) -> str:
    is_ordinary = value == 0 or 1e-4 <= abs(value) < 1e6
    if not is_ordinary:
        return f"{value:.3g}"  # 1.5e+07

    if digits:
        return f"{value:.{digits}f}"
    return f"{value:,.10g}"  # as many as are needed
