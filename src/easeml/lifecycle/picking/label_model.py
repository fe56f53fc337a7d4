"""easeml's own rule: a model of the labels given the votes, and estimates that correct it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from easeml.lifecycle.picking.estimates import Estimates
from easeml.lifecycle.picking.pool import Pool

AGREEMENT = 2.0
"""Prior mean of the sum of all weights: the votes are worth something, before any label."""

OWN, COMMON = 10.0, 9.0
"""Prior variances, times k and k^2, of one model's weight and of what all weights share."""

DOUBT, ERROR, MEMORY = 0.4, 0.25, 0.95

DISPUTED = 4 / 9
"""Share of the draws that trusts the model; the others go wherever the contenders differ."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of the unlabelled examples, as computed at the last refresh.

    ``mixed``: of each slot of each example, (n, most slots); ``expected``: examples that each model
    should have right among the unlabelled, (k,); ``powers``, ``odds``: of the two experts.
    """

    mixed: np.ndarray
    expected: np.ndarray
    powers: np.ndarray
    odds: np.ndarray


@dataclass(frozen=True, eq=False)
class LabelModel:
    """Learn what the votes are worth, and draw labels where the contenders for the lead differ.

    The class of an unlabelled example is believed by two experts, mixed by how well they foretold
    the labels so far (log loss, forgetting at ``MEMORY`` a label, so that either may take over):

    * the vote: a softmax over the classes of the summed weights of the models that predict them.
      The weights are Gaussian, learned label by label (online Laplace). Right where models are good
      in different ways.
    * the one: some model is right but for a share of ``ERROR``; which one, by the belief of Model
      Selector, odds of (1 - ``DOUBT``) / ``DOUBT`` a label. Right where few good models hide among
      many poor ones.

    Both may be wrong of a part of the pool, such as what came in after a drift, and sure of it. So
    no label is chosen outright: all are drawn with known chances, and ``Estimates`` correct the
    expected number right of each model where the draws contradict it.

    A model contends with weight exp(-z^2 / 2), z its lag behind the leader, as a share of the
    examples that the two predict differently, in standard errors of a share over those of them that
    are labelled. Some draws follow the root of the expected squared gap of two contenders (Neyman's
    allocation, for one who trusts the beliefs), the others the chance that two contenders differ,
    of those whom the estimates leave in the race (for one who does not). The parts are known; the
    sum is easeml's.
    """

    pool: Pool
    is_open: np.ndarray
    beliefs: Beliefs
    mean: np.ndarray
    covariance: np.ndarray
    right: np.ndarray
    labelled_apart: np.ndarray
    estimates: Estimates
    ahead: float = 0.0

    greedy: ClassVar[bool] = False

    @classmethod
    def of(cls, pool: Pool) -> LabelModel:
        """Return the rule before any label."""
        k = pool.models
        nothing = np.zeros(k)
        unknown = Beliefs(np.zeros((0, 0)), nothing, nothing, nothing)
        rule = cls(
            pool=pool,
            is_open=np.ones(pool.examples, dtype=bool),
            beliefs=unknown,
            mean=np.full(k, AGREEMENT / k),
            covariance=np.eye(k) * (OWN / k) + COMMON / k**2,
            right=nothing,
            labelled_apart=np.zeros((k, k)),
            estimates=Estimates.none(k),
        )
        return rule.refreshed()

    def tell(self, row: int, slot: int, chance: float = 0.0) -> LabelModel:
        """Learn from one label, of an example that was drawn with this chance (0: not known)."""
        from easeml.lifecycle.picking import kernels

        votes = self.pool.slots[row]
        outcome = (votes == slot).astype(float)
        believed = self.beliefs.mixed[row, votes]
        estimates = self.estimates
        if chance > 0:
            surprise = (outcome - believed) / chance
            estimates = estimates.with_one(self.right + self.beliefs.expected + surprise)
        is_open = self.is_open.copy()
        is_open[row] = False
        mean, covariance = self.mean.copy(), self.covariance.copy()
        kernels.learn(votes, max(int(self.pool.outcomes[row]), slot + 1), slot, mean, covariance)
        return replace(
            self,
            is_open=is_open,
            beliefs=replace(self.beliefs, expected=self.beliefs.expected - believed),
            mean=mean,
            covariance=covariance,
            right=self.right + outcome,
            labelled_apart=self.labelled_apart + (votes[:, None] != votes[None, :]),
            estimates=estimates,
            ahead=MEMORY * self.ahead + self._advantage(row, slot),
        )

    def refreshed(self) -> LabelModel:
        """Return the rule with the beliefs in all unlabelled examples computed anew."""
        powers, odds = self._powers(), self._odds()
        trust = 1 / (1 + np.exp(-self.ahead))
        mixed, expected = self._believe(powers, odds, trust)
        return replace(self, beliefs=Beliefs(mixed, expected, powers, odds))

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return the chances to draw each contested open example, summing to 1, shape (n,)."""
        from easeml.lifecycle.picking import kernels

        n = self.pool.examples
        gaps = np.empty(n)
        apart = np.empty(n)
        kernels.dispute(
            *self.pool.dissent,
            self.pool.width,
            self.beliefs.mixed,
            *self.contention(),
            is_open,
            gaps,
            apart,
        )
        wanted = (is_open & self.pool.contested) * LEAST
        trusting = np.sqrt(gaps) + wanted
        careful = apart + wanted
        trusting /= max(float(trusting.sum()), LEAST)
        careful /= max(float(careful.sum()), LEAST)
        return DISPUTED * trusting + (1 - DISPUTED) * careful

    def standing(self) -> np.ndarray:
        """Return how good each model looks: what is believed of it, corrected by the estimates."""
        return self.estimates.correct(self.right + self.beliefs.expected)

    def contention(self) -> tuple[np.ndarray, np.ndarray]:
        """Return two weights of each model among the contenders, each summing to 1.

        By the first a model is out where the label model says so; by the second only where the
        estimates agree.
        """
        standing = self.standing()
        leader = int(standing.argmax())
        lag = (standing[leader] - standing) / np.maximum(self.pool.apart[leader], 1)
        squared = lag**2 * (self.labelled_apart[leader] + 1)
        trusting = np.exp(-0.5 * squared)
        careful = np.exp(-0.5 * np.minimum(squared, self.estimates.lags(leader) ** 2))
        return trusting / trusting.sum(), careful / careful.sum()

    def expectations(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the beliefs of the last refresh, less what was labelled since."""
        return self.beliefs.expected, self.beliefs.mixed[row, self.pool.slots[row]]

    def accuracies(self) -> np.ndarray:
        """Return the estimated accuracies on the pool, by the vote alone.

        The vote is calibrated where all agree, too; the other expert is not.
        """
        _, expected = self._believe(self._powers(), self._odds(), 1.0)
        return (self.right + expected) / self.pool.examples

    def _powers(self) -> np.ndarray:
        """Return the exponentials of the weights.

        Weights beyond all doubt are shrunk, so that products stay finite.
        """
        return np.exp(self.mean * min(1.0, 600 / np.abs(self.mean).sum()))

    def _odds(self) -> np.ndarray:
        """Return the belief of Model Selector in each model."""
        odds = ((1 - DOUBT) / DOUBT) ** (self.right - self.right.max())
        return odds / odds.sum()

    def _believe(
        self, powers: np.ndarray, odds: np.ndarray, trust: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the beliefs in the slots (n, most slots), and what is expected of each model."""
        from easeml.lifecycle.picking import kernels

        mixed = np.zeros((self.pool.examples, int(self.pool.width.max()) + 1))
        expected = np.zeros(self.pool.models)
        kernels.class_beliefs(
            *self.pool.dissent, self.pool.outcomes, self.is_open, powers, odds, ERROR, trust, mixed, expected
        )  # fmt: skip
        return mixed, expected

    def _advantage(self, row: int, slot: int) -> float:
        """Return by how much (nats) the vote foretold a label better than the one."""
        from easeml.lifecycle.picking import kernels

        starts, models, slots = self.pool.dissent
        powers = self.beliefs.powers
        odds = self.beliefs.odds
        vote, one = np.zeros((2, self.beliefs.mixed.shape[1]))
        kernels.beliefs(
            starts[row], starts[row + 1], models, slots, self.pool.outcomes[row], powers, odds,
            (powers.prod(), odds.sum()), ERROR, vote, one,
        )  # fmt: skip
        return float(np.log(max(vote[slot], 1e-3) / max(one[slot], 1e-3)))


LEAST = 1e-12
"""Weight of a contested example that no contender disputes, so that any can be drawn."""
