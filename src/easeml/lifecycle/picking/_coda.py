"""CODA's rule (Kay et al., "Consensus-driven active model selection", ICCV 2025), for hard labels."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.picking._pool import Pool
from easeml.lifecycle.picking._rules import Counting

GRID = (np.arange(64) + 0.5) / 64
CANDIDATES = 100
"""Examples scored a step, drawn from those the models disagree on, and points of the integral: the paper takes all
examples and 256 points, at a hundred times the cost."""

PRIOR, CONSENSUS, STEP = 2.0, 0.1, 0.01


class Coda(Counting):
    """A Dirichlet a model and true class over what it predicts, started from the votes; ask by expected information.

    A model is the best with the probability that its accuracy within a class, a Beta, exceeds those of all others,
    averaged over the classes; the label expected to lower the entropy of that most is asked for. O(k C) memory: only
    the mass on the true class and on the rest matters for the Beta.
    """

    def __init__(self, pool: Pool, rng: np.random.Generator):
        """``rng`` draws the candidates of each step."""
        super().__init__(pool)
        self._rng = rng
        n, k, classes = pool.examples, pool.models, len(pool.classes)
        votes = np.zeros((n, classes))
        np.add.at(votes, (np.arange(n)[:, None], pool.codes), 1 / k)
        confusion = np.stack([votes.T @ np.eye(classes)[pool.codes[:, model]] for model in range(k)])
        confusion /= np.maximum(confusion.sum(axis=2, keepdims=True), 1e-12)
        spread = np.full((classes, classes), 1 / max(classes - 1, 1))
        np.fill_diagonal(spread, 1.0)
        self._mass = PRIOR * (spread + CONSENSUS * confusion)
        self._recount()

    def tell(self, row: int, slot: int) -> None:
        """Count the label, with the paper's small weight."""
        super().tell(row, slot)
        if slot < self.pool.width[row]:
            votes = self.pool.codes[row]
            label = int(votes[self.pool.slots[row] == slot][0])
            self._mass[np.arange(self.pool.models), label, votes] += STEP
            self._recount(label)

    def standing(self) -> np.ndarray:
        """Return the probability of each model to be the best."""
        return self._marginal @ self._best

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return minus the expected entropy of who is best, for some of the open examples."""
        found = np.full(self.pool.examples, -np.inf)
        rows = np.flatnonzero(is_open & self.pool.contested)
        if not len(rows):
            return found
        rows = self._rng.choice(rows, size=min(CANDIDATES, len(rows)), replace=False)
        codes = self.pool.codes[rows]
        likelihood = np.zeros((len(rows), len(self.pool.classes)))
        rates = self._mass / self._mass.sum(axis=2, keepdims=True)
        for model in range(self.pool.models):
            likelihood += rates[model][:, codes[:, model]].T
        likelihood /= likelihood.sum(axis=1, keepdims=True)
        now = self.standing()
        expected = np.zeros(len(rows))
        for label in range(len(self.pool.classes)):
            best = self._best_if(codes == label, label)
            after = now + self._marginal[label] * (best - self._best[label])
            after = np.maximum(after, 1e-12)
            expected -= likelihood[:, label] * (after * np.log(after)).sum(axis=1)
        found[rows] = -expected
        return found

    def _recount(self, label: int | None = None) -> None:
        """Compute the class shares and the chance of each model to be best within a class, shape (classes, k)."""
        classes = len(self.pool.classes)
        if label is None:
            votes = np.bincount(self.pool.codes.ravel(), minlength=classes)
            self._marginal = votes / votes.sum()
            self._best = np.zeros((classes, self.pool.models))
        nobody = np.zeros((1, self.pool.models))
        for place in range(classes) if label is None else (label,):
            self._best[place] = self._best_if(nobody, place, weight=0.0)[0]

    def _best_if(self, right: np.ndarray, label: int, weight: float = 1.0) -> np.ndarray:
        """Return the chance of each model to be best in a class after one more label of it, shape (rows, k)."""
        diagonal = self._mass[:, label, label]
        rest = self._mass[:, label].sum(axis=1) - diagonal
        density = [_beta(diagonal, rest + weight), _beta(diagonal + weight, rest)]
        below = [np.log(np.maximum(np.cumsum(d, axis=1) - d / 2, 1e-30)) for d in density]
        all_below = right @ (below[1] - below[0]) + below[0].sum(axis=0)
        odds = [np.log(np.maximum(d, 1e-30)) - b for d, b in zip(density, below, strict=True)]
        top = np.exp(all_below)
        chance = np.where(right, top @ np.exp(odds[1]).T, top @ np.exp(odds[0]).T)
        return chance / np.maximum(chance.sum(axis=1, keepdims=True), 1e-300)


def _beta(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Beta densities on the grid, shape (models, points), each summing to 1."""
    logs = (a[:, None] - 1) * np.log(GRID) + (b[:, None] - 1) * np.log1p(-GRID)
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    return density / density.sum(axis=1, keepdims=True)
