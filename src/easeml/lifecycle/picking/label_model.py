"""easeml's own rule: a model of the labels given the votes, and the contenders it leaves."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.picking.pool import Pool


class LabelModel:
    """Learn what the votes are worth, and label what the contenders for the lead dispute.

    The class of an unlabelled example is believed by two experts, mixed by how well they foretold
    the labels so far (log loss, forgetting at ``MEMORY`` a label, so that either may take over):

    * the vote: a softmax over the classes of the summed weights of the models that predict them. The weights are
      Gaussian, learned label by label (online Laplace). Right where models are good in different ways.
    * the one: some model is right but for a share of ``ERROR``; which one, by the belief of Model Selector, odds of
      (1 - ``DOUBT``) / ``DOUBT`` a label. Right where few good models hide among many poor ones.

    A likelihood does not depend on how examples were chosen, so no importance weights are needed:
    the expected number right of a model is what the labels say, plus what the experts expect on the
    unlabelled rest.

    A model contends with weight exp(-z^2 / 2), z its lag behind the leader, as a share of the
    examples that the two predict differently, in standard errors of a share over those of them that
    are labelled. The label wanted most is that with the largest expected squared gap in correctness
    of two contenders (``kernels.dispute``). The parts are known (Laplace's approximation; Bayesian
    model averaging; Neyman's allocation to variance); the sum is easeml's.
    """

    AGREEMENT = 2.0
    """Prior mean of the sum of all weights: the votes are worth something, before any label."""
    OWN, COMMON = 10.0, 9.0
    """Prior variances, times k and k^2, of one model's weight and of what all weights share."""
    DOUBT, ERROR, MEMORY = 0.4, 0.25, 0.95

    def __init__(self, pool: Pool):
        from easeml.lifecycle.picking import kernels

        k = pool.models
        self._kernels = kernels
        self._pool = pool
        self._open = np.ones(pool.examples, dtype=bool)
        # A class that nobody predicts is possible, unless the predictions for the example cover all
        # classes.
        self._lasts = pool.width + (pool.width < max(len(pool.classes), 2))
        self._mixed = np.zeros((pool.examples, int(pool.width.max()) + 1))
        self._ahead = 0.0
        self._mean = np.full(k, self.AGREEMENT / k)
        self._covariance = np.eye(k) * (self.OWN / k) + self.COMMON / k**2
        self._right = np.zeros(k)
        self._expected = np.zeros(k)
        self._labelled_apart = np.zeros((k, k))
        self.refresh()

    def tell(self, row: int, slot: int) -> None:
        """Learn from one label."""
        vote, one = self._experts(row)
        mixed = self._mixed[row]
        votes = self._pool.slots[row]
        self._open[row] = False
        self._expected -= mixed[votes]
        self._right += votes == slot
        self._labelled_apart += votes[:, None] != votes[None, :]
        self._ahead = self.MEMORY * self._ahead + np.log(
            max(vote[slot], 1e-3) / max(one[slot], 1e-3)
        )
        last = max(int(self._lasts[row]), slot + 1)
        self._kernels.learn(votes, last, slot, self._mean, self._covariance)

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return the expected dispute between contenders."""
        self.refresh()
        found = np.empty(self._pool.examples)
        contention = self.contention()
        self._kernels.dispute(
            *self._pool.dissent, self._pool.width, self._mixed, contention, is_open, found
        )
        return found

    def standing(self) -> np.ndarray:
        """Return the expected number right of each model."""
        return self._right + self._expected

    def contention(self) -> np.ndarray:
        """Return the weight of each model among the contenders, summing to 1."""
        standing = self.standing()
        leader = int(standing.argmax())
        lag = (standing[leader] - standing) / np.maximum(self._pool.apart[leader], 1)
        weights = np.exp(-0.5 * lag**2 * (self._labelled_apart[leader] + 1))
        return weights / weights.sum()

    def expectations(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the beliefs of the last ``refresh``, less what was labelled since."""
        return self._expected.copy(), self._mixed[row, self._pool.slots[row]]

    def accuracies(self) -> np.ndarray:
        """Return the estimated accuracies on the pool, by the vote alone: it is calibrated where
        all agree, too.
        """
        right = self._right.copy()
        self._believe(self._powers(), self._odds(), 1.0, np.empty_like(self._mixed), right)
        return right / self._pool.examples

    def refresh(self) -> None:
        """Compute the beliefs in the classes of all unlabelled examples anew."""
        self._used = self._powers(), self._odds()
        self._expected = np.zeros(self._pool.models)
        self._believe(*self._used, 1 / (1 + np.exp(-self._ahead)), self._mixed, self._expected)

    def _powers(self) -> np.ndarray:
        """Return the exponentials of the weights; weights beyond all doubt are shrunk, so that
        products stay finite.
        """
        return np.exp(self._mean * min(1.0, 600 / np.abs(self._mean).sum()))

    def _odds(self) -> np.ndarray:
        """Return the belief of Model Selector in each model."""
        odds = ((1 - self.DOUBT) / self.DOUBT) ** (self._right - self._right.max())
        return odds / odds.sum()

    def _believe(
        self,
        powers: np.ndarray,
        belief: np.ndarray,
        trust: float,
        mixed: np.ndarray,
        totals: np.ndarray,
    ) -> None:
        self._kernels.class_beliefs(
            *self._pool.dissent,
            self._lasts,
            self._open,
            powers,
            belief,
            self.ERROR,
            trust,
            mixed,
            totals,
        )

    def _experts(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what both experts believed of an example at the last ``refresh``; zeros beyond its
        slots.
        """
        starts, models, slots = self._pool.dissent
        powers, belief = self._used
        vote, one = np.zeros((2, self._mixed.shape[1]))
        self._kernels.beliefs(
            starts[row], starts[row + 1], models, slots, self._lasts[row], powers, belief,
            (powers.prod(), belief.sum()), self.ERROR, vote, one,
        )  # fmt: skip
        return vote, one
