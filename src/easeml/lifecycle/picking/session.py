"""Asking for labels, one or several at a time, until the best model is known well enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking import steps
from easeml.lifecycle.picking.certificate import intervals
from easeml.lifecycle.picking.label_model import LabelModel
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.result import Picking, Standing
from easeml.lifecycle.picking.steps import Config, State, open_picking


class Session:
    """A picking under way: ``ask`` for rows, ``tell`` labels, take the ``result`` at any time.

    It holds one value, ``state``, and replaces it with what the functions of ``steps`` return.
    """

    def __init__(
        self, predictions: Any, *, names: Sequence[str] | None = None, **settings: Any
    ) -> None:
        """Start a picking; ``settings`` are those of ``Config``.

        Raises:
            InvalidInput: where an argument is out of its range, or the predictions are no matrix of
                labels.
        """
        self.state: State = open_picking(predictions, Config(**settings), names=names)

    @property
    def pool(self) -> Pool:
        """Return the predictions."""
        return self.state.pool

    @property
    def labels(self) -> int:
        """Return how many labels were told."""
        return self.state.labels

    @property
    def leader(self) -> int:
        """Return the distinct model that looks best; a tie falls at random."""
        return self.state.leader

    @property
    def certified(self) -> bool:
        """Tell whether, at the confidence, no model beats the leader by more than the tolerance."""
        return self.state.certified

    @property
    def settled(self) -> bool:
        """Tell whether every example that the models disagree on is labelled."""
        return self.state.settled

    def ask(self, count: int = 1) -> list[int]:
        """Return at most ``count`` rows to label next, none twice.

        There is none where no label could change the choice.

        Raises:
            InvalidInput: where rows of an earlier ``ask`` still wait for their labels.
        """
        rows, self.state = steps.ask(self.state, count)
        return rows

    def tell(self, rows: Iterable[int], labels: Iterable[Any]) -> None:
        """Take the labels of rows that were asked for.

        Raises:
            InvalidInput: where the rows are not those of the last ``ask`` (in any order), or a
                label is missing.
        """
        rows = list(rows)
        labels = list(labels)
        if len(rows) != len(labels) or sorted(rows) != sorted(self.state.waiting):
            raise InvalidInput(
                f"Told {len(labels)} labels of {len(rows)} rows, while {len(self.state.waiting)} "
                "rows wait.",
                where="rows",
                remedy="Tell one label for every row of the last ask().",
            )
        self.state = steps.tell(self.state, dict(zip(rows, labels, strict=True)))

    def result(self, stopped: str = "paused", method: str | None = None) -> Picking:
        """Return the choice and what is known of every model; ``stopped`` is a key of ``REASONS``."""
        return result_of(self.state, stopped, method)


def result_of(state: State, stopped: str = "paused", method: str | None = None) -> Picking:
    """Return the choice and what is known of every model.

    ``stopped`` is a key of ``REASONS``, ``method`` the name to report, by default the state's own.
    """
    pool = state.pool
    config = state.config
    standings = _standings(state)
    chosen = pool.members[state.leader][0]
    return Picking(
        method=method or config.method,
        model=pool.names[chosen],
        accuracy=standings[chosen].accuracy,
        low=standings[chosen].low,
        high=standings[chosen].high,
        labels=state.labels,
        examples=pool.examples,
        stopped=stopped,
        certified=state.certified,
        tolerance=config.tolerance,
        confidence=config.confidence,
        models=standings,
        asked=state.asked,
    )


def _standings(state: State) -> tuple[Standing, ...]:
    pool = state.pool
    bounds = intervals(state.certificate)
    accuracies = _accuracies(state)
    found: list[Standing] = []
    for column, model in enumerate(pool.merged.tolist()):
        low, high = bounds[model]
        first = pool.members[model][0]
        standing = Standing(
            model=pool.names[column],
            right=int(state.right[model]),
            accuracy=float(np.clip(accuracies[model], low, high)),
            low=low,
            high=high,
            same_as=None if first == column else pool.names[first],
        )
        found.append(standing)
    return tuple(found)


def _accuracies(state: State) -> np.ndarray:
    """Return the estimated accuracies, (k,).

    The label model learns from labels that another rule chose, too.
    """
    if isinstance(state.rule, LabelModel):
        return state.rule.accuracies()
    model = LabelModel.of(state.pool)
    for asked in state.asked:
        model = model.tell(asked.row, state.pool.slot(asked.row, state.pool.code(asked.label)))
    return model.accuracies()
