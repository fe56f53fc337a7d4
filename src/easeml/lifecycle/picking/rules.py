"""What to label next: the rules' common form, Model Selector, and the simple rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.pool import Pool


class Rule(Protocol):
    """Decides which example to label next, and which model leads. A value: a label gives a new one.

    ``greedy``: label the example with the highest score; otherwise the scores are chances.
    """

    greedy: ClassVar[bool]

    def refreshed(self) -> Rule:
        """Return the rule with all that it puts off computed."""
        ...

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return how much the label of each example is wanted, shape (n,).

        -inf (0, where not greedy) stands for not at all.
        """
        ...

    def tell(self, row: int, slot: int, chance: float = 0.0) -> Rule:
        """Take the label of an example, as a slot; it was drawn with this chance (0: not known)."""
        ...

    def standing(self) -> np.ndarray:
        """Return how good each model looks, shape (k,): the highest is recommended."""
        ...

    def expectations(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each model is expected to have right.

        On all unlabelled examples, and on ``row`` alone.
        """
        ...


@dataclass(frozen=True, eq=False)
class Counting:
    """A rule that recommends the model with most labels right.

    It asks in a fixed order, or by a derived score.

    ``order``: the wish for each example, shape (n,). ``right``: labels each model has right, (k,).
    """

    pool: Pool
    order: np.ndarray
    right: np.ndarray

    greedy: ClassVar[bool] = True

    @classmethod
    def of(cls, pool: Pool, order: np.ndarray) -> Self:
        """Return the rule before any label."""
        return cls(pool=pool, order=order, right=np.zeros(pool.models))

    def refreshed(self) -> Self:
        """Return itself: nothing is put off."""
        return self

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return the fixed wishes."""
        return np.where(is_open, self.order, -np.inf)

    def tell(self, row: int, slot: int, chance: float = 0.0) -> Self:
        """Count the models that are right; the chance does not matter."""
        del chance
        return replace(self, right=self.right + (self.pool.slots[row] == slot))

    def standing(self) -> np.ndarray:
        """Return the labels that each model has right."""
        return self.right

    def expectations(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return zeros: it expects nothing."""
        del row
        nothing = np.zeros(self.pool.models)
        return nothing, nothing


@dataclass(frozen=True, eq=False)
class ModelSelector(Counting):
    """Model Selector (Okanovic et al., AISTATS 2025).

    It asks for the label that is expected to settle the belief most.

    The best model is wrong with probability epsilon, so a label multiplies the belief in the models
    that agree with it by gamma = (1 - epsilon) / epsilon; the class of a label is expected
    uniformly. Examples that all models agree on are never asked for; the model with most labels
    right is recommended.
    """

    gamma: float = 0.54 / 0.46

    @classmethod
    def with_epsilon(cls, pool: Pool, epsilon: float = 0.46) -> ModelSelector:
        """Return the rule before any label.

        Raises:
            InvalidInput: where ``epsilon`` is outside (0, 0.5).
        """
        if not 0 < epsilon < 0.5:
            raise InvalidInput(
                f"epsilon is {epsilon}.", where="epsilon", remedy="Choose it between 0 and 0.5."
            )
        start = cls.of(pool, np.zeros(pool.examples))
        return replace(start, gamma=(1 - epsilon) / epsilon)

    def belief(self) -> np.ndarray:
        """Return the posterior of being the best model, shape (k,)."""
        odds = self.gamma ** (self.right - self.right.max())
        return odds / odds.sum()

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return minus the expected entropy of the belief."""
        from easeml.lifecycle.picking import kernels

        found = np.empty(self.pool.examples)
        kernels.expected_entropy(
            *self.pool.dissent,
            self.pool.width,
            self.belief(),
            self.gamma,
            max(len(self.pool.classes), 2),
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
