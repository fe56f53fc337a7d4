"""Rows that are kept as Parquet come out in other formats, part by part, and are the same."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from easeml.data import TableFormat, as_stream

ROWS = pa.table(
    {
        "name": ["Ann", 'says "no", and', "=1+1", None],
        "prediction": ["yes", "no", "yes", "no"],
        "probability_yes": [0.5, 0.25, 1.0, 0.0],
    }
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Rows in row groups of one."""
    parquet.write_table(ROWS, tmp_path / "rows.parquet", row_group_size=1)
    return tmp_path / "rows.parquet"


def test_parquet_is_the_file_itself(source: Path) -> None:
    assert b"".join(as_stream(source, TableFormat.PARQUET)) == source.read_bytes()


def test_json_lines_have_an_object_a_row(source: Path) -> None:
    lines = b"".join(as_stream(source, TableFormat.JSON_LINES)).splitlines()
    assert [json.loads(line) for line in lines] == ROWS.to_pylist()


@pytest.mark.parametrize(("keep_formulas", "expected"), [(False, "'=1+1"), (True, "=1+1")])
def test_csv_has_one_header_and_disarms_formulas(
    source: Path, keep_formulas: bool, expected: str
) -> None:
    text = b"".join(as_stream(source, TableFormat.CSV, keep_formulas=keep_formulas)).decode()
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ROWS.column_names
    assert [row[0] for row in rows] == ["Ann", 'says "no", and', expected, ""]
    assert [float(row[2]) for row in rows] == ROWS["probability_yes"].to_pylist()


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.jsonl", "jsonl"), ("a.PQ", "parquet"), ("a.csv", "csv"), ("a.txt", "csv"), (None, "csv")],
)
def test_the_end_of_a_name_tells_the_format(name: str | None, form: str) -> None:
    assert TableFormat.of(None if name is None else Path(name)) == form
