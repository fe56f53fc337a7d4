"""What to label next: the rules' common form, Model Selector, and the simple rules."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.pool import Pool


class Rule(Protocol):
    """Decides which example to label next, and which model leads."""

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return how much the label of each example is wanted, shape (n,); -inf where it is not
        wanted at all.
        """
        ...

    def tell(self, row: int, slot: int) -> None:
        """Take the label of an example, as a slot of the pool."""
        ...

    def standing(self) -> np.ndarray:
        """Return how good each model looks, shape (k,): the highest is recommended."""
        ...

    def expectations(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each model is expected to have right on all unlabelled examples, and on
        ``row`` alone.
        """
        ...


class Counting:
    """A rule that recommends the model with most labels right, and asks in a fixed order or by a
    derived score.
    """

    def __init__(self, pool: Pool, order: np.ndarray | None = None):
        """``order``: the wish for each example, shape (n,)."""
        self.pool = pool
        self.right = np.zeros(pool.models)
        self._order = np.zeros(pool.examples) if order is None else order

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return the fixed wishes."""
        return np.where(is_open, self._order, -np.inf)

    def tell(self, row: int, slot: int) -> None:
        """Count the models that are right."""
        self.right += self.pool.slots[row] == slot

    def standing(self) -> np.ndarray:
        """Return the labels that each model has right."""
        return self.right

    def expectations(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return zeros: it expects nothing."""
        nothing = np.zeros(self.pool.models)
        return nothing, nothing


class ModelSelector(Counting):
    """Model Selector (Okanovic et al., AISTATS 2025): ask for the label that is expected to settle
    the belief most.

    The best model is wrong with probability epsilon, so a label multiplies the belief in the models
    that agree with it by gamma = (1 - epsilon) / epsilon; the class of a label is expected
    uniformly. Examples that all models agree on are never asked for; the model with most labels
    right is recommended.
    """

    def __init__(self, pool: Pool, epsilon: float = 0.46):
        """``epsilon`` in (0, 0.5).

        Raises:
            InvalidInput: where it is outside.
        """
        from easeml.lifecycle.picking import kernels

        super().__init__(pool)
        if not 0 < epsilon < 0.5:
            raise InvalidInput(
                f"epsilon is {epsilon}.", where="epsilon", remedy="Choose it between 0 and 0.5."
            )
        self._kernels = kernels
        self._gamma = (1 - epsilon) / epsilon

    def belief(self) -> np.ndarray:
        """Return the posterior of being the best model, shape (k,)."""
        odds = self._gamma ** (self.right - self.right.max())
        return odds / odds.sum()

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return minus the expected entropy of the belief."""
        found = np.empty(self.pool.examples)
        classes = max(len(self.pool.classes), 2)
        self._kernels.expected_entropy(
            *self.pool.dissent,
            self.pool.width,
            self.belief(),
            self._gamma,
            classes,
            is_open & self.pool.contested,
            found,
        )
        return found


def vote_shares(pool: Pool) -> np.ndarray:
    """Return the share of the models that vote for each slot, shape (n, max width)."""
    shares = np.zeros((pool.examples, int(pool.width.max())))
    for model in range(pool.models):
        shares[np.arange(pool.examples), pool.slots[:, model]] += 1 / pool.models
    return shares


def entropy_order(pool: Pool) -> np.ndarray:
    """Return the entropy (nats) of the votes for each example."""
    shares = vote_shares(pool)
    return -np.sum(shares * np.log(np.where(shares > 0, shares, 1)), axis=1)


def margin_order(pool: Pool) -> np.ndarray:
    """Return minus the lead of the most voted class over the second, for each example."""
    shares = vote_shares(pool)
    if shares.shape[1] < 2:
        return np.zeros(pool.examples)
    first = np.partition(shares, -2, axis=1)
    return first[:, -2] - first[:, -1]
