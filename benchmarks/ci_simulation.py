"""Thousands of simulated commits at once: the walk of ``easeml.lifecycle.ci`` over rows, compiled.

The designs (zones, bets, levels) are the library's own; only the loop over rows is written again,
and compared with the library on the first commits of every simulation.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numba
import numpy as np

from easeml.lifecycle.ci import Clause, Config, Examples, Formula, try_commit
from easeml.lifecycle.ci.bounds import exact_cuts
from easeml.lifecycle.ci.design import Assumed, Design, design_clause
from easeml.lifecycle.ci.levels import clause_levels
from easeml.lifecycle.ci.published import share_that_may_differ

KINDS = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 0], [0, 0, 0]], dtype=float)
"""New right, old right, predictions differ, for each kind of row."""


@dataclass(frozen=True)
class World:
    """Shares of the rows: n and o correct, d changed, of which ``ties`` are wrong by both models."""

    n: float
    o: float
    d: float
    ties: float = 0.0

    def shares(self) -> np.ndarray:
        """Return the probability of each of ``KINDS``."""
        won = (self.d * (1 - self.ties) + self.n - self.o) / 2
        lost = self.d * (1 - self.ties) - won
        shares = np.array([won, lost, self.d * self.ties, self.n - won, 1 - self.d - self.n + won])
        if shares.min() < -1e-9:
            raise ValueError(f"{self} is impossible")
        return np.maximum(shares, 0)


@dataclass(frozen=True)
class Outcome:
    """``truth`` (runs,): 1 pass, 0 fail, -1 open; ``rows`` walked for labels, ``labels`` of changed
    rows in them.
    """

    truth: np.ndarray
    rows: np.ndarray
    labels: np.ndarray


def simulate(
    config: Config, world: World, *, nats: float, rows: int, runs: int, seed: int, check: int = 10
) -> Outcome:
    """Return what ``runs`` independent commits of a world come to, at error probability exp(-nats)
    a side.
    """
    assumed = Assumed(config.mode, config.metric, config.scale, share_that_may_differ(config))
    designs = [
        design_clause(clause, assumed, level)
        for clause, level in clause_levels(config.condition, nats)
    ]
    tables = np.array(
        [KINDS @ [design.clause.n, design.clause.o, design.clause.d] for design in designs]
    )
    above, below = (
        _padded([getattr(design, side) for design in designs]) for side in ("above", "below")
    )
    edges = np.array([_edges(design) for design in designs])
    looks = np.array([_look(design, rows) for design in designs])
    levels = np.array(
        [
            [design.bet_nats(design.level.true), design.bet_nats(design.level.false)]
            for design in designs
        ]
    )
    cumulative = world.shares().cumsum()[:-1]
    kept = np.full((check, rows), -1, dtype=np.int8)
    truths, stops, differing = _walk(
        tables, above, below, edges, looks, levels, cumulative, rows, runs, seed, kept
    )
    labelled = [place for place, design in enumerate(designs) if not design.clause.only_d]
    truth = formula_truth(config.condition, iter(truths.T))
    last = stops[:, labelled].max(axis=1) if labelled else np.zeros(runs, dtype=int)
    labels = differing[np.arange(runs), labelled[0]] if labelled else last
    _compare(config, nats=nats, world=world, rows=rows, kept=kept, truth=truth, seed=seed)
    return Outcome(truth, last, labels)


class Twin:
    """What the library says of commits by one clause on accuracies, walked by compiled code."""

    def __init__(self, config: Config, nats: float):
        """``nats``: of evidence that a step needs."""
        assumed = Assumed(config.mode, config.metric, config.scale, share_that_may_differ(config))
        ((clause, level),) = clause_levels(config.condition, nats)
        self._design = design_clause(clause, assumed, level)
        self._looks: dict[int, tuple[int, int, int]] = {}

    def settle(self, right: np.ndarray, was_right: np.ndarray) -> tuple[int, int]:
        """Return 1 (true), 0 (false) or -1 (open), and after how many rows; new and old right or
        not, a row.
        """
        design, rows = self._design, len(right)
        if rows not in self._looks:
            self._looks[rows] = _look(design, rows)
        return _settle(
            design.clause.n * right + design.clause.o * was_right,
            *(
                array
                for bets in (design.above, design.below)
                for array in (bets.sizes, bets.weights)
            ),
            _edges(design),
            (
                math.exp(design.bet_nats(design.level.true)),
                math.exp(design.bet_nats(design.level.false)),
            ),
            self._looks[rows],
        )


@numba.njit(cache=True)
def _settle(values, up_sizes, up_weights, down_sizes, down_weights, edges, goals, look):
    up_wealth, down_wealth, tops = up_weights.copy(), down_weights.copy(), 0.0
    for row, value in enumerate(values):
        up_wealth *= 1 + up_sizes * (value - edges[0])
        down_wealth *= 1 - down_sizes * (value - edges[1])
        tops += (value - edges[2]) / edges[3]
        if up_wealth.sum() >= goals[0]:
            return 1, row + 1
        if down_wealth.sum() >= goals[1]:
            return 0, row + 1
        if row + 1 == look[0] and tops >= look[1] - 1e-6:
            return 1, row + 1
        if row + 1 == look[0] and tops <= look[2] + 1e-6:
            return 0, row + 1
    return -1, len(values)


def formula_truth(formula: Formula, truths: Iterator[np.ndarray]) -> np.ndarray:
    """Return Kleene's value of a formula on arrays of 1, 0 and -1 (open), one a clause."""
    if isinstance(formula, Clause):
        return next(truths)
    parts = np.array([formula_truth(part, truths) for part in formula.parts])
    decisive = int(type(formula).__name__ == "Either")
    value = np.where((parts == -1).any(axis=0), -1, 1 - decisive)
    return np.where((parts == decisive).any(axis=0), decisive, value)


def _padded(mixtures) -> np.ndarray:
    """Return bets and weights (clauses, 2, most bets); those that are missing have no weight."""
    size = max(len(bets.sizes) for bets in mixtures)
    out = np.zeros((len(mixtures), 2, size))
    for place, bets in enumerate(mixtures):
        out[place, 0, : len(bets.sizes)], out[place, 1, : len(bets.sizes)] = (
            bets.sizes,
            bets.weights,
        )
    return out


def _edges(design: Design) -> tuple[float, float, float, float]:
    """Return the zone, the least value of a row, and the width of its range."""
    return design.zone.low, design.zone.high, design.bottom, design.top - design.bottom


def _look(design: Design, rows: int) -> tuple[int, int, int]:
    """Return the row of the exact look and its two cuts; row -1 where there is none."""
    if not design.look:
        return -1, 0, 0
    look = rows if design.clause.only_d else min(rows, design.rows)
    low, high = (
        (edge - design.bottom) / (design.top - design.bottom)
        for edge in (design.zone.low, design.zone.high)
    )
    first = exact_cuts(look, low, high, design.look_nats(design.level.true))[0]
    return look, first, exact_cuts(look, low, high, design.look_nats(design.level.false))[1]


@numba.njit(cache=True)
def _walk(  # noqa: PLR0912 - one compiled loop
    tables, above, below, edges, looks, levels, cumulative, rows, runs, seed, kept
):
    np.random.seed(seed)  # the compiler's generator, of this function alone
    clauses = len(tables)
    truths = np.full((runs, clauses), -1)
    stops, differing = np.full((runs, clauses), rows), np.zeros((runs, clauses), dtype=np.int64)
    goal = np.exp(levels)
    for run in range(runs):
        up_wealth, down_wealth = above[:, 1].copy(), below[:, 1].copy()
        tops, left, changed = np.zeros(clauses), clauses, 0
        for row in range(rows):
            kind = np.searchsorted(cumulative, np.random.random(), side="right")
            if run < len(kept):
                kept[run, row] = kind
            changed += kind < 3
            for place in range(clauses):
                if truths[run, place] >= 0:
                    continue
                value, low, high = tables[place, kind], edges[place, 0], edges[place, 1]
                up_sum, down_sum = 0.0, 0.0
                for bet in range(above.shape[2]):
                    up_wealth[place, bet] *= 1 + above[place, 0, bet] * (value - low)
                    up_sum += up_wealth[place, bet]
                for bet in range(below.shape[2]):
                    down_wealth[place, bet] *= 1 - below[place, 0, bet] * (value - high)
                    down_sum += down_wealth[place, bet]
                tops[place] += (value - edges[place, 2]) / edges[place, 3]
                if up_sum >= goal[place, 0]:
                    truths[run, place] = 1
                elif down_sum >= goal[place, 1]:
                    truths[run, place] = 0
                elif row + 1 == looks[place, 0] and tops[place] >= looks[place, 1] - 1e-6:
                    truths[run, place] = 1
                elif row + 1 == looks[place, 0] and tops[place] <= looks[place, 2] + 1e-6:
                    truths[run, place] = 0
                differing[run, place] = changed
                if truths[run, place] >= 0:
                    stops[run, place] = row + 1
                    left -= 1
            if left == 0:
                break
    return truths, stops, differing


def _compare(
    config: Config,
    *,
    nats: float,
    world: World,
    rows: int,
    kept: np.ndarray,
    truth: np.ndarray,
    seed: int,
) -> None:
    generator = np.random.default_rng(seed)
    for run, kinds in enumerate(kept):
        rest = generator.choice(len(KINDS), rows, p=world.shares() / world.shares().sum())
        table = KINDS[
            np.where(kinds < 0, rest, kinds)
        ]  # rows after the last that was walked change nothing
        examples = Examples(table[:, 0], table[:, 1], table[:, 2] > 0, np.ones(rows, dtype=bool))
        found = try_commit(config, examples, nats, shared=True).truth
        if truth[run] != {True: 1, False: 0, None: -1}[found]:
            raise AssertionError(
                f"the compiled walk and the library differ: {config.condition}, run {run}"
            )


def nats_of(delta: float) -> float:
    """Return ln(1/delta)."""
    return -math.log(delta)
