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
_NINES = frozenset({9, 99, 999, 9999, 99999, 999999, 9999999})
_SENTINELS = frozenset(
    {
        *_NINES,
        *(-nines for nines in _NINES),
        *(-1, -2, -8, -88, -888, -8888, 88888888),
        *(1e30, -1e30, 2147483647, -2147483648),
    }
)
_SMALL = (-1, -9, -99)
_ONE_IN = 50  # rows, that a small one stands in at least


def suspect_words(texts: list[str], number_of: np.ndarray) -> list[str]:
    """The values among these (distinct) texts that say that there is none; the most frequent first."""
    if len(texts) < 2:
        return []
    found = []
    for text, count in zip(texts, number_of, strict=True):
        if text.lower() in _WORDS:
            found.append((-int(count), text))
    return [text for _, text in sorted(found)]


def suspect_numbers(unique: np.ndarray, number_of: np.ndarray) -> list[str]:
    """Numbers such as -999 that stand for no value: usual ones, repeated, and far from all others.

    ``unique``: the different values, ascending. Far: the gap to the next value is wider than the
    range of the rest; of the small ones, -1 and -9 among numbers that are never negative otherwise,
    it is enough to be the only one.
    """
    if len(unique) < 4:
        return []
    rows = number_of.sum()
    found = []
    for at, rest in ((0, unique[1:]), (-1, unique[:-1])):
        value = float(unique[at])
        count = number_of[at]
        if value not in _SENTINELS or count < 2:
            continue
        is_frequent = count * _ONE_IN >= rows
        if _is_far(value, rest) or (is_frequent and _is_only_negative(value, rest)):
            found.append(v.plain_number(repr(value)))
    return found


def _is_far(value: float, rest: np.ndarray) -> bool:
    """Whether a large value is farther from the rest, ascending, than these are from each other."""
    low = float(rest[0])
    high = float(rest[-1])
    gap = min(abs(value - low), abs(value - high))
    return abs(value) >= 99 and gap > high - low


def _is_only_negative(value: float, rest: np.ndarray) -> bool:
    """Whether a small value stands alone below the rest; -1 beside 0 and 1 may be a number."""
    least = float(rest[0])
    if value not in _SMALL or least < 0:
        return False
    return least > 0 or value < -1
