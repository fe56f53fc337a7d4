"""Numbers of a target that slipped by a factor: a note says so before models are chosen by them."""

import numpy as np
import pyarrow as pa
import pytest

from easeml import data


def far_notes(prices: list[str]) -> list[str]:
    """Return the notes on a target that are about numbers far from the others."""
    sizes = [str(row / 7) for row in range(len(prices))]
    found = data.infer_table(pa.table({"size": sizes, "price": prices}), "price")
    return [note for note in found.notes if "far from all others" in note]


def prices(slipped: int, factor: float = 10.0) -> list[str]:
    """Return 400 prices, evenly spread by their logarithm, of which the first slipped by a factor."""
    found = 150_000 * np.exp(np.random.default_rng(0).normal(0, 0.3, 400))
    found[:slipped] *= factor
    return [f"{price:.0f}" for price in found]


@pytest.mark.parametrize("slipped", [8, 20])
def test_who_has_slips_in_the_target_is_told_before_models_are_chosen_by_them(slipped: int) -> None:
    table = prices(slipped)
    (note,) = far_notes(table)
    assert int(note.split("'price': ")[1].split()[0]) in range(slipped - 1, slipped + 1)
    assert "of the variance" in note
    furthest = max(table, key=float)
    assert f"{furthest} in row {table.index(furthest)} " in note


def test_a_slip_that_decides_nothing_and_a_long_tail_are_no_news() -> None:
    assert far_notes(prices(0)) == []
    assert far_notes(prices(8, factor=0.1)) == []  # too small to be much of the variance
    tail = np.exp(np.random.default_rng(1).normal(0, 1.5, 400))
    assert far_notes([f"{one:.4f}" for one in tail]) == []
    assert far_notes(["5"] * 300 + [str(row) for row in range(100)]) == []


def test_numbers_that_are_hardly_there_tell_no_spread() -> None:
    assert far_notes(["1", "2", "3", "4", "5"] * 3 + ["1000000"]) == []
    assert far_notes(["1.5"] * 39 + ["90000"] + [""] * 20) == []
