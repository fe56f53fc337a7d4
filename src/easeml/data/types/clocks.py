"""Times of day as numbers: the minutes since midnight."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeml.data.types.arrow import arrow_compute

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


@dataclass(frozen=True)
class Clock:
    """A form of times of day, which are rewritten as minutes since midnight."""

    example: str
    matcher: re.Pattern[str]

    def fits(self, array: pa.Array) -> bool:
        """Whether all texts of a column are times of day of this form."""
        return all(map(self.matcher.match, map(str.strip, array.to_pylist())))

    def mask(self, array: pa.Array) -> np.ndarray:
        """Which texts of a column are times of day of this form."""
        import numpy as np

        found = map(self.matcher.match, map(str.strip, array.to_pylist()))
        return np.array(list(map(bool, found)), dtype=bool)

    def plain(self, text: str) -> str:
        """Rewrite a time of day as its minutes; other text stays as it is."""
        found = self.matcher.match(text)
        if found is None:
            return text

        parts = found.groupdict("0")
        hour = int(parts["hour"])
        if "half" in parts:  # of the day: 12 AM is midnight, 12 PM noon
            is_afternoon = parts["half"] in "Pp"
            hour = hour % 12 + 12 * is_afternoon
        return repr(60 * hour + int(parts["minute"]) + float(parts["second"]) / 60)

    def plain_array(self, array: pa.Array) -> pa.Array:
        """As ``plain``, of a column: each different text once; missing ones stay."""
        import pyarrow as pa

        compute = arrow_compute()
        distinct = compute.unique(array.drop_null())
        plain = list(map(self.plain, distinct.to_pylist()))
        return pa.array(plain, pa.string()).take(compute.index_in(array, distinct))


_MINUTE = r":(?P<minute>[0-5]\d)(:(?P<second>[0-5]\d(\.\d+)?))?"
_CLOCKS = (
    Clock("20:34:30", re.compile(rf"^(?P<hour>[01]?\d|2[0-3]){_MINUTE}$")),
    Clock(
        "8:34:30 PM",
        re.compile(rf"^(?P<hour>0?[1-9]|1[0-2]){_MINUTE}\s*(?P<half>[AaPp])\.?[Mm]\.?$"),
    ),
)
CLOCKS = {clock.example: clock for clock in _CLOCKS}
"""The forms of times of day by their names."""
