"""A folder of programs is made, checked, and added to a running easeml; it is searched and served."""

import csv
import json
import time
from pathlib import Path

import pytest

from easeml.confinement import why_unavailable
from easeml.modules import load_registry
from isolation_levels import highest_level
from service_process import LOOK_EVERY, EasemlProcess

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp"),
]
ROWS = 80


def use_an_objective(easeml: EasemlProcess, folder: Path, table: Path, application: str) -> None:
    """Add an objective of programs: it measures what is trained, and what another search finds."""
    easeml.command("module", "init", str(folder), "--kind", "objective", "--language", "shell")
    of_three_rows = "END {\n    if (FNR == 4) exit 3"
    (folder / "eval").write_text((folder / "eval").read_text().replace("END {", of_three_rows))
    easeml.command("module", "check", str(folder))
    said = easeml.command("module", "add", str(folder), "--private")
    assert "app create --objective twice" in said
    metrics: dict = {}
    while "twice" not in metrics:  # by the predictions that were kept
        time.sleep(LOOK_EVERY)
        metrics = easeml.call("GET", application)["live_model"]["metrics"]
    assert metrics["twice"] == 1.0

    rules = ("--target", "kind", "--objective", "twice", "--name", "counted twice")
    models = ("--models", "naive-bayes,baseline-classifier", "--max-tasks", "3")
    made = easeml.command("app", "create", str(table), *rules, *models, "--yes", "--json")
    other = json.loads(made)["id"]
    easeml.wait(other, "first-model", 60)
    rows = [{"size": 0.5, "weight": 1, "kind": "small"}, {"size": 6, "weight": 1, "kind": "large"}]
    url = f"/api/v1/applications/{other}"
    answer = easeml.call("POST", f"{url}/predict", {"rows": rows})
    assert answer["quality"]["objective"] == "twice"
    assert 0 <= answer["quality"]["value"] <= 1
    assert easeml.call("GET", url)["objective_title"] == "twice"
    answer = easeml.call("POST", f"{url}/predict", {"rows": [*rows, rows[0]]})
    assert len(answer["predictions"]) == 3  # the objective fails on them, the model does not
    assert answer["quality"] is None

    toml = (folder / "module.toml").read_text()
    newer = toml.replace('name = "twice"', 'name = "twice-v2"\nreplaces = ["twice"]')
    (folder / "module.toml").write_text(newer)
    easeml.command("module", "add", str(folder), "--private")
    listed = easeml.command("module", "list", "--kind", "objective")
    assert "superseded by twice-v2" in listed
    answer = easeml.call("POST", f"{url}/predict", {"rows": rows})
    assert answer["quality"]["objective"] == "twice"  # what uses the older goes on with it

    (folder / "module.toml").write_text(toml.replace('"twice"', '"too-good"'))
    (folder / "eval").write_text("#!/bin/sh\necho value > $4/values.csv\nexec yes\n")
    said = easeml.command("module", "add", str(folder), "--private", expect=1)
    assert "eval was ended: it printed more than" in said


def test_programs_are_added_searched_and_served(tmp_path: Path) -> None:
    table = tmp_path / "sizes.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "weight", "kind"])
        for row in range(ROWS):
            kind = row % 2
            writer.writerow([kind * 5 + row % 7 / 3, row % 5, ["small", "large"][kind]])
    names = [one.name for one in load_registry().of_kind("model")]
    others = ",".join(name for name in names if name != "baseline-classifier")
    easeml = EasemlProcess(tmp_path / "home", workers=1, isolation=highest_level())
    easeml.start()
    try:
        person = {"name": "ann", "password": "correct horse battery"}
        easeml.call("POST", "/api/v1/users", person)
        of_provider = easeml.key
        easeml.key = easeml.call("POST", "/api/v1/login", person)["secret"]  # ann, from here on
        rules = ("--target", "kind", "--exclude", others, "--name", "sizes")
        made = easeml.command("app", "create", str(table), *rules, "--yes", "--json")
        application = f"/api/v1/applications/{json.loads(made)['id']}"

        folder = tmp_path / "nearest"
        easeml.command("module", "init", str(folder), "--language", "shell")
        refused = easeml.command("module", "add", str(folder), expect=4)
        assert "--private" in refused
        said = easeml.command("module", "add", str(folder), "--private")
        assert "failed" not in said
        listed = json.loads(easeml.command("module", "list", "--kind", "model", "--json"))
        assert [one["name"] for one in listed if one["private"]] == ["nearest"]

        easeml.wait(json.loads(made)["id"], "first-model", 60)
        rows = [{"size": 0.5, "weight": 1}, {"size": 6, "weight": 1}]
        answer: dict = {"model_name": ""}
        while not answer["model_name"].startswith("nearest"):  # it is better, so it goes live
            time.sleep(LOOK_EVERY)
            answer = easeml.call("POST", f"{application}/predict", {"rows": rows})
        assert answer["predictions"] == ["small", "large"]
        use_an_objective(easeml, tmp_path / "twice", table, application)

        (folder / "module.toml").write_text(
            (folder / "module.toml").read_text().replace('"nearest"', '"hostile"')
        )
        (folder / "predict").write_text("#!/bin/sh\necho I was too tired >&2\nexit 1\n")
        easeml.key = of_provider
        said = easeml.command("module", "add", str(folder), expect=1)
        assert "I was too tired" in said
    finally:
        easeml.stop()
