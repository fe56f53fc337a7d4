"""Files of what was true, as people write them, and what is said where they cannot be read."""

from pathlib import Path

import pytest
import typer
from service_for_tests import KEY, FakeService
from typer.testing import CliRunner

from easeml.cli import production
from easeml.client.feedback_files import parts_of
from easeml.errors import InvalidInput


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


def test_a_truth_that_is_refused_is_named_by_its_row_of_the_file(
    program: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: FakeService
) -> None:
    """A file is sent in parts: what came before is kept, and may come again."""
    monkeypatch.setenv("EASEML_URL", service.url)
    monkeypatch.setenv("EASEML_API_KEY", KEY)
    monkeypatch.setattr("easeml.client.feedback_files._AT_ONCE", 2)
    file = tmp_path / "told.csv"
    file.write_text("key,value\n1,a\n2,b\n3,a\n4,?\n5,b\n")
    refused = CliRunner().invoke(program, ["feedback", "app_1", str(file)]).exception
    assert isinstance(refused, InvalidInput)
    assert refused.where == "row 3: value"
    assert refused.message == "It is empty. The 2 rows before are kept; they may be sent again."
    file.write_text("key,value\n1,?\n2,b\n3,a\n")
    refused = CliRunner().invoke(program, ["feedback", "app_1", str(file)]).exception
    assert isinstance(refused, InvalidInput)
    assert (refused.where, refused.message) == ("row 0: value", "It is empty.")


def test_an_empty_truth_is_told_and_other_empty_cells_are_not() -> None:
    text = "request_id,row,key,topics\nreq_1,0,,\nreq_1,1,,art | chess\n,,7,art\n"
    (found,) = parts_of(text, "told.csv", "topics")
    told = [(one.request_id, one.row, one.key, one.value) for one in found.root]
    assert told == [("req_1", 0, "", ""), ("req_1", 1, "", "art | chess"), ("", 0, "7", "art")]


def test_labels_in_json_lines_are_a_list() -> None:
    (found,) = parts_of('{"key": 7, "value": ["art", "chess"]}\n{"key": 8, "value": []}', "a")
    assert [one.value for one in found.root] == [["art", "chess"], []]


def test_of_predictions_that_have_both_names_the_request_names_a_row() -> None:
    (found,) = parts_of("key,prediction,request_id,row,value\n7,no,req_1,3,yes\n", "told.csv")
    (told,) = found.root
    assert (told.request_id, told.row, told.key) == ("req_1", 3, "")


def test_a_file_without_the_column_of_truths_is_told_which_columns_it_has() -> None:
    with pytest.raises(InvalidInput, match="no 'value'") as error:
        list(parts_of("request_id,row,label\nreq_1,0,spam\n", "truth.csv"))
    assert error.value.where == "truth.csv"
    assert "(--value COLUMN): request_id, row, label." in error.value.remedy
    (told,) = parts_of("request_id,row,label\nreq_1,0,spam\n", "truth.csv", "label")
    assert told.root[0].value == "spam"


def test_the_column_of_the_target_says_what_was_true_where_no_other_does() -> None:
    text = "request_id,row,spam\nreq_1,0,yes\nreq_1,1,no\n"
    (found,) = parts_of(text, "truth.csv", target="spam")
    assert [one.value for one in found.root] == ["yes", "no"]
    (named,) = parts_of("key,value,spam\n1,yes,no\n", "truth.csv", target="spam")
    assert named.root[0].value == "yes"
    (of_json,) = parts_of('[{"key": 1, "row": 0, "spam": 0}]', "truth.json", target="spam")
    assert (of_json.root[0].key, of_json.root[0].value) == ("1", 0)
