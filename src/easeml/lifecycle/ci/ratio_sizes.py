"""How many examples a condition on F1 needs, where it is known how rare the positive class is."""

from __future__ import annotations

import math

from easeml.lifecycle.ci.condition import clauses
from easeml.lifecycle.ci.config import Config
from easeml.lifecycle.ci.design import Design
from easeml.lifecycle.ci.published import history_nats
from easeml.lifecycle.ci.ratios import f1_size
from easeml.lifecycle.ci.settling import ratio_ends

_OTHERS = (0.2, 0.5, 0.8)
_STEP = 1.05
_MOST = 10**8


def fixed_size(config: Config, positives: float) -> float:
    """Return the examples that place every F1 within its share of the tolerance, by Hoeffding's
    bound. Not rounded.

    A clause's tolerance is split in proportion to the weights, its error probability evenly over
    the variables, and that of the series over clauses and histories as in
    ``published.baseline_size``.
    """
    found = list(clauses(config.condition))
    nats = history_nats(config) - math.log(config.delta) + math.log(len(found))
    most = 1.0
    for clause in found:
        spread = sum(abs(weight) for weight in clause.weights.values())
        level = nats + math.log(len(clause.weights))
        for name, weight in clause.weights.items():
            alone = len(clause.weights) == 1
            share, edge = (
                (1.0, -1.0)
                if name == "d"
                else (positives, clause.threshold / weight if alone else 0.0)
            )
            most = max(most, f1_size(edge, clause.tolerance / spread, share, level))
    return most


def typical_rows(design: Design, positives: float, differ: float, place: float) -> int:
    """Return after how many rows a clause is settled by the counts to expect, to 5 %.

    ``place`` is where the truth lies: 0 at the lower end of the zone, 1 at the upper one, 0.5 in
    the middle. The errors are taken to be positives that were missed, the fewest that an F1 allows
    (false alarms make events, and so proofs, more frequent), and the scores of other models to be
    the worst of 0.2, 0.5 and 0.8; ``differ`` is the share of changed predictions.
    """
    target = design.zone.low + place * (design.zone.high - design.zone.low)
    return max(
        (_rows(design, shares) for shares in _worlds(design, target, positives, differ)), default=1
    )


def _worlds(
    design: Design, target: float, positives: float, differ: float
) -> list[dict[str, tuple[float, float]]]:
    """Return shares of rows that are hits and errors, by variable, of which the clause's value is
    ``target``.
    """
    weights = dict(design.clause.weights)
    rest = target - weights.pop("d", 0.0) * differ
    shares = {"d": (differ, 1 - differ)} if design.clause.d else {}
    name, weight = next(iter(weights.items()))
    others = [(other, by) for other, by in weights.items() if other != name]
    if not others:
        return [{**shares, name: _events(rest / weight, positives)}]
    other, by = others[0]
    pairs = [(score, (rest - by * score) / weight) for score in _OTHERS]
    return [
        {**shares, other: _events(score, positives), name: _events(own, positives)}
        for score, own in pairs
        if 0 <= own <= 1
    ]


def _events(score: float, positives: float) -> tuple[float, float]:
    """Return the shares of hits and of misses at an F1: ``2 h / (2 h + m)`` with ``h + m =
    positives``.
    """
    hits = positives * min(1.0, max(0.0, score)) / (2 - min(1.0, max(0.0, score)))
    return hits, positives - hits


def _rows(design: Design, shares: dict[str, tuple[float, float]]) -> int:
    low, high = 1.0, 2.0
    while high < _MOST and not _settled(design, shares, high):
        low, high = high, 2 * high
    while high / low > _STEP:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _settled(design, shares, middle) else (middle, high)
    return math.ceil(high)


def _settled(design: Design, shares: dict[str, tuple[float, float]], rows: float) -> bool:
    counts = {name: (round(rows * one), round(rows * two)) for name, (one, two) in shares.items()}
    low, high = ratio_ends(design.clause, design.level, counts)
    return low > design.zone.low or high < design.zone.high
