"""A long file is predicted by a task, while nobody waits: the result is that of the endpoint."""

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from easeml.client import Client
from service_process import EasemlProcess

pytestmark = pytest.mark.service


def test_a_file_is_predicted_by_a_task(easeml: EasemlProcess, tmp_path: Path) -> None:
    frame = load_iris(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "setosa", 1: "versicolor", 2: "virginica"})
    path, rows = tmp_path / "iris.csv", tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    frame.drop(columns="target").to_csv(rows, index=False)
    options = ["--target", "target", "--yes", "--json", "--models", "logistic", "--max-tasks", "1"]
    made = easeml.command("app", "create", str(path), *options)
    application = json.loads(made)["id"]
    easeml.wait(application, "converged", 120)

    easeml.command("predict", application, str(rows), "--out", str(tmp_path / "at-once.csv"))
    told = easeml.command("predict", application, str(rows), "--detach", "--json")
    task = json.loads(told)["id"]
    for name in ("later.csv", "later.parquet", "later.jsonl"):
        easeml.command("task", "fetch", task, "--out", str(tmp_path / name), "--timeout", "60")
    expected = pd.read_csv(tmp_path / "at-once.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "later.csv"), expected)
    lines = [json.loads(line) for line in (tmp_path / "later.jsonl").read_text().splitlines()]
    assert [line["prediction"] for line in lines] == expected["prediction"].tolist()
    with Client(easeml.url, easeml.key) as client:
        for form in ("csv", "jsonl"):
            client.save_predictions(task, tmp_path / "as-told", form=form)
            assert (tmp_path / "as-told").read_bytes() == (tmp_path / f"later.{form}").read_bytes()
    later = pd.read_parquet(tmp_path / "later.parquet")
    assert later["prediction"].tolist() == expected["prediction"].tolist()

    # A file of more than 16 MiB is predicted by a task without being asked to.
    wide = pd.read_csv(rows).assign(padding="x" * 120_000)
    wide.to_csv(tmp_path / "long.csv", index=False)
    easeml.command(
        "predict", application, str(tmp_path / "long.csv"), "--out", str(tmp_path / "l.csv")
    )
    found = pd.read_csv(tmp_path / "l.csv").drop(columns="padding")
    pd.testing.assert_frame_equal(found, expected)
    tasks = easeml.call("GET", "/api/v1/tasks?kind=advise&newest_first=true&limit=1")["items"]
    assert tasks[0]["result"]["notes"] == ["The model knows no column 'padding'; it is not used."]

    picture = tmp_path / "one.png"
    picture.write_bytes(b"no table")
    said = easeml.command("predict", application, str(picture), "--detach", expect=2)
    assert "tables only" in said

    rows.write_text(rows.read_text() + "1.0,2.0,many,4.0\n")
    told = easeml.command("predict", application, str(rows), "--detach", "--json")
    out = str(tmp_path / "never.csv")
    said = easeml.command("task", "fetch", json.loads(told)["id"], "--out", out, expect=1)
    assert "row 150, column 'petal length (cm)'" in said
    assert not Path(out).exists()
