"""What whole numbers leave when they are divided, such as a day of the week, or a check digit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from easeml.lifecycle.feasibility.columns import Column, whole_numbers
from easeml.lifecycle.feasibility.cuts import Cut, gains_of, may_be_chance, standardised, take_away

LARGEST = 100
"""The greatest divisor that is tried; cells of greater ones would have few rows."""
MOST_ROWS = 25_000  # above, no remainders are looked for: all cuts together fill the memory


def remainders(column: Column) -> list[Cut]:
    """Return the cut of a column by each divisor from 2 on; none of a column without whole numbers.

    A missing number has a cell of its own. Divisors above half the span tell nothing of their own.
    """
    numbers = whole_numbers(column)
    if numbers is None or len(numbers) > MOST_ROWS:
        return []
    missing = np.isnan(numbers)
    known = np.where(missing, 0, numbers)
    span = int(np.nanmax(numbers) - np.nanmin(numbers))
    found = []
    for divisor in range(2, min(LARGEST, span // 2) + 1):
        codes = np.where(missing, divisor, known % divisor).astype(np.int64)
        found.append(Cut(f"{column.name}, remainder by {divisor}", codes))
    return found


def explaining(cuts: Sequence[Sequence[Cut]], left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the cut that explains most of each column, where chance over all would not.

    ``cuts``: of each column. What they explain is taken away from ``left``, in place.
    """
    compared = sum(map(len, cuts))
    standard = standardised(left)
    found = []
    for of_column in filter(None, cuts):
        codes = np.stack([cut.codes for cut in of_column])[:, rows]
        sizes = codes.max(axis=1) + 1
        sets = np.arange(len(of_column))[:, None]
        gains, freedom = gains_of(codes, sizes, sets, standard)
        surprise = chi2.logsf(gains, np.maximum(freedom, 1))
        best = int(surprise.argmin())
        if not may_be_chance(float(surprise[best]), compared):
            found.append(of_column[best])
    take_away(found, left, rows)
    return found
