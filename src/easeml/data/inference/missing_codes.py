"""Values that probably stand for no value: proposed here, used only when the user says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.data.types import values as v

if TYPE_CHECKING:
    import numpy as np

_WORDS = v.SHEET_ERRORS | frozenset({
    "unknown", "missing", "empty", "undefined", "unspecified", "not available", "not known",
    "not recorded", "not specified", "not given", "no data", "nodata", "blank", "nil", "tbd",
    "-", "--", "---", ".", "..", "...", "(blank)", "(empty)", "unk", "n.a.", "no answer",
    "no response", "n. a.", "k.a.", "k. a.", "keine angabe", "unbekannt", "fehlt", "n.v.", "n. v.",
    "n.d.", "n. d.", "n/d", "inconnu", "inconnue", "desconocido", "sin dato", "sconosciuto",
})  # fmt: skip
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
    """The distinct texts that say that there is no value; the most frequent first."""
    if len(texts) < 2:
        return []
    rows_of = dict(zip(texts, number_of.tolist(), strict=True))
    found = [text for text in texts if text.lower() in _WORDS]
    return sorted(found, key=lambda text: (-rows_of[text], text))


def suspect_numbers(unique: np.ndarray, number_of: np.ndarray) -> list[str]:
    """Numbers such as -999 that stand for no value: usual ones, repeated, and far from all others.

    ``unique``: the different values, ascending. Far: the gap to the next value is wider than the
    range of the rest; of the small ones, -1 and -9 among numbers that are never negative otherwise,
    it is enough to be the only one.
    """
    if len(unique) < 4:
        return []
    lowest = (unique[0], number_of[0], unique[1:])
    highest = (unique[-1], number_of[-1], unique[:-1])
    found = []
    for number, count, rest in (lowest, highest):
        value = float(number)
        is_frequent = count * _ONE_IN >= number_of.sum()
        if count >= 2 and _stands_out(value, rest, is_frequent):
            found.append(v.plain_number(repr(value)))
    return found


def _stands_out(value: float, rest: np.ndarray, is_frequent: bool) -> bool:
    """Whether a usual code is far from the rest, or a frequent one is the only negative number."""
    if value not in _SENTINELS:
        return False
    is_mark = is_frequent and _is_only_negative(value, rest)
    return is_mark or _is_far(value, rest)


def _is_far(value: float, rest: np.ndarray) -> bool:
    """Whether a large value is farther from the rest, ascending, than these are from each other."""
    low = float(rest[0])
    high = float(rest[-1])
    gap = min(abs(value - low), abs(value - high))
    return abs(value) >= 99 and gap > high - low


def _is_only_negative(value: float, rest: np.ndarray) -> bool:
    """Whether a small value stands alone below the rest; -1 beside 0 and 1 may be a number."""
    # In the order of pairs: beside a least of 0, only what is below -1 is a mark.
    return value in _SMALL and (float(rest[0]), -value) > (0, 1)
