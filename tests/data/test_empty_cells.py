"""Empty cells of rows to predict, in columns that had no empty one in training."""

from pathlib import Path
from typing import Any

import pytest

from easeml.data import (
    FILL_ABSENT,
    FILL_EMPTY,
    DatasetError,
    RowParts,
    parse_rows,
    permitted,
    read_table,
)

from .tables import body, declared

LACKING = {"age": 30, "job": None, "story": "went home", "born": "3/4/1990"}
WHOLE = {**LACKING, "job": "cook"}
HEADER = "age,job,story,born\n"


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = declared(tmp_path_factory.mktemp("people"))
    return made.schema_in, made.schema_out


def test_they_are_refused_with_the_permission_that_is_missing(sides: Any) -> None:
    for asked in ("", f"application/json; {FILL_ABSENT}"):
        with pytest.raises(DatasetError) as caught:
            parse_rows(body(WHOLE, LACKING), asked, *sides)
        assert caught.value.where == "row 1, column 'job'"
        assert "fill_empty=true in the query" in caught.value.remedy


def test_several_columns_are_told_with_one_permission_and_one_note(sides: Any) -> None:
    rows = [{**WHOLE, "job": None}, {**WHOLE, "story": None}]
    with pytest.raises(DatasetError) as caught:
        parse_rows(body(*rows), "", *sides)
    assert str(caught.value).count("fill_empty=true in the query") == 1
    read = parse_rows(body(*rows), f"application/json; {FILL_EMPTY}", *sides)
    assert len(read.notes) == 1
    assert "'job' in 1 row (row 0), 'story' in 1 row (row 1). " in read.notes[0]


@pytest.mark.parametrize("kind", ["application/json", "text/csv"])
def test_with_the_permission_all_rows_are_read_and_a_note_names_them(kind: str, sides: Any) -> None:
    rows = [WHOLE, LACKING, *[WHOLE] * 2, *[LACKING] * 3]
    lines = [",".join(str(cell or "") for cell in row.values()) for row in rows]
    content = (HEADER + "\n".join(lines)).encode() if kind == "text/csv" else body(*rows)
    read = parse_rows(content, f"{kind}; {FILL_EMPTY}", *sides)
    missing = read.frame["job"].isna()
    assert missing.tolist() == [row is LACKING for row in rows]
    assert read.notes == [
        "No value, where all training rows had one: 'job' in 4 rows (row 1, row 4, row 5, ...). "
        "These predictions are less certain than the test quality says."
    ]


def test_many_such_rows_are_counted(sides: Any) -> None:
    lines = ["30,,went home,3/4/1990"] * 250
    read = parse_rows((HEADER + "\n".join(lines)).encode(), f"text/csv; {FILL_EMPTY}", *sides)
    assert "'job' in 250 rows (row 0, row 1, row 2, ...). " in read.notes[0]


def test_an_absent_column_that_had_no_gaps_stays_refused(sides: Any) -> None:
    row = {name: value for name, value in WHOLE.items() if name != "job"}
    with pytest.raises(DatasetError, match="'job': the column is not there") as caught:
        parse_rows(body(row), f"application/json; {FILL_ABSENT}; {FILL_EMPTY}", *sides)
    assert "fill_" not in caught.value.remedy
    assert caught.value.remedy.startswith("Send it: ")
    assert caught.value.remedy.endswith("make an application that leaves it out.")


def test_a_long_file_is_read_alike(sides: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "30,cook,a,3/4/1990\n30,,b,3/4/1990\n30,,c,3/4/1990\n")
    assert read_table(path).num_rows == 3
    with pytest.raises(DatasetError, match="1 more row is like it"):
        list(RowParts(path, "t.csv", *sides).parts(1))
    read = RowParts(path, "t.csv", *sides, fill_empty=True)
    assert sum(typed.rows for _, typed in read.parts(1)) == 3
    assert "'job' in 2 rows (row 1, row 2). " in read.notes[0]


def test_the_query_of_a_request_permits_each_on_its_own() -> None:
    assert permitted({}) == ""
    assert permitted({"fill_empty": "true", "fill_absent": "no"}) == f"; {FILL_EMPTY}"
    assert permitted({"fill_absent": "1"}) == f"; {FILL_ABSENT}"
    # Ignored, it would look as if that model had answered.
    with pytest.raises(DatasetError, match="query: model"):
        permitted({"model": "logistic-2"})


@pytest.mark.parametrize("value", ["maybe", "", "2", "True "])
def test_what_a_query_asks_is_true_or_false(value: str) -> None:
    """Anything else was passed over: the answer came without what was asked for."""
    with pytest.raises(DatasetError, match=r"query: explain.* is neither true nor false"):
        permitted({"explain": value})
    assert permitted({"explain": "False", "fill_empty": "Yes"}) == f"; {FILL_EMPTY}"
