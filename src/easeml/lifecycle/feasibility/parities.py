"""Parities of many columns: all sets of columns at once, by the fast Walsh-Hadamard transform.

What no smaller set of two-valued columns shows is a parity: the other functions of a set have a
part that a subset shows (Fourier expansion of Boolean functions, O'Donnell, 2014, chapter 1).
"""

from __future__ import annotations

import numpy as np

MOST_COLUMNS = 16  # the transform takes time and memory of 2^columns


def parity_gains(halves: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return (2^columns,) what the parity of every set of columns explains of the rows' values.

    A set's number has the bit of each of its columns. The gain of values without a pattern is
    chi-squared, of as many degrees of freedom as there are lines in ``left``.

    Args:
        halves: (columns, rows) 0 or 1; at most ``MOST_COLUMNS`` columns.
        left: (lines, rows) values of mean 0 and variance 1.
    """
    columns, rows = halves.shape
    place = (halves << np.arange(columns)[:, None]).sum(axis=0)
    gains = np.zeros(2**columns)
    for values in left:
        sums = np.bincount(place, values, minlength=2**columns)
        gains += _walsh_hadamard(sums) ** 2 / rows
    return gains


def set_sizes(columns: int) -> np.ndarray:
    """Return (2^columns,) how many columns each set has."""
    return np.bitwise_count(np.arange(2**columns))


def _walsh_hadamard(values: np.ndarray) -> np.ndarray:
    """Return for every set the sum of values, with the sign of the set's parity."""
    width = 1
    while width < len(values):
        pairs = values.reshape(-1, 2, width)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        width *= 2
    return values
