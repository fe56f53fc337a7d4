"""A table takes the place of all rows: declared alike, with rows that nobody knew before."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from easeml.data import DatasetError, Declared, declare, feed, infer_table
from easeml.data import replaced as replaced_by


def table(frame: pd.DataFrame) -> pa.Table:
    texts = frame.astype(object).where(frame.notna(), "").astype(str)
    return pa.Table.from_pandas(texts, preserve_index=False)


def replaced(version: Declared, table: pa.Table) -> Declared:
    return replaced_by(version, table, infer_table(table).columns, "new.csv")


def rows(count: int, **more: object) -> pd.DataFrame:
    numbers = range(count)
    return pd.DataFrame(
        {
            "size": [n + 0.5 for n in numbers],
            "grade": [str(n % 3) for n in numbers],
            "note": [f"n{n}" for n in numbers],
            "kind": ["ab"[n % 2] for n in numbers],
            **more,
        }
    )


@pytest.fixture
def version() -> Declared:
    """Rows whose grades are categories, though they look like numbers."""
    there = table(rows(60))
    reports = infer_table(there, "kind").columns
    return declare(there, reports, "kind", {"grade": "category"}, ["note"], [], 7)


def test_it_is_declared_as_the_version_was(version: Declared) -> None:
    found = replaced(version, table(rows(90)))
    assert found.schema_in.to_json()["nodes"] == version.schema_in.to_json()["nodes"]
    assert found.summary["rows"] == 90
    assert found.summary["seed"] == 7
    assert found.notes[0] == "90 rows took the place of 60 rows."
    again = declare(
        table(rows(90)),
        infer_table(table(rows(90)), "kind").columns,
        "kind",
        {"grade": "category"},
        ["note"],
        [],
        7,
    )
    for role, frame in again.frames.items():  # divided as a declaration of these rows would be
        pd.testing.assert_frame_equal(
            found.frames[role].drop(columns="_row"), frame.drop(columns="_row")
        )


def test_no_row_has_the_id_of_one_before(version: Declared) -> None:
    found = replaced(version, table(rows(60)))
    old = {row for frame in version.frames.values() for row in frame["_row"]}
    new = {row for frame in found.frames.values() for row in frame["_row"]}
    assert new == set(range(60, 120))
    assert old.isdisjoint(new)
    assert found.next_row == 120


def test_labels_that_came_and_went_and_new_columns_are_noted(version: Declared) -> None:
    other = rows(60, kind=["ac"[n % 2] for n in range(60)], colour=["red"] * 60)
    found = replaced(version, table(other))
    assert "Columns that were not there are not used: colour." in found.notes
    assert "'kind' has labels that it had not: c." in found.notes
    assert "'kind' has not any more: b." in found.notes


def test_another_table_is_refused_with_every_difference(version: Declared) -> None:
    other = rows(60).drop(columns="grade").assign(size="tall")
    with pytest.raises(DatasetError) as caught:
        replaced(version, table(other))
    assert "column 'grade' is missing" in str(caught.value)
    assert "column 'size' was number, and is not: 'tall', 60 of 60" in str(caught.value)


def test_rows_may_lack_what_is_not_known_ahead_also_after_all_rows_were_replaced() -> None:
    """Nobody sends such a column to an endpoint, so rows whose truth came are without it."""
    days = [f"2024-01-{day:02d}" for day in range(1, 31)]
    numbers = [f"{number}.5" for number in range(30)]
    whole = pa.table({"day": days, "warmth": numbers, "load": numbers})
    reports = infer_table(whole, "load").columns
    plain = declare(whole, reports, "load", split="time:day", series=[])
    version = declare(whole, reports, "load", split="time:day", series=[], past_only=["warmth"])
    later = pa.table({"day": ["2024-01-31"], "load": ["7.5"]})
    with pytest.raises(DatasetError, match="column 'warmth' is missing"):
        feed(plain, later, "later.csv", "train")
    for before in (version, replaced(version, whole)):
        grown = feed(before, later, "later.csv", "train")
        assert np.isnan(grown.frames["train"]["warmth"].iloc[-1])
        assert grown.frames["train"]["load"].iloc[-1] == 7.5
