"""Files of what was true, as people write them, and what is said where they cannot be read."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import production
from easeml.client.feedback_files import parts_of


@pytest.fixture
def program() -> typer.Typer:
    app = typer.Typer()
    production.add_to(app)
    return app


_ID = "app_0e2x7m4kq9d1v5b8ctn3"  # a whole one: the service is not asked whose name it is


@pytest.mark.parametrize(
    ("text", "flags", "lacking"),
    [
        ("row,y\n0,yes\n", [], "value"),
        ("y\nyes\n", [], "value"),
        ("request_id,row,y\nreq_1,0,yes\n", ["--value", "z"], "z"),
    ],
)
def test_a_column_that_lacks_is_named_and_where_requests_are_told(
    program: typer.Typer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    flags: list[str],
    lacking: str,
) -> None:
    monkeypatch.setenv("EASEML_API_KEY", "eml_none")
    file = tmp_path / "told.csv"
    file.write_text(text)
    result = CliRunner().invoke(program, ["feedback", _ID, str(file), *flags])
    refused = result.exception
    assert refused is not None
    assert f"There is no '{lacking}'." in str(refused)
    assert "easeml predict --name-rows" in str(refused)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_of_any_spreadsheet_are_read(delimiter: str) -> None:
    lines = [["request_id", "row", "value"], ["req_1", "3", "gut"]]
    (found,) = parts_of("\n".join(map(delimiter.join, lines)), "told.csv")
    (told,) = found.root
    assert (told.request_id, told.row, told.value) == ("req_1", 3, "gut")


@pytest.mark.parametrize("value", ["value", "churn"])
def test_a_file_of_predictions_is_one_of_truths_where_a_column_says_what_was_true(
    value: str,
) -> None:
    text = f"age,prediction,request_id,row,{value}\n41,no,req_1,3,yes\n"
    (found,) = parts_of(text, "told.csv", value)
    (told,) = found.root
    assert (told.request_id, told.row, told.value) == ("req_1", 3, "yes")
