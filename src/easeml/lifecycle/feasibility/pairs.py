"""Rows that share a value which alone decides: what their labels say of the least error, at once.

Two rows of one cell are neighbours at distance 0, as with endless rows. So the bound of Cover and
Hart (1967) holds of them as it stands: no learning curve has to be continued.
"""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.feasibility.bounds import lower_bound

FEWEST_CELLS = 20  # cells of two rows or more, below which they say too little of each other
SURE = 2.0  # standard errors by which a cell is surely more mixed than all are


def pair_floors(
    levels: np.ndarray, target: np.ndarray, classes: int, draws: int, rng: np.random.Generator
) -> np.ndarray | None:
    """Return bounds of the Bayes error from below, (draws,), the first of the cells as they are.

    The others are of bootstrap samples of the cells. Rows alone in their cell count as no errors,
    and of a cell that is surely more mixed than all are, only as many as in the others.
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
    agreeing = _where_nothing_else_may_decide(agreeing, table)
    even = np.full(len(sizes), 1 / len(sizes))
    samples = np.vstack([np.ones(len(sizes)), rng.multinomial(len(sizes), even, draws - 1)])
    apart = samples @ (sizes * (1 - agreeing)) / (samples @ sizes)
    paired = float(sizes.sum()) / len(levels)
    return np.array([paired * lower_bound(min(1.0, float(share)), classes) for share in apart])


def _where_nothing_else_may_decide(agreeing: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the shares of pairs that agree (cells,); the usual of a cell that is surely mixed.

    Wrong labels come in all cells alike. Where one is more mixed, another column may decide there.
    ``table``: (cells, classes) rows.
    """
    sizes = table.sum(axis=1)
    usual = float(sizes @ agreeing / sizes.sum())
    shares = table / sizes[:, None]
    # the variance of a share of pairs (Hoeffding, Annals of Mathematical Statistics 19, 1948)
    spreads = (shares**3).sum(axis=1) - (shares**2).sum(axis=1) ** 2
    spread = 4 * float(sizes @ spreads / sizes.sum())
    errors = np.sqrt((spread + 1 / sizes) / sizes)
    return np.where(usual - agreeing > SURE * errors, usual, agreeing)
