"""Which rows are evaluated, and in which order the others arrive.

Copies of a row stay on one side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

CROSS_FEW = 2500  # up to here all rows are evaluated, in five folds
CROSS_SOME = 8000  # up to here in three; above, one part is held out
MAX_EVALUATED = 5000


@dataclass(frozen=True)
class Fold:
    """Positions of rows: ``train`` in the order in which they arrive, ``test`` evaluated."""

    train: np.ndarray
    test: np.ndarray


def make_folds(strata: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> list[Fold]:
    """Deal groups of rows to parts, stratum by stratum; no group is ever on both sides.

    ``strata`` and ``groups``: (rows,) integers; a group counts to the stratum of one of its rows.
    Every fold tests another part; all folds together test each row at most once.
    """
    import numpy as np

    rows = len(strata)
    if rows <= CROSS_FEW:
        parts = folds = 5
    elif rows <= CROSS_SOME:
        parts = folds = 3
    else:
        parts = max(4, -(-rows // MAX_EVALUATED))
        folds = 1
    order = rng.permutation(rows)
    _, first, member = np.unique(groups[order], return_index=True, return_inverse=True)
    dealt = np.empty(len(first), dtype=np.int64)
    dealt[np.lexsort((first, strata[order][first]))] = np.arange(len(first)) % parts
    part = np.empty(rows, dtype=np.int64)
    part[order] = dealt[member]
    return [Fold(order[part[order] != fold], np.flatnonzero(part == fold)) for fold in range(folds)]


def stage_sizes(rows: int, classes: int, stages: int = 4) -> list[int]:
    """Return sizes that double up to ``rows``; the first is large enough to hold most classes."""
    sizes = [rows]
    while len(sizes) < stages and sizes[-1] // 2 >= max(40, 2 * classes):
        sizes.append(sizes[-1] // 2)
    return sizes[::-1]
