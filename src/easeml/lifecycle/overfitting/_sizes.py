"""From counts of models to sizes of test sets, and back."""

from __future__ import annotations

from math import ceil, floor, inf, log, sqrt

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting._histories import (
    Mode,
    code_length_planned,
    log_histories,
    log_models,
)


def check_promise(tolerance: float, delta: float) -> None:
    """Raise InvalidInput unless both are in (0, 1)."""
    for name, value in (("tolerance", tolerance), ("delta", delta)):
        if not 0 < value < 1:
            raise InvalidInput(
                f"{name} must be between 0 and 1, both excluded, not {value}.", where=name
            )


def exponent(tolerance: float, least_accuracy: float = 0.0) -> float:
    """Return c so that P(|mean - truth| > tolerance) <= 2 exp(-c n) for n scores in [0, 1] with
    mean >= the least.

    ``2 tolerance**2`` (Hoeffding 1963, theorem 1, eq. 2.3) in general. If the truth is known to be
    at least ``least_accuracy`` > 1/2 + tolerance, the relative entropy between it and it +-
    tolerance (the same theorem, eq. 2.1), which is larger: good models are easier to measure.
    """
    if not 0 <= least_accuracy < 1:
        raise InvalidInput(
            f"least_accuracy must be in [0, 1), not {least_accuracy}.", where="least_accuracy"
        )
    if least_accuracy <= 0.5 + tolerance:
        return 2 * tolerance**2
    # From 1/2 + tolerance on, both relative entropies grow with the truth, so the least truth
    # decides.
    return min(
        relative_entropy(least_accuracy + side, least_accuracy) for side in (-tolerance, tolerance)
    )


def relative_entropy(q: float, p: float) -> float:
    """Return kl(q, p) of two coins in nats; infinite where q is no probability."""
    if q < 0 or q > 1:
        return inf
    heads = 0.0 if q == 0 else q * log(q / p)
    tails = 0.0 if q == 1 else (1 - q) * log((1 - q) / (1 - p))
    return heads + tails


def size(log_count: float, tolerance: float, delta: float, least_accuracy: float = 0.0) -> int:
    """Return the least n with ``exp(log_count) * 2 exp(-exponent * n) <= delta`` (union bound)."""
    return ceil((log_count + log(2 / delta)) / exponent(tolerance, least_accuracy) * (1 - 1e-12))


def log_count(mode: Mode, signals: int, reports: int, changes: int) -> float:
    """Return what a mode needs in nats for ``reports`` reports (coded: with at most ``changes``
    changes).
    """
    if mode == "coded":
        return code_length_planned(signals, reports, changes)
    return log_models(mode, signals, reports)


def supported_reports(
    examples: int,
    *,
    mode: Mode = "plain",
    signals: int = 5,
    tolerance: float = 0.02,
    delta: float = 0.01,
    changes: int = 1,
    published: bool = False,
) -> int:
    """Return how many reports a test set of ``examples`` supports; 0 if not even one.

    ``published`` counts complete histories as the paper does (plain: the greatest T with ``m**T * 2
    exp(-2 n eps**2) <= delta``) instead of models. With one signal nothing is ever learned; the
    answer is then limited by the union over reports alone.
    """
    check_promise(tolerance, delta)
    budget = exponent(tolerance) * examples - log(2 / delta)
    if budget < 0:
        return 0
    if published and mode == "plain" and signals > 1:
        return floor(budget / log(signals) + 1e-12)

    def needed(reports: int) -> float:
        if published and mode != "coded":
            return log_histories(mode, signals, reports)
        return log_count(mode, signals, reports, changes)

    limit = 2**40
    low, high = 0, 1
    while high < limit and needed(high) <= budget:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle) <= budget else (low, middle)
    return low


def deviation(log_count: float, examples: int, delta: float, least_accuracy: float = 0.0) -> float:
    """Return the tolerance that ``examples`` support for exp(log_count) models: at most 1 (the
    inverse of `size`).
    """
    needed = log_count + log(2 / delta)
    hoeffding = sqrt(needed / (2 * examples))
    high = min(hoeffding, least_accuracy - 0.5 - 1e-12)
    if high <= 0 or exponent(high, least_accuracy) * examples < needed:
        return min(1.0, hoeffding)
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if exponent(middle, least_accuracy) * examples >= needed
            else (middle, high)
        )
    return high


def grid_levels(step: float) -> int:
    """Return how many values a score in [0, 1] has when rounded to a grid."""
    return ceil(1 / step - 1e-9) + 1
