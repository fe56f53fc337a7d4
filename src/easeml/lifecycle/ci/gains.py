"""How many labelled rows show a gain: enough that nearly every model that is clearly better passes.

Far fewer than always settle a test. Those are for models just between both claims, which do not go
live in either case.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from easeml.lifecycle.ci.bounds import up
from easeml.lifecycle.ci.condition import Clause, compares_models
from easeml.lifecycle.ci.config import Config, Metric
from easeml.lifecycle.ci.design import Assumed, Design, design_clause, hardest_rows
from easeml.lifecycle.ci.levels import clause_levels, step_nats
from easeml.lifecycle.ci.published import share_that_may_differ

TOLERANCES = 3
"""A clear gain: every clause holds by so many of its tolerances."""
CHANCE = 0.98
"""How often a clear gain passes."""
_ANSWERS = 3  # with so few rows a step may stay open
_SCOUTS_SHARE = 1 / 20  # of the rows, which a test looks at first where no bound on d is known


def rows_that_show(config: Config, share: float, extra: float = 0.0) -> int | None:
    """Return how many labelled rows let 98 % of clear gains pass, in each step of a series.

    None where that depends on the data (F1, groups of a size that nobody said). The rows have the
    largest spread that their mean allows, and are a test set that all steps share.

    Args:
        config: the series.
        share: of the predictions that a model changes, in (0, 1]. A smaller bound of the
            configuration counts instead.
        extra: nats of evidence that each step takes besides.
    """
    if config.metric is Metric.F1 or not config.knows_sizes:
        return None
    bound = share_that_may_differ(config)
    nats = step_nats(config, shared=True, answers=_ANSWERS) + extra
    levels = list(clause_levels(config.condition, nats))
    # All clauses have to be proven, so each may fail less often.
    chance = 1 - (1 - CHANCE) / len(levels)
    rows = 0
    for clause, level in levels:
        # A gain of .3 takes a change of .3 at least.
        changed = max(min(share, bound), min(1.0, _clear(clause)))
        # Where no bound is known, a test learns from its first rows how many predictions change.
        tuned = changed if bound == 1 else bound
        assumed = Assumed(config.mode, config.metric, config.scale, tuned)
        design = design_clause(clause, assumed, level)
        units = _rows_of_clause(replace(design, share=changed), config.scale, chance)
        rows = max(rows, up(units / min(config.shares_of(clause))))
    if bound == 1 and compares_models(config.condition):
        rows = up(rows / (1 - _SCOUTS_SHARE))
    return rows


def _clear(clause: Clause) -> float:
    """Return the value of an upward clause that holds clearly."""
    upward = clause.upward()
    return upward.threshold + TOLERANCES * upward.tolerance


def _rows_of_clause(design: Design, scale: float, chance: float) -> int:
    """Return how many rows prove a clause with a chance, by the best bet of the mixture.

    Its log wealth after N rows is about normal, so N solves ``rate N - z spread sqrt(N) = nats``.
    """
    from scipy.special import ndtri

    truth = min(_clear(design.clause), design.top)
    values, shares = map(np.array, hardest_rows(design, scale, truth))
    z = float(ndtri(chance))
    rows = float(design.rows)
    for bet, weight in zip(design.above.sizes, design.above.weights, strict=True):
        gains = np.log1p(bet * (values - design.zone.low))
        rate = float(shares @ gains)
        if rate <= 0:
            continue
        spread = math.sqrt(float(shares @ gains**2) - rate**2)
        nats = design.bet_nats(design.level.true) - math.log(weight)
        root = (z * spread + math.sqrt((z * spread) ** 2 + 4 * rate * nats)) / (2 * rate)
        rows = min(rows, root**2)
    return up(rows)
