"""Asking for labels, one or several at a time, until the best model is known well enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.certificate import Certificate
from easeml.lifecycle.picking.label_model import LabelModel
from easeml.lifecycle.picking.methods import rule_of
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.result import Asked, Picking, Standing
from easeml.lifecycle.picking.urn import Urn

AUDIT = 0.1
"""Share of the labels that easeml's own rule draws at random from all of the pool; as many again
are drawn from the examples on which the leader differs from a model that it is not certified
against. These draws make the interval and the certificate valid; the published methods have
none."""

PATIENCE = 50
"""The wishes are computed anew whenever the labels grew by one part in so many."""


class Session:
    """A picking under way: ``ask`` for rows to label, ``tell`` their labels, take the ``result`` at
    any time.
    """

    def __init__(
        self,
        predictions: Any,
        *,
        method: str = "default",
        names: Sequence[str] | None = None,
        seed: int = 0,
        tolerance: float = 0.0,
        confidence: float = 0.95,
        epsilon: float | None = None,
        audit: float | None = None,
    ):
        """Start a picking.

        Args:
            predictions: hard labels, an array or frame of shape (examples, models).
            method: one of ``METHODS`` but the stream's.
            names: of the models; by default the frame's columns.
            seed: of every random choice.
            tolerance: the loss of accuracy that does not matter, in [0, 1).
            confidence: of the certificate and of the intervals, in (0, 1).
            epsilon: of Model Selector, in (0, 0.5); by default it is tuned on the votes, without labels.
            audit: share of the labels drawn at random from the whole pool, in [0, 0.5]; more narrows the intervals,
                and slows the choice. By default 0.1 for easeml's own rule, 0 for the published ones; "random" draws
                all of its labels so.

        Raises: InvalidInput: where an argument is out of its range, or the predictions are no
            matrix of labels.
        """
        if not 0 <= tolerance < 1:
            raise InvalidInput(
                f"The tolerance is {tolerance}.",
                where="tolerance",
                remedy="Choose 0 or more, below 1.",
            )
        if not 0 < confidence < 1:
            raise InvalidInput(
                f"The confidence is {confidence}.",
                where="confidence",
                remedy="Choose it in (0, 1).",
            )
        if audit is not None and not 0 <= audit <= 0.5:
            raise InvalidInput(
                f"The audit is {audit}.", where="audit", remedy="Choose a share from 0 to 0.5."
            )
        self.pool = predictions if isinstance(predictions, Pool) else Pool.of(predictions, names)
        self.method = method
        self.tolerance, self.confidence = tolerance, confidence
        self._rng = np.random.default_rng(seed)
        self._rule = rule_of(method, self.pool, self._rng, epsilon)
        self._certificate = Certificate(self.pool, tolerance, confidence)
        share = (AUDIT if method == "default" else 0.0) if audit is None else audit
        self._shares = (1.0, 0.0) if method == "random" else (share, min(share, AUDIT))
        n = self.pool.examples
        self._open = np.ones(n, dtype=bool)
        self._urn = Urn(np.arange(n), n)
        self._waiting: dict[int, tuple[float, float, tuple[int, np.ndarray, float] | None]] = {}
        self._asked: list[Asked] = []
        self._right = np.zeros(self.pool.models, dtype=int)
        self._refresh_at = 0
        self._leader = self._lead()

    @property
    def labels(self) -> int:
        """Return how many labels were told."""
        return len(self._asked)

    @property
    def leader(self) -> int:
        """Return the distinct model that looks best; a tie falls to the one with most labels right,
        then at random.
        """
        return self._leader

    @property
    def certified(self) -> bool:
        """Tell whether no model is better than the leader by more than the tolerance, at the
        confidence.
        """
        return not self._certificate.rivals(self._leader).any()

    @property
    def settled(self) -> bool:
        """Tell whether every example that the models disagree on is labelled."""
        return not (self._open & self.pool.contested).any()

    def ask(self, count: int = 1) -> list[int]:
        """Return the rows to label next, at most ``count``, none twice; none where no label could
        change the choice.

        Raises:
            InvalidInput: where rows of an earlier ``ask`` still wait for their labels.
        """
        if count < 1:
            raise InvalidInput(
                f"Asked for {count} rows.", where="count", remedy="Ask for at least one."
            )
        if self._waiting:
            raise InvalidInput(
                f"{len(self._waiting)} rows still wait for their labels.",
                where="ask",
                remedy="Tell them first.",
            )
        if self.settled:
            return []
        self._refresh()
        while len(self._waiting) < count and not self.settled:
            row, chance, floor, contested = self._draw()
            self._waiting[row] = (chance, floor, contested)
            self._open[row] = False
            self._scores[row] = -np.inf
            self._urn.remove(row)
            self._contended.remove(row)
        return list(self._waiting)

    def tell(self, rows: Iterable[int], labels: Iterable[Any]) -> None:
        """Take the labels of rows that were asked for.

        Raises: InvalidInput: where the rows are not those of the last ``ask`` (in any order), or a
            label is missing.
        """
        rows, labels = list(rows), list(labels)
        if len(rows) != len(labels) or sorted(rows) != sorted(self._waiting):
            raise InvalidInput(
                f"Told {len(labels)} labels of {len(rows)} rows, while {len(self._waiting)} rows wait.",
                where="rows",
                remedy="Tell one label for every row of the last ask().",
            )
        told = dict(zip(rows, labels, strict=True))
        for label in labels:
            self.pool.code(label)
        # In the order of asking: the chances of a row were computed with those before it taken out.
        for row in list(self._waiting):
            self._take(row, told[row])

    def record(self, row: int, label: Any, leader: int) -> None:
        """Take a label that another procedure asked for, with the (distinct) model that leads by
        it.

        Nothing is known of the chance with which it was drawn, so it does not count for the
        certificate.
        """
        slot = self.pool.slot(row, self.pool.code(label))
        self._open[row] = False
        self._certificate.observe(row, slot, 0.0, 0.0, None, np.zeros(0), np.zeros(0))
        self._right += self.pool.slots[row] == slot
        self._leader = leader
        self._asked.append(Asked(row, label, self.pool.names[self.pool.members[leader][0]]))

    def result(self, stopped: str = "paused", method: str | None = None) -> Picking:
        """Return the choice and what is known of every model; ``stopped`` is a key of ``REASONS``."""
        standings = self._standings()
        chosen = self.pool.members[self.leader][0]
        return Picking(
            method=method or self.method,
            model=self.pool.names[chosen],
            accuracy=standings[chosen].accuracy,
            low=standings[chosen].low,
            high=standings[chosen].high,
            labels=self.labels,
            examples=self.pool.examples,
            stopped=stopped,
            certified=self.certified,
            tolerance=self.tolerance,
            confidence=self.confidence,
            models=standings,
            asked=tuple(self._asked),
        )

    def _refresh(self) -> None:
        if self.labels < self._refresh_at:
            return
        from easeml.lifecycle.picking import kernels

        self._refresh_at = self.labels + max(1, self.labels // PATIENCE)
        self._scores = self._rule.scores(self._open)
        self._rivals = self._certificate.rivals(self._leader)
        self._contended_of = self._leader
        contended = kernels.apart_from(
            *self.pool.dissent, self.pool.slots[:, self._leader], self._rivals, self._open
        )
        self._contended = Urn(np.flatnonzero(contended), self.pool.examples)

    def _draw(self) -> tuple[int, float, float, tuple[int, np.ndarray, float] | None]:
        """Return a row, the chance it had, the least chance of any row, and of any that contenders
        dispute.
        """
        everywhere, contended = self._shares
        contended = contended if len(self._contended) else 0.0
        most = self._scores.max()
        if np.isneginf(most):  # a batch took all that the rule had scored
            self._scores = self._rule.scores(self._open)
            most = self._scores.max()
        best = np.flatnonzero(self._scores == most)
        wanted = int(best[0] if len(best) == 1 else self._rng.choice(best))
        lot = self._rng.random()
        if lot < everywhere:
            row = self._urn.draw(self._rng)
        elif lot < everywhere + contended:
            row = self._contended.draw(self._rng)
        else:
            row = wanted
        floor = everywhere / len(self._urn)
        disputed = floor + (contended / len(self._contended) if contended else 0.0)
        chance = disputed if row in self._contended else floor
        chance += (1 - everywhere - contended) if row == wanted else 0.0
        return (
            row,
            chance,
            floor,
            (self._contended_of, self._rivals, disputed) if disputed > floor else None,
        )

    def _take(self, row: int, label: Any) -> None:
        slot = self.pool.slot(row, self.pool.code(label))
        votes = self.pool.slots[row]
        chance, floor, contested = self._waiting.pop(row)
        expected, beliefs = self._rule.expectations(row)
        self._certificate.observe(row, slot, chance, floor, contested, expected, beliefs)
        self._rule.tell(row, slot)
        self._right += votes == slot
        self._leader = self._lead()
        self._asked.append(Asked(row, label, self.pool.names[self.pool.members[self._leader][0]]))

    def _lead(self) -> int:
        standing = self._rule.standing()
        best = np.flatnonzero(standing >= standing.max() - 1e-9)
        return int(best[0] if len(best) == 1 else self._rng.choice(best))

    def _standings(self) -> tuple[Standing, ...]:
        accuracies = self._accuracies()
        found: list[Standing] = []
        for column, model in enumerate(self.pool.merged.tolist()):
            low, high = self._certificate.interval(model, self.labels)
            first = self.pool.members[model][0]
            found.append(
                Standing(
                    model=self.pool.names[column],
                    right=int(self._right[model]),
                    accuracy=float(np.clip(accuracies[model], low, high)),
                    low=low,
                    high=high,
                    same_as=None if first == column else self.pool.names[first],
                )
            )
        return tuple(found)

    def _accuracies(self) -> np.ndarray:
        """Return the estimated accuracies; the label model learns from labels that another rule
        chose, too.
        """
        if isinstance(self._rule, LabelModel):
            model = self._rule
        else:
            model = LabelModel(self.pool)
            for asked in self._asked:
                model.tell(asked.row, self.pool.slot(asked.row, self.pool.code(asked.label)))
        return model.accuracies()
