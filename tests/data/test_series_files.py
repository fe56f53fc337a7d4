"""Series of which each is a CSV file, in a folder for each class."""

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from easeml.data import DatasetError, declare, infer_table, parse_rows, read_table
from easeml.data.types import cells


def waves(path: Path, head: str = "time,x,y", each: int = 6) -> Path:
    """A zip file of waves of two channels, slow and quick, of different lengths."""
    random = np.random.default_rng(0)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(each):
            for label, pace in (("slow", 0.2), ("quick", 0.9)):
                archive.writestr(f"waves/{label}/{number}.csv", wave(random, head, pace, number))
    return path


def wave(random: np.random.Generator, head: str, pace: float, number: int) -> str:
    steps = np.arange(20 + number)
    columns = [steps, np.sin(pace * steps), random.normal(size=len(steps))]
    rows = np.array(columns[-len(head.split(",")) :]).T
    return "\n".join([head, *(",".join(f"{value:.3f}" for value in row) for row in rows)])


def test_csv_files_in_a_folder_for_each_class_are_series(tmp_path: Path) -> None:
    table = read_table(waves(tmp_path / "waves.zip"))
    assert table.column_names == ["series", "label"]
    first = cells.from_arrow("tensor", table["series"])[0]
    assert first.shape == (2, 20)
    np.testing.assert_allclose(first[0], np.sin(0.9 * np.arange(20)), atol=5e-4)
    found = infer_table(table)
    assert found.target == "label"
    assert found.input.to_text() == '{series "series": tensor[2, d2]}'
    assert "of 'x', 'y'" in found.columns[0].evidence


def test_new_series_are_predicted_from_the_files_that_they_are(tmp_path: Path) -> None:
    table = read_table(waves(tmp_path / "waves.zip"))
    made = declare(table, infer_table(table).columns, "label")
    new = tmp_path / "new.zip"
    with zipfile.ZipFile(new, "w") as archive:
        for name in "ab":
            archive.writestr(f"{name}.csv", "time,x,y\n0,1,2\n1,3,\n")
    with pytest.raises(DatasetError, match=r"b\.csv"):
        parse_rows(new.read_bytes(), "application/zip", made.schema_in, made.schema_out)

    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("one.csv", "time,x,y\n0,1,2\n1,3,4\n")
    one = (tmp_path / "one.zip").read_bytes()
    rows = parse_rows(one, "application/zip", made.schema_in, made.schema_out)
    np.testing.assert_array_equal(rows.frame["series"][0], [[1, 3], [2, 4]])
    with pytest.raises(DatasetError, match="of series also a zip file of CSV files, one each"):
        parse_rows(b"x,y\n1,2\n", "text/csv", made.schema_in, made.schema_out)

    with_answers = waves(tmp_path / "more.zip", each=2).read_bytes()
    rows = parse_rows(with_answers, "application/zip", made.schema_in, made.schema_out)
    assert rows.names == ["quick/0.csv", "quick/1.csv", "slow/0.csv", "slow/1.csv"]
    assert rows.labels is not None
    assert list(rows.labels) == ["quick", "quick", "slow", "slow"]
    assert rows.frame["series"][3].shape == (2, 21)


@pytest.mark.parametrize(
    ("text", "where", "told"),
    [
        ("time,x,z\n0,1,2\n", "slow/odd.csv", "its columns are 'x', 'z', those of quick/0.csv are"),
        ("time,x,y\n0,1,Bob\n", "slow/odd.csv, 'y', row 0", "'Bob' is not a number."),
    ],
)
def test_a_file_that_is_no_such_series_is_named(
    tmp_path: Path, text: str, where: str, told: str
) -> None:
    path = waves(tmp_path / "waves.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("waves/slow/odd.csv", text)
    with pytest.raises(DatasetError, match=re.escape(told)) as caught:
        read_table(path)
    assert caught.value.where == where
    assert "send one" in caught.value.remedy


def test_tables_of_one_kind_each_are_no_series(tmp_path: Path) -> None:
    path = tmp_path / "tables.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("people/people.csv", "a,b\n1,2\n")
        archive.writestr("orders/orders.csv", "a,b\n1,2\n")
    with pytest.raises(DatasetError, match="there are 2 tables"):
        read_table(path)
