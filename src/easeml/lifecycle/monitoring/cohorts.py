"""Did the concept change? A test for truths that come late, in any order, and perhaps never."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import exp, log, log1p, pi, sqrt

import numpy as np

from easeml.lifecycle.monitoring.sequential import LARGEST, bet_on

MOST = 400
"""Cohorts that still wait for truths: a year of daily looks."""
RECENT = 3
"""Looks of which a sample says how right the model is today, as far as anything does."""
MATURE = 0.9
"""Share of a cohort's rows with a truth, from which on it hardly matters whose are missing."""


@dataclass(frozen=True)
class Cohort:
    """The rows of one look. ``look``: its number, from 1; ``right``, ``wrong``: by the truth.

    ``base``: the quality that their inputs let expect, and ``least``: at least; ``drop``: the fall
    of it that the bets on these rows are the best ones for. ``used``: the estimate has learned from
    it. ``drawn``: truths among them of rows that were drawn at random, from which it learned as
    well.
    """

    look: int
    rows: int
    base: float
    least: float
    drop: float
    right: int = 0
    wrong: int = 0
    used: bool = False
    drawn: int = 0

    @property
    def answered(self) -> float:
        """Share of the rows whose truth came."""
        return (self.right + self.wrong) / self.rows

    @property
    def quality(self) -> float:
        """Share of rows that are right, where half of those without truth are."""
        return (self.right + (self.rows - self.wrong)) / (2 * self.rows)

    @property
    def gain(self) -> float:
        """Logarithm of what a bet on each row has won. Rows without truth count as right."""
        bet, least = bet_on(self.least, self.drop)
        others = self.rows - self.wrong
        return self.wrong * log1p(bet * least) + others * log1p(-bet * (1 - least))


@dataclass(frozen=True)
class CohortTest:
    """What is staked on the model having become worse than inputs let expect, look by look.

    A row whose truth has not come counts as right. So what is won by now is never more than what
    will be won once all truths are there, whoever they come for first. The latter is a test
    martingale in the order of the looks: while the inputs mean the same, it ever reaches 1 / alpha
    with probability alpha at most (Ville, 1939), hence so does the former, whatever delays truths,
    and also where they come for wrong answers only. Within a look the order does not matter, as
    its bets multiply.

    A change may begin with any look: the j-th is staked on with 6 / (pi j)**2. ``settled``: looks
    for whose truths nobody waits any more, with their ``stake``, and the money ``aside``.
    """

    cohorts: tuple[Cohort, ...] = ()
    settled: int = 0
    stake: float = 0.0
    aside: float = 1.0

    def seen(self, cohort: Cohort) -> CohortTest:
        """Return the test after a look at rows; beyond 400 looks the oldest is settled."""
        test = replace(self, cohorts=(*self.cohorts, cohort))
        if len(test.cohorts) <= MOST:
            return test
        oldest, *others = test.cohorts
        number = self.settled + 1
        stake, aside = _after(self.stake, self.aside, oldest, number)
        return CohortTest(tuple(others), number, stake, aside)

    def told(self, looks: Iterable[int], right: Iterable[float]) -> CohortTest:
        """Return the test after truths came. Those of looks that are settled change nothing.

        Args:
            looks: the look that saw each row.
            right: 1 where the model was right about it, else 0.
        """
        numbers, was_right = np.asarray(looks), np.asarray(right)
        cohorts = []
        for cohort in self.cohorts:
            told = was_right[numbers == cohort.look]
            rights = int(told.sum())
            cohorts.append(_with(cohort, rights, len(told) - rights))
        return replace(self, cohorts=tuple(cohorts))

    @property
    def looks(self) -> int:
        """How many looks there were."""
        return self.settled + len(self.cohorts)

    @property
    def has_truths(self) -> bool:
        """Has the truth of any row come?"""
        return any(cohort.answered for cohort in self.cohorts)

    @property
    def evidence(self) -> float:
        """How many times what was staked has been won; an e-value.

        By the look at which most is won, of those since the last one nearly all of whose truths
        came: what has become right again is no longer in question.
        """
        first = self._newest(MATURE) or 0
        stake = self.stake
        aside = self.aside
        most = 0.0
        for place, cohort in enumerate(self.cohorts):
            stake, aside = _after(stake, aside, cohort, self.settled + place + 1)
            if place >= first:
                most = max(most, stake + aside)
        return most

    @property
    def p_value(self) -> float:
        """1 / evidence, at most 1: the level at which the test would alarm."""
        return 1 / max(1.0, self.evidence)

    @property
    def share(self) -> float:
        """Share of rows with a truth, in the newest look of which any truth came; 0 for none."""
        place = self._newest(0.0)
        return 0.0 if place is None else self.cohorts[place].answered

    @property
    def is_sampled(self) -> bool:
        """Has the estimate learned from a sample of the newest looks?"""
        return any(cohort.drawn for cohort in self.cohorts[-RECENT:])

    @property
    def matured(self) -> list[Cohort]:
        """The looks whose truths are nearly all there, from which no estimate has learned yet."""
        return [one for one in self.cohorts if not one.used and one.answered >= MATURE]

    def used(self) -> CohortTest:
        """Return the test after an estimate has learned from what matured."""
        ready = self.matured
        cohorts = (replace(one, used=one.used | (one in ready)) for one in self.cohorts)
        return replace(self, cohorts=tuple(cohorts))

    @property
    def bests(self) -> list[tuple[float, float]]:
        """The quality of each look that is in question if all rows without truth are right.

        In question are the newest look nearly all of whose truths came, and those since: what is
        known of an older one does not speak for them. Newest first, each with the upper end of its
        95 % interval (Agresti and Coull, 1998).
        """
        in_question = self.cohorts[self._newest(MATURE) or 0 :]
        return list(map(_best, reversed(in_question)))

    def _newest(self, share: float) -> int | None:
        """Return the place of the newest cohort with truths of so large a share; None for none."""
        for place in reversed(range(len(self.cohorts))):
            answered = self.cohorts[place].answered
            if answered and answered >= share:
                return place
        return None

    @property
    def rows_since_used(self) -> int:
        """How many rows were seen since the newest look that an estimate has learned from."""
        rows = 0
        for cohort in reversed(self.cohorts):
            if cohort.used or cohort.drawn:
                return rows
            rows += cohort.rows
        return rows


def _best(cohort: Cohort) -> tuple[float, float]:
    """Return the quality of a look if all rows without truth are right, and the upper end of it."""
    right = 1 - cohort.wrong / cohort.rows
    moved = (right * cohort.rows + 2) / (cohort.rows + 4)
    return right, moved + 2 * sqrt(moved * (1 - moved) / (cohort.rows + 4))


def _with(cohort: Cohort, right: int, wrong: int) -> Cohort:
    """Return a cohort with more truths; never more than it has rows."""
    wrong = min(cohort.rows, cohort.wrong + wrong)
    right = min(cohort.rows - wrong, cohort.right + right)
    return replace(cohort, right=right, wrong=wrong)


def _after(stake: float, aside: float, cohort: Cohort, number: int) -> tuple[float, float]:
    """Return what is staked, and kept aside, after the bets on the ``number``-th look."""
    begun = min(aside, 6 / (pi * number) ** 2)
    staked = stake + begun
    if staked <= 0:
        return 0.0, aside - begun
    return exp(min(log(LARGEST), log(staked) + cohort.gain)), aside - begun
