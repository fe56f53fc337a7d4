"""Waiting between attempts, for both twins."""

import asyncio
import random
import time
from typing import BinaryIO

_RANDOM = random.SystemRandom()

async_sleep = asyncio.sleep
sleep = time.sleep


def backoff(attempt: int, *, first: float = 0.1, most: float = 5.0) -> float:
    """Return the seconds to wait after failed attempt number ``attempt`` (from 0).

    Doubles from ``first`` to ``most``; a random half of it keeps many clients from returning at the
    same moment.
    """
    return min(most, first * 2**attempt) * _RANDOM.uniform(0.5, 1.0)


async def async_read(file: BinaryIO, size: int) -> bytes:
    """Read up to ``size`` bytes without holding up the event loop."""
    return await asyncio.to_thread(file.read, size)


def read(file: BinaryIO, size: int) -> bytes:
    """Read up to ``size`` bytes."""
    return file.read(size)
