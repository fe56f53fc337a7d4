"""The test of one commit: a verdict as soon as the rows prove one, else the labels that may help."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from easeml.lifecycle.ci.condition import (
    Both,
    Clause,
    Either,
    Formula,
    Truth,
    clauses,
    compares_models,
)
from easeml.lifecycle.ci.config import Config, Metric
from easeml.lifecycle.ci.design import Assumed, Design, design_clause, most_rows
from easeml.lifecycle.ci.examples import Examples
from easeml.lifecycle.ci.levels import clause_levels
from easeml.lifecycle.ci.published import share_that_may_differ
from easeml.lifecycle.ci.settling import Settled, settle, settle_ratio
from easeml.lifecycle.ci.units import most_units, needs_label

_SCOUTS = 200
_UNSEEN = Settled(truth=None, rows=0, estimate=math.nan, low=math.nan, high=math.nan)


@dataclass(frozen=True)
class ClauseFinding:
    """What the rows say of one clause.

    ``truth`` is whether it counts as true (None: open). The estimate and its interval [low, high]
    are in the units of the clause's left side, from so many ``rows``.
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
        # Two more of either kind: few scouts do not make an extreme share.
        changed = int(examples.differ[:scouts].sum())
        share = (changed + 2) / (scouts + 4)
        designs = _designs(config, share, nats)
    rest = examples.take(np.arange(scouts, len(examples)))
    found = _settled(config, designs, rest, shared=shared, only_d=True)
    truth, _ = _resolve(config.condition, _answers(designs, found, {}))
    if truth is None:
        # Only now are labels worth their price.
        found |= _settled(config, designs, rest, shared=shared, only_d=False)
    return _summary(config, designs, found, rest, scouts)


def _designs(config: Config, share: float, nats: float) -> list[Design]:
    """Return the tests of all clauses, if ``share`` of the predictions differ."""
    assumed = Assumed(
        mode=config.mode,
        metric=config.metric,
        scale=config.scale,
        share=share,
    )
    levels = clause_levels(config.condition, nats)
    return [design_clause(clause, assumed, level) for clause, level in levels]


def _settled(
    config: Config, designs: list[Design], examples: Examples, *, shared: bool, only_d: bool
) -> dict[int, Settled]:
    """Return, by place, the clauses over d alone, or the others, with what the rows say of them."""
    found: dict[int, Settled] = {}
    for place, design in enumerate(designs):
        if design.clause.only_d is only_d:
            found[place] = _settle(config, design, examples, shared)
    return found


def _settle(config: Config, design: Design, examples: Examples, shared: bool) -> Settled:
    over_d = design.clause.only_d
    if config.metric is Metric.F1 and not over_d:
        # F1 is no mean of scores an example.
        return settle_ratio(design.zone, design.level, design, examples, config.batch)
    units = most_units(design.clause, examples)
    # Units over d need no label and serve every step: all of them are looked at.
    look = units if over_d and shared else min(units, design.rows)
    return settle(design, examples, look)


def _summary(
    config: Config,
    designs: list[Design],
    found: dict[int, Settled],
    examples: Examples,
    scouts: int,
) -> Trial:
    # A clause over d alone costs no label, so it delays no answer.
    free = {place: 0 for place, design in enumerate(designs) if design.clause.only_d}
    truth, end = _resolve(config.condition, _answers(designs, found, free))
    used = np.zeros(len(examples), dtype=bool)
    seen = 0
    for place, settled in found.items():
        rows = settled.rows
        if truth is not None and place not in free:
            # Once the condition is settled, no clause needs a label beyond that row.
            rows = min(rows, end)
        needs = needs_label(designs[place].clause, examples) & examples.known
        used[:rows] |= needs[:rows]
        seen = max(seen, rows)
    wanted = np.zeros(0, dtype=np.intp)
    if truth is None:
        wanted = _wanted(config, designs, found, examples)
    findings = []
    for place, clause in enumerate(clauses(config.condition)):
        findings.append(_finding(clause, found.get(place, _UNSEEN)))
    return Trial(
        truth=truth,
        findings=tuple(findings),
        labels=int(used.sum()),
        rows=seen + scouts,
        wanted=wanted + scouts,
    )


def _wanted(
    config: Config, designs: list[Design], found: dict[int, Settled], examples: Examples
) -> np.ndarray:
    """Return the first rows whose labels an open clause lacks, in order, a batch at most."""
    wanted = np.zeros(len(examples), dtype=bool)
    for place, settled in found.items():
        if settled.truth is not None:
            continue
        needs = needs_label(designs[place].clause, examples)
        missing = np.flatnonzero(needs & ~examples.known)
        # Clauses share rows, so all together may want less than a batch each.
        wanted[missing[: config.batch]] = True
    return np.flatnonzero(wanted)[: config.batch]


def _finding(clause: Clause, settled: Settled) -> ClauseFinding:
    """Return what was found of a clause as it is written."""
    finding = ClauseFinding(
        clause=str(clause),
        truth=settled.truth,
        estimate=settled.estimate,
        low=settled.low,
        high=settled.high,
        rows=settled.rows,
    )
    if clause.above:
        return finding
    # The clause was tested with turned sign; 0.0 - x makes no -0.0.
    return replace(
        finding,
        estimate=0.0 - settled.estimate,
        low=0.0 - settled.high,
        high=0.0 - settled.low,
    )


def _answers(
    designs: list[Design], found: dict[int, Settled], ends: dict[int, int]
) -> Iterator[tuple[Truth, int]]:
    """Yield value and row of each clause, from left to right; ``ends`` overrides rows."""
    for place in range(len(designs)):
        settled = found.get(place, _UNSEEN)
        yield settled.truth, ends.get(place, settled.rows)


def _resolve(formula: Formula, answers: Iterator[tuple[Truth, int]]) -> tuple[Truth, int]:
    """Return the value of the formula (Kleene's logic) and the row at which it was first known."""
    if isinstance(formula, Clause):
        return next(answers)
    decisive = isinstance(formula, Either)
    rows: dict[Truth, list[int]] = {True: [], False: [], None: []}
    for part in formula.parts:
        value, row = _resolve(part, answers)
        rows[value].append(row)
    if rows[decisive]:
        # One part decides; the earliest that does tells when it was known.
        return decisive, min(rows[decisive])
    last = max(rows[None] + rows[not decisive])
    if rows[None]:
        return None, last
    return not decisive, last


def _scouts(config: Config, designs: list[Design], rows: int) -> int:
    """Return how many rows to spend on learning how often predictions change.

    None where a bound on that is given. Where the rows are enough whatever changes, they stay so.
    """
    if config.metric is Metric.F1 or not compares_models(config.condition):
        return 0
    if _change_is_bounded(config):
        return 0
    most = min(_SCOUTS, rows // 20)
    enough = most_rows(designs)
    if rows < enough:
        return most
    # Scouts come out of what the design leaves over, so that every step still settles.
    return min(most, rows - enough)


def _change_is_bounded(config: Config) -> bool:
    """Tell whether the team, or the condition itself, bounds the share of changed predictions."""
    if config.difference is not None:
        return True
    # A clause on d settles the condition wherever more predictions change.
    return isinstance(config.condition, Both) and share_that_may_differ(config) < 1
