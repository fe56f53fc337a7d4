"""Two categories of many values that decide together: no goal is called unrealistic then."""

import numpy as np
import pandas as pd

from easeml.lifecycle.feasibility import bayes_error
from easeml.lifecycle.feasibility.columns import read_columns
from easeml.lifecycle.feasibility.products import say_more_together


def world(
    seed: int, rows: int = 1200, values: int = 60
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return inputs, whether two hashes differ, and what one of them decides alone; 2 % noise."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, values, (2, rows))
    bits = rng.integers(0, 2, (2, values))
    noise = rng.random(rows) < 0.02
    columns = {
        "user": np.char.add("u", first.astype(str)),
        "place": np.char.add("p", second.astype(str)),
        "x": rng.normal(size=rows),
    }
    alone = bits[0][first]
    return pd.DataFrame(columns), (alone ^ bits[1][second]) ^ noise, alone ^ noise


def test_what_two_categories_say_together_is_seen_and_what_one_says_is_not() -> None:
    together, alone = 0, 0
    for seed in range(40):
        inputs, both, one = world(seed)
        columns = read_columns(inputs)
        together += say_more_together(columns, both, 2, np.random.default_rng(seed))
        alone += say_more_together(columns, one, 2, np.random.default_rng(seed))
    assert together == 40
    assert alone <= 4  # one is expected


def test_a_goal_that_two_hashes_reach_is_not_called_unrealistic() -> None:
    inputs, both, _ = world(0, rows=500, values=30)
    found = bayes_error(inputs, both.astype(str), goal=0.97)
    assert found.verdict == "cannot tell"
    assert found.lower <= 0.02 <= found.upper
    assert any("say together" in note for note in found.notes)
