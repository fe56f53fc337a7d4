"""A model is added to a running easeml on PostgreSQL: its worker dies, its class crashes, and the
service restarts.
"""

import json
import time
from pathlib import Path

import pytest

from postgres_cluster import cluster, database
from service_process import LOOK_EVERY
from warm_service import WarmService

pytestmark = [pytest.mark.service, pytest.mark.postgres]
PACKAGE = """
import os, time
from pathlib import Path
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

class Waits(LinearDiscriminantAnalysis):
    def fit(self, X, y):
        while not Path(__file__).with_name("go").exists():
            time.sleep(0.01)
        return super().fit(X, y)

class Exits(LinearDiscriminantAnalysis):
    def fit(self, X, y):
        os._exit(3)
"""
TOML = """
name = "{name}"
kind = "model"
version = "1.0"
contract = 1
title = "For tests"
accepts = "classification"
[runtime]
kind = "python"
entry = "ours_for_tests:{entry}"
"""


def test_a_model_is_added_whatever_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = tmp_path / "packages"
    place.mkdir()
    (place / "ours_for_tests.py").write_text(PACKAGE)
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=":")
    with cluster() as template, database(template) as url:
        easeml = WarmService(
            tmp_path / "home", workers=1, database_url=url, module_packages="ours_for_tests"
        )
        easeml.start()
        try:
            crashing = tmp_path / "crashing.toml"
            crashing.write_text(TOML.format(name="crashing", entry="Exits"))
            said = easeml.command("module", "add", str(crashing), expect=1)
            assert "passed: The class is there" in said
            assert "exit code 3" in said

            body = {"toml": TOML.format(name="waiting", entry="Waits")}
            made = easeml.call("POST", "/api/v1/modules", body)
            state: dict = {}
            while "running" not in [one["state"] for one in state.get("checks", [])[1:]]:
                time.sleep(LOOK_EVERY)
                state = easeml.call("GET", "/api/v1/modules/waiting/checks")
            easeml.kill("worker")
            (place / "go").touch()
            easeml.command("task", "show", made["task_id"])
            while state["state"] == "checking":
                time.sleep(LOOK_EVERY)
                state = easeml.call("GET", "/api/v1/modules/waiting/checks")
            assert state["state"] == "ready", state
            easeml.stop()
            easeml.start()
            found = json.loads(easeml.command("module", "list", "--kind", "model", "--json"))
            assert [one["name"] for one in found if one["added"]] == ["waiting"]
        finally:
            easeml.stop()
