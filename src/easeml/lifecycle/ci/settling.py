"""One clause on rows in a fixed order: true, false or open, and at which row that was known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.ci.betting import confidence_sequence, first_crossing
from easeml.lifecycle.ci.bounds import exact_cuts
from easeml.lifecycle.ci.condition import Clause, Truth
from easeml.lifecycle.ci.design import Design, Zone
from easeml.lifecycle.ci.examples import Examples
from easeml.lifecycle.ci.levels import Level
from easeml.lifecycle.ci.ratios import f1_bounds, f1_score
from easeml.lifecycle.ci.units import needs_label, of_part, units_of

_SLACK = 1e-6
"""A sum of many floats may miss a whole number by so much."""


@dataclass(frozen=True)
class Settled:
    """What some rows say of a clause.

    ``truth`` is None while open; ``rows`` were looked at; ``estimate`` and its interval [low, high]
    are from those. Each end of the interval is wrong with probability at most twice the clause's
    level: it joins a confidence sequence with what the test has proven.
    """

    truth: Truth
    rows: int
    estimate: float
    low: float
    high: float


def settle(design: Design, examples: Examples, look: int) -> Settled:
    """Return what the rows say of a clause whose value is a mean, up to the row that settles it.

    ``look`` is the number of units (rows, or blocks of them), known before any label, at which the
    clause is looked at by binomial tails, if its design has such a look.
    """
    units = units_of(design.clause, examples)
    truth, found = _truth(design, units.values, look)
    if found == 0:
        return Settled(
            truth=truth,
            rows=0,
            estimate=math.nan,
            low=design.bottom,
            high=design.top,
        )
    seen = units.values[:found]
    level = 2 * math.exp(-min(design.level.true, design.level.false))
    low, high = confidence_sequence(seen, design.bottom, design.top, min(level, 0.999))
    # What is proven bounds the mean as well.
    if truth is True:
        low = max(low, design.zone.low)
    if truth is False:
        high = min(high, design.zone.high)
    return Settled(
        truth=truth,
        rows=units.rows(found),
        estimate=float(seen.mean()),
        low=low,
        high=high,
    )


def _truth(design: Design, values: np.ndarray, look: int) -> tuple[Truth, int]:
    """Return what bets and the look say of a clause, and at which row the first of them did."""
    truth, row = _proven_by_bets(design, values)
    if not design.look or look > len(values):
        return truth, row
    if truth is not None and row <= look:
        return truth, row
    # The look was fixed before any label, so it has its own share of the level.
    seen = _look(design, values[:look])
    if seen is None:
        return truth, row
    return seen, look


def _proven_by_bets(design: Design, values: np.ndarray) -> tuple[Truth, int]:
    """Return what the bets of the two sides prove, and at which row; open after all of them."""
    nats_above = design.bet_nats(design.level.true)
    above = first_crossing(values, design.zone.low, design.above, nats_above)
    nats_below = design.bet_nats(design.level.false)
    below = first_crossing(-values, -design.zone.high, design.below, nats_below)
    row = min(above, below)
    if row > len(values):
        return None, len(values)
    # Within the zone both may be proven at one row: both are right then, and true is said.
    return above <= below, row


def _first_gap(clause: Clause, examples: Examples) -> int:
    """Return how many rows can be used in order before one misses a label that the clause needs."""
    gaps = np.flatnonzero(needs_label(clause, examples) & ~examples.known)
    return int(gaps[0]) if gaps.size else len(examples)


def settle_ratio(
    zone: Zone, level: Level, design: Design, examples: Examples, every: int
) -> Settled:
    """Return what the rows say of a clause over F1 scores.

    They are looked at every ``every`` rows, and 5 % more each time. Each variable has bounds that
    hold at all times, at its share of the level, and the clause the bounds that follow.
    """
    usable = _first_gap(design.clause, examples)
    rows = 0
    settled = Settled(
        truth=None,
        rows=0,
        estimate=math.nan,
        low=-math.inf,
        high=math.inf,
    )
    while rows < usable:
        rows = min(usable, max(rows + every, int(rows * 1.05)))
        settled = _ratio_at(zone, level, design, examples, rows)
        if settled.truth is not None:
            break
    return settled


def _ratio_at(zone: Zone, level: Level, design: Design, examples: Examples, rows: int) -> Settled:
    """Return what the first ``rows`` rows say of a clause over F1 scores."""
    counts: dict[str, tuple[int, int]] = {}
    estimate = 0.0
    for part in design.clause.parts:
        looked_at = of_part(part, examples)[:rows]
        for name, weight in part.weights.items():
            counts[name] = _event_counts(name, examples, looked_at)
            estimate += weight * _score(name, counts[name])
    low_true, high_false = ratio_ends(design.clause, level, counts)
    truth = None
    if low_true > zone.low:
        truth = True
    elif high_false < zone.high:
        truth = False
    return Settled(
        truth=truth,
        rows=rows,
        estimate=estimate,
        low=low_true,
        high=high_false,
    )


def _score(name: str, counts: tuple[int, int]) -> float:
    """Return the share of changed predictions, for d, or a model's F1."""
    if not _is_d(name):
        return f1_score(*counts)
    changed, equal = counts
    return changed / max(1, changed + equal)


def ratio_ends(
    clause: Clause, level: Level, counts: Mapping[str, tuple[int, int]]
) -> tuple[float, float]:
    """Return the least value that a clause over F1 scores may have, and the largest.

    The first errs at ``level.true``, the other at ``level.false``. ``counts``: by variable, hits
    and errors; for d, changed and equal predictions.
    """
    extra = math.log(len(clause.weights))
    low_true = high_false = 0.0
    for name, weight in clause.weights.items():
        # A variable of negative weight is largest where the clause's value is least.
        ends_true = _bounds(name, counts[name], level.true + extra)
        low_true += min(weight * end for end in ends_true)
        ends_false = _bounds(name, counts[name], level.false + extra)
        high_false += max(weight * end for end in ends_false)
    return low_true, high_false


def _bounds(name: str, counts: tuple[int, int], nats: float) -> tuple[float, float]:
    if not _is_d(name):
        return f1_bounds(*counts, nats)
    values = np.repeat([1.0, 0.0], counts)
    return confidence_sequence(values, 0.0, 1.0, min(0.999, 2 * math.exp(-nats)))


def _event_counts(name: str, examples: Examples, looked_at: np.ndarray) -> tuple[int, int]:
    """Return the events of a variable in the rows that are marked among the first ones."""
    if _is_d(name):
        changed = int(examples.differ[: len(looked_at)][looked_at].sum())
        return changed, int(looked_at.sum()) - changed
    scores = examples.new if name.startswith("n") else examples.old
    hits, errors = scores[: len(looked_at)][looked_at].sum(axis=0)
    return int(hits), int(errors)


def _is_d(name: str) -> bool:
    return name.startswith("d")


def _look(design: Design, values: np.ndarray) -> Truth:
    """Return what binomial tails say of the sum of all ``values``; None if they leave it open."""
    spread = design.top - design.bottom
    total = float(((values - design.bottom) / spread).sum())
    low = min(1.0, max(0.0, (design.zone.low - design.bottom) / spread))
    high = min(1.0, max(0.0, (design.zone.high - design.bottom) / spread))
    nats_true = design.look_nats(design.level.true)
    first, _ = exact_cuts(len(values), low, high, nats_true)
    if total >= first - _SLACK:
        return True
    nats_false = design.look_nats(design.level.false)
    _, last = exact_cuts(len(values), low, high, nats_false)
    if total <= last + _SLACK:
        return False
    return None
