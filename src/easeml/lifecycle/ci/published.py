"""The published sample sizes, reproduced to the example (MLSys 2019, sections 3 and 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from easeml.lifecycle.ci.bounds import bennett_size, hoeffding_size, up
from easeml.lifecycle.ci.condition import Both, Clause, Formula, clauses
from easeml.lifecycle.ci.config import Adaptivity, Config, Mode


@dataclass(frozen=True)
class Optimised:
    """Sizes with the bound on the variance that a bound on d implies.

    ``labelled`` serve all steps; ``per_commit`` are the labels of one commit where only changed
    predictions are labelled (without a share for the number of steps, as published); ``unlabelled``
    estimate d. ``share`` is the bound on d that the size rests on.
    """

    labelled: int
    per_commit: int
    unlabelled: int
    share: float


def history_nats(config: Config) -> float:
    """Return ln of the number of histories: H, or 2^H where developers see every verdict."""
    full = config.adaptivity is Adaptivity.FULL
    return config.steps * math.log(2) if full else math.log(config.steps)


def baseline_size(config: Config) -> int:
    """Return the baseline number of labelled examples (section 3.1), a maximum over the clauses.

    A clause of k variables in a condition of m clauses: ``(sum |c_i|)^2 scale^2 ln(k m / delta') /
    (2 eps^2)`` with ``delta' = delta / H`` or ``delta / 2^H``: the tolerance is split in proportion
    to the weights, which is optimal.
    """
    found = list(clauses(config.condition))
    nats = history_nats(config) - math.log(config.delta) + math.log(len(found))
    return max(up(_clause_size(clause, config.scale, nats)) for clause in found)


def single_range_size(
    clause: Clause, log_inverse: float, *, sides: int = 1, scale: float = 1.0
) -> int:
    """Return the size where the whole expression is one variable: one Hoeffding bound on its range,
    on 1 or 2 sides.
    """
    weights = clause.weights
    reach = [scale if name != "d" else 1.0 for name in weights]
    spread = sum(abs(weight) * size for weight, size in zip(weights.values(), reach, strict=True))
    return up(hoeffding_size(spread, clause.tolerance, log_inverse + math.log(sides)))


def optimised_size(config: Config) -> Optimised | None:
    r"""Return the sizes of patterns 1 and 2, or None where neither fits (section 4).

    Pattern 1 is ``d < A +/- B /\ n - o > C +/- D``: d is filtered without labels, at half of delta;
    a commit that stays has d < p = A + 2 B, and Bennett's bound with second moment p gives
    ``(ln(histories) + ln(4 / delta)) / (p h(D / p))``. Pattern 2 lacks the first clause, and takes
    p from ``config.difference`` (of which d is found to be within 2 D on unlabelled examples).
    """
    found = _pattern(config.condition, config)
    if found is None:
        return None
    clause, share, tolerance_d = found
    tolerance = clause.tolerance / (abs(clause.n) * config.scale)
    nats = math.log(4 / config.delta)
    d_nats = history_nats(config) + math.log(2 / config.delta)
    return Optimised(
        labelled=up(bennett_size(share, tolerance, history_nats(config) + nats)),
        per_commit=up(bennett_size(share, tolerance, nats) * share),
        unlabelled=up(hoeffding_size(1.0, tolerance_d, d_nats)),
        share=share,
    )


def share_that_may_differ(config: Config) -> float:
    """Return the share of predictions that a commit may change at most before the condition settles
    without labels.

    From a clause ``d < A +/- B`` that stands beside all others: A where only proof lets a commit
    pass, else A + 2 B. Without one, ``config.difference``, or 1.
    """
    for part in config.condition.parts if isinstance(config.condition, Both) else ():
        if isinstance(part, Clause) and part.only_d and (bound := part.upward()).d < 0:
            slack = 0.0 if config.mode is Mode.FP_FREE else 2 * bound.tolerance
            share = (bound.threshold - slack) / bound.d
            return min(1.0, max(share, 1e-6), config.difference or 1.0)
    return config.difference or 1.0


def _pattern(formula: Formula, config: Config) -> tuple[Clause, float, float] | None:
    """Return the clause of the difference, the bound p, and the tolerance of d."""
    if isinstance(formula, Clause):
        if formula.is_difference and not formula.d and config.difference:
            return formula, config.difference, 2 * formula.tolerance / abs(formula.n)
        return None
    if not isinstance(formula, Both) or len(formula.parts) != 2:
        return None
    parts = [part for part in formula.parts if isinstance(part, Clause)]
    bounds = [part.upward() for part in parts if part.only_d and part.upward().d < 0]
    differences = [part for part in parts if part.is_difference and not part.d]
    if len(bounds) != 1 or len(differences) != 1:
        return None
    bound = bounds[0]
    share = (bound.threshold - 2 * bound.tolerance) / bound.d
    return (differences[0], share, bound.tolerance / -bound.d) if 0 < share < 1 else None


def _clause_size(clause: Clause, scale: float, nats: float) -> float:
    weights = clause.weights
    spread = sum(abs(weight) * (scale if name != "d" else 1.0) for name, weight in weights.items())
    return hoeffding_size(spread, clause.tolerance, nats + math.log(len(weights)))
