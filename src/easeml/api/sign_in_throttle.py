"""How often a password may be guessed: decided before one is hashed, which is what costs time."""

import math
import time
from collections import deque
from collections.abc import Callable, Hashable

from easeml.errors import TooMany

_WINDOW = 60.0  # seconds in which attempts are counted
_MOST_KEYS = 10_000

# Most attempts in the window: of one name from one address, of one name, from one address.
_OF_PAIR = 5
_OF_NAME = 60
_OF_ADDRESS = 30

_KNOWN_SECONDS = 30 * 86_400.0  # how long an address from which a name signed in is its own


class SignInThrottle:
    """Counts attempts to sign in that have not succeeded, by name, by address and by both.

    Others than the one who guesses keep their turn: a pair is refused long before a name is, and
    where a name has signed in before, the guesses of others at it are no hindrance.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._attempts: dict[Hashable, deque[float]] = {}
        self._signed_in: dict[tuple[str, str], float] = {}  # name, address: when it last did

    def admit(self, name: str, address: str) -> None:
        """Count an attempt. Raises ``TooMany`` with the time to wait, and counts nothing then."""
        now = self._clock()
        limits = self._limits(name, address)
        wait = max(self._seconds_to_wait(key, most, now) for key, most in limits.items())
        if wait > 0:
            remedy = f"Try again in {math.ceil(wait)} s."
            raise TooMany("Too many wrong passwords.", remedy=remedy, seconds=wait)
        if len(self._attempts) > _MOST_KEYS:
            self._forget_old(now)
        for key in limits:
            self._attempts.setdefault(key, deque()).append(now)

    def succeeded(self, name: str, address: str) -> None:
        """Take back what ``admit`` counted: who knows the password has not guessed."""
        for key in self._limits(name, address):
            attempts = self._attempts.get(key)
            if attempts:
                attempts.pop()
        self._signed_in.pop((name, address), None)
        self._signed_in[name, address] = self._clock()
        if len(self._signed_in) > _MOST_KEYS:
            oldest = next(iter(self._signed_in))
            del self._signed_in[oldest]

    def _limits(self, name: str, address: str) -> dict[Hashable, int]:
        limits: dict[Hashable, int] = {
            ("pair", name, address): _OF_PAIR,
            ("address", address): _OF_ADDRESS,
        }
        signed_in = self._signed_in.get((name, address), -math.inf)
        if self._clock() - signed_in > _KNOWN_SECONDS:
            limits["name", name] = _OF_NAME
        return limits

    def _seconds_to_wait(self, key: Hashable, most: int, now: float) -> float:
        attempts = self._attempts.get(key, deque())
        while attempts and attempts[0] <= now - _WINDOW:
            attempts.popleft()
        if len(attempts) < most:
            return 0.0
        return attempts[-most] + _WINDOW - now

    def _forget_old(self, now: float) -> None:
        kept = {}
        for key, found in self._attempts.items():
            if found and found[-1] > now - _WINDOW:
                kept[key] = found
        self._attempts = kept
