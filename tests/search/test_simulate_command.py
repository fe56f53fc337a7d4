"""``easeml simulate search``: the document that scripts read, and how bad files are told."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import simulate
from easeml.errors import InvalidInput

app = typer.Typer()
simulate.register(app)


def folder_of(path, quality, time=None, name="accuracy.csv"):
    (path / name).write_text(quality, encoding="utf-8")
    if time is not None:
        (path / "time.csv").write_text(time, encoding="utf-8")
    return path


def table(values):
    head = "user," + ",".join(f"m{k}" for k in range(values.shape[1]))
    return (
        "\n".join(
            [head, *(f"t{i}," + ",".join(f"{v:.4f}" for v in row) for i, row in enumerate(values))]
        )
        + "\n"
    )


VALUES = np.random.default_rng(0).uniform(0.4, 0.9, (12, 5))
TIMES = np.random.default_rng(1).uniform(1, 9, (12, 5))


def call(*arguments):
    return CliRunner().invoke(app, ["simulate", "search", *map(str, arguments)])


def test_the_document(tmp_path):
    folder = folder_of(tmp_path, table(VALUES), table(TIMES))
    out = tmp_path / "told.json"
    result = call(
        folder,
        "--policies",
        "default,hybrid,ei-rate",
        "--seeds",
        2,
        "--tenants",
        4,
        "--json",
        "--out",
        out,
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == json.loads(out.read_text())
    assert set(told["policies"]) == {"default", "hybrid", "ei-rate", "clairvoyant"}
    for found in told["policies"].values():
        assert {"cost_share", "mean_loss", "interval", "worst_loss"} <= set(found)
    assert told["clairvoyant"]["mean_loss"][-1] == pytest.approx(0)
    assert told["costs"] == "learned"


def test_percents_missing_cells_other_names_and_pictures(tmp_path):
    percent = table(100 * VALUES).replace(f"{100 * VALUES[0, 0]:.4f}", "", 1)
    folder = folder_of(tmp_path, percent)
    for name in ("told.csv", "told.svg", "told.html"):
        result = call(
            folder, "--policies", "random", "--seeds", 1, "--tenants", 3, "--out", tmp_path / name
        )
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).stat().st_size > 200
    assert "uniform costs" in result.output
    (tmp_path / "accuracy.csv").unlink()
    folder_of(tmp_path, table(VALUES - 0.6), name="r2_test.csv")
    assert (
        call(folder, "--policies", "random", "--seeds", 1, "--tenants", 3, "--no-history").exit_code
        == 0
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("user,a\nx,good\n", "column 'a'"),
        ("user,a\nx,1,2\n", "row 0"),
        ("user,a,a\nx,1,1\n", "accuracy.csv"),
        ("user,a\nx,0.5\nx,0.6\n", "accuracy.csv"),
        ("user\n", "accuracy.csv"),
        ("user,a\nx,101\n", "accuracy.csv"),
        ("user,a\nx,\n", "tenant 'x'"),
    ],
)
def test_bad_tables_are_told_with_their_place(tmp_path, text, where):
    result = call(folder_of(tmp_path, text), "--seeds", 1, "--tenants", 1)
    assert isinstance(result.exception, InvalidInput)
    assert where in result.exception.where


@pytest.mark.parametrize(
    "arguments",
    [
        ("--policies", "best"),
        ("--policies", " , "),
        ("--costs", "measured"),
        ("--tenants", "99"),
        ("--devices", "0"),
        ("--no-history", "--misleading-history"),
        ("--out", "told.xyz", "--policies", "random", "--seeds", "1"),
    ],
)
def test_wrong_use_is_refused(tmp_path, arguments):
    result = call(folder_of(tmp_path, table(VALUES)), *arguments)
    assert isinstance(result.exception, InvalidInput)


def test_an_empty_folder_is_told(tmp_path):
    assert isinstance(call(tmp_path).exception, InvalidInput)
