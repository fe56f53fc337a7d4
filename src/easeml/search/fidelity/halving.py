"""Successive halving: many candidates with little, few with much."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from easeml.search.checks import require


class Rung(NamedTuple):
    """Train ``candidate`` up to a ``level`` (epochs, or a share of the data).

    ``number``: of the rung, from 0.
    """

    candidate: str
    number: int
    level: float


@dataclass(frozen=True)
class Halving:
    """Rungs from ``least`` to ``most``, each ``factor`` times the one before.

    Levels are epochs, or shares of the data in (0, 1]. Raises ``InvalidInput`` where they are not
    in order, or the factor not above 1.
    """

    least: float
    most: float
    factor: float = 3.0

    def __post_init__(self) -> None:
        require(
            0 < self.least <= self.most < math.inf,
            f"Levels from {self.least} to {self.most} are no ladder.",
            where="fidelity",
        )
        require(
            1 < self.factor < math.inf,
            f"The factor {self.factor} is not above 1.",
            where="fidelity.factor",
        )

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """The level of each rung; the last one is ``most``."""
        steps = math.log(self.most / self.least) / math.log(self.factor)
        count = math.floor(steps + 1e-9)
        return tuple(self.most / self.factor ** (count - number) for number in range(count + 1))

    def next(
        self, results: Mapping[str, Sequence[float]], running: Collection[str] = ()
    ) -> Rung | None:
        """Return what is to go on now; None where a new candidate should begin, at ``levels[0]``.

        ASHA (Li et al., A system for massively parallel hyperparameter tuning, MLSys 2020,
        algorithm 2): from the highest rung down, the best of those in the best 1 / ``factor`` of a
        rung that have not gone on from it. ``results``: candidate -> its quality at rung 0, 1, and
        so on; a rung at which it failed is NaN, and it never goes on. ``running`` candidates are
        not told to go on twice. Nobody is dropped for good: who was not good enough goes on when
        more have been measured and it is among the best of them. Ties go to the name that is first.
        """
        for number in reversed(range(len(self.levels) - 1)):
            reached = {}
            for name, found in results.items():
                if len(found) > number:
                    reached[name] = found[number]

            going_on = math.floor(len(reached) / self.factor)
            for name in _best_first(reached)[:going_on]:
                went_on = len(results[name]) > number + 1
                if not went_on and name not in running:
                    return Rung(name, number + 1, self.levels[number + 1])
        return None

    def survivors(self, qualities: Mapping[str, float]) -> list[str]:
        """Return the best 1 / ``factor`` (at least one) of a whole round, the best first.

        One round of successive halving without devices that wait for nobody (Jamieson and
        Talwalkar, AISTATS 2016). Those that failed (NaN) are never among them.
        """
        kept = max(1, math.floor(len(qualities) / self.factor))
        return _best_first(qualities)[:kept]


def _best_first(qualities: Mapping[str, float]) -> list[str]:
    """Return the candidates that did not fail, the best first; ties go to the first name."""
    ranked = [(-quality, name) for name, quality in qualities.items() if not math.isnan(quality)]
    return [name for _, name in sorted(ranked)]
