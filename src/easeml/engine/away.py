"""How long a worker waits until it asks a database again that did not answer."""

import time

SHORTEST, LONGEST = 0.05, 1.0  # seconds


class AwayPause:
    """A pause that is short at first and longer each time.

    Mostly connections were broken, and new ones are there at once: meanwhile a device idles.
    """

    def __init__(self) -> None:
        self._next = SHORTEST

    def wait(self) -> None:
        """Wait, the next time twice as long."""
        time.sleep(self._next)
        self._next = min(LONGEST, 2 * self._next)

    def end(self) -> None:
        """Begin anew: it answered."""
        self._next = SHORTEST
