"""The rules that every model of an application has to keep, as they are written on the command line."""

import re
from collections.abc import Iterable
from typing import Literal

from easeml.errors import InvalidInput

Way = Literal["rising", "falling"]
_AMOUNT = re.compile(r"(?P<value>\d+\.?\d*|\.\d+)\s*(?P<unit>[A-Za-z]*)")
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3}
_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20}


def latency_asked(text: str | None) -> float | None:
    """Return the seconds that were named, if any. Raises ``InvalidInput``."""
    return None if text is None else seconds_of(text)


def size_asked(text: str | None) -> int | None:
    """Return the bytes that were named, if any. Raises ``InvalidInput``."""
    return None if text is None else bytes_of(text)


def monotonic_asked(texts: list[str] | None) -> dict[str, Way]:
    """Return the columns that were named, if any. Raises ``InvalidInput``."""
    return read_monotonic(texts or [])


def seconds_of(text: str) -> float:
    """Return the seconds of ``20ms``, ``0.02s`` or ``0.02``. Raises ``InvalidInput``."""
    return _amount(text, _SECONDS, "--max-latency", "20ms")


def bytes_of(text: str) -> int:
    """Return the bytes of ``5MB``, ``200kB`` or ``5000000``. Raises ``InvalidInput``."""
    return round(_amount(text, _BYTES, "--max-size", "5MB"))


def read_monotonic(texts: Iterable[str]) -> dict[str, Way]:
    """Return column -> way of ``COLUMN=rising`` and ``COLUMN=falling``. Raises ``InvalidInput``."""
    found: dict[str, Way] = {}
    for text in texts:
        column, _, way = text.rpartition("=")
        if not column or way not in ("rising", "falling"):
            remedy = "Write COLUMN=rising or COLUMN=falling."
            raise InvalidInput(f"{text!r} is no such rule.", where="--monotonic", remedy=remedy)
        found[column.strip()] = "rising" if way == "rising" else "falling"
    return found


def _amount(text: str, units: dict[str, float] | dict[str, int], where: str, form: str) -> float:
    found = _AMOUNT.fullmatch(text.strip())
    unit = found["unit"].lower() if found else ""
    if found is None or unit not in units or float(found["value"]) == 0:
        names = ", ".join(name for name in units if name)
        raise InvalidInput(
            f"{text!r} is no amount above 0.",
            where=where,
            remedy=f"Write, say, {form}; units: {names}.",
        )
    return float(found["value"]) * units[unit]
