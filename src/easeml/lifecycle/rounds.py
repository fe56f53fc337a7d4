"""Two models by balanced accuracy, as truth comes: by rounds in which all classes come.

A round ends when each class has come at least once. The rows of a class then weigh alike, and one in
sum. The bets of a roll-out multiply ``1 + bet * weight * (gain + tolerance)``. Given the classes of
the rows of a round, the mean of that product is at most ``exp(bet * sum of weight * (mean gain +
tolerance))``, as ``1 + x <= exp(x)``, and the sum is the number of classes times what the difference
of balanced accuracy is above ``-tolerance``. So the bet wins nothing in the mean where the new model
is worse by more, however common each class is, and however that changes. The same holds of the bet
on "worse". When a round ends depends on classes alone, not on what the models say.

Rows wait until their round ends. A class that never comes leaves all undecided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace

from easeml.lifecycle import rollout
from easeml.lifecycle.labels import class_name
from easeml.lifecycle.rollout import Evidence, Outcome, Plan

_NEW, _OLD, _BY_NEW = 1, 2, 4  # what adds up to the place of a row in the counts of its class
_PLACES = 8
_MOST_NAMED = 5  # classes in a sentence


@dataclass(frozen=True, slots=True)
class Row:
    """A row whose class is known: which models were right, and whether the new one answered.

    ``share``: the chance that it would, in [0, 1). Rows of one request count once.
    """

    of: str
    new: bool
    old: bool
    share: float = 0.0
    by_new: bool = False


def told(plan: Plan, evidence: Evidence, rows: Iterable[Row], classes: Collection[str]) -> Evidence:
    """Return the evidence after more rows, in the order in which their truth came.

    ``classes``: all of the target. Rows of each share of the requests have rounds of their own:
    what a row weighs depends on the share.
    """
    seen, waiting = deepcopy((evidence.classes, evidence.waiting))
    for row in rows:
        rows_of, right = seen.get(row.of, (0, 0))
        seen[row.of] = [rows_of + 1, right + row.old]
        share = f"{row.share:g}"
        counts = waiting.setdefault(share, {})
        counts.setdefault(row.of, [0] * _PLACES)[_place(row)] += 1
        if counts.keys() >= set(classes):
            evidence = rollout.told(plan, evidence, _outcomes(counts, row.share))
            del waiting[share]
    return replace(evidence, classes=seen, waiting=waiting)


def waits(evidence: Evidence, classes: Iterable[str]) -> str:
    """Return how many rows wait for their round to end, and for which classes, in a sentence.

    ``classes``: as people read them. A round waits for each share; what all lack is named.
    """
    rows = sum(sum(map(sum, counts.values())) for counts in evidence.waiting.values())
    seen = set().union(*evidence.waiting.values())
    missing = [name for name in classes if class_name(name) not in seen]
    if not missing:
        return f"{rows:,} more count as soon as each class has come again."
    named = ", ".join(missing[:_MOST_NAMED])
    return f"{rows:,} more count as soon as each class has come; none of these yet: {named}."


def _place(row: Row) -> int:
    return _NEW * row.new + _OLD * row.old + _BY_NEW * row.by_new


def _outcomes(counts: Mapping[str, list[int]], share: float) -> Iterator[Outcome]:
    """Yield what came of the rows of a round that ends."""
    rows = sum(map(sum, counts.values()))
    for own in counts.values():
        part = 1 / sum(own)
        in_unit = rows / len(counts) * part
        for place, number in enumerate(own):
            old = float(bool(place & _OLD))
            gain = bool(place & _NEW) - old
            by_new = bool(place & _BY_NEW)
            one = Outcome(gain, old * in_unit, share, by_new, gain * in_unit, part)
            yield from [one] * number
