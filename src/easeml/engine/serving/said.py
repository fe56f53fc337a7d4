"""What a serving child prints: it goes into the predictor's log, but not without end."""

import asyncio
import time
from collections.abc import Callable

MOST_A_SECOND = 64 * 2**10  # bytes
_PIECE = 16 * 2**10


async def pass_on(reader: asyncio.StreamReader, write: Callable[[bytes], object]) -> None:
    """Write what comes until its end, at most ``MOST_A_SECOND`` bytes; then say how many were left
    out.

    The child has no descriptor of the log itself: it could empty it.
    """
    second, left, dropped = 0, MOST_A_SECOND, 0
    while piece := await reader.read(_PIECE):
        now = int(time.monotonic())
        if now != second:
            if dropped:
                write(_note(dropped))
            second, left, dropped = now, MOST_A_SECOND, 0
        write(piece[:left])
        dropped += max(0, len(piece) - left)
        left = max(0, left - len(piece))
    if dropped:
        write(_note(dropped))


def _note(dropped: int) -> bytes:
    return f"\n... {dropped:,} bytes more that a serving child printed are left out\n".encode()
