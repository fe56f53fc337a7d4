"""``easeml meter`` as a script calls it."""

import json

import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import meter
from easeml.errors import EasemlError, InvalidInput

app = typer.Typer()
meter.register(app)


@app.callback()
def _root() -> None:
    """Keep the command's name in front."""


def run(*arguments: object):
    return CliRunner().invoke(app, ["meter", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    """Labels of 1000 test rows, and predictions of a model that is right on 900 of them."""
    labels, predictions = tmp_path / "labels.csv", tmp_path / "predictions.csv"
    labels.write_text("label\n" + "a\n" * 1000)
    predictions.write_text(
        "row,prediction\n" + "".join(f"{i},{'a' if i < 900 else 'b'}\n" for i in range(1000))
    )
    return ["--labels", labels, "--predictions", predictions]


def test_plan_prints_one_json_document():
    done = run(
        "plan", "--signals", 5, "--reports", 10, "--tolerance", 0.02, "--delta", 0.01, "--json"
    )
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert [found[k] for k in ("non_adaptive", "plain", "monotone", "one_bit")] == [
        9502,
        26741,
        15259,
        15288,
    ]
    assert {option["mode"] for option in found["options"]} == {"coded", "monotone", "plain"}


def test_reliability_is_one_minus_delta():
    one, other = (
        run("plan", "--reliability", 0.99, "--json"),
        run("plan", "--delta", 0.01, "--json"),
    )
    assert json.loads(one.stdout)["plain"] == json.loads(other.stdout)["plain"]
    assert isinstance(run("plan", "--reliability", 0.99, "--delta", 0.1).exception, InvalidInput)


def test_plan_says_what_a_test_set_supports(tmp_path):
    done = run("plan", "--size", 10000, "--used", 1, "--out", tmp_path / "plan.html")
    assert done.exit_code == 0
    assert "1 reports, 0 left" in done.stdout
    assert "<html" in (tmp_path / "plan.html").read_text()


@pytest.mark.parametrize("wrong", [["--reports", 0], ["--tolerance", 2], ["--delta", 0]], ids=str)
def test_wrong_plans_fail(wrong):
    done = run("plan", *wrong)
    assert done.exit_code == 2 or isinstance(done.exception, InvalidInput)


def test_read_keeps_its_ledger_and_exit_codes(tmp_path, files):
    state = tmp_path / "meter.json"
    options = [state, *files, "--tolerance", 0.1, "--reports", 2]
    codes = [
        run("read", *options, "--validation", quality).exit_code
        for quality in (0.9, 0.9, 0.97, 0.5)
    ]
    assert codes == [0, 0, 1, 6]
    assert json.loads(state.read_text())["history"] == [1, 4]
    again = run("read", *options, "--validation", 0.97, "--json")
    assert json.loads(again.stdout)["repeated"] is True


@pytest.mark.parametrize("content", ["", "[]", "{}", "nonsense"])
def test_what_is_no_meter_is_refused(tmp_path, files, content):
    state = tmp_path / "meter.json"
    state.write_text(content)
    assert isinstance(run("read", state, *files, "--validation", 0.9).exception, InvalidInput)
    assert state.read_text() == content


def test_files_that_do_not_fit_are_refused(tmp_path, files):
    short, gap = tmp_path / "short.csv", tmp_path / "gap.csv"
    short.write_text("label\na\nb\n")
    gap.write_text("row,label\n1,a\n2,\n")
    for wrong in (short, gap, tmp_path / "absent.csv"):
        done = run(
            "read", tmp_path / "m.json", *files[:2], "--predictions", wrong, "--validation", 0.9
        )
        assert isinstance(done.exception, EasemlError)
    done = run("read", tmp_path / "m.json", *files, "--validation", 0.9, "--edges", "a,b")
    assert isinstance(done.exception, InvalidInput)
    assert not (tmp_path / "m.json").exists()


def test_a_deleted_meter_goes_on_from_the_labels(tmp_path, files):
    state, other = tmp_path / "meter.json", tmp_path / "other.json"
    options = [*files, "--tolerance", 0.1, "--reports", 2]
    assert run("read", state, *options, "--validation", 0.9).exit_code == 0
    state.unlink()
    again = run("read", other, *options, "--validation", 0.97)
    assert again.exit_code == 1
    assert "was read on these labels before" in again.stderr
    assert json.loads(other.read_text())["history"] == [1, 4]
    assert run("read", state, *options, "--validation", 0.5).exit_code == 6
    copied = tmp_path / "copied.csv"
    copied.write_text((tmp_path / "labels.csv").read_text())
    done = run(
        "read", tmp_path / "third.json", "--labels", copied, *options[2:], "--validation", 0.4
    )
    assert done.exit_code == 6


def test_an_older_copy_of_the_meter_does_not_give_reports_back(tmp_path, files):
    state = tmp_path / "meter.json"
    options = [state, *files, "--tolerance", 0.1, "--reports", 2]
    assert run("read", *options, "--validation", 0.9).exit_code == 0
    older = state.read_text()
    assert run("read", *options, "--validation", 0.97).exit_code == 1
    state.write_text(older)
    assert run("read", *options, "--validation", 0.5).exit_code == 6
