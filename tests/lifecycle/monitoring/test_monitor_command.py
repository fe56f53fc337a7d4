"""``easeml monitor`` as a script calls it."""

import json

import numpy as np
import pandas as pd
import pytest
import typer
from monitoring_streams import World, world
from typer.testing import CliRunner

from easeml.cli import monitor
from easeml.errors import EasemlError, InvalidInput

app = typer.Typer()
monitor.register(app)
OUTPUTS = ["--prediction", "said", "--probability", "score"]


@app.callback()
def _root() -> None:
    """Keep the command's name in front."""


def run(*arguments: object):
    return CliRunner().invoke(app, ["monitor", *map(str, arguments)])


def table(some: World, target: bool) -> pd.DataFrame:
    frame = some.inputs.assign(
        said=some.predicted, score=some.scores, id=np.arange(len(some.labels))
    )
    return frame.assign(truth=some.labels) if target else frame


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """The bytes of a monitor that the command made, and what it printed."""
    folder = tmp_path_factory.mktemp("monitor")
    table(world(800, 0), True).to_csv(folder / "reference.csv", index=False)
    done = run(
        "fit",
        folder / "reference.csv",
        "--target",
        "truth",
        *OUTPUTS,
        "--out",
        folder / "m.npz",
        "--json",
    )
    assert done.exit_code == 0, done.output
    return (folder / "m.npz").read_bytes(), json.loads(done.stdout)


@pytest.fixture
def state(tmp_path, fitted):
    (tmp_path / "m.npz").write_bytes(fitted[0])
    return tmp_path / "m.npz"


def test_fit_leaves_counters_out(fitted):
    assert fitted[1]["columns"] == ["hard", "other", "group"]
    assert fitted[1]["classes"] == ["0", "1"]


def test_score_prints_one_json_document(state, tmp_path):
    new = world(400, 1)
    table(new, False).to_csv(tmp_path / "new.csv", index=False)
    done = run(
        "score", state, tmp_path / "new.csv", *OUTPUTS, "--json", "--out", tmp_path / "report.html"
    )
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["low"] <= new.quality <= found["high"]
    assert "<html" in (tmp_path / "report.html").read_text()
    second = json.loads(run("score", state, tmp_path / "new.csv", *OUTPUTS, "--json").stdout)
    assert (found["batch"], second["batch"]) == (1, 2)


def test_rows_are_chosen_labelled_and_used(state, tmp_path):
    new = world(400, 2, flipped=0.45)
    table(new, False).to_csv(tmp_path / "new.csv", index=False)
    chosen = run(
        "score",
        state,
        tmp_path / "new.csv",
        *OUTPUTS,
        "--choose",
        120,
        "--out",
        tmp_path / "ask.csv",
    )
    assert chosen.exit_code == 0
    asked = pd.read_csv(tmp_path / "ask.csv")
    asked.assign(label=new.labels[asked["row"]]).to_csv(tmp_path / "answers.csv", index=False)
    done = run("score", state, tmp_path / "new.csv", *OUTPUTS, "--labels", tmp_path / "answers.csv")
    assert done.exit_code == 1
    assert done.stdout.startswith("alert")


def test_exit_code_6_means_cannot_tell(state, tmp_path):
    table(world(300, 3, shift=7), False).to_csv(tmp_path / "new.csv", index=False)
    assert run("score", state, tmp_path / "new.csv", *OUTPUTS).exit_code == 6


def test_regression_by_files(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400)})
    frame["y"] = 2 * frame["x"]
    frame["prediction"] = frame["y"] + rng.normal(size=400)
    frame.to_csv(tmp_path / "r.csv", index=False)
    done = run(
        "fit",
        tmp_path / "r.csv",
        "--target",
        "y",
        "--regression",
        "--out",
        tmp_path / "m.npz",
        "--json",
    )
    assert json.loads(done.stdout)["tolerance"] == pytest.approx(1.28, rel=0.1)
    assert run("score", tmp_path / "m.npz", tmp_path / "r.csv").exit_code in {0, 6}


@pytest.mark.parametrize(
    ("column", "value"),
    [("said", None), ("score", 7), ("score", "high"), ("hard", "drop"), ("said", "drop")],
    ids=["gap", "probability", "text", "input column", "prediction column"],
)
def test_wrong_rows_are_refused(state, tmp_path, column, value):
    frame = table(world(60, 4), False)
    if value == "drop":
        frame = frame.drop(columns=column)
    else:
        frame[column] = frame[column].astype(object)
        frame.loc[3, column] = value
    frame.to_csv(tmp_path / "new.csv", index=False)
    before = state.read_bytes()
    assert isinstance(run("score", state, tmp_path / "new.csv", *OUTPUTS).exception, EasemlError)
    assert state.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["row,label\n99999,1\n", "row,label\n1.5,1\n", "row,label,chance\n1,1,0\n", "label\n1\n"],
)
def test_wrong_answers_are_refused(state, tmp_path, text):
    table(world(60, 5), False).to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "answers.csv").write_text(text)
    done = run("score", state, tmp_path / "new.csv", *OUTPUTS, "--labels", tmp_path / "answers.csv")
    assert isinstance(done.exception, InvalidInput)


def test_files_that_are_not_there_or_no_monitor_are_refused(state, tmp_path):
    table(world(60, 6), False).to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "no.npz").write_bytes(b"PK\x03\x04nonsense")
    for wrong in (tmp_path / "absent.npz", tmp_path / "no.npz"):
        assert isinstance(
            run("score", wrong, tmp_path / "new.csv", *OUTPUTS).exception, EasemlError
        )
    assert isinstance(run("score", state, tmp_path / "absent.csv", *OUTPUTS).exception, EasemlError)
    table(world(60, 7), True).to_csv(tmp_path / "r.csv", index=False)
    assert isinstance(
        run("fit", tmp_path / "r.csv", "--target", "gone", *OUTPUTS).exception, InvalidInput
    )
    done = run("fit", tmp_path / "r.csv", "--target", "truth", "--prediction", "truth")
    assert isinstance(done.exception, InvalidInput), "a model compared with itself is always right"
    done = run("fit", tmp_path / "r.csv", "--target", "truth", *OUTPUTS, "--ignore", "gone")
    assert isinstance(done.exception, InvalidInput)
