"""The tutorials, followed to the letter: every command and every piece of Python in them works, in
its order.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import commands
from easeml.client import Client
from service_process import EasemlProcess

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
TUTORIALS = sorted(FOLDER.glob("*.md"))
CONFINED = "researchers-afternoon.md"  # followed by test_adding_programs, whose service is confined
WITH_SERVICE = {
    "adding-a-model.md",
    "changing-data.md",
    "debugging.md",
    "forecasts.md",
    "people.md",
    "pictures.md",
    "rolling-out.md",
    "samples.md",
    "several-labels.md",
    "tables.md",
    "taking-it-home.md",
    "what-good-means.md",
}
EXIT = re.compile(r"# exit (\d+)$")
NEEDS_SHELL = re.compile(r"[|<>&;$`*?~]")
QUOTED = re.compile(r"'[^']*'|\"[^\"$`]*\"")
WITHOUT_SHELL = {"easeml": commands.run, "python": commands.run_python}
FILE = re.compile(r"# (\S+\.\w+)\n")  # a first line that names the file of the block
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands_of(block: str) -> list[str]:
    """Return a block's commands: what follows ``$ `` (the rest is output), or all lines where there
    is no ``$``.
    """
    lines = block.replace("\\\n", " ").splitlines()
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    return prompted or [line for line in lines if line.strip() and not line.startswith("#")]


def follow(command: str, folder: Path, service: EasemlProcess | None) -> None:
    """Run one command as it stands, but for the id of the application and the question that a
    person answers.
    """
    expected = EXIT.search(command)
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = command.replace(".venv/bin/", "")
    if service is not None:
        environment |= {"EASEML_URL": service.url, "EASEML_API_KEY": service.key}
        with Client(service.url, service.key) as client:
            listed = list(client.applications())
        command = re.sub(r"\bID\b", listed[-1].id if listed else "ID", command)
        if "app create" in command:
            command += " --yes"
    done = run(command, folder, environment)
    said = f"{command}\n{done.stdout}{done.stderr}"
    assert done.returncode == (int(expected.group(1)) if expected else 0), said


def run(
    command: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a line of a terminal; what needs no shell, but easeml or Python, is run without one."""
    words = shlex.split(command, comments=True)
    needs_shell = NEEDS_SHELL.search(QUOTED.sub("", command))
    if words[0] in WITHOUT_SHELL and not needs_shell:
        return WITHOUT_SHELL[words[0]](words[1:], environment, folder, seconds=240)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.parametrize(
    "tutorial",
    [
        pytest.param(path, id=f"service-{path.name}", marks=pytest.mark.service)
        if path.name in WITH_SERVICE
        else pytest.param(path, id=path.name)
        for path in TUTORIALS
        if path.name != CONFINED
    ],
)
def test_a_tutorial_can_be_followed(
    tutorial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    service = request.getfixturevalue("easeml") if tutorial.name in WITH_SERVICE else None
    monkeypatch.chdir(tmp_path)
    follow_page(tutorial, tmp_path, service)


@pytest.mark.service
def test_the_readme_is_right_about_python(
    easeml: EasemlProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    random = np.random.default_rng(0)
    ages, months = random.integers(18, 80, 120), random.integers(1, 40, 120)
    plans = random.choice(["basic", "full"], 120)
    stays = np.where((ages > 40) ^ (plans == "basic"), "yes", "no")
    table = pd.DataFrame({"age": ages, "plan": plans, "months": months, "churn": stays})
    table.to_csv(tmp_path / "customers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EASEML_URL", easeml.url)
    monkeypatch.setenv("EASEML_API_KEY", easeml.key)

    blocks = BLOCK.findall((FOLDER.parents[1] / "README.md").read_text("utf-8"))
    (written,) = [text for kind, text in blocks if kind == "python" and "Client" in text]
    exec(compile(written, "README.md", "exec"), {"__name__": "readme"})


def follow_page(tutorial: Path, tmp_path: Path, service: EasemlProcess | None) -> None:
    """Do all that a page says, in a folder."""
    names: dict[str, Any] = {"__name__": "tutorial"}
    for language, block in BLOCK.findall(tutorial.read_text("utf-8")):
        if named := FILE.match(block):
            (tmp_path / named.group(1)).parent.mkdir(parents=True, exist_ok=True)
            text = block.removeprefix(named.group(0)) if language == "csv" else block
            (tmp_path / named.group(1)).write_text(text, "utf-8")
        elif language == "python":
            exec(compile(block, str(tutorial), "exec"), names)
        elif language in ("", "sh", "bash", "console"):
            for command in commands_of(block):
                follow(command, tmp_path, service)


def test_tutorials_hold_what_can_be_followed():
    for tutorial in TUTORIALS:
        blocks = BLOCK.findall(tutorial.read_text("utf-8"))
        assert any("easeml" in block for _, block in blocks), tutorial.name
        for _, block in blocks:
            for command in commands_of(block) if "$ easeml" in block else []:
                shlex.split(command, comments=True)
