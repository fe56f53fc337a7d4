"""The best that any model can reach moves by no more than the share of rows that changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.lifecycle.questions.bounds import bounds_after

ROW = st.tuples(st.integers(0, 3), st.integers(0, 2))
"""An input and its class."""


def best_accuracy(rows: list[tuple[int, int]]) -> float:
    """Return the accuracy of the best of all models: the most frequent class of each input."""
    counts = np.zeros((4, 3))
    for x, y in rows:
        counts[x, y] += 1
    return counts.max(axis=1).sum() / len(rows)


@settings(deadline=None, max_examples=50)
@given(
    rows=st.lists(ROW, min_size=20, max_size=40),
    others=st.lists(st.tuples(st.integers(0, 19), ROW), max_size=3),
    more=st.lists(ROW, max_size=3),
)
def test_bounds_hold_whatever_became_of_the_rows(
    rows: list[tuple[int, int]],
    others: list[tuple[int, tuple[int, int]]],
    more: list[tuple[int, int]],
) -> None:
    best = best_accuracy(rows)
    changed = list(rows)
    for place, row in others:
        changed[place] = row
    now = best_accuracy([*changed, *more])
    share = (len(others) + len(more)) / len(rows)
    wide = 5.1 * share + 1e-9  # so that the share is less than a tenth of what is between
    found = bounds_after(best - wide, best + wide, share)
    assert found is not None
    assert found[0] <= now <= found[1]
    assert abs(now - best) <= share + 1e-12


@pytest.mark.parametrize(
    ("share", "goal", "verdict", "found"),
    [
        (0.009, 0.78, "realistic", (0.791, 0.909)),
        (0.009, 0.795, "realistic", None),
        (0.009, 0.92, "unrealistic", (0.791, 0.909)),
        (0.009, 0.905, "unrealistic", None),
        (0.009, 0.85, "cannot tell", (0.791, 0.909)),
        (0.011, None, "", None),
    ],
)
def test_a_verdict_does_not_outlive_its_reason(
    share: float, goal: float | None, verdict: str, found: tuple[float, float] | None
) -> None:
    bounds = bounds_after(0.8, 0.9, share, goal, verdict)
    assert bounds == (None if found is None else pytest.approx(found))
