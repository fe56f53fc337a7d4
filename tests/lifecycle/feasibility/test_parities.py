"""What the parity of every set of columns explains, against counting."""

import numpy as np
import pytest

from easeml.lifecycle.feasibility.parities import parity_gains, set_sizes


@pytest.mark.parametrize(("columns", "lines"), [(1, 1), (3, 2), (6, 1)])
def test_gains_are_those_of_counting(columns: int, lines: int):
    rng = np.random.default_rng(columns)
    halves = rng.integers(0, 2, (columns, 50))
    left = rng.normal(size=(lines, 50))
    gains = parity_gains(halves, left)
    for number in range(2**columns):
        members = [column for column in range(columns) if number >> column & 1]
        signs = np.where(halves[members].sum(axis=0) % 2, -1, 1)
        assert gains[number] == pytest.approx(((left * signs).sum(axis=1) ** 2).sum() / 50)
        assert set_sizes(columns)[number] == len(members)
