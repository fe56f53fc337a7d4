"""A small world with known truth for the tests of monitoring."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from easeml.lifecycle.monitoring import Batch, Labelled, Query


@dataclass(frozen=True)
class World:
    inputs: pd.DataFrame
    predicted: np.ndarray
    scores: np.ndarray
    labels: np.ndarray

    @property
    def quality(self) -> float:
        return float((self.predicted == self.labels).mean())

    def batch(self) -> Batch:
        return Batch(self.inputs, self.predicted, self.scores)

    def labelled(self, query: Query) -> Batch:
        return replace(self.batch(), labelled=Labelled(query, self.labels[query.rows]))


def world(rows: int, seed: int, *, shift: float = 0.0, flipped: float = 0.0) -> World:
    """A model that is sure of itself everywhere but wrong more often where ``hard`` is large.

    ``shift`` moves the inputs towards the hard region (labels' cause is in the data); ``flipped``
    is the share of labels that a new concept turns over (nothing in the data tells).
    """
    rng = np.random.default_rng(seed)
    hard, other = rng.normal(shift, 1, rows), rng.normal(0, 1, rows)
    group = rng.choice(["a", "b", "c"], rows)
    scores = 1 / (1 + np.exp(-3 * other))
    predicted = (scores > 0.5).astype(int)
    wrong = rng.random(rows) < 0.5 / (1 + np.exp(-2 * hard))
    wrong ^= rng.random(rows) < flipped
    inputs = pd.DataFrame({"hard": hard, "other": other, "group": group})
    return World(inputs, predicted, scores, np.where(wrong, 1 - predicted, predicted))
