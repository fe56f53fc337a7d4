"""A commit that no labels within the budget could pass: by trying all that they could say."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.lifecycle.ci import Examples, can_pass, open_ledger, read_config

ROWS, DIFFER = 24, 9
CONDITIONS = (
    "n - o > 0 +/- 0.2",
    "o - n < 0.1 +/- 0.2",
    "n - o > -0.1 +/- 0.1 /\\ d < 0.9 +/- 0.05",
)


@given(st.integers(0, 10_000), st.sampled_from(CONDITIONS), st.integers(0, 7), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_no_other_labels_pass_where_the_best_ones_do_not(
    seed: int, condition: str, labels: int, bought: int
) -> None:
    rng = np.random.default_rng(seed)
    told = {"condition": condition, "reliability": 0.6, "adaptivity": "none", "difference": 0.5}
    ledger = open_ledger(read_config(told), np.zeros(ROWS, dtype=bool))
    differ = np.arange(ROWS) < DIFFER
    known = np.zeros(ROWS, dtype=bool)
    walk = [row for row in ledger.order() if differ[row]]
    known[walk[:bought]] = True
    right = (rng.random(ROWS) < 0.7).astype(float)
    examples = Examples(
        new=right, old=np.where(differ, 1 - right, right), differ=differ, known=known
    )
    wanted = walk[bought : bought + labels]

    def passes(said: tuple[int, ...]) -> bool:
        new, old, filled = examples.new.copy(), examples.old.copy(), known.copy()
        new[wanted], filled[wanted] = said, True
        old[wanted] = 1 - np.array(said, dtype=float)
        return ledger.test("x", Examples(new, old, differ, filled))[0].passed

    some_pass = any(map(passes, product((0, 1), repeat=len(wanted))))
    assert can_pass(ledger, "x", examples, labels) is some_pass


@pytest.mark.parametrize(
    ("metric", "condition"),
    [
        ("f1", "n - o > 0.5 +/- 0.01"),
        ("accuracy", "n > 0.9 +/- 0.01 \\/ o < 0.5 +/- 0.01 \\/ o > 0.9 +/- 0.01"),
    ],
)
def test_where_no_labels_are_the_best_nothing_is_given_up(metric: str, condition: str) -> None:
    told = {"condition": condition, "reliability": 0.99, "metric": metric, "adaptivity": "none"}
    ledger = open_ledger(read_config(told), np.zeros(4, dtype=bool))
    scores = np.zeros((4, 2)) if metric == "f1" else np.zeros(4)
    nothing = np.zeros(4, dtype=bool)
    assert can_pass(ledger, "x", Examples(scores, scores, ~nothing, nothing), 1)
