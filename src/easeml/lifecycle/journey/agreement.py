"""What several people said of one thing: what counts, and how often they agree."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

_Z = 1.96  # a 95 % interval


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of ``pairs`` of answers to one question by two people, ``same`` were the same.

    ``low`` to ``high``: the 95 % interval of their share (Wilson, 1927).
    """

    pairs: int
    same: int

    @property
    def share(self) -> float:
        """The share of pairs that agree; 1 without any."""
        return self.same / self.pairs if self.pairs else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the share, all of 0 to 1 without pairs."""
        if not self.pairs:
            return 0.0, 1.0
        n = self.pairs
        z = _Z
        middle = (self.share + z**2 / (2 * n)) / (1 + z**2 / n)
        spread = self.share * (1 - self.share) / n + z**2 / (4 * n**2)
        half = z * math.sqrt(spread) / (1 + z**2 / n)
        return max(0.0, middle - half), min(1.0, middle + half)


def agreement(questions: Iterable[Mapping[str, str]]) -> Agreement:
    """Count the pairs of people who answered one question; each is a mapping of user to value."""
    pairs = same = 0
    for answers in questions:
        for one, other in combinations(answers.values(), 2):
            pairs += 1
            same += is_same(one, other)
    return Agreement(pairs, same)


def settled(answers: Mapping[str, str], experts: Collection[str]) -> str:
    """Return the value that counts: an expert's before others', else what most say.

    ``answers``: by user, in the order in which they were given, at least one. Among equally many,
    the newest counts.
    """
    by_experts = [value for user, value in answers.items() if user in experts]
    said = by_experts or list(answers.values())
    newest_first = said[::-1]
    return max(newest_first, key=lambda value: sum(is_same(value, other) for other in said))


def is_same(one: str, other: str) -> bool:
    """Do two texts say the same? Numbers are compared as numbers."""
    if one == other:
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False
