"""What the labels say of the models, without trusting the label model.

Unbiased sums, and how far to follow them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Estimates:
    """Running moments of unbiased estimates of how many examples each of k models has right.

    Each label gives one: what was known before it, plus the surprise divided by the chance with
    which its example was drawn (Horvitz and Thompson 1952; with a model for the rest, the
    difference estimator of Cassel, Särndal and Wretman 1976). Later ones are weighted more, by
    their number, because the model that they correct has learned more.
    """

    weight: float
    squared_weight: float
    mean: np.ndarray
    products: np.ndarray
    labels: int

    @classmethod
    def none(cls, models: int) -> Estimates:
        """Return the moments before any label."""
        return cls(0.0, 0.0, np.zeros(models), np.zeros((models, models)), 0)

    def with_one(self, right: np.ndarray) -> Estimates:
        """Return the moments with one more unbiased estimate, shape (k,)."""
        labels = self.labels + 1
        centred = right - right.mean()
        return Estimates(
            weight=self.weight + labels,
            squared_weight=self.squared_weight + labels**2,
            mean=self.mean + labels * centred,
            products=self.products + labels * np.outer(centred, centred),
            labels=labels,
        )

    def correct(self, believed: np.ndarray) -> np.ndarray:
        """Return what is believed of each model, moved towards the estimates where they contradict.

        ``believed``: examples that each model is expected to have right, shape (k,). The gap of a
        model to the leader moves by the share 1 - ``DOUBTED`` / z^2 of the difference, z its number
        of standard errors (James and Stein's shrinkage, its positive part): chance is ignored, a
        contradiction is followed. Gaps are to the leader, so they are taken anew where it changes.
        """
        if self.labels < FEWEST:
            return believed
        leader = int(believed.argmax())
        gaps = self._gaps(believed, leader)
        for _ in range(CHANGES):
            other = int(gaps.argmax())
            if gaps[other] <= 0:
                break
            leader = other
            gaps = self._gaps(believed, leader)
        return gaps

    def lags(self, leader: int) -> np.ndarray:
        """Return how far each model lags behind the leader, in standard errors, at least 0, (k,)."""
        if self.labels < FEWEST:
            return np.zeros(len(self.mean))
        gaps, error = self._estimated(leader)
        return np.maximum(-gaps, 0) / np.sqrt(error)

    def _gaps(self, believed: np.ndarray, leader: int) -> np.ndarray:
        """Return how many more examples each model has right than the leader, corrected."""
        estimated, error = self._estimated(leader)
        expected = believed - believed[leader]
        surprise = estimated - expected
        followed = np.clip(1 - DOUBTED * error / np.maximum(surprise**2, 1e-9), 0, 1)
        return expected + followed * surprise

    def _estimated(self, leader: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated gaps to the leader, and their squared standard errors."""
        mean = self.mean / self.weight
        gaps = mean - mean[leader]
        own = np.diag(self.products)
        squares = own + own[leader] - 2 * self.products[leader]
        spread = np.maximum(squares / self.weight - gaps**2, 0)
        independent = self.weight**2 / self.squared_weight
        return gaps, np.maximum(spread / max(independent - 1, 1), 1e-9)


FEWEST = 3
"""Labels before which a spread says nothing."""

DOUBTED = 0.25
"""Share of the squared standard error that counts as chance: below half an error beliefs stay.

With 1, as if beliefs were right on average, all models but the best may share a mistake unseen: on
the pool ``stale`` of ``benchmarks/picking_pools.py`` the choice is then worse than by random labels.
"""

CHANGES = 4
"""Changes of the leader that are followed, at most: two may lead each other in turn."""
