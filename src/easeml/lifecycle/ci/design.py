"""How a clause is tested: between which values it is told apart, by which bets, on how many rows.

A clause ``x > c +/- eps`` is a choice between two claims that overlap: "x > low" (the clause counts
as true) and "x < high" (it counts as false), ``high = low + 2 eps``. The mode only places the zone
between them: where a false pass must be rare, low = c; where a false fail must be rare, high = c.
This is the guarantee of the published rule, which compares an estimate that is within eps with ``c
+ eps`` (fp-free) or ``c - eps`` (fn-free).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.betting import Bets, best_bet, growth, ladder_of_bets
from easeml.lifecycle.ci.bisection import bisected
from easeml.lifecycle.ci.bounds import exact_size, hoeffding_size, up
from easeml.lifecycle.ci.condition import Clause, Part
from easeml.lifecycle.ci.config import Metric, Mode
from easeml.lifecycle.ci.levels import Level

HALF = math.log(2)
"""Nats of sharing a wealth between two halves of a mixture."""
BENTKUS = 1.0
"""Nats that binomial tails cost for values between two ends: a factor e (Bentkus 2004, th. 1.2)."""
_EXACT_LOOK, _LOOK = 0.5, 0.75
"""Share of the level that goes to one look by binomial tails: of two values, and of others."""


@dataclass(frozen=True)
class Zone:
    """The clause counts as true where x > low is proven, as false where x < high is proven."""

    low: float
    high: float


@dataclass(frozen=True)
class Design:
    """The test of an upward clause whose value a row lies in [bottom, top].

    ``above`` bets against "mean <= zone.low", ``below`` (on values with turned sign) against "mean
    >= zone.high". ``rows`` rows always settle the clause, if at most the assumed share of them
    differ. ``look`` is the share of the level that goes to one look by binomial tails, at a number
    of rows known in advance; the bets have the rest. ``two_valued``: a row's value is bottom or
    top, so that those tails are exact.
    """

    clause: Clause
    zone: Zone
    level: Level
    bottom: float
    top: float
    share: float
    above: Bets
    below: Bets
    rows: int
    two_valued: bool
    look: float = 0.0

    def bet_nats(self, nats: float) -> float:
        """Return the log wealth that the bets must reach, of a level of ``nats``."""
        return nats - math.log1p(-self.look)

    def look_nats(self, nats: float) -> float:
        """Return the nats that the look's binomial tails must reach, of a level of ``nats``."""
        return nats - math.log(self.look) + (0.0 if self.two_valued else BENTKUS)


def value_range(clause: Clause, scale: float) -> tuple[float, float]:
    """Return the least and the greatest value that one row, or a row of each group, can take.

    The agreeing rows of a difference take 0.
    """
    least = greatest = 0.0
    for part in clause.parts:
        bottom, top = _part_range(part, scale)
        least += bottom
        greatest += top
    return least, greatest


def _part_range(part: Part, scale: float) -> tuple[float, float]:
    if part.is_difference:
        reach = abs(part.n) * scale
        least, greatest = part.d - reach, part.d + reach
        return min(0.0, least), max(0.0, greatest)
    # Each score lies between 0 and its scale, whatever the others are.
    ends = np.array([part.n * scale, part.o * scale, part.d])
    least = float(np.minimum(ends, 0.0).sum())
    greatest = float(np.maximum(ends, 0.0).sum())
    return least, greatest


def zone_of(clause: Clause, mode: Mode, bottom: float, top: float) -> Zone:
    """Return the zone of an upward clause, within what is possible.

    Raises:
        InvalidInput: if the clause holds always, or never.
    """
    # The mode says which edge of the zone the threshold is.
    width = 2 * clause.tolerance
    low = clause.threshold if mode is Mode.FP_FREE else clause.threshold - width
    zone = Zone(max(low, bottom), min(low + width, top))
    if zone.high - zone.low > 1e-12 * (top - bottom):
        return zone
    verdict = "always" if low < bottom else "never"
    raise InvalidInput(
        f"The clause with threshold {abs(clause.threshold):g} "
        f"and tolerance {clause.tolerance:g} {verdict} holds.",
        where=f"condition, column {clause.position + 1}",
        remedy="Choose a threshold between the least and the greatest value "
        "that the expression can take.",
    )


@dataclass(frozen=True)
class Assumed:
    """What a design takes for granted: how scores are scaled, and how many predictions may differ.

    ``scale`` is the largest score; ``share``, in (0, 1], the most rows whose predictions differ.
    """

    mode: Mode
    metric: Metric
    scale: float
    share: float


@lru_cache(maxsize=256)
def design_clause(clause: Clause, assumed: Assumed, level: Level) -> Design:
    """Return the test of a clause.

    Where ``assumed.share`` is wrong, the test costs more examples; its guarantee holds.
    """
    clause = clause.upward()
    bottom, top = value_range(clause, assumed.scale)
    zone = zone_of(clause, assumed.mode, bottom, top)
    case = _Case(
        clause=clause,
        zone=zone,
        scale=assumed.scale,
        share=assumed.share,
        bottom=bottom,
        top=top,
    )
    above, below = case.sides(_meeting_point(case, level))
    two_valued = len(clause.weights) == 1 and (clause.only_d or assumed.metric is Metric.ACCURACY)
    design = Design(
        clause=clause,
        zone=zone,
        level=level,
        bottom=bottom,
        top=top,
        share=assumed.share,
        above=ladder_of_bets(above.bet, zone.low - bottom),
        below=ladder_of_bets(below.bet, top - zone.high),
        rows=_rows(level, above.rate, below.rate, HALF),
        two_valued=two_valued,
    )
    looking = replace(design, look=_EXACT_LOOK if two_valued else _LOOK)
    looking = replace(looking, rows=_rows_of_look(looking))
    if two_valued or looking.rows < design.rows:
        design = looking
    if design.rows <= _hoeffding_rows(design):
        return design
    # One bet of the whole wealth never needs more than Hoeffding's bound (Pinsker's inequality).
    return replace(
        design,
        above=Bets(np.array([above.bet]), np.ones(1)),
        below=Bets(np.array([below.bet]), np.ones(1)),
        rows=_rows(level, above.rate, below.rate, 0.0),
        look=0.0,
    )


def most_rows(designs: Sequence[Design]) -> int:
    """Return the rows that always settle every one of these clauses; 0 for none."""
    return max((design.rows for design in designs), default=0)


def _rows_of_look(design: Design) -> int:
    """Return at how many rows the look always settles the clause."""
    spread = design.top - design.bottom
    low = (design.zone.low - design.bottom) / spread
    high = (design.zone.high - design.bottom) / spread
    nats = design.look_nats(max(design.level.true, design.level.false))
    return exact_size(low, high, nats, whole=design.two_valued)


def _hoeffding_rows(design: Design) -> int:
    """Return how many rows one Hoeffding bound asks for, by the tolerance that the zone leaves."""
    tolerance = (design.zone.high - design.zone.low) / 2
    nats = max(design.level.true, design.level.false)
    return up(hoeffding_size(design.top - design.bottom, tolerance, nats))


def expected_rows(design: Design, scale: float, truth: float) -> float:
    """Return about how many rows a test takes where the expression's value is ``truth``.

    ``truth`` lies outside the zone. Wald's identity for the best single bet of the mixture, without
    the last step's excess; at most ``design.rows``.
    """
    values, shares = hardest_rows(design, scale, truth)
    turned = [-value for value in values]
    true = design.bet_nats(design.level.true)
    false = design.bet_nats(design.level.false)
    sides = (
        (design.above, values, design.zone.low, true),
        (design.below, turned, -design.zone.high, false),
    )
    found = [float(design.rows)]
    for bets, points, mean, nats in sides:
        for size, weight in zip(bets.sizes, bets.weights, strict=True):
            rate = growth(points, shares, mean, float(size))
            if rate > 0:
                found.append((nats - math.log(weight)) / rate)
    return min(found)


def hardest_rows(design: Design, scale: float, truth: float) -> tuple[list[float], list[float]]:
    """Return values of rows, and their probabilities: of mean ``truth``, and the largest spread."""
    case = _Case(
        clause=design.clause,
        zone=design.zone,
        scale=scale,
        share=design.share,
        bottom=design.bottom,
        top=design.top,
    )
    return case.support(truth)


@dataclass(frozen=True)
class _Side:
    """The best bet of one side, and its gain of log wealth a row."""

    bet: float
    rate: float


@dataclass(frozen=True)
class _Case:
    """The hardest rows that a clause can meet."""

    clause: Clause
    zone: Zone
    scale: float
    share: float
    bottom: float
    top: float

    def support(self, mean: float) -> tuple[list[float], list[float]]:
        """Return values and probabilities of the given mean and the largest spread.

        For a difference that is every changed prediction turning right or wrong, ``share`` of the
        rows; else two values. The logarithm of a bet's gain is concave, so no other case of the
        same mean and share gains less. Of groups, whose rows are independent, each is as far above
        its least value as the others, one of two values a row.
        """
        if self.clause.others:
            return self._support_of_groups(mean)
        if not self.clause.is_difference or self.share >= 1:
            high = min(1.0, max(0.0, (mean - self.bottom) / (self.top - self.bottom)))
            return [self.top, self.bottom], [high, 1 - high]
        size = abs(self.clause.n) * self.scale
        offset = self.clause.d
        surplus = (mean - self.share * offset) / size
        gains = min(self.share, max(0.0, (surplus + self.share) / 2))
        values = [offset + size, offset - size, 0.0]
        return values, [gains, self.share - gains, 1 - self.share]

    def _support_of_groups(self, mean: float) -> tuple[list[float], list[float]]:
        high = min(1.0, max(0.0, (mean - self.bottom) / (self.top - self.bottom)))
        values, shares = [0.0], [1.0]
        for part in self.clause.parts:
            ends = _part_range(part, self.scale)
            values = list(map(sum, product(values, ends)))
            shares = list(map(math.prod, product(shares, (1 - high, high))))
        return values, shares

    def sides(self, mean: float) -> tuple[_Side, _Side]:
        """Return the best bets of both sides where the rows' mean is ``mean``."""
        values, shares = self.support(mean)
        turned = [-value for value in values]
        above = best_bet(values, shares, self.zone.low)
        below = best_bet(turned, shares, -self.zone.high)
        return (
            _Side(above, growth(values, shares, self.zone.low, above)),
            _Side(below, growth(turned, shares, -self.zone.high, below)),
        )


def _meeting_point(case: _Case, level: Level) -> float:
    """Return the mean in the zone at which both sides need equally many rows (Chernoff's point)."""

    def sooner_below(mean: float) -> bool:
        above, below = case.sides(mean)
        rate_above = above.rate * (level.false + HALF)
        rate_below = below.rate * (level.true + HALF)
        return rate_above <= rate_below

    low, high = bisected(case.zone.low, case.zone.high, sooner_below, rounds=30)
    return (low + high) / 2


def _rows(level: Level, above: float, below: float, sharing: float) -> int:
    """Return the rows after which the first bet alone settles the clause on one side.

    ``above`` and ``below`` are the bets' gains a row. ``sharing``: nats that the other bets of the
    mixture have of its wealth.
    """
    to_prove_true = _rows_to_reach(level.true + sharing, above)
    to_prove_false = _rows_to_reach(level.false + sharing, below)
    return max(1, up(max(to_prove_true, to_prove_false)))


def _rows_to_reach(nats: float, rate: float) -> float:
    """Return the rows that gain so many nats; none for a side that no row can prove."""
    if rate <= 0:
        return 0.0
    return nats / rate
