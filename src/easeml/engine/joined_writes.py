"""Writes that leave together: uvloop sends each at once, and each wakes who reads."""

import asyncio
from typing import Any

_MOST_HELD = 2**16  # bytes


class JoinedWrites:
    """A transport that sends what is written to it when the current step of its loop is over.

    Much is sent at once, so that whoever writes faster than the other side reads is told to wait.
    """

    def __init__(self, transport: asyncio.Transport):
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Send ``data`` soon, after what was written before."""
        if not self._held:
            self._loop.call_soon(self.flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > _MOST_HELD:
            self.flush()

    def flush(self) -> None:
        """Send what is held now."""
        held, self._held, self._size = self._held, [], 0
        if held and not self._transport.is_closing():
            self._transport.writelines(held)

    def close(self) -> None:
        """Send what is held, and close."""
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Is it closed, or about to be?"""
        return self._transport.is_closing()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
