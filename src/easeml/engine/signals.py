"""Stopping a process: SIGTERM and SIGINT ask, the main loop ends."""

import signal
from types import FrameType


class Stop:
    """Whether this process was asked to stop."""

    def __init__(self) -> None:
        self.asked = False

    @classmethod
    def on_signals(cls) -> "Stop":
        """Return a ``Stop`` that SIGTERM and SIGINT set, in place of their default actions."""
        stop = cls()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop._handle)
        return stop

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
