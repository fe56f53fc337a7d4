"""``easeml feasibility`` on files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import tools
from easeml.errors import EasemlError

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    frame = pd.DataFrame(
        {"width": X[:, 0], "height": X[:, 1], "kind": np.where(X[:, 0] > 0, "wide", "thin")}
    )
    path = tmp_path_factory.mktemp("feasibility") / "table.csv"
    frame.to_csv(path, index=False)
    return path


def run(*words: str):
    app = typer.Typer()
    tools.register(app)
    return RUNNER.invoke(app, ["feasibility", *words])


def test_yes_as_one_json_document(table: Path):
    answer = run(str(table), "--target", "kind", "--goal", "0.8", "--json", "--quick")
    assert answer.exit_code == 0, answer.output
    document = json.loads(answer.stdout)
    assert document["verdict"] == "realistic"
    best = document["numbers"][0]
    assert 0.8 <= best["low"] <= best["value"] <= best["high"]
    assert document["figures"][0]["x"]["title"]


@pytest.mark.parametrize("ending", ["html", "csv", "json"])
def test_no_with_a_file_for_people(table: Path, tmp_path: Path, ending: str):
    out = tmp_path / f"answer.{ending}"
    answer = run(str(table), "--target", "kind", "--goal", "1.0", "--out", str(out))
    assert answer.exit_code == 1, answer.output
    assert "Representation" in answer.stdout
    assert out.read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ["absent.csv", "--target", "kind", "--goal", "0.9"],
        ["TABLE", "--target", "absent", "--goal", "0.9"],
        ["TABLE", "--target", "kind", "--goal", "90"],
        ["TABLE", "--target", "kind", "--goal", "0.9", "--out", "answer.pdf"],
        ["TABLE", "--target", "kind", "--goal", "0.9", "--embedding", "absent"],
    ],
    ids=["file", "target", "goal", "out", "embedding"],
)
def test_wrong_use_is_refused(table: Path, words: list[str]):
    answer = run(*[str(table) if word == "TABLE" else word for word in words])
    assert isinstance(answer.exception, EasemlError)
