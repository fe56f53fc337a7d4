"""How the error probability is shared: over the steps of a series, and the clauses of a condition.

All levels are nats of evidence, ln(1/alpha).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from easeml.lifecycle.ci.condition import Clause, Either, Formula
from easeml.lifecycle.ci.config import Adaptivity, Config


@dataclass(frozen=True)
class Level:
    """Nats that a clause must show before it counts as true, and before it counts as false."""

    true: float
    false: float


def step_nats(config: Config, *, shared: bool, answers: int = 2) -> float:
    """Return ln(1/alpha) of one step, so that all steps together err at delta at most.

    Models that do not depend on the test set (none; or firstChange, where the only history that
    goes on is "failed every time") are a union over H steps: alpha = delta / H. The same holds
    under full adaptivity where every step takes fresh examples: given the past, they are new. A
    developer who sees each of H verdicts on the *same* examples can reach at most ``answers ** H``
    histories: alpha = delta / answers^H (MLSys 2019, section 3.3).
    """
    if config.adaptivity is Adaptivity.FULL and shared:
        return config.steps * math.log(answers) - math.log(config.delta)
    return math.log(config.steps) - math.log(config.delta)


def clause_levels(formula: Formula, nats: float) -> Iterator[tuple[Clause, Level]]:
    """Yield each clause with its levels, so that the formula errs on each side at alpha at most.

    A conjunction is called true wrongly only if some false part was called true: one part's level
    suffices (the intersection-union test, Berger 1982). It is called false wrongly if any of k
    parts was: each gets alpha / k. For a disjunction it is the other way round.
    """
    yield from _levels(formula, Level(nats, nats))


def _levels(formula: Formula, level: Level) -> Iterator[tuple[Clause, Level]]:
    if isinstance(formula, Clause):
        yield formula, level
        return
    # Each part has an equal share of the side on which any one of them may err.
    extra = math.log(len(formula.parts))
    if isinstance(formula, Either):
        inner = Level(level.true + extra, level.false)
    else:
        inner = Level(level.true, level.false + extra)
    for part in formula.parts:
        yield from _levels(part, inner)
