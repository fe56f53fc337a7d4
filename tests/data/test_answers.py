"""Answers of people about a version."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest

from easeml.data import DatasetError, Declared, answered, declare, infer_table


@pytest.fixture
def version() -> Declared:
    sizes = [f"{size}.5" for size in range(40)]
    kinds = ["", "", *["big", "small"] * 19]
    table = pa.table({"size": sizes, "kind": kinds})
    return declare(table, infer_table(table).columns, "kind")


def test_a_labelled_row_of_the_pool_trains_and_nothing_else_moves(version: Declared):
    assert list(version.frames["pool"]["_row"]) == [0, 1]
    made = answered(version, {1: "big"}, [])
    assert list(made.frames["pool"]["_row"]) == [0]
    assert made.frames["train"].iloc[-1].to_dict() == {"_row": 1, "size": 1.5, "kind": "big"}
    assert made.summary["train"] == version.summary["train"] + 1
    assert made.summary["added"] == {"train": 1}
    for role in ("validation", "test"):
        pd.testing.assert_frame_equal(made.frames[role], version.frames[role])
    assert version.frames["pool"]["kind"].isna().all()  # the version before is as it was


def test_a_label_and_a_cell_are_corrected(version: Declared):
    row = int(version.frames["train"]["_row"].iloc[3])
    made = answered(version, {row: "small"}, [(row, "size", "7.25")])
    train = made.frames["train"].set_index("_row")
    assert (train.at[row, "kind"], train.at[row, "size"]) == ("small", 7.25)
    assert made.frames["train"].dtypes.equals(version.frames["train"].dtypes)


@pytest.mark.parametrize("role", ["validation", "test"])
def test_of_rows_that_judge_models_answers_are_corrected_and_counted(version: Declared, role: str):
    row = int(version.frames[role]["_row"].iloc[0])
    before = version.frames[role].set_index("_row")
    other = "small" if before.at[row, "kind"] == "big" else "big"
    made = answered(version, {row: other, 1: "big"}, [])
    after = made.frames[role].set_index("_row")
    assert after.at[row, "kind"] == other
    assert after.drop(row).equals(before.drop(row))
    others = {"validation": 0, "test": 0}
    assert made.summary["corrected"] == {**others, role: 1}
    lasting = answered(made, {0: "small"}, [])
    assert lasting.summary["corrected"] == {**others, role: 1}
    back = answered(made, {row: str(before.at[row, "kind"])}, [])
    assert back.summary["corrected"] == {**others, role: 2}
    assert made.summary[role] == version.summary[role]


def test_an_answer_that_says_what_stood_there_corrects_nothing():
    prices = list(map(str, range(100, 140)))
    table = pa.table({"kind": ["big", "small"] * 20, "price": prices})
    version = declare(table, infer_table(table).columns, "price")
    row = int(version.frames["test"]["_row"].iloc[0])
    same = answered(version, {row: f"{100 + row}.00"}, [])
    assert same.summary["corrected"] == {"validation": 0, "test": 0}
    assert same.frames["test"].equals(version.frames["test"])
    other = answered(same, {row: "1"}, [])
    assert other.summary["corrected"] == {"validation": 0, "test": 1}


@pytest.mark.parametrize("role", ["validation", "test"])
def test_no_cell_of_a_row_that_judges_models_is_repaired(version: Declared, role: str):
    row = int(version.frames[role]["_row"].iloc[0])
    with pytest.raises(DatasetError, match="no train or pool row"):
        answered(version, {}, [(row, "size", "7.25")])


@pytest.mark.parametrize(("column", "value"), [("kind", "huge"), ("size", "wide")])
def test_values_that_cannot_be_are_refused(version: Declared, column: str, value: str):
    row = int(version.frames["train"]["_row"].iloc[0])
    labels = {row: value} if column == "kind" else {}
    cells = [] if column == "kind" else [(row, column, value)]
    with pytest.raises(DatasetError, match=value):
        answered(replace(version), labels, cells)


def test_a_date_is_read_as_its_column_writes_it_or_as_people_are_shown_it():
    days = [f"{day:02}.{month:02}.2020" for month in (1, 2) for day in range(1, 29)]
    table = pa.table({"day": days, "kind": ["big", "small"] * 28})
    version = declare(table, infer_table(table).columns, "kind")
    row = int(version.frames["train"]["_row"].iloc[0])

    for text in ("02.03.2020", "2020-03-02 00:00:00"):
        train = answered(version, {}, [(row, "day", text)]).frames["train"].set_index("_row")
        assert train.at[row, "day"] == pd.Timestamp(2020, 3, 2)
        assert train["day"].dtype == version.frames["train"]["day"].dtype
    with pytest.raises(DatasetError, match="'soon' is not a date or time"):
        answered(version, {}, [(row, "day", "soon")])
