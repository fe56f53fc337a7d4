"""Numbers with their errors behind are numbers; units that differ are told before anything starts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.data import declare, infer_table, parse_rows, read_table
from easeml.data.types.number_forms import checked_form, number_form

ROWS = 60
SIZES = np.round(np.random.default_rng(0).uniform(1, 90, ROWS), 2)


def table_of(folder: Path, column: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame({"size": column, "y": np.arange(ROWS) % 7 + 0.5})
    frame.to_csv(folder / "rows.csv", index=False, sep=";")
    return read_table(folder / "rows.csv")


@pytest.mark.parametrize(
    ("write", "form"),
    [
        ("{} ± 0.2", "1234.5 ± 0.5"),
        ("{}±.2", "1234.5 ± 0.5"),
        ("{} +/- 1e-2", "1234.5 ± 0.5"),
        ("{} ± 0.2 kg", "1234.5 kg ± 0.5"),
    ],
)
def test_a_number_with_its_error_is_the_number(tmp_path: Path, write: str, form: str) -> None:
    texts = list(map(write.format, SIZES))
    texts[7] = str(SIZES[7])
    table = table_of(tmp_path, texts)
    columns = infer_table(table, "y").columns
    assert (columns[0].type, columns[0].format) == ("number", form)
    assert "the error behind the number is left out" in columns[0].evidence
    declared = declare(table, columns, "y")
    rows = pd.concat(list(declared.frames.values())).sort_values("_row")
    np.testing.assert_array_equal(rows["size"], SIZES)
    sides = declared.schema_in, declared.schema_out
    asked = f'[{{"size": "{write.format(12.5)}"}}, {{"size": 12.5}}, {{"size": "12.5"}}]'
    assert (
        parse_rows(asked.encode(), "application/json", *sides).table["size"].tolist() == [12.5] * 3
    )
    csv = f"size\n{write.format(12.5)}\n12.5\n"
    assert list(parse_rows(csv.encode(), "text/csv", *sides).table["size"]) == [12.5] * 2


def test_decimal_commas_have_errors_too() -> None:
    assert number_form(["12,5 ± 0,2", "1.300,25 ± 3"]) == "1.234,5 ± 0.5"
    assert checked_form("1.234,5 ± 0.5") == "1.234,5 ± 0.5"


@pytest.mark.parametrize("texts", [["a ± 2", "3 ± 1"], ["± 2", "3 ± 1"], ["2 ±", "3 ± 1"]])
def test_what_is_no_number_before_its_error_is_none(texts: list[str]) -> None:
    assert number_form(texts) is None


@pytest.mark.parametrize("between", [" ", ""])
def test_units_that_differ_are_told(tmp_path: Path, between: str) -> None:
    units = ["kg" if number % 3 else "g" for number in range(ROWS)]
    texts = [f"{size}{between}{unit}" for size, unit in zip(SIZES, units, strict=True)]
    report = infer_table(table_of(tmp_path, texts), "y").columns[0]
    assert report.role == "input"
    assert "numbers with different units (kg, g), which are not converted" in report.evidence
    assert "write all in one unit" in report.evidence


def test_one_unit_is_no_trouble(tmp_path: Path) -> None:
    report = infer_table(table_of(tmp_path, [f"{size} kg" for size in SIZES]), "y").columns[0]
    assert (report.type, report.format) == ("number", "1234.5 kg")
