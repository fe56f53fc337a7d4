"""The log of a process is bounded while it runs, whatever somebody does to the file."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from easeml.engine import managed_process
from easeml.engine.managed_process import ManagedProcess

LOGS = """
import sys, structlog
from easeml.engine.logs import configure_logging
configure_logging("worker", has_file=True)
for line in sys.stdin:
    structlog.get_logger("easeml").info("x" * int(line))
    print("done", flush=True)
"""
LONG = 20_000  # characters: more than a file that is buffered takes in one write


class Logging:
    """A process that logs a line of the length that it reads."""

    def __init__(self, home: Path):
        self.managed = ManagedProcess("worker", 1, home, self._start)
        self.log = self.managed.log
        self.old = self.log.with_suffix(".old.log")
        self.managed.keep_running()

    def _start(self, output: BinaryIO) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", LOGS]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output
        )
        return self._process

    def write(self, *lengths: int) -> None:
        """Have lines logged, each of so many characters."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        for length in lengths:
            self._process.stdin.write(b"%d\n" % length)
            self._process.stdin.flush()
            assert self._process.stdout.readline() == b"done\n"

    def end(self) -> None:
        self.managed.terminate()
        self.managed.end(5.0)


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Logging]:
    monkeypatch.setattr(managed_process, "_LARGEST_LOG", 3 * LONG)
    started = Logging(tmp_path)
    yield started
    started.end()


def lengths_in(path: Path) -> list[int]:
    """Return how long what was logged is, line by line. Raises ``ValueError`` for half a line."""
    return [len(json.loads(line)["event"]) for line in path.read_text().splitlines()]


def test_a_long_log_is_put_aside_with_whole_lines_and_its_process_goes_on(process: Logging) -> None:
    process.write(LONG, LONG)
    process.managed.keep_running()
    assert not process.old.exists()
    process.write(LONG)
    process.managed.keep_running()
    assert lengths_in(process.old) == [LONG] * 3
    process.write(5, 6)
    assert lengths_in(process.log) == [5, 6]


def test_lines_are_whole_and_none_is_lost_while_logs_are_put_aside(process: Logging) -> None:
    found = []
    for number in range(40):
        process.write(LONG + number)
        size = process.log.stat().st_size
        process.managed.keep_running()
        if size > 3 * LONG:
            found += lengths_in(process.old)
    assert found + lengths_in(process.log) == [LONG + number for number in range(40)]


def test_a_log_that_somebody_removed_begins_anew(process: Logging) -> None:
    process.write(1)
    process.log.unlink()
    process.managed.keep_running()
    process.write(2)
    assert lengths_in(process.log) == [2]


def test_a_log_that_somebody_moved_stays_as_it_is(process: Logging) -> None:
    process.write(1)
    elsewhere = process.log.rename(process.log.with_name("kept.log"))
    process.write(2)
    assert (lengths_in(elsewhere), lengths_in(process.log)) == ([1], [2])


def test_a_folder_of_logs_that_somebody_removed_is_made_again(process: Logging) -> None:
    process.write(1)
    process.log.unlink()
    process.log.parent.rmdir()
    process.write(2)
    assert lengths_in(process.log) == [2]
    assert process.managed.pid is not None
