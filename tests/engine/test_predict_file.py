"""The body of the task that predicts a file: its parts are one file, and its faults one answer."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from easeml.contract.task_progress import progress_line, share_done
from easeml.data import DatasetError, TableFormat, as_stream
from easeml.kinds import predict_file
from easeml.schema import Schema

NUMBER = {"singleton": True, "type": "tensor", "dim": [1]}
SCHEMA_IN = Schema.from_json({"nodes": {"x": {**NUMBER, "column": "x", "optional": True}}})


class _Model:
    """Says of a row what its number is; its target is a number, or a category."""

    schema = SCHEMA_IN

    def __init__(self, target: dict[str, Any]):
        self.schema_in = self.schema
        self.schema_out = Schema.from_json(target)
        self.is_category = "classes" in target

    def predict_columns(self, rows: Any) -> dict[str, list[Any]]:
        numbers = [float(number) for number in rows["x"]]
        if self.is_category:
            # In the first part nothing is said at all: its column has no type of its own.
            labels = [None if number < 3 else "many" for number in numbers]
            return {"prediction": labels, "probability_many": [0.5] * len(numbers)}
        return {"prediction": numbers}

    def beyond(self, rows: Any) -> Counter[str]:
        return Counter(rows=len(rows))

    def notes(self, found: Counter[str]) -> list[str]:
        return [f"{found['rows']} rows lie beyond."]


OF_NUMBERS = {"nodes": {"y": {**NUMBER, "column": "y"}}}
OF_CATEGORIES = {
    "nodes": {"y": {"singleton": True, "type": "category", "class": "c", "column": "y"}},
    "classes": {"c": {"dim": 2, "labels": ["few", "many"]}},
}


def predicted(
    folder: Path, patch: pytest.MonkeyPatch, text: str, target: dict[str, Any], size: int = 2
) -> pa.Table:
    """The table that the task brings."""
    patch.setattr(predict_file, "ROWS_AT_ONCE", size)
    patch.setattr("easeml.export.load_exported", lambda _: _Model(target))
    (folder / "source").write_text(text)
    spec = predict_file.PredictFileSpec.model_construct(filename="rows.csv", source="")
    result = predict_file.predict_file(spec, folder, folder)
    table = parquet.read_table(folder / "predictions")
    assert result.value["rows"] == table.num_rows
    return table


def test_faults_of_the_whole_file_are_told_with_its_own_rows_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x,y\n1,a\n2,b\n3,c\nmany,d\n5,e\n6,f\nmore,g\n"
    with pytest.raises(DatasetError) as caught:
        predicted(tmp_path, monkeypatch, text, OF_NUMBERS)
    assert caught.value.where == "row 3, column 'x'"
    assert "1 more row is like it (row 6)" in caught.value.message
    assert not (tmp_path / "predictions").exists()


def test_parts_make_one_file_in_the_order_of_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("easeml.kinds.shared.predicted_rows._GROUP", 5)
    text = 'x,prediction,note\n1,a,"two\nlines"\n2,b,\n,c,é\n'
    table = predicted(tmp_path, monkeypatch, text, OF_NUMBERS)
    assert table.column_names == ["x", "prediction", "note", "prediction_"]
    assert table["note"].to_pylist() == ["two\nlines", "", "é"]
    assert table["prediction_"].to_pylist()[:2] == [1.0, 2.0]
    assert share_done(capsys.readouterr().out) == 1.0


def test_a_column_has_its_type_though_the_first_part_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("easeml.kinds.shared.predicted_rows._GROUP", 1)
    table = predicted(tmp_path, monkeypatch, "x\n1\n2\n3\n", OF_CATEGORIES)
    assert table["prediction"].to_pylist() == [None, None, "many"]


def test_rows_are_handed_out_as_the_file_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = {**NUMBER, "column": "x", "optional": True, "format": "1234,5"}
    monkeypatch.setattr(_Model, "schema", Schema.from_json({"nodes": {"x": node}}))
    text = "x;kind;note\n" + "1,5;a;b\n" * 3 + "Total;4,5\n"
    predicted(tmp_path, monkeypatch, text, OF_NUMBERS)
    written = b"".join(as_stream(tmp_path / "predictions", TableFormat.CSV)).decode()
    assert written.replace('"', "") == "x;kind;note;prediction\n" + "1,5;a;b;1,5\n" * 3

    (tmp_path / "source").write_bytes("x;größe\n1,5;ü\n".encode("cp1252"))
    spec = predict_file.PredictFileSpec.model_construct(filename="rows.csv", source="")
    predict_file.predict_file(spec, tmp_path, tmp_path)
    written = b"".join(as_stream(tmp_path / "predictions", TableFormat.CSV)).decode()
    assert written.startswith("\ufeff")
    assert "1,5;ü;1,5" in written.replace('"', "")


@pytest.mark.parametrize("printed", ["", f"{'9' * 5000} of 3 rows", "of rows", "3 of x rows"])
def test_what_tells_no_share(printed: str) -> None:
    assert share_done(printed) is None


def test_the_last_line_tells_the_share() -> None:
    lines = [progress_line(1, 4000), "50 of 60 columns", progress_line(3000, 4000)]
    assert share_done("\n".join(lines)) == 0.75
