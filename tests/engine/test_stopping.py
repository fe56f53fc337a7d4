"""``easeml down``: the supervisor of a home is found by its lock, asked to end, and waited for."""

import subprocess
import sys
from pathlib import Path

import pytest

from easeml.engine import running_supervisor, stop_supervisor
from easeml.errors import NotFound, TimedOut

HOLD = """
import fcntl, os, signal, sys
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
file.write(str(os.getpid()))
file.flush()
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("held", flush=True)
signal.pause()
"""


def hold(home: Path, manner: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HOLD, str(home / "supervisor.lock"), manner]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_a_supervisor_is_asked_to_end_and_waited_for(tmp_path: Path):
    with hold(tmp_path, "polite") as holder:
        assert running_supervisor(tmp_path) == holder.pid
        assert stop_supervisor(tmp_path, seconds=30.0) == holder.pid
        assert running_supervisor(tmp_path) is None


def test_one_that_does_not_end_is_told_of(tmp_path: Path):
    with hold(tmp_path, "deaf") as holder:
        with pytest.raises(TimedOut, match=str(holder.pid)):
            stop_supervisor(tmp_path, seconds=0.0)
        holder.kill()


def test_where_none_runs_that_is_said(tmp_path: Path):
    with pytest.raises(NotFound, match="does not run"):
        stop_supervisor(tmp_path, seconds=0.0)
    (tmp_path / "supervisor.lock").write_text("12345")  # of one that was killed
    assert running_supervisor(tmp_path) is None
