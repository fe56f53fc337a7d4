"""What programs of modules come to at each level of isolation: the table of ``docs/threat-model.md``."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest
from warm_bodies import WARM

import hostile_programs
from easeml.confinement import Isolation, why_unavailable
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor
from easeml.folders import temporary_folder
from easeml.modules import packed
from isolation_levels import LEVELS, needs_level

LIMITS = Limits(seconds=120, memory=2**30, threads=1)
pytestmark = pytest.mark.skipif(
    bool(why_unavailable()), reason="programs need Landlock and seccomp"
)


def attack(folder: Path) -> TaskResult:
    """A body about a module: have its programs try everything, and tell what came of it."""
    arguments = json.loads((folder / "arguments").read_text())
    with temporary_folder("attacks-") as own:
        found = hostile_programs.came_to(f"#!{sys.executable}\n", "", own, arguments)
    result = TaskResult(ok=True, value={"came_to": found})
    task_main.write_result(folder, result)
    return result


@pytest.mark.parametrize("level", LEVELS)
def test_programs_of_modules_come_to_what_the_page_says(tmp_path: Path, level: Isolation) -> None:
    needs_level(level)
    secret = tmp_path / "others" / "easeml.db"
    secret.parent.mkdir()
    secret.write_text("of another tenant")
    folder = tmp_path / "work"
    folder.mkdir()
    uploaded = json.dumps({"source": packed.MARK})  # it is about a module that was uploaded
    (folder / task_main.SPEC).write_text(uploaded)
    executor = LocalExecutor(LIMITS, attack, preload=WARM, isolation=level)
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            arguments = [str(secret), str(server.getsockname()[1]), str(os.getpid())]
            (folder / "arguments").write_text(json.dumps(arguments))
            outcome = executor.start(folder, LIMITS).wait()
    finally:
        executor.close()
    assert outcome.ending == "finished", outcome.result.error
    came_to = outcome.result.value["came_to"]
    found = {name: hostile_programs.in_words(came) for name, came in came_to.items()}
    assert found == hostile_programs.told(level)
    assert [path.name for path in secret.parent.iterdir()] == ["easeml.db"]
