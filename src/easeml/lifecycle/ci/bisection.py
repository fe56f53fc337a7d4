"""Bisection: where a property of numbers turns from true to false."""

from __future__ import annotations

from collections.abc import Callable


def bisected(
    low: float, high: float, rises: Callable[[float], bool], rounds: int
) -> tuple[float, float]:
    """Return the part of [low, high] where ``rises`` turns from True to False.

    It holds at ``low`` and not at ``high``; each round halves the part.
    """
    for _ in range(rounds):
        middle = (low + high) / 2
        if rises(middle):
            low = middle
        else:
            high = middle
    return low, high
