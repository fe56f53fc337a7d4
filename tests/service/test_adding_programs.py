"""A folder of programs is made, checked, and added to a running easeml; it is searched and served."""

import csv
import json
import time
from pathlib import Path

import pytest

from easeml.confinement import why_unavailable
from easeml.modules import load_registry
from service_process import LOOK_EVERY, EasemlProcess

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp"),
]
ROWS = 80


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
    easeml = EasemlProcess(tmp_path / "home", workers=1, isolation="process")
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

        (folder / "module.toml").write_text(
            (folder / "module.toml").read_text().replace('"nearest"', '"hostile"')
        )
        (folder / "predict").write_text("#!/bin/sh\necho I was too tired >&2\nexit 1\n")
        easeml.key = of_provider
        said = easeml.command("module", "add", str(folder), expect=1)
        assert "I was too tired" in said
    finally:
        easeml.stop()
