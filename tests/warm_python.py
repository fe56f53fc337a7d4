"""A Python that has imported what takes seconds: each run is a fork of it, else like any process.

with WarmPython(["easeml.cli", "sklearn.ensemble"]) as python:
    python.run(["-m", "easeml.cli", "--help"], folder, {**os.environ, "COLUMNS": "200"})
"""

import atexit
import fcntl
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

_APPENDS = os.O_RDWR | os.O_CREAT | os.O_APPEND  # what others have printed there stays


class WarmPython:
    """Starts at once, and several at a time. ``modules``: what it imports; it calls nothing of them.

    ``path``: a folder more to import from. ``shared``: a folder; of all that name it, also in other
    processes, the first starts the Python, and it ends when none is left.
    """

    def __init__(
        self, modules: Sequence[str], path: Path | None = None, shared: Path | None = None
    ) -> None:
        self._lock = threading.Lock()
        with ExitStack() as at_start:
            folder = shared or Path(at_start.enter_context(tempfile.TemporaryDirectory()))
            at_start.enter_context(_alone(folder))
            self._process, self._socket = _reached(folder / "orders", modules, path)
        self._answers = self._socket.makefile()

    def __enter__(self) -> "WarmPython":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._answers.close()
        self._socket.close()
        if self._process is not None:
            self._process.wait()

    def start(
        self,
        arguments: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        output: Path | None = None,
        reads: Path = Path(os.devnull),
    ) -> "Started":
        """Begin what ``python -m MODULE ...``, ``python -c CODE`` or ``python FILE`` would do.

        ``cwd``: where it runs; ``environment``: all its variables; ``output``: the folder that gets
        ``stdout`` and ``stderr``, by default ``cwd``; ``reads``: its standard input.
        """
        order = {
            "arguments": list(arguments),
            "cwd": str(cwd),
            "environment": dict(environment),
            "output": str(output or cwd),
            "reads": str(reads),
        }
        return Started(self, self.ask(order))

    def run(
        self,
        arguments: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        seconds: float = 240.0,
    ) -> subprocess.CompletedProcess[str]:
        """As ``start``; wait until it has ended, and return what it printed.

        Raises ``TimeoutError`` where that takes longer than ``seconds``; it is killed then.
        """
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder)
            code = self.start(arguments, cwd, environment, output).wait(seconds)
            texts = [(output / name).read_text("utf-8") for name in ("stdout", "stderr")]
        return subprocess.CompletedProcess(list(arguments), code, *texts)

    def ask(self, order: dict[str, Any]) -> int:
        """Give an order to the process that forks, and return the number that it answers."""
        with self._lock:
            self._socket.sendall(f"{json.dumps(order)}\n".encode())
            return int(self._answers.readline())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let nobody else with this folder come in between."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _reached(
    address: Path, modules: Sequence[str], path: Path | None
) -> tuple[subprocess.Popen[bytes] | None, socket.socket]:
    """Return a connection to the Python at an address, and the Python where it had to be started."""
    connection = socket.socket(socket.AF_UNIX)
    with suppress(FileNotFoundError, ConnectionRefusedError):
        connection.connect(str(address))
        return None, connection
    address.unlink(missing_ok=True)
    surroundings = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
    if path is not None:
        surroundings["PYTHONPATH"] = str(path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(address))
        door.listen()
        connection.connect(str(address))
        command = [sys.executable, __file__, str(door.fileno()), *modules]
        process = subprocess.Popen(
            command,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[door.fileno()],
        )
    return process, connection


@dataclass(frozen=True)
class Started:
    """A process that runs; ``pid`` is its own."""

    python: WarmPython
    pid: int

    def kill(self) -> None:
        """End it by SIGKILL, if it has not ended."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, seconds: float | None = None) -> int:
        """Return its exit code once it has ended; ask once only.

        Raises ``TimeoutError`` where that takes longer than ``seconds``; it is killed then.
        """
        ended = self._has_ended(seconds)
        if not ended:
            self.kill()
        code = self.python.ask({"wait": self.pid})
        if not ended:
            raise TimeoutError(f"It has not ended after {seconds:g} s.")
        return code

    def _has_ended(self, seconds: float | None) -> bool:
        """Wait for its end without keeping the warm Python, which others ask meanwhile."""
        handle = os.pidfd_open(self.pid)
        try:
            return bool(select.select([handle], [], [], seconds)[0])
        finally:
            os.close(handle)


def _next_order(door: socket.socket) -> dict[str, Any]:
    """Return an order in a process of its own; the one that forks them ends with its last client."""
    clients: dict[socket.socket, TextIO] = {}
    _admit(door, clients)
    while clients:
        for ready in select.select([door, *clients], [], [])[0]:
            if ready is door:
                _admit(door, clients)
                continue
            line = clients[ready].readline()
            if not line:
                _dismiss(ready, clients)
                continue
            order = json.loads(line)
            answer = _exit_code_of(order["wait"]) if "wait" in order else os.fork()
            if answer == 0 and "wait" not in order:
                for one in (door, *clients):
                    one.close()
                return order
            ready.sendall(f"{answer}\n".encode())
        if not clients and select.select([door], [], [], 0)[0]:
            _admit(door, clients)
    os._exit(0)


def _admit(door: socket.socket, clients: dict[socket.socket, TextIO]) -> None:
    client = door.accept()[0]
    clients[client] = client.makefile()


def _dismiss(client: socket.socket, clients: dict[socket.socket, TextIO]) -> None:
    clients.pop(client).close()
    client.close()


def _exit_code_of(child: int) -> int:
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status)


def _redirect(stream: int, file: str, how: int) -> None:
    opened = os.open(file, how)
    os.dup2(opened, stream)
    os.close(opened)


def _become(order: dict[str, Any]) -> None:
    """Make this process one that was started as ordered."""
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    packages = order["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = ["", *filter(None, packages)]
    _redirect(0, order["reads"], os.O_RDONLY)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        _redirect(stream, f"{order['output']}/{name}", _APPENDS)


def _obey(how: str, *arguments: str) -> None:
    if how == "-m":
        sys.argv = list(arguments)
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.argv = ["-c", *arguments[1:]]
        exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = [how, *arguments]
        runpy.run_path(how, run_name="__main__")


def _exit_code(work: Callable[[], None]) -> int:
    """Work; return the exit code. What else it raises ends this process as it ends any."""
    try:
        work()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        return end.code or 0
    return 0


def _end(code: int) -> None:
    """Do what a Python does at its end, but give no memory back.

    A fork copies all that it gives back: it took most of the time of a command.
    """
    vars(threading)["_shutdown"]()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    orders = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        import_module(name)
    gc.freeze()  # a fork that looks for garbage in all this copies it: most of its time
    ordered = _next_order(orders)
    _become(ordered)
    _end(_exit_code(lambda: _obey(*ordered["arguments"])))
