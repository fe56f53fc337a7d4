"""The rules that every model of an application has to keep, as they are written on the command line."""

import re
from collections.abc import Iterable
from typing import Literal

from easeml.errors import InvalidInput

Way = Literal["rising", "falling"]
_WAYS: dict[str, Way] = {"rising": "rising", "falling": "falling"}
_AMOUNT = re.compile(r"(?P<value>\d+\.?\d*|\.\d+)\s*(?P<unit>[A-Za-z]*)")
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3}
_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20}


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
        if not column or way not in _WAYS:
            remedy = "Write COLUMN=rising or COLUMN=falling."
            raise InvalidInput(f"{text!r} is no such rule.", where="--monotonic", remedy=remedy)
        found[column.strip()] = _WAYS[way]
    return found


def _amount(text: str, units: dict[str, float] | dict[str, int], where: str, form: str) -> float:
    """Return an amount in seconds or bytes; ``form``: an example. Raises ``InvalidInput``."""
    found = _AMOUNT.fullmatch(text.strip())
    amount = 0.0
    if found is not None:
        amount = float(found["value"]) * units.get(found["unit"].lower(), 0)
    if not amount:
        names = ", ".join(filter(None, units))
        raise InvalidInput(
            f"{text!r} is not an amount above 0.",
            where=where,
            remedy=f"Write, say, {form}; units: {names}.",
        )
    return amount
