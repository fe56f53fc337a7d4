"""F1, a ratio of two means, tested without approximation.

``F1 = 2 tp / (2 tp + fp + fn) > c`` is ``E[2 (1 - c) TP - c (FP + FN)] > 0``: for each c a
statement about the mean of bounded values, so that the tests by betting hold for it as they are.
The values fall with c, and so does the wealth: bisection finds the c that are refuted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from easeml.lifecycle.ci.betting import ladder_of_bets
from easeml.lifecycle.ci.bisection import bisected

_BETS = ladder_of_bets(1 / 64, 1.0)


@lru_cache(maxsize=16_384)  # a commit that waits for labels is walked again from its first row
def f1_bounds(hits: int, errors: int, nats: float) -> tuple[float, float]:
    """Return a lower and an upper bound of F1, each wrong ever with probability at most exp(-nats).

    ``hits`` are true positives, ``errors`` false positives and false negatives, among examples
    taken one by one.
    """

    def too_small(c: float) -> bool:
        return _log_wealth(2 * (1 - c), -c, hits, errors) >= nats

    def too_large(c: float) -> bool:
        """Tell whether F1 is refuted to be ``1 - c`` or more."""
        return _log_wealth(1 - c, -2 * c, errors, hits) >= nats

    return _edge(too_small), 1 - _edge(too_large)


def f1_score(hits: int, errors: int) -> float:
    """Return F1; NaN where there is neither a hit nor an error."""
    if hits + errors == 0:
        # No example was labelled or predicted as positive.
        return math.nan
    return 2 * hits / (2 * hits + errors)


def f1_size(threshold: float, tolerance: float, positives: float, log_inverse: float) -> float:
    """Return how many examples always place F1 to within the tolerance; not rounded.

    ``positives`` is the share of positive examples. Hoeffding's bound on the values above, of range
    ``2 - c``; their mean is ``(F1 - c) E[2 TP + FP + FN]``, and the expectation is at least the
    share of positives.
    """
    spread = 2 - min(1.0, max(0.0, threshold))
    return spread**2 * log_inverse / (2 * (tolerance * positives) ** 2)


def _log_wealth(gain: float, loss: float, gains: int, losses: int) -> float:
    """Return the log wealth of bets on values in [-1, 2], scaled so that no bet can lose all."""
    scale = _BETS.sizes / 2
    paths = gains * np.log1p(scale * gain) + losses * np.log1p(scale * loss) + np.log(_BETS.weights)
    top = float(paths.max())
    return top + math.log(float(np.exp(paths - top).sum()))


def _edge(refuted: Callable[[float], bool]) -> float:
    """Return the least c in [0, 1] that is not refuted, where the refuted ones lie below it."""
    if not refuted(0.0):
        return 0.0
    edge, _ = bisected(0.0, 1.0, refuted, rounds=50)
    return edge
