"""A real easeml that starts with a third of the work, forked from a Python that has imported what it
needs: for tests that are not about how a service starts.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import commands
from service_process import EasemlProcess
from warm_python import Started

FORKED = "import forked_service; forked_service.be_service()"
"""What a Python is told, to be ``easeml`` with words that start processes."""


class WarmService(EasemlProcess):
    """As ``EasemlProcess``, once it has started; of ``PYTHONPATH`` it imports what it is told to by name."""

    def _launch(self, arguments: list[str], environment: Mapping[str, str]) -> Any:
        folder = self.home.with_name(f"{self.home.name}-prints")
        folder.mkdir(exist_ok=True)
        for name in ("stdout", "stderr"):
            (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / "stdout")
        (folder / "stderr").symlink_to("stdout")
        reading = os.open(folder / "stdout", os.O_RDONLY | os.O_NONBLOCK)
        writing = os.open(folder / "stdout", os.O_WRONLY)  # or its end is read before it begins
        os.set_blocking(reading, True)
        started = commands.warm().start(["-c", FORKED, *arguments], Path.cwd(), environment, folder)
        return _Process(started, os.fdopen(reading), writing)


@dataclass(frozen=True)
class _Process:
    """The methods of ``subprocess.Popen`` that ``EasemlProcess`` uses."""

    started: Started
    stdout: TextIO
    writing: int

    @property
    def pid(self) -> int:
        return self.started.pid

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, seconds: float) -> int:
        code = self.started.wait(seconds)
        os.close(self.writing)
        return code
