"""Would estimates without labels have been right? Tried on the reference's own past."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np

from easeml.lifecycle.monitoring._estimators import estimate, learn
from easeml.lifecycle.result import Progress

BLOCKS = 8
PRIOR = 8.0
LEAST_BLOCK = 30
LEAST_SEPARATION = 0.65
EXCESS = 0.2
ROWS = 2500
TREES = 30


@dataclass(frozen=True)
class Trust:
    """What back-testing taught. ``share``: how far to follow the estimate away from the reference quality, in [0, 1];
    ``drift``: standard deviation of what neither explains, beyond chance; ``step``: that of its change from one block
    to the next; ``separation``: the greatest shift that was tried; ``blocks``: how many."""

    share: float
    drift: float
    step: float
    separation: float
    blocks: int

    def beyond(self, separation: float, move: float) -> float:
        """Return the standard deviation to add for a shift greater than all that was tried; 0 for others.

        Half the move away from the reference that the rows suggest, and 0.2 times the excess of separation: nothing
        that was seen supports either the estimate or the reference quality there.
        """
        excess = separation - max(self.separation, LEAST_SEPARATION)
        return 0.0 if excess <= 0 else hypot(move / 2, EXCESS * excess)


def backtest(
    features: np.ndarray,
    right: np.ndarray,
    scores: np.ndarray | None,
    codes: np.ndarray,
    *,
    seed: int,
    blocks: int = BLOCKS,
    progress: Progress | None = None,
) -> Trust:
    """Leave out one block of successive reference rows after the other and estimate its quality from the rest.

    ``share`` is the least-squares slope of (truth - constant) on (doubly robust - constant) through the origin, drawn
    to 1 by a prior worth eight times the chance variation (a standard deviation of 0.35): a reference without shifts
    says nothing against the estimate.
    """
    count = min(blocks, len(right) // LEAST_BLOCK)
    if count < 3 or right.min() == right.max():
        return Trust(1.0, 0.0, 0.0, 0.5, 0)
    parts = np.array_split(np.arange(len(right)), count)
    moves, truths, chances, separations = [], [], [], []
    for number, part in enumerate(parts):
        rest = np.setdiff1d(np.arange(len(right)), part)
        rest = rest[:: -(-len(rest) // ROWS)]
        part_scores = None if scores is None else scores[part]
        reference = learn(features[rest], right[rest], None, codes[rest], seed=seed, trees=TREES)
        found, _, shift = estimate(reference, features[part], part_scores, codes[part])
        moves.append(found.doubly_robust - found.constant)
        truths.append(float(right[part].mean()) - found.constant)
        chances.append(found.spread**2)
        separations.append(shift.separation)
        if progress is not None:
            progress((number + 1) / (count + 1))
    x, y, noise = np.array(moves), np.array(truths), np.array(chances)
    prior = PRIOR * float(noise.mean())
    share = float(np.clip((x @ y + prior) / (x @ x + prior), 0, 1))
    left = y - share * x
    drift = max(0.0, float(np.mean(left**2 - noise)))
    step = max(0.0, float(np.mean(np.diff(left) ** 2 / 2)) - float(noise.mean()))
    return Trust(share, drift**0.5, step**0.5, max(separations), count)
