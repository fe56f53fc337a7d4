"""Numbers of a timestamp: those of skrub's DatetimeEncoder with weekday, computed on arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURES = ("year", "month", "day", "hour", "total_seconds", "weekday")


def date_features(times: NDArray[Any]) -> NDArray[np.float64]:
    """Return one column a feature for datetime64 values; all NaN where the time is missing.

    Months and days count from 1, weekdays from Monday = 1; ``total_seconds`` are those of the epoch
    (UTC).
    """
    times = times.astype("datetime64[ms]")
    days = times.astype("datetime64[D]")
    months = times.astype("datetime64[M]")
    milliseconds = times.astype(np.int64)
    made = np.column_stack(
        [
            times.astype("datetime64[Y]").astype(np.int64) + 1970,
            months.astype(np.int64) % 12 + 1,
            (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
            milliseconds // 3_600_000 % 24,
            milliseconds / 1000,
            (days.astype(np.int64) + 3) % 7 + 1,
        ]
    ).astype(np.float64)
    made[np.isnat(times)] = np.nan
    return made
