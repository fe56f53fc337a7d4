"""The rules of Prometheus ring when they should, and not before: promtool plays time to them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from launching import DEPLOY, check_command

RULES = DEPLOY / "chart" / "monitoring" / "alerts.yaml"
PLAYED = Path(__file__).parent / "alerts_test.yaml"


def rules() -> list[dict]:
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    return group["rules"]


def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (Debian's package prometheus has it).")
    return found


def test_prometheus_reads_the_rules() -> None:
    command = [promtool(), "check", "rules", str(RULES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_rule_rings_when_it_should(tmp_path: Path) -> None:
    played = tmp_path / "played.yaml"
    played.write_text(PLAYED.read_text().replace("RULES", str(RULES)))
    command = [promtool(), "test", "rules", str(played)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_rule_is_played_ringing_and_silent() -> None:
    asked = [
        one
        for played in yaml.safe_load(PLAYED.read_text())["tests"]
        for one in played["alert_rule_test"]
    ]
    for rule in rules():
        expected = [bool(one["exp_alerts"]) for one in asked if one["alertname"] == rule["alert"]]
        assert set(expected) == {True, False}, rule["alert"]


def test_each_rule_says_what_to_do_with_commands_that_there_are() -> None:
    for rule in rules():
        told = rule["annotations"]
        assert told["summary"].endswith(".")
        for words in re.findall(r"easeml ([a-z]+ [a-z]+)", told["description"]):
            check_command(words.split())
