"""Rows with their predictions, in every form that a file of them may have."""

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from easeml.cli.predicted_table import of_rows, of_samples, write_as
from easeml.cli.sent_rows import rows_of_table
from easeml.contract.applications import Prediction
from easeml.data import style_notes
from easeml.decimals import CsvStyle
from easeml.errors import Conflict

SHARES = [{"no": 0.25, "yes": 0.75}, {"no": 0.5, "yes": 0.5}]


def predicted(**changes: object) -> Prediction:
    facts = {"model_id": "mod_1", "model_name": "forest", "predictions": ["yes", "no"]}
    return Prediction.model_validate({**facts, **changes})


def test_categories_have_a_probability_each(tmp_path: Path) -> None:
    found = of_rows(["x"], [["1"], ["2"]], predicted(probabilities=SHARES), ",")
    found.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "x": "1",
        "prediction": "yes",
        "probability_no": "0.25",
        "probability_yes": "0.75",
    }


def test_numbers_have_an_interval() -> None:
    numbers = predicted(predictions=[3.5, 4.0], lower=[3.0, 3.5], upper=[4.0, 4.5], coverage=0.9)
    text = of_rows(["x"], [["1"], ["2"]], numbers, ";").as_csv()
    assert text == "x;prediction;lower;upper\n1;3.5;3.0;4.0\n2;4.0;3.5;4.5\n"


def test_a_column_of_the_file_keeps_its_name() -> None:
    found = of_rows(["prediction", "probability_no"], [[1, 2]] * 2, predicted(), ",")
    assert list(found.columns) == ["prediction", "probability_no", "prediction_"]


NUMBERS = ["-5.2", "-1e-3", "-5,2", "-1.234,5", "-1,234.5", "-1 234,5", "-1\xa0234", "-5 %", "+,5"]
HOSTILE = ["=cmd()", "+1 555", "-1+cmd()", "-1,5|x", "@here", "plain", "+", "-", *NUMBERS]
GUARDED = ["'=cmd()", "'+1 555", "'-1+cmd()", "'-1,5|x", "'@here", "plain", "+", "-", *NUMBERS]


@pytest.mark.parametrize(
    ("rows", "delimiter", "written"),
    [
        (
            [["-3,5", "01.02.2024"], ["1.234,5", "x"]],
            ";",
            ["-3,5;01.02.2024;0,25", "1.234,5;x;-7,5"],
        ),
        ([["3,5", "a"], ["4", "b"]], ",", ['"3,5",a,"0,25"', '4,b,"-7,5"']),
        ([["3.5", "a,5"], ["1,234", "b"]], ";", ["3.5;a,5;0.25", "1,234;b;-7.5"]),
        ([["1,234", "a"], ["7", "b"]], ";", ["1,234;a;0.25", "7;b;-7.5"]),  # maybe thousands
        ([[3, None], [4, 5.5]], ",", ["3,,0.25", "4,5.5,-7.5"]),
    ],
)
def test_predictions_are_written_as_the_numbers_of_the_file_are(
    rows: list[list[Any]], delimiter: str, written: list[str]
) -> None:
    found = of_rows(["x", "y"], rows, predicted(predictions=[0.25, -7.5]), delimiter)
    assert found.as_csv().splitlines()[1:] == written


def test_a_fetched_file_is_written_as_the_one_that_was_sent(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": ["3,5", "-4"], "prediction": [0.25, None], "lower": [-7.5, 2.0]})
    style = CsvStyle.of("x;y\n3,5;a\n4,5;b\n")
    assert style == CsvStyle(delimiter=";", decimal=",")
    rows = pa.Table.from_pandas(frame).replace_schema_metadata(style_notes(style))
    parquet.write_table(rows, tmp_path / "rows.parquet")
    write_as(tmp_path / "rows.parquet", tmp_path / "out.csv")
    read = pd.read_csv(tmp_path / "out.csv", sep=";", decimal=",")
    assert read["lower"].tolist() == [-7.5, 2.0]
    assert read["prediction"].isna().tolist() == [False, True]


def test_what_a_spreadsheet_would_run_is_guarded_in_csv(tmp_path: Path) -> None:
    said = predicted(predictions=["=now()"] * len(HOSTILE))
    table = of_rows(["=name()"], [[cell] for cell in HOSTILE], said, ",")
    header, *rows = csv.reader(table.as_csv().splitlines())
    assert header == ["'=name()", "prediction"]
    assert rows == [[cell, "'=now()"] for cell in GUARDED]
    assert json.loads(table.as_json_lines().splitlines()[0])["=name()"] == "=cmd()"
    kept = replace(table, keep_formulas=True).as_csv()
    assert kept.splitlines()[:2] == ["=name(),prediction", "=cmd(),=now()"]


def test_a_fetched_file_is_guarded_alike(tmp_path: Path) -> None:
    frame = pd.DataFrame({"=name()": HOSTILE, "prediction": range(len(HOSTILE))})
    frame.to_parquet(tmp_path / "rows.parquet")
    assert write_as(tmp_path / "rows.parquet", tmp_path / "out.csv") == len(HOSTILE)
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=name()", "prediction"]
    assert [row[0] for row in rows] == GUARDED
    write_as(tmp_path / "rows.parquet", tmp_path / "kept.csv", keep_formulas=True)
    assert list(pd.read_csv(tmp_path / "kept.csv")["=name()"]) == HOSTILE


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
def test_a_file_that_is_cut_off_while_it_is_written_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pd.DataFrame({"prediction": [1, 2]}).to_parquet(tmp_path / "rows.parquet")
    out = tmp_path / name
    out.write_text("as it was")

    def cut_off(*_: object, **__: object) -> Iterator[bytes]:
        yield b"the first part"
        raise KeyboardInterrupt

    monkeypatch.setattr("easeml.data.as_stream", cut_off)
    with pytest.raises(KeyboardInterrupt):
        write_as(tmp_path / "rows.parquet", out)
    assert out.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["rows.parquet", name])


def test_without_a_name_it_is_csv_on_standard_output(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    pd.DataFrame({"x": ["a", "b"], "prediction": [1.5, 2.0]}).to_parquet(tmp_path / "rows.parquet")
    assert write_as(tmp_path / "rows.parquet", None) == 2
    assert capfdbinary.readouterr().out == b'"x","prediction"\n"a",1.5\n"b",2\n'


def test_json_lines_and_parquet(tmp_path: Path) -> None:
    found = of_rows(["x"], [[1], ["two"]], predicted(probabilities=SHARES), ",")
    found.write(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(lines[1])["probability_yes"] == 0.5
    found.write(tmp_path / "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert list(frame["prediction"]) == ["yes", "no"]
    assert list(frame["x"]) == ["1", "two"]


def test_samples_have_names_or_numbers() -> None:
    assert list(of_samples(predicted(names=["a.png", "b.png"]), "x.zip").columns["sample"]) == [
        "a.png",
        "b.png",
    ]
    assert list(of_samples(predicted(), "x.zip").columns["sample"]) == [1, 2]


def test_as_many_predictions_as_rows() -> None:
    with pytest.raises(Conflict):
        of_rows(["x"], [["1"]], predicted(), ",")


def test_a_picture_that_was_sent_alone_has_its_name() -> None:
    """It was called body."""
    alone = predicted(predictions=["yes"], names=["body"])
    assert list(of_samples(alone, "cell 7.png").columns["sample"]) == ["cell 7.png"]


def test_a_file_that_was_not_utf_8_comes_back_so_that_a_spreadsheet_reads_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "rows.csv").write_bytes("Größe;y\n1,5;ü\n".encode("cp1252"))
    rows = rows_of_table(tmp_path / "rows.csv")
    found = of_rows(rows.header, rows.cells, predicted(predictions=["ja"]), ";", rows.mark)
    found.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == "\ufeffGröße;y;prediction\n1,5;ü;ja\n".encode()
