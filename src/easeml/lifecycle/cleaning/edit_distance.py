"""Edit distance (compiled)."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.compiled import njit


@njit(cache=True)
def edit_distance(left, right, limit):
    """Levenshtein distance of two arrays of character codes; ``limit + 1`` where it is larger."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    previous = np.arange(len(right) + 1)
    current = np.empty_like(previous)
    for i in range(1, len(left) + 1):
        current[0] = i
        least = i
        for j in range(1, len(right) + 1):
            swap = previous[j - 1] + (left[i - 1] != right[j - 1])
            current[j] = min(swap, previous[j] + 1, current[j - 1] + 1)
            least = min(least, current[j])
        if least > limit:
            return limit + 1
        previous, current = current, previous
    return previous[len(right)]
