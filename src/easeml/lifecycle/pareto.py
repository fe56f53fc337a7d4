"""Which of several things are best in some way: no other is as good in all and better in one."""

from collections.abc import Sequence

import numpy as np


def front(values: Sequence[Sequence[float]], lower_is_better: Sequence[bool]) -> list[bool]:
    """Return for each row of ``values`` (n rows, one column a measure) whether it is on the front.

    Rows that are alike are all on it or all not. ``lower_is_better``: by column. Source: the
    definition of Pareto dominance; O(n^2) comparisons of rows.
    """
    if not values:
        return []
    signs = np.where(lower_is_better, 1.0, -1.0)
    losses = np.asarray(values, dtype=float) * signs
    found = []
    for one in losses:
        as_good = (losses <= one).all(axis=1)
        better = (losses < one).any(axis=1)
        found.append(not bool((as_good & better).any()))
    return found
