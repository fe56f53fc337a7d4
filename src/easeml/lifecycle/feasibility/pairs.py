"""Rows that share a value which alone decides: what their labels say of the least error, at once.

Rows of one cell are neighbours at distance 0, as with endless rows: no learning curve has to be
continued. But in some cells another column may decide, which nobody has found.
"""

from __future__ import annotations

import numpy as np

FEWEST_CELLS = 20  # cells of two rows or more, below which they say too little of each other
STEPS = 51  # errors that are weighed, from none to chance
OTHERS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)  # shares of cells in which more may be mixed
ALIKE = 0.5  # how likely it is, before a look, that all cells are alike
SMALLEST = 1e-300


def pair_floors(
    levels: np.ndarray, target: np.ndarray, classes: int, draws: int, rng: np.random.Generator
) -> np.ndarray | None:
    """Return what the least error may be by cells that decide (draws,); the first is the likeliest.

    Each cell has one answer, and wrong labels come in all cells alike. In a share of the cells, which
    may be none, labels are more mixed, since another column may decide there: these say nothing of
    wrong labels. Errors are drawn by how likely they make the cells, over all such shares and
    mixtures. So cells that differ are no reason to think that the least error is large. Rows alone
    in their cell count as no errors. None where fewer than ``FEWEST_CELLS`` cells hold two rows.

    Args:
        levels: (rows,) cells, numbers from 0: what decides, as far as anything was found.
        target: (rows,) class numbers from 0.
        classes: their number, 2 or more.
    """
    table = np.zeros((int(levels.max()) + 1, classes))
    np.add.at(table, (levels, target), 1)
    table = table[table.sum(axis=1) >= 2]
    if len(table) < FEWEST_CELLS:
        return None
    errors = np.linspace(0, (classes - 1) / classes, STEPS)
    likely = _likely(*_chances(table, errors, classes))
    found = rng.choice(errors, draws, p=likely)
    # between two steps all errors are alike
    found += errors[1] * (rng.random(draws) - 0.5)
    found[0] = errors[likely.argmax()]
    paired = float(table.sum()) / len(levels)
    return paired * np.clip(found, 0, errors[-1])


def _chances(table: np.ndarray, errors: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how likely each error makes a cell, (kinds, errors), and how many cells are so.

    Cells with the same numbers are one kind, whichever classes these are of. ``table``: (cells,
    classes) rows. Each class may be the cell's answer, and wrong labels are of the others alike.
    """
    kinds, cells = np.unique(np.sort(table, axis=1), axis=0, return_counts=True)
    wrong = kinds.sum(axis=1, keepdims=True) - kinds
    right_label = np.log1p(-errors)
    wrong_label = np.log(np.maximum(errors, SMALLEST) / (classes - 1))
    each = kinds[:, :, None] * right_label + wrong[:, :, None] * wrong_label
    logs = np.logaddexp.reduce(each, axis=1)
    return np.exp(logs - logs.max(axis=1, keepdims=True)) + SMALLEST, cells


def _likely(chances: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return how likely each error is, (errors,), whatever share of the cells is more mixed."""
    from scipy.special import logsumexp

    of_share = np.log((1 - ALIKE) / len(OTHERS))
    logs = []
    for place in range(chances.shape[1]):
        own = chances[:, [place]]
        more_mixed = chances[:, place:]
        ways = [np.log(ALIKE) + counts @ np.log(own)]
        for share in OTHERS:
            mixed = counts @ np.log((1 - share) * own + share * more_mixed)
            ways.append(of_share + mixed - np.log(mixed.size))
        logs.append(float(logsumexp(np.concatenate(ways))))
    return np.exp(logs - logsumexp(logs))
