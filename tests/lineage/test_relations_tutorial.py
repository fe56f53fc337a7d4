"""The tutorial on relations: its Python runs, and its commands print what it shows."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from easeml.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "relations.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_tutorial_runs_as_it_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    commands = 0
    for language, block in BLOCK.findall(PAGE.read_text("utf-8")):
        if language == "python":
            exec(block, names)
            continue
        command, shown = block.split("\n", 1)
        words = shlex.split(command.removeprefix("$ easeml "), comments=True)
        assert stripped(CliRunner().invoke(app, words).stdout) == stripped(shown)
        commands += 1
    assert commands >= 4
