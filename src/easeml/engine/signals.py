"""Stopping a process: SIGTERM and SIGINT ask, the main loop ends.

SIGQUIT asks to drain: to end once what was asked is answered.
"""

import signal
from types import FrameType

_ASKS_TO_STOP = (signal.SIGTERM, signal.SIGINT)


def hold() -> None:
    """Let signals that ask to stop wait, also in the program that takes this one's place."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ASKS_TO_STOP)


def let_come() -> None:
    """Let them wait no longer."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKS_TO_STOP)


class Stop:
    """Whether this process was asked to stop."""

    def __init__(self) -> None:
        self.asked = False
        self.drains = False

    @classmethod
    def on_signals(cls) -> "Stop":
        """Return a ``Stop`` that SIGTERM and SIGINT set, in place of their default actions."""
        stop = cls()
        for number in _ASKS_TO_STOP:
            signal.signal(number, stop._handle)
        let_come()
        return stop

    @classmethod
    def or_drain_on_signals(cls) -> "Stop":
        """Return a ``Stop`` that SIGQUIT sets, too: then it ``drains``."""
        stop = cls.on_signals()
        signal.signal(signal.SIGQUIT, stop._handle)
        return stop

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self.drains = number == signal.SIGQUIT


def nobody_waits() -> None:
    """Called when a process is ready for which nobody waits."""
