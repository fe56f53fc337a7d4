"""A Python that has imported what takes seconds: each run is a fork of it, else like any process.

with WarmPython(["easeml.cli", "sklearn.ensemble"]) as python:
    python.run(["-m", "easeml.cli", "--help"], cwd=folder, path=folder)
"""

import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any


class WarmPython:
    """Starts at once. ``modules``: what it imports; it calls nothing of them.

    ``path``: a folder more to import from. What it runs writes lines of 200 columns.
    """

    def __init__(self, modules: Sequence[str], path: Path | None = None) -> None:
        command = [sys.executable, __file__, *modules]
        surroundings = {**os.environ, "COLUMNS": "200"}
        if path is not None:
            surroundings["PYTHONPATH"] = str(path)
        self._process = subprocess.Popen(
            command, env=surroundings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "WarmPython":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def start(self, arguments: Sequence[str], cwd: Path, path: Path) -> "Started":
        """Begin what ``python -m MODULE ...`` or ``python -c CODE`` would do.

        ``cwd``: where it runs, and gets ``.stdout`` and ``.stderr``; ``path``: as ``PYTHONPATH``.
        """
        order = {"arguments": list(arguments), "cwd": str(cwd), "path": str(path)}
        return Started(self, self.ask(order))

    def run(
        self, arguments: Sequence[str], cwd: Path, path: Path
    ) -> subprocess.CompletedProcess[str]:
        """As ``start``; wait until it has ended, and return what it printed."""
        code = self.start(arguments, cwd, path).wait()
        texts = []
        for name in (".stdout", ".stderr"):
            file = cwd / name
            texts.append(file.read_text("utf-8"))
            file.unlink()
        return subprocess.CompletedProcess(list(arguments), code, *texts)

    def ask(self, order: dict[str, Any]) -> int:
        """Give an order to the process that forks, and return the number that it answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


@dataclass(frozen=True)
class Started:
    """A process that runs; ``pid`` is its own."""

    python: WarmPython
    pid: int

    def kill(self) -> None:
        """End it by SIGKILL, if it has not ended."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Return its exit code once it has ended; ask once only."""
        return self.python.ask({"wait": self.pid})


def _next_order() -> dict[str, Any]:
    """Return an order in a process of its own; the one that forks them ends with its input."""
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            status = os.waitpid(order["wait"], 0)[1]
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        child = os.fork()
        if child == 0:
            return order
        print(child, flush=True)
    sys.exit()


def _redirect(stream: int, file: str) -> None:
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(opened, stream)
    os.close(opened)


def _become(order: dict[str, Any]) -> None:
    """Make this process one that was started as ordered."""
    os.chdir(order["cwd"])
    os.environ["PYTHONPATH"] = order["path"]  # for its own children
    sys.path[:1] = ["", order["path"]]
    for stream, file in enumerate((os.devnull, ".stdout", ".stderr")):
        _redirect(stream, file)


def _obey(how: str, what: str, *arguments: str) -> None:
    if how == "-m":
        sys.argv = [what, *arguments]
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["-c", *arguments]
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    for name in sys.argv[1:]:
        import_module(name)
    ordered = _next_order()
    _become(ordered)
    _obey(*ordered["arguments"])
