"""One call: a pool, somebody who knows the labels, and a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.result import Picking
from easeml.lifecycle.picking.session import Session
from easeml.lifecycle.picking.stream import StreamPicker, tune_multiplier
from easeml.lifecycle.result import Progress


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
    """Choose the most accurate of trained models on a pool of unlabelled examples, asking for few
    labels.

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
        audit: share of the labels drawn at random from the whole pool; see ``Session``.
        progress: called with the share of the budget that is spent.

    Raises:
        InvalidInput: where an argument is out of its range, or a label is missing.
    """
    if batch < 1:
        raise InvalidInput(f"The batch is {batch}.", where="batch", remedy="Choose at least 1.")
    pool_method = "random" if method == "model-picker" else method
    session = Session(
        predictions, method=pool_method, names=names, seed=seed, tolerance=tolerance, confidence=confidence,
        epsilon=epsilon, audit=audit,
    )  # fmt: skip
    examples = session.pool.examples
    most = examples if budget is None else min(budget, examples)
    if most < 0:
        raise InvalidInput(f"The budget is {budget}.", where="budget", remedy="Choose 0 or more.")
    if method == "model-picker":
        return _stream(session, oracle, most, seed, progress)
    while session.labels < most:
        rows = session.ask(min(batch, most - session.labels))
        if not rows:
            break
        session.tell(rows, [oracle(row) for row in rows])
        if progress is not None:
            progress(session.labels / most)
        if stop_early and session.certified:
            return session.result("certified")
    return session.result("settled" if session.settled else "budget")


def _stream(
    session: Session,
    oracle: Callable[[int], Any],
    budget: int,
    seed: int,
    progress: Progress | None,
) -> Picking:
    """Pass once over the pool as a stream, with the multiplier that should just spend the budget."""
    pool = session.pool
    rng = np.random.default_rng(seed)
    order = rng.permutation(pool.examples)
    picker = StreamPicker(
        pool.models, multiplier=tune_multiplier(pool, order, budget, rng), seed=seed
    )
    for row in order.tolist():
        if picker.labels >= budget:
            break
        if picker.offer_slots(pool.slots[row], int(pool.width[row])):
            label = oracle(row)
            picker.tell(pool.slot(row, pool.code(label)))
            session.record(row, label, picker.leader)
            if progress is not None:
                progress(picker.labels / budget)
    reason = (
        "settled" if session.settled else "budget" if picker.labels >= budget else "stream ended"
    )
    return session.result(reason, method="model-picker")
