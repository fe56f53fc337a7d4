"""How much a developer can have learned from a meter, in natural logarithms.

These are counts of what it may have shown.

A deterministic developer's next model is a function of the signals shown so far, so the models that
a test set may have to judge are as many as the histories of signals (a random developer is
deterministic once the coins are fixed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lgamma, log, log1p
from typing import Literal

from easeml.errors import InvalidInput

Mode = Literal["coded", "monotone", "plain"]
MODES: tuple[Mode, ...] = ("coded", "monotone", "plain")


def log_choose(n: float, k: float) -> float:
    """Return ln of the binomial coefficient C(n, k)."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def log_histories(mode: Literal["plain", "monotone"], signals: int, reports: int) -> float:
    """Return ln of the number of complete histories of ``reports`` signals out of ``signals``.

    These are the published counts (ease.ml/meter; Hubis, Wu, Zhang 2019): ``m**T`` where every
    signal is shown, and ``C(T + m - 1, T)`` where only the worst so far is.
    """
    if mode == "plain":
        return reports * log(signals)
    return log_choose(reports + signals - 1, reports)


def log_models(mode: Literal["plain", "monotone"], signals: int, reports: int) -> float:
    """Return ln of the number of *models* that may be judged: one a history shorter than ``reports``.

    A union bound must hold for each of them. Plain: ``(m**T - 1) / (m - 1)``, fewer than ``m**T``.
    Monotone: ``sum over t < T of C(t + m - 1, t) = C(T + m - 1, m)``, more than the published ``C(T
    + m - 1, T)`` if T > m.
    """
    if signals == 1:
        return log(reports)
    if mode == "plain":
        # ln((m^T - 1) / (m - 1)) without forming m^T
        return reports * log(signals) + log1p(-(signals ** -float(reports))) - log(signals - 1)
    return log_choose(reports + signals - 1, signals)


@dataclass(frozen=True)
class History:
    """What matters of a history of signals: how many reports, and how often the signal changed.

    Before the first report it counts as the lowest, so that another first signal is a change.
    """

    reports: int = 0
    changes: int = 0

    @classmethod
    def of(cls, signals: Sequence[int]) -> History:
        """Return the summary of signals in 1..m."""
        changes = sum(before != after for before, after in pairwise([1, *signals]))
        return cls(len(signals), changes)


def code_length(history: History, signals: int, reports: int | None) -> float:
    """Return the description length, in nats, of the model that follows after ``history``.

    ``exp(-length)`` sums to at most 1 over all histories of all lengths (Kraft), so the model after
    history ``h`` may be granted the failure probability ``delta * exp(-length(h))``: an Occam bound
    (Blumer et al. 1987) in place of the count of all histories. As in the analysis of the Ladder
    (Blum and Hardt 2015, theorem 3.1), what was really shown decides: a history that stays quiet
    costs as much as two models a report that are fixed in advance.

    The code names the time t (uniform over ``reports``, or with probability 1 / (t (t + 1)) where
    their number is not known in advance), the number c of changes (2**-(c + 1)), where they are
    among the t - 1 reports, and to which of the m - 1 other signals each goes.
    """
    step = history.reports + 1
    if reports is None:
        length = log(step * (step + 1.0))
    else:
        length = log(reports)
    # The first model depends on no signal, and one signal tells nothing.
    if signals == 1 or history.reports == 0:
        return length
    return length + _changes_length(history.changes, history.reports, signals)


def _changes_length(changes: int, steps: int, signals: int) -> float:
    """Return the nats that name the changes: their number, their places, and where each goes."""
    number = (changes + 1) * log(2)
    places = log_choose(steps, changes)
    goals = changes * log(signals - 1)
    return number + places + goals


def code_length_planned(signals: int, reports: int, changes: int) -> float:
    """Return the greatest description length up to ``reports`` reports and ``changes`` changes."""
    if signals == 1 or reports == 1:
        return log(reports)
    steps = reports - 1
    most = min(changes, steps)
    # More changes may take a shorter code: there are fewer ways to place them among the steps.
    lengths = [_changes_length(count, steps, signals) for count in range(most + 1)]
    return log(reports) + max(lengths)


def check_counts(signals: int, reports: int | None) -> None:
    """Raise InvalidInput unless there is at least one signal and one report."""
    if signals < 1:
        raise InvalidInput(f"A meter needs at least 1 signal, not {signals}.", where="signals")
    if reports is not None and reports < 1:
        raise InvalidInput(f"A meter gives at least 1 report, not {reports}.", where="reports")
