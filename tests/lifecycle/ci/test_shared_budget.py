"""Test sets are tied to their rows: whatever file or configuration names them, they share one
budget.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import ci
from easeml.cli.main import _Root

APP = typer.Typer(cls=_Root)
ci.register(APP)
ROWS = 900
GAIN = "condition: n - o > 0.02 +/- 0.05\nreliability: 0.95\nadaptivity: full\nsteps: 2\n"
LEVEL = "condition: n > 0.8 +/- 0.05\nreliability: 0.95\nadaptivity: full\nsteps: 2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, ROWS)
    ids = [f"x{row:04}" for row in range(ROWS)]
    for name, noise in (("new", 0.05), ("old", 0.3), ("other", 0.1)):
        said = np.where(rng.random(ROWS) < noise, (truth + 1) % 3, truth)
        pd.DataFrame({"id": ids, "prediction": said}).to_csv(f"{name}.csv", index=False)
    pd.DataFrame({"id": ids, "label": truth}).to_csv("labels.csv", index=False)
    pd.DataFrame({"id": ids, "label": ""}).to_csv("few.csv", index=False)
    Path("gain.yml").write_text(GAIN)
    Path("level.yml").write_text(LEVEL)
    return tmp_path


def outcome(config: str, labels: str, *more: str, new: str = "new.csv") -> tuple[int, dict, str]:
    args = ["test", config, "--old", "old.csv", "--new", new, "--labels", labels, "--json", *more]
    done = CliRunner().invoke(APP, ["ci", *args])
    document = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    return done.exit_code, document, done.stderr


def settle(config: str, labels: str) -> dict:
    """Test, and label what is asked for, until there is an answer."""
    truth = pd.read_csv("labels.csv").set_index("id")["label"]
    while True:
        _, found, _ = outcome(config, labels)
        if found["answer"] != "unknown" or not found["labels_wanted"]:
            return found
        table = pd.read_csv(labels).set_index("id").astype("Int64")
        table.loc[found["labels_wanted"], "label"] = truth[found["labels_wanted"]]
        table.reset_index().to_csv(labels, index=False)


def test_a_second_configuration_takes_rows_that_the_first_has_not_shown(folder: Path) -> None:
    first = settle("gain.yml", "few.csv")
    code, second, said = outcome("level.yml", "few.csv")
    ledger = json.loads((folder / "level.ledger.json").read_text())
    assert (code, second["answer"]) == (6, "unknown")
    assert ledger["history"][0]["start"] == first["rows_used"]
    assert "share one budget" in said
    assert "share one budget" in second["advice"]
    assert settle("level.yml", "few.csv")["answer"] == "pass"


@pytest.mark.parametrize("same", ["labels.csv", "copy.csv", "shuffled.csv"])
def test_a_deleted_ledger_goes_on_wherever_the_rows_are(folder: Path, same: str) -> None:
    assert outcome("gain.yml", "labels.csv")[0] == 0
    frame = pd.read_csv("labels.csv")
    frame.to_csv("copy.csv", index=False)
    frame.sample(frac=1, random_state=0).to_csv("shuffled.csv", index=False)
    (folder / "gain.ledger.json").unlink()
    _, again, said = outcome("gain.yml", same)
    assert (again["repeated"], again["step"]) == (True, 1)
    assert "tested before" in said
    (folder / "gain.ledger.json").unlink()
    assert outcome("gain.yml", same, new="other.csv")[1]["step"] == 2


def test_rows_that_overlap_with_a_used_test_set_are_refused(folder: Path) -> None:
    assert outcome("gain.yml", "labels.csv")[0] == 0
    for name in ("new", "old", "labels"):
        pd.read_csv(f"{name}.csv").iloc[: ROWS // 3].to_csv(f"{name}.csv", index=False)
    Path("again.yml").write_text(GAIN)
    for more in ((), ("--new-test-set",)):
        code, _, said = outcome("again.yml", "labels.csv", *more)
        assert (code, "but not all" in said) == (2, True)


def test_without_ids_moved_labels_and_more_rows_are_refused(folder: Path) -> None:
    for name in ("new", "old", "labels"):
        pd.read_csv(f"{name}.csv")[["prediction" if name != "labels" else "label"]].to_csv(
            f"{name}.csv", index=False
        )
    assert outcome("gain.yml", "labels.csv")[0] == 0
    labels = pd.read_csv("labels.csv")
    labels.iloc[::-1].to_csv("labels.csv", index=False)
    code, _, said = outcome("level.yml", "labels.csv")
    assert (code, "are others now" in said) == (2, True)
    for name in ("new", "old"):
        frame = pd.read_csv(f"{name}.csv")
        pd.concat([frame, frame.iloc[:50]]).to_csv(f"{name}.csv", index=False)
    pd.concat([labels, labels.iloc[:50]]).to_csv("grown.csv", index=False)
    code, _, said = outcome("level.yml", "grown.csv")
    assert (code, "but not all" in said) == (2, True)


def test_a_damaged_record_is_not_overwritten(folder: Path) -> None:
    record = folder / ".easeml-test-sets.json"
    record.write_text("{")
    code, _, said = outcome("gain.yml", "labels.csv")
    assert (code, "record of test sets" in said) == (2, True)
    assert record.read_text() == "{"
