"""The fork server of a process shares what was imported, and ends with its owner."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from watching_processes import alive, eventually

PROGRAM = Path(__file__).parent / "owner_of_a_fork_server.py"


@pytest.mark.parametrize(
    ("arguments", "mark"), [(["early"], "set before the fork"), ([], "")], ids=["forked", "fresh"]
)
def test_children_share_what_was_imported_early(arguments: list[str], mark: str, tmp_path: Path):
    command = [sys.executable, str(PROGRAM), *arguments]
    own = {**os.environ, "TMPDIR": str(tmp_path)}  # who is killed leaves its socket there
    with subprocess.Popen(
        command, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        seen, server = owner.stdout.readline().strip().split("|")
        owner.kill()
    assert seen == mark
    eventually(lambda: not alive(int(server)))
