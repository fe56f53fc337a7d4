"""``easeml ci``: files in, one answer and its exit code out."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import ci
from easeml.cli.ci_files import align, read_column
from easeml.cli.main import _Root
from easeml.errors import InvalidInput

APP = typer.Typer(cls=_Root)
ci.register(APP)
ROWS = 900
CONFIG = """ml:
  - condition  : n - o > 0.02 +/- 0.05 /\\ d < 0.9 +/- 0.05
  - reliability: 0.95
  - mode       : fp-free
  - adaptivity : none -> team@example.org
  - steps      : 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, ROWS)
    for name, noise in (("good", 0.05), ("old", 0.3), ("bad", 0.6)):
        wrong = generator.random(ROWS) < noise
        np.savetxt(f"{name}.csv", np.where(wrong, (labels + 1) % 3, labels), fmt="%d")
    np.savetxt("labels.csv", labels, fmt="%d", header="label", comments="")
    Path("few.csv").write_text("label\n" + "\n" * ROWS)
    Path(".easeml-ci.yml").write_text(CONFIG)
    return tmp_path


def called(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(APP, ["ci", *args])
    return result.exit_code, result.output


def outcome(new: str, labels: str = "labels", *more: str) -> tuple[int, dict]:
    args = [
        "test",
        ".easeml-ci.yml",
        "--old",
        "old.csv",
        "--new",
        f"{new}.csv",
        "--labels",
        f"{labels}.csv",
        "--json",
    ]
    code, text = called(*args, *more)
    return code, json.loads(text) if text.startswith("{") else {"error": text}


def test_plan_prints_baseline_and_chosen() -> None:
    args = ["--reliability", "0.9999", "--mode", "fp-free", "--adaptivity", "full", "--steps", "32"]
    code, text = called("plan", "n > 0.8 +/- 0.05", *args, "--json")
    document = json.loads(text)
    assert (code, document["baseline"]) == (0, 6279)
    assert document["chosen"] < 3139
    code, text = called("plan", "d < 0.08 +/- 0.01 /\\ n - o > 0.02 +/- 0.01", *args)
    assert code == 0
    assert "67,706" in text


def test_plan_and_test_of_f1(folder: Path) -> None:
    keys = "\n".join(
        ["condition: n > 0.7 +/- 0.1", "reliability: 0.95", "metric: f1", "positive: 1", "steps: 2"]
    )
    Path(".easeml-ci.yml").write_text(keys)
    code, text = called("plan", ".easeml-ci.yml")
    assert (code, "--positives" in text) == (2, True)
    code, text = called("plan", ".easeml-ci.yml", "--positives", "0.33", "--json")
    document = json.loads(text)
    assert code == 0
    assert 0 < document["expected"] <= document["chosen"] < document["baseline"]
    assert called("plan", "n - o > 0.1 +/- 0.1", "--metric", "f1", "--positives", "0.2")[0] == 0
    code, passed = outcome("good")
    assert (code, passed["answer"]) == (0, "pass")
    assert outcome("bad")[0] == 1


def test_plan_of_a_file_and_its_report(folder: Path) -> None:
    code, text = called("plan", ".easeml-ci.yml", "--out", "plan.html")
    assert code == 0
    assert "labels" in text
    assert "<html" in (folder / "plan.html").read_text()


@pytest.mark.parametrize(
    "args",
    [
        ("n > 0.5",),
        ("n > 2 +/- 0.1",),
        ("none.yml",),
        ("n > 0.5 +/- 0.1", "--positives", "0.5"),
        ("n > 0.5 +/- 0.1", "--steps", "0"),
    ],
)
def test_a_plan_that_makes_no_sense(args, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = called("plan", *args)
    assert (code, text.startswith("Error")) == (2, True)


def test_pass_fail_repeat_and_exhausted(folder: Path) -> None:
    code, passed = outcome("good")
    assert (code, passed["answer"], passed["step"], passed["steps_left"]) == (0, "pass", 1, 1)
    code, repeated = outcome("good")
    assert (code, repeated["repeated"], repeated["steps_left"]) == (0, True, 1)
    code, failed = outcome("bad")
    assert (code, failed["answer"], failed["new_test_set_due"]) == (1, "fail", True)
    code, refused = outcome("labels")
    assert (code, refused["answer"]) == (6, "exhausted")
    code, text = called("ledger", ".easeml-ci.yml")
    assert code == 0
    assert "used up" in text
    code, error = outcome("good", "labels", "--new-test-set")
    assert (code, "used up" in error["error"]) == (2, True)
    assert not [path for path in folder.iterdir() if path.name.endswith(".tmp")]


def test_labels_are_asked_for_and_the_commit_goes_on(folder: Path) -> None:
    code, waiting = outcome("good", "few", "--ask", "ask.csv")
    assert (code, waiting["answer"]) == (6, "unknown")
    asked = (folder / "ask.csv").read_text().splitlines()
    assert asked[0] == "row,label"
    assert [int(line.rstrip(",")) for line in asked[1:]] == waiting["labels_wanted"]
    truth = (folder / "labels.csv").read_text().split()[1:]
    given = ["" for _ in truth]
    for row in waiting["labels_wanted"]:
        given[row] = truth[row]
    Path("few.csv").write_text("label\n" + "\n".join(given) + "\n")
    code, passed = outcome("good", "few")
    assert (code, passed["answer"], passed["step"]) == (0, "pass", 1)


def test_another_condition_or_another_test_set_is_refused(folder: Path) -> None:
    assert outcome("good")[0] == 0
    Path(".easeml-ci.yml").write_text(CONFIG.replace("0.02", "0.01"))
    code, error = outcome("bad")
    assert (code, "opened with" in error["error"]) == (2, True)
    Path(".easeml-ci.yml").write_text(CONFIG)
    assert outcome("bad", "few")[0] == 2
    assert outcome("bad", "few", "--new-test-set")[0] == 6


def test_ids_join_files_in_any_order(folder: Path) -> None:
    labels = (folder / "labels.csv").read_text().split()[1:]
    rows = [f"x{number},{label}" for number, label in enumerate(labels)]
    Path("ids.csv").write_text("id,label\n" + "\n".join(rows[:5]))
    for name in ("good", "old"):
        values = (folder / f"{name}.csv").read_text().split()
        lines = [f"{value},x{number}" for number, value in enumerate(values)][
            :: -1 if name == "old" else 1
        ]
        Path(f"{name}-ids.csv").write_text("prediction,id\n" + "\n".join(lines))
    args = ["--old", "old-ids.csv", "--new", "good-ids.csv", "--labels", "ids.csv"]
    code, text = called("test", ".easeml-ci.yml", *args, "--json")
    assert code == 6
    assert all(name.startswith("x") for name in json.loads(text)["labels_wanted"])


def test_a_first_commit_has_no_old_model(folder: Path) -> None:
    Path("first.yml").write_text("condition: n > 0.8 +/- 0.05\nreliability: 0.95\n")
    code, text = called("test", "first.yml", "--new", "good.csv", "--labels", "labels.csv")
    assert code == 0
    assert "proven" in text
    code, text = called("test", ".easeml-ci.yml", "--new", "good.csv", "--labels", "labels.csv")
    assert (code, "--old" in text) == (2, True)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("none.csv", None),
        ("short.csv", b"1\n2\n"),
        ("wide.csv", b"a,b,c\n1,2,3\n"),
        ("twice.csv", b"id,label\n1,a\n1,b\n"),
        ("ragged.csv", b"id,label\n1,a\n2\n"),
        ("empty.csv", b""),
        ("binary.csv", b"\xff\xfe\x00"),
        ("bad.json", b"[1,"),
        ("deep.json", b'[{"a": 1}]'),
        ("bad.npy", b"none"),
    ],
)
def test_bad_files_are_named(folder: Path, name: str, body: bytes | None) -> None:
    if body is not None:
        (folder / name).write_bytes(body)
    args = ["--old", "old.csv", "--new", "good.csv", "--labels", name]
    code, text = called("test", ".easeml-ci.yml", *args)
    assert code == 2
    assert name in text
    assert not (folder / ".easeml-ci.ledger.json").exists()


def test_a_damaged_ledger_is_not_overwritten(folder: Path) -> None:
    (folder / ".easeml-ci.ledger.json").write_text("{")
    code, error = outcome("good")
    assert (code, "ledger" in error["error"]) == (2, True)
    assert (folder / ".easeml-ci.ledger.json").read_text() == "{"


def test_kinds_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": 1, "y": null}')
    (tmp_path / "b.txt").write_text("accuracy\n0.5\nNA\n")
    (tmp_path / "c.csv").write_text("cat\ndog\n")
    np.save(tmp_path / "d.npy", np.array([1, 2]))
    found = [
        read_column(tmp_path / name, labels=True) for name in ("a.json", "b.txt", "c.csv", "d.npy")
    ]
    assert [column.values for column in found] == [[1, None], ["0.5", None], ["cat", "dog"], [1, 2]]
    assert found[0].ids == ["x", "y"]
    ids, columns = align(found[2], found[3])
    assert (ids, columns) == (None, [["cat", "dog"], [1, 2]])
    with pytest.raises(InvalidInput, match="y"):
        align(found[0], found[0].__class__([1], ["x"], tmp_path))
