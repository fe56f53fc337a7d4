"""Numbers of which some are written in another unit: a note says that they are learned as words."""

import pyarrow as pa
import pytest

from easeml import data


def notes_on(cells: list[str], name: str = "tenure") -> list[str]:
    """Return the notes on a column beside a target."""
    answers = [("yes", "no")[row % 2] for row in range(len(cells))]
    found = data.infer_table(pa.table({name: cells, "answer": answers}), "answer")
    return [note for note in found.notes if f"'{name}'" in note]


def months(odd: int) -> list[str]:
    """Return 600 numbers of months, of which so many are years."""
    plain = [str(1 + (7 * row) % 60) for row in range(600)]
    return [f"{row % 40 / 10} years" if row < odd else cell for row, cell in enumerate(plain)]


@pytest.mark.parametrize("odd", [36, 55])
def test_who_mixes_units_is_told_before_anything_is_learned(odd: int) -> None:
    """Of 600 cells 36 are in years: 60 numbers became classes, without a word about it."""
    (note,) = notes_on(months(odd))
    assert "'tenure' is taken as a category" in note
    assert "but for values such as '0.0 years'" in note
    assert "write all cells in one unit" in note


def test_words_beside_a_few_numbers_are_no_mistake() -> None:
    assert notes_on([f"{row % 3}" if row % 10 else "many" for row in range(600)]) == []
    assert notes_on(["none" if row % 10 else "guarantor" for row in range(600)], "debtors") == []
