"""The commands on files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from easeml.cli import label
from easeml.cli.checked_rows import read_checked
from easeml.errors import InvalidInput

RUNNER = CliRunner()
APP = typer.Typer()
label.register(APP)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write iris in three parts, with owners and a few wrong labels in the first."""
    folder = tmp_path_factory.mktemp("iris")
    bunch: Any = load_iris(as_frame=True)
    frame = bunch.frame.drop(columns="target")
    frame["species"] = np.array(bunch.target_names)[bunch.target]
    frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    train, valid, pool = frame[:80].copy(), frame[80:120], frame[120:].drop(columns="species")
    train.loc[[3, 30], "species"] = [
        "virginica" if s != "virginica" else "setosa" for s in train.species[[3, 30]]
    ]
    train["lab"] = np.where(np.arange(80) % 2 == 0, "north", "south")
    made = {}
    for name, part in (
        ("owned", train),
        ("train", train.drop(columns="lab")),
        ("valid", valid),
        ("pool", pool),
    ):
        made[name] = str(folder / f"{name}.csv")
        part.to_csv(made[name], index=False)
    return made


def run(*words: str) -> Any:
    answer = RUNNER.invoke(APP, ["label", *words], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_value(files: dict[str, str], tmp_path: Path):
    words = ["value", files["train"], "--valid", files["valid"], "--target", "species", "-k", "5"]
    out = tmp_path / "values.csv"
    document = json.loads(run(*words, "--json", "--out", str(out)))
    assert document["advice"]
    values = [row["value"] for row in document["rows"]]
    assert values == sorted(values)
    assert {3, 30} <= {row["row"] for row in document["rows"][:8]}
    written = pd.read_csv(out)
    assert written["value"].to_list() == pytest.approx(values)
    page = tmp_path / "values.html"
    assert "negative value" in run(*words, "--error", "0.1", "--out", str(page))
    assert "<table" in page.read_text("utf-8")


def test_next(files: dict[str, str]):
    words = [
        "next",
        files["train"],
        "--pool",
        files["pool"],
        "--valid",
        files["valid"],
        "--target",
        "species",
    ]
    rows = json.loads(run(*words, "-n", "7", "--json"))["rows"]
    assert len(rows) == 7
    assert {row["guess"] for row in rows} <= {"setosa", "versicolor", "virginica"}
    assert "Label these 30 of 30 rows" in run(*words)


@pytest.mark.parametrize("valid", [True, False])
def test_mislabelled(files: dict[str, str], valid: bool):
    words = ["mislabelled", files["train"], "--target", "species"]
    rows = json.loads(run(*words, *(["--valid", files["valid"]] if valid else []), "--json"))[
        "rows"
    ]
    assert {3, 30} <= {row["row"] for row in rows[:8]}


def test_checked_rows_tell_how_many_flagged_labels_are_wrong(files: dict[str, str], tmp_path: Path):
    words = ["mislabelled", files["train"], "--target", "species"]
    found = json.loads(run(*words, "--json"))
    assert "cannot tell how many" in found["advice"]
    drawn = [row for row in found["rows"] if row["check"]]
    assert drawn
    right = [f"{row['row']},{row['suggestion']}" for row in drawn]
    checked = tmp_path / "checked.csv"
    checked.write_text("\n".join(["row,species", *right]) + "\n")
    again = json.loads(run(*words, "--checked", str(checked), "--json"))
    assert f"All were checked: {len(drawn)} of them are wrong." in again["advice"]

    without_first = [line for line, row in zip(right, drawn, strict=True) if row["check"] > 1]
    checked.write_text("\n".join(["row,species", *without_first]) + "\n")
    answer = RUNNER.invoke(APP, ["label", *words, "--checked", str(checked)])
    left = len(without_first)
    assert f"{left} of {left} checked rows do not count" in answer.stderr


def checked_in(path: Path, text: str, target: str, labels: Any) -> dict[int, Any]:
    """Return what a file says of rows 10, 11 and 12."""
    path.write_text(text)
    return read_checked(path, target, np.array([10, 11, 12]), np.array(labels))


def test_checked_rows_are_read_as_people_write_them(tmp_path: Path):
    path = tmp_path / "checked.csv"
    classes = ["1", "0", "not ok"]
    text = "note;answer;row\nx;0.0;12.0\ny;;11\nz; not ok ;10\nz;not ok;10\n"
    assert checked_in(path, text, "answer", classes) == {2: "0", 0: "not ok"}

    prices = [12.34567, 2012.0, -3.0]
    text = "row,price\n10,12.35\n11,\n12,-3\n"
    assert checked_in(path, text, "price", prices) == {0: 12.34567, 2: -3.0}
    text = "row,price\n10,12.3\n11,2013\n12,-3.00001\n"
    assert checked_in(path, text, "price", prices) == {0: 12.3, 1: 2013.0, 2: -3.00001}


@pytest.mark.parametrize(
    ("text", "target", "says"),
    [
        ("row,note\n10,x\n", "answer", "no column 'answer'"),
        ("row,answer\n999,b\n", "answer", "No row 999"),
        ("row,answer\n10.5,b\n", "answer", "No row 10.5"),
        ("row,answer\n10,strange\n", "answer", "'strange' is not a label"),
        ("row,answer\n10,a\n10,b\n", "answer", "two right labels"),
        ("row,label,check\n10,a,1\n11,b,0\n", "label", "the list itself"),
    ],
)
def test_checked_rows_that_say_nothing_are_refused(
    tmp_path: Path, text: str, target: str, says: str
):
    with pytest.raises(InvalidInput, match=says) as refused:
        checked_in(tmp_path / "checked.csv", text, target, ["a", "b", "b"])
    assert "checked.csv" in str(refused.value.where)


def test_mislabelled_takes_a_target_of_numbers(tmp_path: Path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["price"] = 40 * frame.a + 7 * frame.b + rng.normal(size=90)
    frame.loc[[3, 30], "price"] += 900.0
    path = tmp_path / "prices.csv"
    frame.to_csv(path, index=False)
    answer = json.loads(run("mislabelled", str(path), "--target", "price", "--json"))
    assert {row["row"] for row in answer["rows"][:2]} == {3, 30}
    assert [row["flagged"] for row in answer["rows"][:2]] == [True, True]
    assert answer["rows"][0]["label"] == pytest.approx(900, abs=300)


def test_owners(files: dict[str, str]):
    # The validation file has no owners; nobody needs to own it.
    words = [
        "owners",
        files["owned"],
        "--valid",
        files["valid"],
        "--target",
        "species",
        "--owner",
        "lab",
    ]
    rows = json.loads(run(*words, "--budget", "10", "--json"))["rows"]
    assert {row["owner"] for row in rows} == {"north", "south"}
    assert sum(row["payment"] for row in rows) == pytest.approx(10)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["value", "TRAIN", "--valid", "POOL", "--target", "species"], id="no labels"),
        pytest.param(
            ["value", "TRAIN", "--valid", "VALID", "--target", "colour"], id="no such target"
        ),
        pytest.param(
            ["value", "TRAIN", "--valid", "nowhere.csv", "--target", "species"], id="no such file"
        ),
        pytest.param(
            ["value", "TRAIN", "--valid", "VALID", "--target", "species", "--out", "x.pdf"],
            id="kind of file",
        ),
        pytest.param(
            ["owners", "TRAIN", "--valid", "VALID", "--target", "species", "--owner", "lab"],
            id="no owner",
        ),
    ],
)
def test_wrong_use_is_an_error_with_a_message(files: dict[str, str], words: list[str]):
    given = [
        {"TRAIN": files["train"], "VALID": files["valid"], "POOL": files["pool"]}.get(word, word)
        for word in words
    ]
    with pytest.raises(InvalidInput) as caught:
        RUNNER.invoke(APP, ["label", *given], catch_exceptions=False)
    assert caught.value.message
