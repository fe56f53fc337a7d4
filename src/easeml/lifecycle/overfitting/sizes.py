"""From counts of models to sizes of test sets, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, exp, floor, log, sqrt

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting.histories import Mode, code_length_planned, log_models

_LOOKED_AT = 50  # accuracies at a time, in which the widest deviation is looked for


def check_promise(tolerance: float, delta: float) -> None:
    """Raise InvalidInput unless both are in (0, 1)."""
    for name, value in (("tolerance", tolerance), ("delta", delta)):
        if not 0 < value < 1:
            raise InvalidInput(f"{name} must lie above 0 and below 1, not {value}.", where=name)


def hoeffding_size(log_count: float, tolerance: float, delta: float) -> int:
    """Return the published size: the least n by Hoeffding (1963) and a union bound.

    ``exp(log_count) * 2 exp(-2 n tolerance**2) <= delta``.
    """
    return ceil((log_count + log(2 / delta)) / (2 * tolerance**2) * (1 - 1e-12))


def hoeffding_deviation(log_count: float, examples: int, delta: float) -> float:
    """Return the tolerance that ``examples`` support for exp(log_count) models; at most 1.

    By the same bound.
    """
    return min(1.0, sqrt((log_count + log(2 / delta)) / (2 * examples)))


@lru_cache(maxsize=65_536)  # a meter asks again at every reading
def deviation(
    log_count: float, examples: int, delta: float, accuracy: float = 0.5, *, graded: bool = False
) -> float:
    """Return how far the truth may lie from a measured accuracy, but for ``delta / exp(log_count)``.

    The larger side of the exact interval at ``accuracy`` (Clopper and Pearson 1934): no assumption
    on the truth, and less where models are good. For ``graded`` scores in [0, 1] the binomial tails
    hold up to a factor e (Bentkus 2004, theorem 1.2).
    """
    from scipy.special import betaincinv

    nats = log_count + log(2 / delta) + (1.0 if graded else 0.0)
    if nats > 700:  # below the least float
        return hoeffding_deviation(log_count, examples, delta)
    level = exp(-nats)
    accuracy = min(1.0, max(0.0, accuracy))
    most = ceil(examples * accuracy - 1e-9)
    least = floor(examples * accuracy + 1e-9)
    # The truth is at least `low` where so many or more right answers are not too unlikely.
    low = float(betaincinv(least, examples - least + 1, level)) if least > 0 else 0.0
    high = 1.0
    if most < examples:
        high = 1 - float(betaincinv(examples - most, most + 1, level))
    return max(accuracy - low, high - accuracy)


@lru_cache(maxsize=4096)
def widest_deviation(
    log_count: float, examples: int, delta: float, *, graded: bool = False
) -> float:
    """Return the largest ``deviation`` at any measured accuracy.

    It is not the one at a half: an interval is widest that reaches over a half on both sides.
    Few examples, or many models, move that place far away.
    """
    step = max(1, examples // _LOOKED_AT)
    low = 0
    high = examples
    while True:
        places = {*range(low, high + 1, step), high}
        found = {
            count: deviation(log_count, examples, delta, count / examples, graded=graded)
            for count in places
        }
        best = max(found, key=found.__getitem__)
        if step == 1:
            return found[best]
        low, high = max(0, best - step), min(examples, best + step)
        step = max(1, step // _LOOKED_AT)


def first_where(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least n where a property holds that stays true once it is.

    It is taken not to hold at ``low``, and to hold at ``high``.
    """
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def size(log_count: float, tolerance: float, delta: float, accuracy: float | None = 0.5) -> int:
    """Return the least n that supports the tolerance at a measured accuracy (see ``deviation``).

    ``accuracy`` None: at any.
    """

    def enough(examples: int) -> bool:
        if accuracy is None:
            return widest_deviation(log_count, examples, delta) <= tolerance
        return deviation(log_count, examples, delta, accuracy) <= tolerance

    # Hoeffding's size is enough at any accuracy, but for rounding to whole right answers.
    surely = hoeffding_size(log_count, tolerance, delta) + ceil(2 / tolerance)
    return first_where(enough, 0, surely)


def log_count(mode: Mode, signals: int, reports: int, changes: int) -> float:
    """Return what a mode needs in nats for ``reports`` reports.

    Coded: with at most ``changes`` changes.
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
    changes: int = 0,
    accuracy: float = 0.5,
) -> int:
    """Return how many reports a test set of ``examples`` supports; 0 if not even one.

    With one signal nothing is ever learned; the answer is then limited by the union over reports
    alone.
    """
    check_promise(tolerance, delta)

    def fits(reports: int) -> bool:
        learned = log_count(mode, signals, reports, changes)
        return deviation(learned, examples, delta, accuracy) <= tolerance

    limit = 2**40
    low = 0
    high = 1
    while high < limit and fits(high):
        low, high = high, high * 2
    return first_where(lambda reports: not fits(reports), low, high) - 1


def published_reports(examples: int, signals: int, tolerance: float, delta: float) -> int:
    """Return the greatest T with ``m**T * 2 exp(-2 n eps**2) <= delta``, the published budget."""
    check_promise(tolerance, delta)
    budget = 2 * tolerance**2 * examples - log(2 / delta)
    if budget < 0:
        return 0
    if signals == 1:
        return floor(exp(min(budget, 27.0)))
    return floor(budget / log(signals) + 1e-12)


def grid_levels(step: float) -> int:
    """Return how many values a score in [0, 1] has when rounded to a grid."""
    return ceil(1 / step - 1e-9) + 1
