"""A copy of a running easeml: made by commands, tried by a drill."""

import json
import shutil
from pathlib import Path

import pytest

from service_process import EasemlProcess

pytestmark = pytest.mark.service

WINE = Path(__file__).parents[2] / "src" / "easeml" / "web" / "samples" / "wine.csv"


def test_a_running_easeml_is_copied_and_the_copy_predicts(easeml: EasemlProcess, tmp_path: Path):
    declared = ("app", "create", str(WINE), "--yes", "--json", "--max-tasks", "1")
    application = json.loads(easeml.command(*declared))
    easeml.wait(application["id"], "first-model", 60)

    backup, home = str(tmp_path / "backup"), str(tmp_path / "copy")
    made = json.loads(easeml.command("backup", backup, "--home", str(easeml.home), "--json"))
    assert made["artefacts"] > 0
    assert made["lost"] == []
    restored = json.loads(easeml.command("restore", backup, "--home", home, "--verify", "--json"))
    assert application["id"] in [one["application_id"] for one in restored["drill"]]
    assert [one["error"] for one in restored["drill"] if one["error"]] == []

    for tenant in (tmp_path / "copy" / "artefacts").iterdir():
        shutil.rmtree(tenant)
    easeml.command("doctor", "--home", home, expect=1)
    repair = ("doctor", "--home", home, "--repair", "--backup", backup, "--json")
    found = json.loads(easeml.command(*repair))
    assert {one["state"] for one in found} == {"ok"}
    assert [one["check"] for one in found if one["repaired"]] == ["artefacts"]
