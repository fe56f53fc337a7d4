"""Values that probably stand for no value: proposed here, used only when the user says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.data.types import values as v

if TYPE_CHECKING:
    import numpy as np

_WORDS = frozenset(
    {
        *(
            "unknown",
            "missing",
            "empty",
            "undefined",
            "unspecified",
            "not available",
            "not known",
            "not recorded",
        ),
        *(
            "not specified",
            "not given",
            "no data",
            "nodata",
            "blank",
            "nil",
            "tbd",
            "-",
            "--",
            "---",
            ".",
            "..",
            "...",
        ),
        *(
            "#ref!",
            "#value!",
            "#div/0!",
            "#null!",
            "(blank)",
            "(empty)",
            "unk",
            "n.a.",
            "no answer",
            "no response",
        ),
    }
)
_SENTINELS = frozenset(
    sign * value for value in (9, 99, 999, 9999, 99999, 999999, 9999999) for sign in (1, -1)
) | {*(-1, -2, -8, -88, -888, -8888, 88888888, 1e30, -1e30, 2147483647, -2147483648)}


def suspect_words(texts: list[str], number_of: np.ndarray) -> list[str]:
    """The values among these (distinct) texts that say that there is none; the most frequent first."""
    if len(texts) < 2:
        return []
    found = [
        (-int(count), text)
        for text, count in zip(texts, number_of, strict=True)
        if text.lower() in _WORDS
    ]
    return [text for _, text in sorted(found)]


def suspect_numbers(unique: np.ndarray, number_of: np.ndarray) -> list[str]:
    """Numbers such as -999 that stand for no value: usual ones, repeated, and far from all others.

    ``unique``: the different values, ascending. Far: the gap to the next value is wider than the
    range of the rest; of the small ones, -1 and -9 among numbers that are never negative otherwise,
    it is enough to be the only one.
    """
    found = []
    for at, beside, rest in ((0, 1, unique[1:]), (-1, -2, unique[:-1])):
        value = float(unique[at])
        if len(unique) < 4 or value not in _SENTINELS or number_of[at] < 2:
            continue
        gap, spread = abs(value - float(unique[beside])), float(rest[-1] - rest[0])
        lonely = value < 0 <= float(rest[0]) and value in (-1, -9, -99)
        nines = abs(value) >= 99 and gap > spread
        if nines or (
            lonely and number_of[at] * 50 >= number_of.sum() and (gap > 1 or float(rest[0]) > 0)
        ):
            found.append(v.plain_number(repr(value)))
    return found
