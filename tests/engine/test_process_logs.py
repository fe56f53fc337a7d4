"""The log of a process is bounded while it runs, whatever somebody does to the file."""

import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from easeml.engine import managed_process
from easeml.engine.managed_process import ManagedProcess

_WRITES = "import sys; [print('x' * 99, flush=True) for line in sys.stdin]"


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A process that writes 100 bytes for each line that it reads."""
    monkeypatch.setattr(managed_process, "_LARGEST_LOG", 1000)
    started: list[subprocess.Popen[bytes]] = []

    def start(output: BinaryIO) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", _WRITES]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output))
        return started[-1]

    made = ManagedProcess("worker", 1, tmp_path, start)
    made.keep_running()
    made.lines = started[0].stdin  # type: ignore[attr-defined]
    yield made
    made.terminate()
    made.end(5.0)


def write(process: ManagedProcess, count: int) -> None:
    """Have lines written, and wait until they are there."""
    there = process.log.stat().st_size
    process.lines.write(b"\n" * count)  # type: ignore[attr-defined]
    process.lines.flush()  # type: ignore[attr-defined]
    while process.log.stat().st_size < there + 100 * count:
        pass


def test_a_long_log_is_put_aside_while_its_process_goes_on(process: ManagedProcess) -> None:
    write(process, 5)
    process.keep_running()
    assert process.log.stat().st_size == 500
    write(process, 6)
    process.keep_running()
    assert process.log.stat().st_size == 0
    assert process.log.with_suffix(".old.log").stat().st_size == 1100
    write(process, 2)
    assert process.log.read_bytes() == b"x" * 99 + b"\n" + b"x" * 99 + b"\n"


def test_a_log_that_somebody_removed_ends_nothing(process: ManagedProcess) -> None:
    write(process, 1)
    process.log.unlink()
    process.keep_running()
    assert process.pid is not None
