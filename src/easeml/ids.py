"""Identifiers: a short prefix that names the kind, and a part that grows with time.

Ids made later sort after ids made earlier: in one process always, between processes to the
millisecond. So a list paged by id is a list in order of creation, a queue read by id is first come
first served, and a cursor is simply the last id seen.
"""

import os
import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32: no i, l, o, u
_TIME_BITS, _RANDOM_BITS = 45, 55
_ID = re.compile(f"[a-z]+_[{_ALPHABET}]{{20}}")
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_PLACES = range(_TIME_BITS + _RANDOM_BITS - 10, -10, -10)  # of pairs of digits, in bits
_STEP_BITS = 40  # so large that other processes do not meet it by chance


class _GrowingNumbers:
    """Numbers of time and chance, each larger than the one before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._chance = random.Random()  # noqa: S311 ids are no secrets; nobody else seeds this
        os.register_at_fork(after_in_child=self._chance.seed)

    def next(self) -> int:
        now = time.time_ns() // 1_000_000
        number = now << _RANDOM_BITS | self._chance.getrandbits(_RANDOM_BITS)
        with self._lock:
            if number <= self._last:
                number = self._last + 1 + self._chance.getrandbits(_STEP_BITS)
            self._last = number
        return number


_numbers = _GrowingNumbers()


def new_id(prefix: str) -> str:
    """Return a fresh id such as ``app_0e2x7m4kq9d1v5b8ctn3``: 45 bits of milliseconds, 55 random
    bits.

    Of two ids of the same millisecond the later one is the earlier one and a random step (as
    monotonic ULIDs are); so is an id that is made after the clock was set back.
    """
    number = _numbers.next()
    return f"{prefix}_" + "".join([_PAIRS[number >> place & 1023] for place in _PLACES])


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id of ``new_id``."""
    return _ID.fullmatch(text) is not None


_request: ContextVar[str] = ContextVar("request", default="")


def request_id() -> str:
    """Return the id of the request that is being answered here; empty outside of any."""
    return _request.get()


def begin_request(request: str) -> None:
    """Let what is done from here on in this task of an event loop be of a request."""
    _request.set(request)


@contextmanager
def answering(request: str) -> Iterator[None]:
    """Let what is done meanwhile be of a request: it, and what is logged, names the id."""
    before = _request.set(request)
    try:
        yield
    finally:
        _request.reset(before)
