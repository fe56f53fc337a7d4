"""How long people take, and the order of items that follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

GUESSES = {
    "label": 10.0,
    "check-label": 12.0,
    "repair-cell": 30.0,
    "test-label": 10.0,
    "pick-label": 10.0,
    "watch-label": 10.0,
}
"""Seconds of a person for an answer, by kind, before anybody was timed."""
FIRST_ANSWERS = 5
"""Answers of each kind that come before kinds are compared."""
_WEIGHT = 5  # answers that a guess counts as
_LONGEST = 300.0  # seconds: who takes longer was elsewhere


def learned_seconds(given: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return what an answer takes a person by kind: the mean of those given, and a first guess.

    ``given``: kind and seconds of each answer so far.
    """
    totals = {kind: _WEIGHT * guess for kind, guess in GUESSES.items()}
    counts = dict.fromkeys(GUESSES, _WEIGHT)
    for kind, seconds in given:
        totals[kind] += min(seconds, _LONGEST)
        counts[kind] += 1
    return {kind: totals[kind] / counts[kind] for kind in GUESSES}


def in_order(
    kinds: Sequence[str],
    gains: Sequence[float],
    seconds: Mapping[str, float],
    answers: Mapping[str, int],
) -> list[int]:
    """Return the places of items in the order in which they are to be asked.

    What brings most for a second of a person comes first. Of a kind that hardly anybody answered
    the best few come before all, so that kinds can be compared by what they bring and take.

    Args:
        kinds: of the items.
        gains: of the items.
        seconds: that an answer takes, by kind.
        answers: given so far, by kind.
    """
    worth = [-gain / seconds[kind] for kind, gain in zip(kinds, gains, strict=True)]
    order = sorted(range(len(kinds)), key=lambda place: worth[place])
    lacking = {kind: FIRST_ANSWERS - answers.get(kind, 0) for kind in seconds}
    first, later = [], []
    for place in order:
        is_first = lacking[kinds[place]] > 0
        lacking[kinds[place]] -= 1
        (first if is_first else later).append(place)
    return first + later
