"""Anytime-valid tests of a mean by betting: look after every example, stop as soon as it is proven.

For independent values ``x`` in [a, b] with mean at most ``m`` and a bet ``0 <= lambda < 1 / (m -
a)`` fixed in advance, ``prod(1 + lambda (x - m))`` is a non-negative supermartingale that starts at
1, and so is a weighted average over bets. By Ville's inequality the average ever reaches 1/alpha
with probability at most alpha, however often one looks (Waudby-Smith and Ramdas, "Estimating means
of bounded random variables by betting", JRSS B 2024, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.ci.bisection import bisected

RATIO = 1.5
"""From one bet of the mixture to the next larger one."""

_MOST_BETS = 24
_SMALLEST_BET = 1 / 64
_MOST = 0.99
_NOTHING = 1e-6
_EDGE = 1 - 1e-9
_EXACT = 1e-9
_FIRST_CHUNK, _LAST_CHUNK = 512, 16384


@dataclass(frozen=True)
class Bets:
    """A mixture of bets; the weights sum to 1."""

    sizes: np.ndarray
    weights: np.ndarray


def log_wealth(values: np.ndarray, mean: float, bets: Bets) -> np.ndarray:
    """Return the mixture's log wealth after each of ``values`` (N,), against "at most ``mean``"."""
    with np.errstate(divide="ignore"):
        paths = np.log1p(np.multiply.outer(bets.sizes, values - mean)).cumsum(axis=1)
    return _total(paths + np.log(bets.weights)[:, None])


def first_crossing(values: np.ndarray, mean: float, bets: Bets, nats: float) -> int:
    """Return after how many of ``values`` (N,) the wealth first is at least exp(nats).

    N + 1 if it never is.
    """
    # Chunks grow: an early crossing costs little, and a late one few steps.
    carried = np.log(bets.weights)
    start = 0
    size = _FIRST_CHUNK
    while start < len(values):
        with np.errstate(divide="ignore"):
            gains = np.log1p(np.multiply.outer(bets.sizes, values[start : start + size] - mean))
        paths = gains.cumsum(axis=1) + carried[:, None]
        reached = np.flatnonzero(_total(paths) >= nats)
        if reached.size:
            return start + int(reached[0]) + 1
        carried = paths[:, -1]
        start = start + size
        size = min(2 * size, _LAST_CHUNK)
    return len(values) + 1


def growth(values: Sequence[float], shares: Sequence[float], mean: float, bet: float) -> float:
    """Return the expected gain of log wealth an example.

    ``values`` come with the probabilities ``shares``; -inf where the bet can lose everything.
    """
    total = 0.0
    for value, share in zip(values, shares, strict=True):
        if share > 0:
            factor = 1 + bet * (value - mean)
            if factor <= 0:
                # One such value takes all that was won before.
                return -math.inf
            total += share * math.log(factor)
    return total


def best_bet(values: Sequence[float], shares: Sequence[float], mean: float) -> float:
    """Return the bet of the fastest growth (Kelly 1956) against "at most ``mean``".

    0 where the mean of the values is no larger.
    """
    gains = [value - mean for value in values]

    def slope(bet: float) -> float:
        """Return how fast the expected log wealth rises with the bet."""
        total = 0.0
        for gain, share in zip(gains, shares, strict=True):
            total += share * gain / (1 + bet * gain)
        return total

    if slope(0.0) <= 0:
        # The growth falls as soon as the bet rises.
        return 0.0
    largest = _EDGE / max(-min(gains), 1e-12)
    bet, _ = bisected(0.0, largest, lambda bet: slope(bet) > 0, rounds=40)
    return bet


def ladder_of_bets(smallest: float, worst: float) -> Bets:
    """Return bets from ``smallest`` upwards by ``RATIO``, of weights 1/2, 1/6, 1/12, ...

    ``worst`` is how far a value can lie below the mean (not above it: nothing to lose); bets stay
    below ``1 / worst``, so that no value takes all. The smallest, made for the hardest case, has
    half the weight; the weights ``1 / ((j + 1)(j + 2))`` then fall slowly, so that an easier case
    costs few nats more than if its bet had been known. The last takes what is left of 1.
    """
    largest = _MOST / max(worst, _NOTHING)
    smallest = min(max(smallest, _NOTHING), largest)
    count = min(_MOST_BETS, 1 + max(0, math.floor(math.log(largest / smallest) / math.log(RATIO))))
    places = np.arange(count, dtype=np.float64)
    weights = 1 / ((places + 1) * (places + 2))
    weights[-1] = 1 / count
    return Bets(smallest * RATIO**places, weights)


def confidence_sequence(
    values: np.ndarray, low: float, high: float, level: float
) -> tuple[float, float]:
    """Return an interval of the mean of values (N,) in [low, high], valid whenever it is asked for.

    The means against which neither side's wealth has reached ``2 / level`` (same paper, theorem 3).
    The bets do not depend on the mean, so the wealth is monotone in it, and its roots are the ends.
    """
    spread = high - low
    if len(values) == 0 or spread <= 0:
        return low, high
    # The bets are made for values in [0, 1].
    unit = (np.asarray(values, dtype=np.float64) - low) / spread
    distinct, counts = np.unique(unit, return_counts=True)
    lower = _lower_end(distinct, counts, math.log(2 / level))
    upper = 1 - _lower_end(1 - distinct, counts, math.log(2 / level))
    return low + spread * lower, low + spread * upper


def _lower_end(values: np.ndarray, counts: np.ndarray, nats: float) -> float:
    """Return the least mean in [0, 1] that is not refuted as too small, or less by at most 2e-9."""
    from scipy.optimize import brentq

    bets = ladder_of_bets(_SMALLEST_BET, 1.0)
    weights = np.log(bets.weights)

    def excess(mean: float) -> float:
        """Return the nats of evidence against "at most mean" beyond those that refute it.

        Falls with the mean.
        """
        paths = np.log1p(np.multiply.outer(bets.sizes, values - mean)) @ counts + weights
        top = float(paths.max())
        return top + math.log(float(np.exp(paths - top).sum())) - nats

    if excess(0.0) < 0:
        return 0.0
    return max(0.0, float(brentq(excess, 0.0, 1.0, xtol=_EXACT)) - _EXACT)  # pyright: ignore[reportArgumentType]


def _total(paths: np.ndarray) -> np.ndarray:
    """Return the logarithm of the sum over bets (rows); -inf where all is lost."""
    top = paths.max(axis=0)
    lost = np.isneginf(top)
    safe = np.where(lost, 0.0, top)
    return np.where(
        lost, -np.inf, safe + np.log(np.maximum(np.exp(paths - safe).sum(axis=0), 1e-300))
    )
