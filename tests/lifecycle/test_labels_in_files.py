"""Every tool that compares labels of two files reads ``1`` and ``1.0`` alike, and refuses yes
against 1.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import ci, label, meter, monitor, picking
from easeml.cli.main import _Root

APP = typer.Typer(cls=_Root)
for module in (ci, label, meter, monitor, picking):
    module.register(APP)
ROWS = 600
CONFIG = "condition: n - o > 0.02 +/- 0.05\nreliability: 0.95\nadaptivity: none\nsteps: 2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels as integers, as floats with gaps, and as words; a good model and a worse one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, ROWS)
    for name, noise in (("new", 0.05), ("old", 0.25)):
        said = np.where(rng.random(ROWS) < noise, 1 - truth, truth)
        pd.DataFrame({"prediction": said}).to_csv(f"{name}.csv", index=False)
    pd.DataFrame({"label": truth}).to_csv("whole.csv", index=False)
    gaps = pd.Series(truth, dtype=float)
    gaps[:3] = np.nan
    pd.DataFrame({"id": np.arange(ROWS), "label": gaps}).to_csv("gaps-id.csv", index=False)
    pd.DataFrame({"label": truth.astype(float)}).to_csv("floats.csv", index=False)
    pd.DataFrame({"label": np.where(truth, "yes", "no")}).to_csv("words.csv", index=False)
    Path("ci.yml").write_text(CONFIG)
    return tmp_path


def run(*args: object) -> tuple[int, str]:
    done = CliRunner().invoke(APP, [str(arg) for arg in args])
    return done.exit_code, done.stdout if done.exit_code == 0 else done.output


def ci_test(labels: str) -> tuple[int, str]:
    files = ["--old", "old.csv", "--new", "new.csv", "--labels", labels]
    return run("ci", "test", "ci.yml", *files, "--json")


def meter_read(labels: str) -> tuple[int, str]:
    files = ["--labels", labels, "--predictions", "new.csv"]
    promise = ["--tolerance", 0.2, "--validation", 0.95, "--json"]
    return run("meter", "read", f"{labels}.json", *files, *promise)


def pick(labels: str) -> tuple[int, str]:
    both = [pd.read_csv(f"{name}.csv")["prediction"].rename(name) for name in ("new", "old")]
    pd.concat(both, axis=1).to_csv("both.csv", index=False)
    return run("pick", "both.csv", "--labels", labels, "--budget", 40, "--json")


def monitor_fit(labels: str) -> tuple[int, str]:
    frame = pd.read_csv("new.csv").assign(
        x=np.random.default_rng(1).random(ROWS), label=pd.read_csv(labels)["label"]
    )
    frame.to_csv("monitored.csv", index=False)
    files = ["monitored.csv", "--target", "label", "--out", "m.npz"]
    return run("monitor", "fit", *files, "--json")


TOOLS = [ci_test, meter_read, pick, monitor_fit]


@pytest.mark.parametrize("tool", TOOLS)
def test_whole_numbers_and_floats_are_the_same_labels(folder: Path, tool) -> None:
    code, plain = tool("whole.csv")
    again, floats = tool("floats.csv")
    assert (code, again) == (0, 0), floats
    first, second = json.loads(plain), json.loads(floats)
    for key in ("answer", "signal", "accuracy", "quality"):
        assert first.get(key) == second.get(key)


@pytest.mark.parametrize("tool", TOOLS)
def test_words_against_numbers_are_refused_with_both_shown(folder: Path, tool) -> None:
    code, text = tool("words.csv")
    assert code == 2
    assert all(name in text for name in ("'no'", "'yes'", "'0'", "'1'")), text
    assert not list(folder.glob("*ledger.json")) + list(folder.glob("words.csv.json"))


def test_labels_with_gaps_pass_a_better_commit(folder: Path) -> None:
    code, text = ci_test("gaps-id.csv")
    assert (code, json.loads(text)["answer"]) == (0, "pass")


def test_label_files_with_other_words_are_refused(folder: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200)}).assign(y=lambda f: (f.x > 0).astype(int))
    frame.to_csv("train.csv", index=False)
    frame.assign(y=frame.y.astype(float)).to_csv("floats.csv", index=False)
    frame.assign(y=frame.y.map({0: "no", 1: "yes"})).to_csv("words.csv", index=False)
    code, text = run(
        "label", "mislabelled", "train.csv", "--target", "y", "--valid", "floats.csv", "--json"
    )
    assert code == 0, text
    code, text = run(
        "label", "mislabelled", "train.csv", "--target", "y", "--valid", "words.csv", "--json"
    )
    assert code == 2
    assert all(name in text for name in ("yes'", "'0'", "'1'")), text


def shuffled(name: str, column: str, seed: int) -> pd.DataFrame:
    """Return a file of values with the ids of its rows, in another order."""
    frame = pd.read_csv(f"{name}.csv").rename(columns={"prediction": column})
    named = frame.assign(id=[f"r{row}" for row in range(ROWS)])
    return named.sample(frac=1.0, random_state=seed)


def test_pick_puts_rows_together_by_id_whatever_their_order(folder: Path) -> None:
    both = shuffled("new", "new", 1).merge(shuffled("old", "old", 2), on="id")
    both.to_csv("both-ids.csv", index=False)
    labels = shuffled("whole", "label", 3)
    labels.to_csv("labels-ids.csv", index=False)  # the ids stand last here
    words = ["pick", "both-ids.csv", "--labels", "labels-ids.csv", "--budget", ROWS, "--json"]
    code, text = run(*words)
    assert code == 0, text
    truth = pd.read_csv("whole.csv")["label"]
    said = pd.read_csv("new.csv")["prediction"]
    found = json.loads(text)
    assert found["model"] == "new"
    assert found["low"] <= (truth == said).mean() <= found["high"]


def test_pick_takes_labels_of_some_rows_and_refuses_other_rows(folder: Path) -> None:
    both = shuffled("new", "new", 1).merge(shuffled("old", "old", 2), on="id")
    both.to_csv("both-ids.csv", index=False)
    labels = shuffled("whole", "label", 3)
    labels.assign(id="s" + labels["id"]).to_csv("others.csv", index=False)
    code, text = run("pick", "both-ids.csv", "--labels", "others.csv", "--json")
    assert code == 2
    assert "is not in both-ids.csv" in text
    pd.concat([labels, labels.head(1)]).to_csv("twice.csv", index=False)
    code, text = run("pick", "both-ids.csv", "--labels", "twice.csv", "--json")
    assert code == 2
    assert "stands there twice" in text


def test_the_meter_puts_rows_together_by_id(folder: Path) -> None:
    shuffled("new", "prediction", 1).to_csv("new-ids.csv", index=False)
    shuffled("whole", "label", 3).to_csv("labels-ids.csv", index=False)
    promise = ["--tolerance", 0.2, "--validation", 0.95, "--json"]
    files = ["--labels", "labels-ids.csv", "--predictions", "new-ids.csv"]
    code, text = run("meter", "read", "m.json", *files, *promise)
    assert code == 0, text  # .95 is what the model has: nothing is overfitted
    assert json.loads(text)["signal"] == json.loads(meter_read("whole.csv")[1])["signal"]
    shuffled("new", "prediction", 1).head(500).to_csv("fewer.csv", index=False)
    files = ["--labels", "labels-ids.csv", "--predictions", "fewer.csv"]
    code, text = run("meter", "read", "n.json", *files, *promise)
    assert code == 2
    assert "100 of the labelled rows have no prediction" in text
