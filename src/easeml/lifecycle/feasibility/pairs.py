"""Rows that share a value which alone decides: what their labels say of the least error, at once.

Two rows of one cell are neighbours at distance 0, as with endless rows. So the bound of Cover and
Hart (1967) holds of them as it stands: no learning curve has to be continued.
"""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.feasibility.bounds import lower_bound

FEWEST_CELLS = 20  # cells of two rows or more, below which they say too little of each other


def pair_floors(
    levels: np.ndarray, target: np.ndarray, classes: int, draws: int, rng: np.random.Generator
) -> np.ndarray | None:
    """Return bounds of the Bayes error from below, (draws,), the first of the cells as they are.

    The others are of bootstrap samples of the cells. Rows alone in their cell count as no errors.
    None where fewer than ``FEWEST_CELLS`` cells hold two rows.

    Args:
        levels: (rows,) cells, numbers from 0: what decides, as far as anything was found.
        target: (rows,) class numbers from 0.
        classes: their number, 2 or more.
    """
    cells = int(levels.max()) + 1
    table = np.zeros((cells, classes))
    np.add.at(table, (levels, target), 1)
    sizes = table.sum(axis=1)
    table, sizes = table[sizes >= 2], sizes[sizes >= 2]
    if len(sizes) < FEWEST_CELLS:
        return None
    agreeing = (table * (table - 1)).sum(axis=1) / (sizes * (sizes - 1))
    even = np.full(len(sizes), 1 / len(sizes))
    samples = np.vstack([np.ones(len(sizes)), rng.multinomial(len(sizes), even, draws - 1)])
    apart = samples @ (sizes * (1 - agreeing)) / (samples @ sizes)
    paired = float(sizes.sum()) / len(levels)
    return np.array([paired * lower_bound(min(1.0, float(share)), classes) for share in apart])
