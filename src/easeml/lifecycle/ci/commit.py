"""The test of one commit: a verdict as soon as the rows prove one, else the labels that would help."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.ci.condition import Both, Clause, Either, Formula, Truth, clauses
from easeml.lifecycle.ci.config import Config, Metric
from easeml.lifecycle.ci.design import Assumed, Design, design_clause
from easeml.lifecycle.ci.examples import Examples
from easeml.lifecycle.ci.levels import clause_levels
from easeml.lifecycle.ci.published import share_that_may_differ
from easeml.lifecycle.ci.settling import Settled, first_gap, needs_label, settle, settle_ratio

_SCOUTS = 200


@dataclass(frozen=True)
class ClauseFinding:
    """A clause as text, whether it counts as true (None: open), its estimate with an interval, and
    the rows seen.
    """

    clause: str
    truth: bool | None
    estimate: float
    low: float
    high: float
    rows: int


@dataclass(frozen=True)
class Trial:
    """What the rows say of a commit.

    ``truth`` is the condition's value, None while open. ``labels`` were needed to find it, ``rows``
    (label-free ones too) were looked at. ``wanted`` are the rows, in the order of the examples
    given, whose labels would help next; none are wanted where the rows themselves have run out.
    """

    truth: Truth
    findings: tuple[ClauseFinding, ...]
    labels: int
    rows: int
    wanted: np.ndarray


def try_commit(config: Config, examples: Examples, nats: float, *, shared: bool) -> Trial:
    """Test the condition on examples in a random order, at error probability exp(-nats) a side.

    Clauses over d alone are settled first, for nothing; labels are used only if the condition is
    still open then, and only of rows that an open clause needs, in order, until the condition is
    settled. The first few rows only tell how often predictions change, where no bound on that is
    known: they tune the bets on a difference and are then left out.
    """
    share = share_that_may_differ(config)
    designs = _designs(config, share, nats)
    scouts = _scouts(config, designs, len(examples))
    if scouts:
        share = (int(examples.differ[:scouts].sum()) + 2) / (scouts + 4)
        designs = _designs(config, share, nats)
    rest = examples.take(np.arange(scouts, len(examples)))
    found: dict[int, Settled] = {}
    for place, design in enumerate(designs):
        if design.clause.only_d:
            found[place] = _settle(config, design, rest, shared)
    truth, _ = _resolve(config.condition, _answers(designs, found, {}))
    if truth is None:
        for place, design in enumerate(designs):
            if not design.clause.only_d:
                found[place] = _settle(config, design, rest, shared)
    return _summary(config, designs, found, rest, scouts)


def _designs(config: Config, share: float, nats: float) -> list[Design]:
    assumed = Assumed(config.mode, config.metric, config.scale, share)
    levels = clause_levels(config.condition, nats)
    return [design_clause(clause, assumed, level) for clause, level in levels]


def _settle(config: Config, design: Design, examples: Examples, shared: bool) -> Settled:
    if config.metric is Metric.F1 and not design.clause.only_d:
        return settle_ratio(design.zone, design.level, design, examples, config.batch)
    free_rows = design.clause.only_d and shared
    return settle(design, examples, len(examples) if free_rows else min(len(examples), design.rows))


def _summary(
    config: Config,
    designs: list[Design],
    found: dict[int, Settled],
    examples: Examples,
    scouts: int,
) -> Trial:
    ends = {place: 0 for place, design in enumerate(designs) if design.clause.only_d}
    truth, end = _resolve(config.condition, _answers(designs, found, ends))
    used = np.zeros(len(examples), dtype=bool)
    seen, wanted = 0, np.zeros(len(examples), dtype=bool)
    for place, settled in found.items():
        design = designs[place]
        rows = settled.rows if truth is None or design.clause.only_d else min(settled.rows, end)
        needs = needs_label(design, examples)
        used[:rows] |= needs[:rows]
        seen = max(seen, rows)
        if truth is None and settled.truth is None:
            gap = first_gap(design, examples)
            missing = gap + np.flatnonzero((needs & ~examples.known)[gap:])
            wanted[missing[: config.batch]] = True
    open_rows = np.flatnonzero(wanted)[: config.batch] + scouts
    findings = tuple(
        _finding(clause, found.get(place)) for place, clause in enumerate(clauses(config.condition))
    )
    return Trial(truth, findings, int(used.sum()), seen + scouts, open_rows)


def _finding(clause: Clause, settled: Settled | None) -> ClauseFinding:
    if settled is None:
        return ClauseFinding(str(clause), None, math.nan, math.nan, math.nan, 0)
    estimate, low, high = settled.estimate, settled.low, settled.high
    if not clause.above:
        estimate, low, high = 0.0 - estimate, 0.0 - high, 0.0 - low
    return ClauseFinding(str(clause), settled.truth, estimate, low, high, settled.rows)


def _answers(
    designs: list[Design], found: dict[int, Settled], ends: dict[int, int]
) -> Iterator[tuple[Truth, int]]:
    """Yield value and row of each clause, from left to right; ``ends`` overrides rows."""
    for place in range(len(designs)):
        settled = found.get(place)
        yield (None, 0) if settled is None else (settled.truth, ends.get(place, settled.rows))


def _resolve(formula: Formula, answers: Iterator[tuple[Truth, int]]) -> tuple[Truth, int]:
    """Return the value of the formula (Kleene's logic) and the row at which it was first known."""
    if isinstance(formula, Clause):
        return next(answers)
    decisive = isinstance(formula, Either)
    parts = [_resolve(part, answers) for part in formula.parts]
    early = [row for value, row in parts if value is decisive]
    if early:
        return decisive, min(early)
    if any(value is None for value, _ in parts):
        return None, max(row for _, row in parts)
    return not decisive, max(row for _, row in parts)


def _scouts(config: Config, designs: list[Design], rows: int) -> int:
    """Return how many rows to spend on learning how often predictions change.

    None where a bound on that is given. Where the rows are enough whatever changes, they stay so.
    """
    differences = any(clause.is_difference for clause in clauses(config.condition))
    bounded = config.difference is not None or (
        isinstance(config.condition, Both) and share_that_may_differ(config) < 1
    )
    if not differences or bounded or config.metric is Metric.F1:
        return 0
    most = min(_SCOUTS, rows // 20)
    enough = max(design.rows for design in designs)
    return most if rows < enough else min(most, rows - enough)
