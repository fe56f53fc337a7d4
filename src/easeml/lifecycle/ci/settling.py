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

_SLACK = 1e-6
"""A sum of many floats may miss a whole number by so much."""


@dataclass(frozen=True)
class Settled:
    """``truth`` is None while open. ``rows`` were looked at; ``estimate`` with interval [low, high]
    is from those.

    Each end of the interval is wrong with probability at most twice the clause's level: it joins a
    confidence sequence with what the test has proven.
    """

    truth: Truth
    rows: int
    estimate: float
    low: float
    high: float


def settle(design: Design, examples: Examples, look: int) -> Settled:
    """Return what the rows say of a clause whose value is a mean; stops at the first row that
    settles it.

    ``look`` is the number of rows, known before any label, at which the clause is looked at by
    binomial tails, if its design has such a look.
    """
    values = _values(design, examples)[: first_gap(design, examples)]
    sides = (
        first_crossing(values, design.zone.low, design.above, design.bet_nats(design.level.true)),
        first_crossing(
            -values, -design.zone.high, design.below, design.bet_nats(design.level.false)
        ),
    )
    truth, row = (
        (sides[0] <= sides[1], min(sides)) if min(sides) <= len(values) else (None, len(values))
    )
    if design.look and look <= len(values) and (truth is None or look < row):
        seen = _look(design, values[:look])
        truth, row = (seen, look) if seen is not None else (truth, row)
    seen_values = values[:row]
    level = 2 * math.exp(-min(design.level.true, design.level.false))
    low, high = confidence_sequence(seen_values, design.bottom, design.top, min(level, 0.999))
    if truth is not None:
        low, high = (
            (max(low, design.zone.low), high) if truth else (low, min(high, design.zone.high))
        )
    return Settled(truth, row, float(seen_values.mean()) if row else math.nan, low, high)


def first_gap(design: Design, examples: Examples) -> int:
    """Return how many rows can be used in order before one misses a label that the clause needs."""
    gaps = np.flatnonzero(needs_label(design, examples) & ~examples.known)
    return int(gaps[0]) if gaps.size else len(examples)


def needs_label(design: Design, examples: Examples) -> np.ndarray:
    """Tell for each row whether the clause's value there depends on the label."""
    if design.clause.only_d:
        return np.zeros(len(examples), dtype=bool)
    if design.clause.is_difference and examples.new.ndim == 1:
        return examples.differ
    return np.ones(len(examples), dtype=bool)


def settle_ratio(
    zone: Zone, level: Level, design: Design, examples: Examples, every: int
) -> Settled:
    """Return what the rows say of a clause over F1 scores, looking every ``every`` rows (and 5 %
    more each time).

    Each variable has bounds that hold at all times, at its share of the level, and the clause the
    bounds that follow.
    """
    usable = first_gap(design, examples)
    rows, settled = 0, Settled(None, 0, math.nan, -math.inf, math.inf)
    while rows < usable:
        rows = min(usable, max(rows + every, int(rows * 1.05)))
        settled = _ratio_at(zone, level, design, examples, rows)
        if settled.truth is not None:
            break
    return settled


def _ratio_at(zone: Zone, level: Level, design: Design, examples: Examples, rows: int) -> Settled:
    counts = {name: _event_counts(name, examples, rows) for name in design.clause.weights}
    low_true, high_false = ratio_ends(design.clause, level, counts)
    estimate = 0.0
    for name, weight in design.clause.weights.items():
        first, second = counts[name]
        estimate += weight * (
            first / max(first + second, 1) if name == "d" else f1_score(first, second)
        )
    truth = True if low_true > zone.low else False if high_false < zone.high else None
    return Settled(truth, rows, estimate, low_true, high_false)


def ratio_ends(
    clause: Clause, level: Level, counts: Mapping[str, tuple[int, int]]
) -> tuple[float, float]:
    """Return the least value that a clause over F1 scores may have, at ``level.true``, and the
    largest, at the other.

    ``counts``: by variable, hits and errors; for d, changed and equal predictions.
    """
    extra = math.log(len(clause.weights))
    low_true = high_false = 0.0
    for name, weight in clause.weights.items():
        lower, upper = _bounds(name, counts[name], level.true + extra)
        low_true += weight * (lower if weight > 0 else upper)
        lower, upper = _bounds(name, counts[name], level.false + extra)
        high_false += weight * (upper if weight > 0 else lower)
    return low_true, high_false


def _bounds(name: str, counts: tuple[int, int], nats: float) -> tuple[float, float]:
    if name != "d":
        return f1_bounds(*counts, nats)
    values = np.repeat([1.0, 0.0], counts)
    return confidence_sequence(values, 0.0, 1.0, min(0.999, 2 * math.exp(-nats)))


def _event_counts(name: str, examples: Examples, rows: int) -> tuple[int, int]:
    if name == "d":
        changed = int(examples.differ[:rows].sum())
        return changed, rows - changed
    events = (examples.new if name == "n" else examples.old)[:rows].sum(axis=0)
    return int(events[0]), int(events[1])


def _values(design: Design, examples: Examples) -> np.ndarray:
    clause = design.clause
    if clause.only_d:
        return clause.d * examples.differ
    return clause.n * examples.new + clause.o * examples.old + clause.d * examples.differ


def _look(design: Design, values: np.ndarray) -> Truth:
    """Return what binomial tails say of the sum of all ``values``; None if they leave it open."""
    spread = design.top - design.bottom
    total = float(((values - design.bottom) / spread).sum())
    low = min(1.0, max(0.0, (design.zone.low - design.bottom) / spread))
    high = min(1.0, max(0.0, (design.zone.high - design.bottom) / spread))
    if total >= exact_cuts(len(values), low, high, design.look_nats(design.level.true))[0] - _SLACK:
        return True
    last = exact_cuts(len(values), low, high, design.look_nats(design.level.false))[1]
    return False if total <= last + _SLACK else None
