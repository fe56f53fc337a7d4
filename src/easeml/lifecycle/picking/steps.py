"""A picking as a value: each step takes a state and returns the next one, and changes nothing.

The draws of a step depend on the seed and the number of labels alone, so a state always asks for
the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.certificate import Certificate, Contested, Label
from easeml.lifecycle.picking.methods import rule_of
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.result import Asked
from easeml.lifecycle.picking.rules import Rule

AUDIT = 0.1
"""Share of the labels that easeml's own rule draws at random from all of the pool; as many again
are drawn from the examples on which the leader differs from a model that it is not certified
against. With these draws the interval and the certificate are valid however wrong the rule is; the
published methods have none."""

PATIENCE = 50
"""The wishes are computed anew whenever the labels grew by one part in so many."""


@dataclass(frozen=True)
class Config:
    """How to pick.

    ``method``: one of ``METHODS`` but the stream's. ``seed``: of every random choice.
    ``tolerance``: the loss of accuracy that does not matter, in [0, 1). ``confidence``: of the
    certificate and of the intervals, in (0, 1). ``epsilon``: of Model Selector, in (0, 0.5); by
    default it is tuned on the votes, without labels. ``audit``: share of the labels drawn at random
    from the whole pool, in [0, 0.5]; more narrows the intervals, and slows the choice. By default
    0.1 for easeml's own rule, 0 for the published ones; "random" draws all of its labels so.

    Raises:
        InvalidInput: where a value is out of its range.
    """

    method: str = "default"
    seed: int = 0
    tolerance: float = 0.0
    confidence: float = 0.95
    epsilon: float | None = None
    audit: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < 1:
            raise InvalidInput(
                f"The tolerance is {self.tolerance}.",
                where="tolerance",
                remedy="Choose 0 or more, below 1.",
            )
        if not 0 < self.confidence < 1:
            raise InvalidInput(
                f"The confidence is {self.confidence}.",
                where="confidence",
                remedy="Choose it in (0, 1).",
            )
        if self.audit is not None and not 0 <= self.audit <= 0.5:
            raise InvalidInput(
                f"The audit is {self.audit}.",
                where="audit",
                remedy="Choose a share from 0 to 0.5.",
            )

    @property
    def shares(self) -> tuple[float, float]:
        """Return the shares of labels drawn from the whole pool, and from what rivals dispute."""
        if self.method == "random":
            return 1.0, 0.0
        usual = AUDIT if self.method == "default" else 0.0
        share = usual if self.audit is None else self.audit
        return share, min(share, AUDIT)


@dataclass(frozen=True, eq=False)
class Wishes:
    """What the rule wants labelled, as computed when ``due`` was set.

    ``scores``: of each example, (n,), see ``Rule``. ``contended``: which open examples the leader
    and an uncertified rival dispute, a mask of shape (n,). ``due``: the number of labels at which
    to compute them anew.
    """

    scores: np.ndarray
    contended: np.ndarray
    leader: int
    rivals: np.ndarray
    due: int


@dataclass(frozen=True)
class Draw:
    """A row that was drawn, the chance it had, the least of any row, and of any contended one."""

    row: int
    chance: float
    floor: float
    contested: Contested | None


@dataclass(frozen=True, eq=False)
class State:
    """A picking under way. ``leader``: the distinct model that looks best."""

    config: Config
    pool: Pool
    rule: Rule
    certificate: Certificate
    is_open: np.ndarray
    right: np.ndarray
    leader: int
    wishes: Wishes | None = None
    waiting: Mapping[int, Draw] = field(default_factory=dict)
    asked: tuple[Asked, ...] = ()

    @property
    def labels(self) -> int:
        """Return how many labels were told."""
        return len(self.asked)

    @property
    def certified(self) -> bool:
        """Tell whether, at the confidence, no model beats the leader by more than the tolerance."""
        return not self.certificate.rivals(self.leader).any()

    @property
    def settled(self) -> bool:
        """Tell whether every example that the models disagree on is labelled."""
        return not (self.is_open & self.pool.contested).any()


def open_picking(
    predictions: Any, config: Config | None = None, *, names: Sequence[str] | None = None
) -> State:
    """Return a picking before any label.

    Args:
        predictions: hard labels, an array or frame of shape (examples, models), or a ``Pool``.
        config: how to pick; by default ``Config()``.
        names: of the models; by default the frame's columns.

    Raises:
        InvalidInput: where the predictions are no matrix of labels, or there is no such method.
    """
    config = config or Config()
    pool = predictions if isinstance(predictions, Pool) else Pool.of(predictions, names)
    rule = rule_of(config.method, pool, np.random.default_rng(config.seed), config.epsilon)
    leader = best_of(rule.standing(), config, 0)
    certificate = Certificate(pool, config.tolerance, config.confidence)
    return State(
        config=config,
        pool=pool,
        rule=rule,
        certificate=certificate.betting_on(leader),
        is_open=np.ones(pool.examples, dtype=bool),
        right=np.zeros(pool.models, dtype=int),
        leader=leader,
    )


def ask(state: State, count: int = 1) -> tuple[list[int], State]:
    """Return at most ``count`` rows to label next, none twice.

    There is none where no label could change the choice.

    Raises:
        InvalidInput: where rows of an earlier ``ask`` still wait for their labels.
    """
    if count < 1:
        raise InvalidInput(
            f"Asked for {count} rows.", where="count", remedy="Ask for at least one."
        )
    if state.waiting:
        raise InvalidInput(
            f"{len(state.waiting)} rows still wait for their labels.",
            where="ask",
            remedy="Tell them first.",
        )
    if state.settled:
        return [], state
    state = _with_wishes(state)
    rng = _draws(state.config, state.labels, "ask")
    is_open = state.is_open.copy()
    waiting: dict[int, Draw] = {}
    contested_left = int((is_open & state.pool.contested).sum())
    while len(waiting) < count and contested_left:
        drawn = _draw(state, is_open, rng)
        waiting[drawn.row] = drawn
        is_open[drawn.row] = False
        contested_left -= int(state.pool.contested[drawn.row])
    return list(waiting), replace(state, waiting=waiting, is_open=is_open)


def tell(state: State, labels: Mapping[int, Any]) -> State:
    """Return the picking with the labels of all rows that were asked for, by row.

    Raises:
        InvalidInput: where the rows are not those that were asked for, or a label is missing.
    """
    if set(labels) != set(state.waiting):
        raise InvalidInput(
            f"Told {len(labels)} labels of {len(labels)} rows, while {len(state.waiting)} rows wait.",
            where="rows",
            remedy="Tell one label for every row of the last ask().",
        )
    codes = {row: state.pool.code(label) for row, label in labels.items()}
    # In the order of asking: the chances of a row were computed with those before it taken out.
    for row, drawn in state.waiting.items():
        state = _with_label(state, drawn, labels[row], codes[row])
    return replace(state, waiting={})


def record(state: State, row: int, label: Any, leader: int) -> State:
    """Return the picking with a label that another procedure asked for, and who leads by it.

    Nothing is known of the chance with which it was drawn, so it does not count for the
    certificate.
    """
    slot = state.pool.slot(row, state.pool.code(label))
    is_open = state.is_open.copy()
    is_open[row] = False
    nothing = np.zeros(state.pool.models)
    certificate = state.certificate.with_label(Label(row, slot, 0.0, 0.0, nothing, nothing))
    return replace(
        state,
        is_open=is_open,
        certificate=certificate.betting_on(leader),
        right=state.right + (state.pool.slots[row] == slot),
        leader=leader,
        asked=(*state.asked, Asked(row, label, _name(state.pool, leader))),
    )


def best_of(standing: np.ndarray, config: Config, labels: int) -> int:
    """Return the place of the largest value, one at random of several."""
    best = np.flatnonzero(standing >= standing.max() - 1e-9)
    if len(best) == 1:
        return int(best[0])
    return int(_draws(config, labels, "lead").choice(best))


def _draws(config: Config, labels: int, step: str) -> np.random.Generator:
    """Return the random draws of a step after so many labels."""
    return np.random.default_rng((config.seed, labels, STEPS.index(step)))


STEPS = ("ask", "lead")


def _name(pool: Pool, model: int) -> str:
    return pool.names[pool.members[model][0]]


def _with_wishes(state: State) -> State:
    """Return the picking with wishes that are not overdue."""
    if state.wishes is not None and state.labels < state.wishes.due:
        return state
    from easeml.lifecycle.picking import kernels

    rule = state.rule.refreshed()
    rivals = state.certificate.rivals(state.leader)
    contended = kernels.apart_from(
        *state.pool.dissent, state.pool.slots[:, state.leader], rivals, state.is_open
    )
    wishes = Wishes(
        scores=rule.scores(state.is_open),
        contended=contended,
        leader=state.leader,
        rivals=rivals,
        due=state.labels + max(1, state.labels // PATIENCE),
    )
    return replace(state, rule=rule, wishes=wishes)


def _draw(state: State, is_open: np.ndarray, rng: np.random.Generator) -> Draw:
    """Draw one open row: from everywhere, from what rivals dispute, or as the rule wishes."""
    assert state.wishes is not None
    wishes = state.wishes
    everywhere, share = state.config.shares
    contended = wishes.contended & is_open
    contended_rows = np.flatnonzero(contended)
    share = share if len(contended_rows) else 0.0
    wanted = _wanted(state, is_open)
    lot = rng.random()
    if lot < everywhere:
        row = int(rng.choice(np.flatnonzero(is_open)))
    elif lot < everywhere + share:
        row = int(rng.choice(contended_rows))
    else:
        row = _drawn(wanted, rng)
    floor = everywhere / int(is_open.sum())
    disputed = floor + share / max(1, len(contended_rows))
    own = (1 - everywhere - share) * float(wanted[row])
    chance = (disputed if contended[row] else floor) + own
    bound = Contested(wishes.leader, wishes.rivals, disputed) if disputed > floor else None
    return Draw(row, chance, floor, bound)


def _wanted(state: State, is_open: np.ndarray) -> np.ndarray:
    """Return the chances with which the rule itself draws each open row, summing to 1, (n,)."""
    assert state.wishes is not None
    scores = state.wishes.scores
    if state.rule.greedy:
        scores = np.where(is_open, scores, -np.inf)
        if np.isneginf(scores.max()):  # a batch took all that the rule had scored
            scores = state.rule.scores(is_open)
        wanted = (scores == scores.max()).astype(float)
        return wanted / wanted.sum()
    wanted = scores * is_open
    if wanted.sum() <= 0:
        wanted = (is_open & state.pool.contested).astype(float)
    return wanted / wanted.sum()


def _drawn(chances: np.ndarray, rng: np.random.Generator) -> int:
    """Return a row drawn with these chances."""
    sums = chances.cumsum()
    # Above 0, so that no row with chance 0 before the first possible one is met.
    lot = (1 - rng.random()) * sums[-1]
    return int(np.searchsorted(sums, lot))


def _with_label(state: State, drawn: Draw, label: Any, code: int) -> State:
    """Return the picking with one label, and who leads by it."""
    row = drawn.row
    slot = state.pool.slot(row, code)
    expected, beliefs = state.rule.expectations(row)
    told = Label(row, slot, drawn.chance, drawn.floor, expected, beliefs, drawn.contested)
    rule = state.rule.tell(row, slot, drawn.chance)
    leader = best_of(rule.standing(), state.config, state.labels)
    return replace(
        state,
        rule=rule,
        certificate=state.certificate.with_label(told).betting_on(leader),
        right=state.right + (state.pool.slots[row] == slot),
        leader=leader,
        asked=(*state.asked, Asked(row, label, _name(state.pool, leader))),
    )
