"""How many examples a condition on F1 needs, where it is known how rare the positive class is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from easeml.lifecycle.ci.condition import Clause, clauses
from easeml.lifecycle.ci.config import Config
from easeml.lifecycle.ci.design import Design
from easeml.lifecycle.ci.published import history_nats
from easeml.lifecycle.ci.ratios import f1_size
from easeml.lifecycle.ci.settling import ratio_ends

_OTHERS = (0.2, 0.5, 0.8)
_STEP = 1.05
_MOST = 10**8


def fixed_size(config: Config, positives: float) -> float:
    """Return the examples that place every F1 within its share of the tolerance, not rounded.

    By Hoeffding's bound. A clause's tolerance is split in proportion to the weights, its error
    probability evenly over the variables, and that of the series over clauses and histories as in
    ``published.baseline_size``. ``positives`` is the share of positive examples.
    """
    found = list(clauses(config.condition))
    nats = history_nats(config) - math.log(config.delta) + math.log(len(found))
    sizes = [1.0]
    for clause in found:
        sizes.extend(_fixed_sizes(clause, positives, nats))
    return max(sizes)


def _fixed_sizes(clause: Clause, positives: float, nats: float) -> Iterator[float]:
    """Yield the examples that each variable of a clause needs."""
    weights = clause.weights
    spread = sum(map(abs, weights.values()))
    tolerance = clause.tolerance / spread
    level = nats + math.log(len(weights))
    for name, weight in weights.items():
        if name == "d":
            yield f1_size(-1.0, tolerance, 1.0, level)
            continue
        # Alone, an F1 is compared with a known value; beside others, it may lie anywhere.
        edge = clause.threshold / weight if len(weights) == 1 else 0.0
        yield f1_size(edge, tolerance, positives, level)


def typical_rows(design: Design, positives: float, differ: float, place: float) -> int:
    """Return after how many rows a clause is settled by the counts to expect, to 5 %.

    ``place`` is where the truth lies: 0 at the lower end of the zone, 1 at the upper one, 0.5 in
    the middle. The errors are taken to be positives that were missed, the fewest that an F1 allows
    (false alarms make events, and so proofs, more frequent), and the scores of other models to be
    the worst of 0.2, 0.5 and 0.8; ``differ`` is the share of changed predictions.
    """
    target = design.zone.low + place * (design.zone.high - design.zone.low)
    worlds = _worlds(design, target, positives, differ)
    return max((_rows(design, shares) for shares in worlds), default=1)


def _worlds(
    design: Design, target: float, positives: float, differ: float
) -> list[dict[str, tuple[float, float]]]:
    """Return shares of hits and errors, by variable, at which the clause's value is ``target``."""
    weights = dict(design.clause.weights)
    rest = target - weights.pop("d", 0.0) * differ
    shares: dict[str, tuple[float, float]] = {}
    if design.clause.d:
        shares["d"] = (differ, 1 - differ)
    (name, weight), *others = weights.items()
    if not others:
        return [{**shares, name: _events(rest / weight, positives)}]
    # The other model's score is chosen, and this one's follows from the target.
    other, by = others[0]
    worlds = []
    for score in _OTHERS:
        own = (rest - by * score) / weight
        if 0 <= own <= 1:
            events = {other: _events(score, positives), name: _events(own, positives)}
            worlds.append({**shares, **events})
    return worlds


def _events(score: float, positives: float) -> tuple[float, float]:
    """Return the shares h of hits and m of misses at an F1 of ``2 h / (2 h + m)``.

    All positives are one or the other: ``h + m = positives``.
    """
    score = min(1.0, max(0.0, score))
    hits = positives * score / (2 - score)
    return hits, positives - hits


def _rows(design: Design, shares: dict[str, tuple[float, float]]) -> int:
    """Return the rows that settle a clause where events come in these shares, to 5 %."""
    # Doubling first, since the number may be of any size; then bisection of its logarithm.
    low = 1.0
    high = 2.0
    while high < _MOST and not _settled(design, shares, high):
        low, high = high, 2 * high
    while high / low > _STEP:
        middle = math.sqrt(low * high)
        if _settled(design, shares, middle):
            high = middle
        else:
            low = middle
    return math.ceil(high)


def _settled(design: Design, shares: dict[str, tuple[float, float]], rows: float) -> bool:
    counts = {}
    for name, (first, second) in shares.items():
        counts[name] = (round(rows * first), round(rows * second))
    low, high = ratio_ends(design.clause, design.level, counts)
    return low > design.zone.low or high < design.zone.high
