"""What is said of a part of a long table names the rows of the table."""

import pytest

from easeml.client.parts import error_in_table, in_table, notes_of
from easeml.contract.applications import Prediction
from easeml.errors import InvalidInput


def answer(rows: int, *notes: str, model: str = "forest") -> Prediction:
    return Prediction(
        model_id=f"mod_{model}", model_name=model, predictions=[1] * rows, notes=list(notes)
    )


def test_a_fault_in_a_later_part_names_the_row_of_the_table():
    assert in_table("bad.", "row 7, column 'x'", 0) == ("bad.", "row 7, column 'x'")
    assert in_table("bad.", "row 7, column 'row 1'", 10_000) == (
        "bad.",
        "row 10007, column 'row 1'",
    )
    said, where = in_table("- row 3, column 'x': bad.\n", "", 20_000)
    assert said.endswith("bad. Here rows are counted from row 20,000 of the table.")
    assert where == ""


def test_an_error_keeps_its_kind_and_its_remedy():
    error = InvalidInput("it is missing.", where="row 1, column 'x'", remedy="Fill it.")
    found = error_in_table(error, 4)
    assert isinstance(found, InvalidInput)
    assert (found.where, found.remedy) == ("row 5, column 'x'", "Fill it.")


@pytest.mark.parametrize("rows", [1, 3])
def test_notes_of_parts_count_from_their_first_row(rows: int):
    found = notes_of([answer(rows, "new", "row 0: odd."), answer(1, "new", "row 0: odd.")])
    later = f"row 0: odd. Here rows are counted from row {rows} of the table."
    assert found == ["new", "row 0: odd.", later]


def test_another_model_that_answers_later_parts_is_said_once():
    found = notes_of([answer(2), answer(2, model="ridge"), answer(2, model="ridge")])
    assert found == ["From some row on the model was ridge: it went live."]


def test_notes_on_some_of_the_rows_are_added_up():
    parts = [
        answer(2, "2 rows are later than all.", "2 rows are above all."),
        answer(2, "1 row is later than all."),
        answer(2, "1,999 rows are later than all."),
    ]
    assert notes_of(parts) == ["2,002 rows are later than all.", "2 rows are above all."]
    assert notes_of(parts[1:2]) == ["1 row is later than all."]
