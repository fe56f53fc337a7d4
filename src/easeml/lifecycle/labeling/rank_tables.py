"""Rank tables of the games: what a match at a rank is worth."""

from __future__ import annotations

import numpy as np


def hard(n: int, k: int) -> np.ndarray:
    """Return g(0 .. n) of v(S) = matches among the min(k, |S|) nearest in S, over k; v(empty) = 0.

    g(i) = min(k, i) / (k i) = 1 / max(k, i): Jia et al., "Efficient task-specific data valuation
    for nearest neighbor algorithms", PVLDB 12(11) 2019, Theorem 1, with the last value m_n min(k,
    n) / (n k), which holds for n < k too.
    """
    table = 1.0 / np.maximum(k, np.arange(n + 1))
    table[0] = 0.0
    return table


def soft(n: int, k: int) -> np.ndarray:
    """Return g(0 .. n) of v(S) = mean match among the min(k, |S|) nearest; v(empty) = 1 / classes.

    Wang and Jia, "A note on 'Efficient task-specific data valuation for nearest neighbor
    algorithms'", 2023, Theorem 1. With fewer than k rows the game is that of k = n.
    ``soft_constant`` is the rest of the value.
    """
    table = np.zeros(n + 1)
    if n == 1:
        table[1] = 1.0
        return table
    k = min(k, n)
    ranks = np.arange(1, n + 1)
    harmonic = (1.0 / np.arange(1, k + 1)).sum()
    table[1:] = (harmonic + np.minimum(ranks, k) * (n - 1) / (ranks * k) - 1.0) / (n - 1)
    return table


def soft_constant(n: int, k: int, matches: float, n_classes: int) -> float:
    """Return what a row's value in the soft game has beside its rank's; ``matches`` of n match."""
    if n == 1:
        return -1.0 / n_classes
    rest = (1.0 / np.arange(2, min(k, n) + 1)).sum()
    return -matches * rest / (n * (n - 1)) - 1.0 / (n_classes * n)
