"""Values of series that are known, and what they say of a place in time."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_PLACES = 40  # bits of a place; half of them are before 0


@dataclass(frozen=True, slots=True)
class KnownValues:
    """Values, sorted by series and place: arrays of shape (values,).

    ``series``: the number of the series of each; ``places``: as of ``Steps``. ``sums`` add up the
    values of a series up to each; ``rises`` and ``squares`` how far they lie above its first value,
    and the squares of that.
    """

    series: Places
    places: Places
    values: Floats
    sums: Floats
    rises: Floats
    squares: Floats

    @classmethod
    def sorted(cls, series: Places, places: Places, values: Floats) -> "KnownValues":
        """Sort values (values,); of those of one series and place the last that is given counts."""
        order = np.lexsort([np.arange(len(values)), places, series])
        series, places, values = series[order], places[order], values[order]
        is_last = np.ones(len(values), dtype=bool)
        is_last[:-1] = (series[1:] != series[:-1]) | (places[1:] != places[:-1])
        series, places, values = series[is_last], places[is_last], values[is_last]
        rises = values - values[np.searchsorted(series, series, side="left")]
        return cls(
            series,
            places,
            values,
            _added_up(values, series),
            _added_up(rises, series),
            _added_up(rises**2, series),
        )

    @classmethod
    def of_finite(cls, series: Places, places: Places, values: Floats) -> "KnownValues":
        """Sort those of values (values,) that are there."""
        are_there = np.isfinite(values)
        return cls.sorted(series[are_there], places[are_there], values[are_there])

    def renumbered(self, numbers: Places) -> "KnownValues":
        """Return the values with ``numbers[i]``, which rise, in place of series ``i``."""
        return replace(self, series=numbers[self.series])

    def and_finite(self, series: Places, places: Places, values: Floats) -> "KnownValues":
        """Return these and those of other values (values,) that are there, which count more."""
        return KnownValues.of_finite(
            np.concatenate([self.series, series]),
            np.concatenate([self.places, places]),
            np.concatenate([self.values, values]),
        )

    def until(self, series: Places, places: Places) -> tuple[Places, Places]:
        """Return how many values of a series lie at or before a place, and where the last stands.

        Arguments and results have the shape (rows,). The second means nothing where there is none.
        """
        keys = _keys(self.series, self.places)
        last = np.searchsorted(keys, _keys(series, places), side="right") - 1
        first = np.searchsorted(self.series, series, side="left")
        return np.maximum(last - first + 1, 0), np.maximum(last, 0)

    def last_places(self, series: Places, default: Places) -> Places:
        """Return the place of the last value of each series (rows,), or ``default``."""
        after = np.searchsorted(self.series, series, side="right")
        first = np.searchsorted(self.series, series, side="left")
        return np.where(after > first, self.places[np.maximum(after - 1, 0)], default)

    def at(self, series: Places, places: Places, default: Floats) -> Floats:
        """Return the value at a place, or the last before it; ``default`` where there is none."""
        count, last = self.until(series, places)
        return np.where(count > 0, self.values[last], default)

    def lag(self, count: Places, last: Places, lag: int, default: Floats) -> Floats:
        """Return the value that is ``lag`` values before the last; of ``count`` and ``last`` see
        ``until``.
        """
        return np.where(count > lag, self.values[np.maximum(last - lag, 0)], default)

    def means(self, count: Places, last: Places, values: int, default: Floats) -> Floats:
        """Return the mean of so many last values, or of as many as there are."""
        used = np.minimum(count, values)
        before = np.where(used < count, self.sums[np.maximum(last - used, 0)], 0.0)
        means = (self.sums[last] - before) / np.maximum(used, 1)
        return np.where(used > 0, means, default)

    def spreads(self, count: Places, last: Places) -> Floats:
        """Return the standard deviation of all values up to the last; 0 where there is none."""
        used = np.maximum(count, 1)
        variance = self.squares[last] / used - (self.rises[last] / used) ** 2
        return np.sqrt(np.where(count > 0, np.maximum(variance, 0.0), 0.0))


def _added_up(numbers: Floats, series: Places) -> Floats:
    """Return the sum of the numbers of a series up to each (values,)."""
    import pandas as pd

    return pd.Series(numbers).groupby(series).cumsum().to_numpy()


def _keys(series: Places, places: Places) -> Places:
    """Return numbers that are sorted as pairs of a series and a place are."""
    first = np.int64(1) << np.int64(_PLACES - 1)
    return (series << np.int64(_PLACES)) + places + first
