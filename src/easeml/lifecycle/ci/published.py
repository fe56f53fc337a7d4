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
    if config.adaptivity is Adaptivity.FULL:
        return config.steps * math.log(2)
    return math.log(config.steps)


def baseline_size(config: Config) -> int:
    """Return the baseline number of labelled examples (section 3.1), a maximum over the clauses.

    A clause of k variables in a condition of m clauses: ``(sum |c_i|)^2 scale^2 ln(k m / delta') /
    (2 eps^2)`` with ``delta' = delta / H`` or ``delta / 2^H``: the tolerance is split in proportion
    to the weights, which is optimal. Of groups, so many in the smallest one.
    """
    found = list(clauses(config.condition))
    nats = history_nats(config) - math.log(config.delta) + math.log(len(found))
    sizes = []
    for clause in found:
        size = _clause_size(clause, config.scale, nats)
        sizes.append(up(size / min(config.shares_of(clause))))
    return max(sizes)


def single_range_size(
    clause: Clause, log_inverse: float, *, sides: int = 1, scale: float = 1.0
) -> int:
    """Return the size by one Hoeffding bound on the range of the whole expression.

    The expression counts as one variable; its mean is bounded on 1 or 2 ``sides``, each at
    ``log_inverse`` nats. n and o lie in [0, ``scale``].
    """
    spread = _spread(clause, scale)
    nats = log_inverse + math.log(sides)
    return up(hoeffding_size(spread, clause.tolerance, nats))


def optimised_size(config: Config) -> Optimised | None:
    r"""Return the sizes of patterns 1 and 2, or None where neither fits (section 4).

    Pattern 1 is ``d < A +/- B /\ n - o > C +/- D``: d is filtered without labels, at half of delta;
    a commit that stays has d < p = A + 2 B, and Bennett's bound with second moment p gives
    ``(ln(histories) + ln(4 / delta)) / (p h(D / p))``. Pattern 2 lacks the first clause, and takes
    p from ``config.difference`` (of which d is found to be within 2 D on unlabelled examples).
    """
    found = _pattern(config.condition, config)
    if found is None or config.names_groups:
        return None
    clause, share, tolerance_d = found
    tolerance = clause.tolerance / (abs(clause.n) * config.scale)
    # Half of delta is for d, and half for the difference, which is bounded on two sides.
    histories = history_nats(config)
    nats = math.log(4 / config.delta)
    d_nats = histories + math.log(2 / config.delta)
    labels_changed = bennett_size(share, tolerance, nats) * share
    return Optimised(
        labelled=up(bennett_size(share, tolerance, histories + nats)),
        per_commit=up(labels_changed),
        unlabelled=up(hoeffding_size(1.0, tolerance_d, d_nats)),
        share=share,
    )


def share_that_may_differ(config: Config) -> float:
    """Return the share of predictions that a commit may change before d alone settles the answer.

    From a clause ``d < A +/- B`` that stands beside all others: A where only proof lets a commit
    pass, else A + 2 B. Without one, ``config.difference``, or 1.
    """
    given = config.difference or 1.0
    if not isinstance(config.condition, Both):
        return given
    for part in config.condition.parts:
        bound = _bound_on_d(part)
        if bound is None:
            continue
        # Where a false fail must be rare, d may be called small enough up to A + 2 B.
        slack = 0.0 if config.mode is Mode.FP_FREE else 2 * bound.tolerance
        share = (bound.threshold - slack) / bound.d
        # A threshold near 0 leaves a share above 0, so that the bets stay finite.
        return min(1.0, max(share, 1e-6), given)
    return given


def _pattern(formula: Formula, config: Config) -> tuple[Clause, float, float] | None:
    """Return the clause of the difference, the bound p, and the tolerance of d."""
    if isinstance(formula, Clause):
        return _difference_alone(formula, config.difference)
    if isinstance(formula, Both) and len(formula.parts) == 2:
        first, second = formula.parts
        return _difference_beside(first, second) or _difference_beside(second, first)
    return None


def _difference_alone(clause: Clause, share: float | None) -> tuple[Clause, float, float] | None:
    """Return pattern 2, for which the team has to say what share of predictions may change."""
    if not share or not _compares_models(clause):
        return None
    tolerance_d = 2 * clause.tolerance / abs(clause.n)
    return clause, share, tolerance_d


def _difference_beside(part: Formula, other: Formula) -> tuple[Clause, float, float] | None:
    """Return pattern 1: a bound on d, and the clause beside it that compares the two models."""
    bound = _bound_on_d(part)
    if bound is None or not isinstance(other, Clause) or not _compares_models(other):
        return None
    share = (bound.threshold - 2 * bound.tolerance) / bound.d
    if not 0 < share < 1:
        # A bound that every commit meets, or none, says nothing of the variance.
        return None
    tolerance_d = bound.tolerance / -bound.d
    return other, share, tolerance_d


def _compares_models(clause: Clause) -> bool:
    return clause.is_difference and not clause.d


def _bound_on_d(part: Formula) -> Clause | None:
    """Return a clause ``d < A`` as "more than", so that d has a weight below 0; else None."""
    if not isinstance(part, Clause) or not part.only_d or part.groups:
        return None
    upward = part.upward()
    # "d > A" bounds d from the wrong side.
    return upward if upward.d < 0 else None


def _clause_size(clause: Clause, scale: float, nats: float) -> float:
    nats += math.log(len(clause.weights))
    return hoeffding_size(_spread(clause, scale), clause.tolerance, nats)


def _spread(clause: Clause, scale: float) -> float:
    """Return the width of the range of a clause's expression; d lies in [0, 1] at any scale."""
    reach = {"d": 1.0}
    spread = 0.0
    for name, weight in clause.weights.items():
        spread += abs(weight) * reach.get(name[0], scale)
    return spread
