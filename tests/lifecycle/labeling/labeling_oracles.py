"""Brute force for the values of nearest-neighbour games: every order of the players."""

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np


def shapley(n: int, worth: Callable[[Sequence[int]], float]) -> np.ndarray:
    """Return the mean, over all orders of ``n`` players, of what each adds when it joins."""
    values = np.zeros(n)
    for order in permutations(range(n)):
        before = worth(())
        for place, player in enumerate(order):
            after = worth(order[: place + 1])
            values[player] += after - before
            before = after
    return values / math.factorial(n)


def nearest(distances: np.ndarray, coalition: Sequence[int], k: int) -> list[int]:
    """Return the k nearest players of a coalition, equally near ones by index."""
    return sorted(coalition, key=lambda i: (distances[i], i))[:k]


def over_ties(
    distances: np.ndarray, match: np.ndarray, k: int, worth: Callable[..., Callable]
) -> np.ndarray:
    """Return values averaged over all orders of rows: every order of the tied ones is as frequent."""
    n = len(match)
    total = np.zeros(n)
    for order in permutations(range(n)):
        moved = list(order)
        values = shapley(n, worth(distances[moved], match[moved], k))
        total[moved] += values
    return total / math.factorial(n)


def hard(distances: np.ndarray, match: np.ndarray, k: int) -> Callable[[Sequence[int]], float]:
    """Return the game of matches among the k nearest, divided by k."""
    return lambda coalition: sum(match[i] for i in nearest(distances, coalition, k)) / k


def soft(
    distances: np.ndarray, match: np.ndarray, k: int, n_classes: int = 2
) -> Callable[[Sequence[int]], float]:
    """Return the game of the mean match among the k nearest."""
    return lambda coalition: (
        float(np.mean([match[i] for i in nearest(distances, coalition, k)]))
        if len(coalition)
        else 1 / n_classes
    )
