"""Would estimates without labels have been right? Tried on the reference's own past."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np

from easeml.lifecycle.monitoring.estimators import estimate, learn
from easeml.lifecycle.monitoring.tracking import Offset
from easeml.lifecycle.result import Progress, listener

BLOCKS = 8
PRIOR = 8.0
LEAST_BLOCK = 30
LEAST_SEPARATION = 0.65
EXCESS = 0.1
MOVE = 0.25
ROWS = 2500
TREES = 30


@dataclass(frozen=True)
class Trust:
    """What back-testing taught.

    ``share``: how far to follow the estimate away from the reference quality, in [0, 1]; ``drift``:
    standard deviation of what neither explains, beyond chance; ``step``: that of its growth over
    one block of rows; ``separation``: the greatest shift that was tried; ``blocks``: how many there
    were; ``block``: rows of one.
    """

    share: float
    drift: float
    step: float
    separation: float
    blocks: int
    block: int

    def beyond(self, separation: float, move: float) -> float:
        """Return the standard deviation to add for a shift beyond all that was tried; 0 for others.

        A quarter of the move away from the reference that the rows suggest, and 0.1 times the
        excess of separation: nothing that was seen supports either the estimate or the reference
        quality there. Both were chosen on streams with shifts of known size
        (`benchmarks/monitoring.py`), so that the intervals hold 95 % of the truths.
        """
        excess = separation - max(self.separation, LEAST_SEPARATION)
        return 0.0 if excess <= 0 else hypot(MOVE * move, EXCESS * excess)

    def offset(self, since: int, rows: int) -> Offset:
        """Return what is known of the estimate's offset on ``rows`` rows.

        They end ``since`` rows after the reference.

        The older the labels, the less they say: the variance grows by ``step**2`` a block.
        """
        return Offset(
            0.0,
            self.drift**2 + self.step**2 * since / self.block,
            self.step * sqrt(rows / self.block),
        )


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
    """Learn from the first half of the blocks or more; estimate the quality of each later one.

    So does a monitor live: it knows the past, and the present moves away from it (rolling-origin
    evaluation; Tashman 2000). ``share`` is the least-squares slope of (truth - constant) on (doubly
    robust - constant) through the origin, drawn to 1 by a prior worth eight times the chance
    variation (a standard deviation of 0.35): a reference without shifts says nothing against the
    estimate. What is left, squared and less chance, is ``drift**2 + step**2 * lag``, by least
    squares over the lags (in blocks), neither negative.
    """
    count = min(blocks, len(right) // LEAST_BLOCK)
    if count < 3 or right.min() == right.max():
        return Trust(1.0, 0.0, 0.0, 0.5, 0, max(1, len(right)))
    tell = listener(progress)
    parts = np.array_split(np.arange(len(right)), count)
    lags, moves, truths, chances, separations = [], [], [], [], []
    for first in range(max(2, count // 2), count):
        past = np.concatenate(parts[:first])
        past = past[:: -(-len(past) // ROWS)]
        reference = learn(features[past], right[past], None, codes[past], seed=seed, trees=TREES)
        for lag, part in enumerate(parts[first:], start=1):
            part_scores = None if scores is None else scores[part]
            found, _, shift = estimate(reference, features[part], part_scores, codes[part])
            lags.append(lag)
            moves.append(found.doubly_robust - found.constant)
            truths.append(float(right[part].mean()) - found.constant)
            chances.append(found.spread**2)
            separations.append(shift.separation)
        tell((first + 1) / (count + 1))
    x = np.array(moves)
    y = np.array(truths)
    noise = np.array(chances)
    prior = PRIOR * float(noise.mean()) * len(x) / count  # pairs of blocks, not blocks
    share = float(np.clip((x @ y + prior) / (x @ x + prior), 0, 1))
    drift, step = _growth(np.array(lags), (y - share * x) ** 2 - noise)
    return Trust(share, drift, step, max(separations), count, len(parts[0]))


def _growth(lags: np.ndarray, excess: np.ndarray) -> tuple[float, float]:
    """Return (drift, step) so that ``drift**2 + step**2 * lag`` is nearest to ``excess``.

    Both are standard deviations.
    """
    from scipy.optimize import nnls

    solution, _ = nnls(np.column_stack([np.ones(len(lags)), lags]), excess)
    return sqrt(solution[0]), sqrt(solution[1])
