"""One call: a pool, somebody who knows the labels, and a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.result import Picking
from easeml.lifecycle.picking.session import result_of
from easeml.lifecycle.picking.steps import Config, State, ask, open_picking, record, tell
from easeml.lifecycle.picking.stream import StreamPicker, tune_multiplier
from easeml.lifecycle.result import Progress, listener


def pick(
    predictions: Any,
    oracle: Callable[[int], Any],
    *,
    budget: int | None = None,
    method: str = "default",
    names: Sequence[str] | None = None,
    batch: int = 1,
    seed: int = 0,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    stop_early: bool = True,
    epsilon: float | None = None,
    audit: float | None = None,
    progress: Progress | None = None,
) -> Picking:
    """Choose the most accurate of trained models on unlabelled examples, asking for few labels.

    Args:
        predictions: hard labels, an array or frame of shape (examples, models).
        oracle: returns the true label of a row; called once a label.
        budget: the most labels to ask for; by default all of them.
        method: one of ``METHODS``. "model-picker" passes once over the rows in random order.
        names: of the models; by default the frame's columns.
        batch: rows asked for before anything is learned from them.
        seed: of every random choice.
        tolerance: the loss of accuracy that does not matter, in [0, 1).
        confidence: of the certificate and the intervals, in (0, 1).
        stop_early: stop as soon as the choice is certified. Otherwise only the budget, or the last disagreement, ends
            the asking.
        epsilon: of Model Selector; by default tuned on the votes.
        audit: share of the labels drawn at random from the whole pool; see ``Config``.
        progress: called with the share of the budget that is spent.

    Raises:
        InvalidInput: where an argument is out of its range, or a label is missing.
    """
    if batch < 1:
        raise InvalidInput(f"The batch is {batch}.", where="batch", remedy="Choose at least 1.")
    config = Config(
        method="random" if method == "model-picker" else method,
        seed=seed,
        tolerance=tolerance,
        confidence=confidence,
        epsilon=epsilon,
        audit=audit,
    )
    state = open_picking(predictions, config, names=names)
    examples = state.pool.examples
    most = examples if budget is None else min(budget, examples)
    if most < 0:
        raise InvalidInput(f"The budget is {budget}.", where="budget", remedy="Choose 0 or more.")
    heard = listener(progress)
    if method == "model-picker":
        return _stream(state, oracle, most, heard)
    return _in_batches(state, oracle, most, batch, stop_early, heard)


def _in_batches(
    state: State,
    oracle: Callable[[int], Any],
    budget: int,
    batch: int,
    stop_early: bool,
    progress: Progress,
) -> Picking:
    """Ask for the rows that tell most, a batch at a time, until nothing is left to ask."""
    while state.labels < budget:
        rows, state = ask(state, min(batch, budget - state.labels))
        if not rows:
            break
        state = tell(state, {row: oracle(row) for row in rows})
        progress(state.labels / budget)
        if stop_early and state.certified:
            return result_of(state, "certified")
    return result_of(state, "settled" if state.settled else "budget")


def _stream(state: State, oracle: Callable[[int], Any], budget: int, progress: Progress) -> Picking:
    """Pass once over the pool as a stream, with the multiplier that should just spend the budget."""
    pool = state.pool
    seed = state.config.seed
    rng = np.random.default_rng(seed)
    order = rng.permutation(pool.examples)
    multiplier = tune_multiplier(pool, order, budget, rng)
    picker = StreamPicker(pool.models, multiplier=multiplier, seed=seed, forget=False)
    for row in order.tolist():
        if picker.labels >= budget:
            break
        if not picker.offer_slots(pool.slots[row], int(pool.width[row])):
            continue
        label = oracle(row)
        picker.tell(pool.slot(row, pool.code(label)))
        state = record(state, row, label, picker.leader)
        progress(picker.labels / budget)
    return result_of(state, _why_ended(state, budget), "model-picker")


def _why_ended(state: State, budget: int) -> str:
    """Return the key of ``REASONS`` for a stream that stopped asking."""
    if state.settled:
        return "settled"
    return "budget" if state.labels >= budget else "stream ended"
