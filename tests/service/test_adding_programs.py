"""A folder of programs is made, checked, and added to a running easeml; it is searched and served."""

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import wheels
from easeml.confinement import why_unavailable
from easeml.modules import load_registry
from isolation_levels import highest_level
from service_process import LOOK_EVERY, EasemlProcess
from warm_service import WarmService

from .test_tutorials import CONFINED, FOLDER, follow_page

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp"),
]
ROWS = 80
WITH_PACKAGES = """\
#!/usr/bin/env python3
import importlib.util, os, sys
import luckynumbers
if importlib.util.find_spec("numpy") or luckynumbers.NUMBER != 7:
    sys.exit("there are other packages than those that were named")
os.execv(os.path.join(os.path.dirname(__file__), "learn"), sys.argv)
"""


def use_an_objective(easeml: EasemlProcess, folder: Path, table: Path, application: str) -> None:
    """Add an objective of programs: it measures what is trained, and what another search finds."""
    easeml.command("module", "init", str(folder), "--kind", "objective", "--language", "shell")
    of_three_rows = "END {\n    if (FNR == 4) exit 3"
    (folder / "eval").write_text((folder / "eval").read_text().replace("END {", of_three_rows))
    said = easeml.command("module", "add", str(folder), "--private")
    assert "app create --objective counted" in said
    metrics: dict = {}
    while "counted" not in metrics:  # by the predictions that were kept
        time.sleep(LOOK_EVERY)
        metrics = easeml.call("GET", application)["live_model"]["metrics"]
    assert metrics["counted"] == 1.0
    asked = easeml.command("app", "models", application.rpartition("/")[2], "--measure", "counted")
    assert asked.count("counted") >= 1

    rules = ("--target", "kind", "--objective", "counted", "--name", "counted again")
    models = ("--models", "naive-bayes,baseline-classifier", "--max-tasks", "3")
    made = easeml.command("app", "create", str(table), *rules, *models, "--yes", "--json")
    other = json.loads(made)["id"]
    easeml.wait(other, "first-model", 60)
    rows = [{"size": 0.5, "weight": 1, "kind": "small"}, {"size": 6, "weight": 1, "kind": "large"}]
    url = f"/api/v1/applications/{other}"
    answer = easeml.call("POST", f"{url}/predict", {"rows": rows})
    assert answer["quality"]["objective"] == "counted"
    assert 0 <= answer["quality"]["value"] <= 1
    assert easeml.call("GET", url)["objective_title"] == "counted"
    answer = easeml.call("POST", f"{url}/predict", {"rows": [*rows, rows[0]]})
    assert len(answer["predictions"]) == 3  # the objective fails on them, the model does not
    assert answer["quality"] is None

    toml = (folder / "module.toml").read_text()
    newer = toml.replace('name = "counted"', 'name = "counted-v2"\nreplaces = ["counted"]')
    (folder / "module.toml").write_text(newer)
    easeml.command("module", "add", str(folder), "--private")
    listed = easeml.command("module", "list", "--kind", "objective")
    assert "superseded by counted-v2" in listed
    answer = easeml.call("POST", f"{url}/predict", {"rows": rows})
    assert answer["quality"]["objective"] == "counted"  # what uses the older goes on with it

    (folder / "module.toml").write_text(toml.replace('"counted"', '"too-good"'))
    (folder / "eval").write_text("#!/bin/sh\necho value > $4/values.csv\nexec yes\n")
    said = easeml.command("module", "add", str(folder), "--private", expect=1)
    assert "eval was ended: it printed more than" in said


@pytest.fixture(scope="module")
def easeml(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EasemlProcess]:
    """A service that takes programs, and has packages for them."""
    place = tmp_path_factory.mktemp("confined")
    index = wheels.write(place / "wheels", "luckynumbers", "1.2", "NUMBER = 7\n")
    level = highest_level()
    service = WarmService(place / "home", workers=1, isolation=level, package_index=str(index))
    service.start()
    yield service
    service.stop()


@pytest.mark.long
def test_a_researchers_afternoon(
    easeml: EasemlProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three applications run, a model, an objective and an optimizer come: one endpoint changes."""
    monkeypatch.chdir(tmp_path)
    follow_page(FOLDER / CONFINED, tmp_path, easeml)
    found = json.loads(easeml.command("app", "list", "--json"))
    serving = {one["name"]: one["live_model"]["name"] for one in found}
    assert serving.keys() == {"wine", "diabetes", "lamps"}
    better = [name for name, model in serving.items() if model.startswith("parity")]
    assert better == ["lamps"]
    assert not [one for one in found if one["state"] != "serving"]
    easeml.command("module", "archive", "parity")  # it would be the best in the next test as well


def test_programs_are_added_searched_and_served(easeml: EasemlProcess, tmp_path: Path) -> None:
    table = tmp_path / "sizes.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "weight", "kind"])
        for row in range(ROWS):
            kind = row % 2
            writer.writerow([kind * 5 + row % 7 / 3, row % 5, ["small", "large"][kind]])
    names = [one.name for one in load_registry().of_kind("model")]
    others = ",".join(name for name in names if name != "baseline-classifier")
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
    (folder / "train").rename(folder / "learn")
    (folder / "train").write_text(WITH_PACKAGES)
    (folder / "requirements.txt").write_text("no-such-package\n")
    said = easeml.command("module", "add", str(folder), "--private", expect=1)
    assert "No matching distribution found for no-such-package" in said
    (folder / "requirements.txt").write_text("luckynumbers >= 1.0  # for luck\n")
    said = easeml.command("module", "add", str(folder), "--private")
    assert "passed: The packages of requirements.txt can be installed." in said
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
    use_an_objective(easeml, tmp_path / "counted", table, application)

    (folder / "module.toml").write_text(
        (folder / "module.toml").read_text().replace('"nearest"', '"hostile"')
    )
    (folder / "predict").write_text("#!/bin/sh\necho I was too tired >&2\nexit 1\n")
    said = easeml.command("module", "add", str(folder), "--private", expect=1)
    assert "I was too tired" in said
    tasks = easeml.call("GET", "/api/v1/tasks?kind=advise&limit=200")["items"]
    builds = [one["state"] for one in tasks if one["name"] == "Install packages for a module"]
    assert sorted(builds) == ["done", "failed"]  # one for both modules that name the same
    easeml.key = of_provider
