"""A process that is kept running: a program of its own, or forked from the one that keeps it."""

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol

import structlog

from easeml.parents import die_with_parent
from easeml.settings import ORIGINS, Settings

from .listening import descriptors
from .signals import Stop

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds before a restart; doubles with every quick end
LOOK_EVERY = 0.1  # seconds
_SETTLED = 3.0  # seconds after which a start counts as good
_LARGEST_LOG = 20 * 2**20  # bytes; a larger one is put aside when the process starts
_log = structlog.get_logger()


class Started(Protocol):
    """A process that was started, as ``subprocess.Popen`` has it."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises ``TimeoutExpired`` after ``timeout`` seconds."""
        ...

    def send_signal(self, sig: int, /) -> None:
        """Send a signal, unless it has ended."""
        ...


Start = Callable[[BinaryIO], Started]
"""Starts a process that writes what it prints to an open file."""


class Adopted:
    """A child that was started by another program, which ran in this very process before."""

    def __init__(self, pid: int):
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._exit_code()
        return self._code

    def _exit_code(self) -> int | None:
        try:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:  # the program before has seen it end, and how nobody knows
            return 1
        return os.waitstatus_to_exitcode(status) if ended else None

    def wait(self, timeout: float | None = None) -> int:
        began = time.monotonic()
        latest = math.inf if timeout is None else began + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > latest:
                raise subprocess.TimeoutExpired(f"process {self.pid}", time.monotonic() - began)
            time.sleep(LOOK_EVERY)
        return code

    def send_signal(self, sig: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)


class ManagedProcess:
    """A process in a session of its own, started again when it ends, dying with this one."""

    def __init__(self, kind: str, number: int, home: Path, start: Start):
        self.kind = kind
        self.log = home / "logs" / f"{kind}-{number}.log"
        self._start_process = start
        self._process: Started | None = None
        self._started = 0.0
        self._pause = _FIRST_PAUSE
        self._next_start = 0.0

    @property
    def pid(self) -> int | None:
        """The process id, or None while it does not run."""
        return (
            self._process.pid
            if self._process is not None and self._process.poll() is None
            else None
        )

    def keep_running(self) -> None:
        """Start it if it does not run and its pause is over.

        Call from the main thread only: it dies with it.
        """
        if self.pid is not None:
            self._bound_log()
            return
        now = time.monotonic()
        if self._process is not None:
            self._note_end(now)
        if now >= self._next_start:
            self._start(now)

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def drain(self) -> None:
        """Ask it to end once what was asked is answered."""
        self._signal(signal.SIGQUIT)

    def adopt(self, process: Started) -> None:
        """Keep a process running that is there already, in place of the one that was."""
        self._process = process
        self._started = time.monotonic()

    def end(self, seconds: float) -> None:
        """Wait at most ``seconds`` for its end, then kill it."""
        if self._process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(seconds, 0.01))
            return
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _start(self, now: float) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._bound_log()
        with self.log.open("ab") as output:
            self._process = self._start_process(output)
        self._started = now

    def _bound_log(self) -> None:
        """Put a log aside that has grown too long; its process begins another one (``logs``)."""
        with suppress(FileNotFoundError):  # somebody took the log away
            if self.log.stat().st_size > _LARGEST_LOG:
                self.log.replace(self.log.with_suffix(".old.log"))

    def _note_end(self, now: float) -> None:
        assert self._process is not None
        if now - self._started > _SETTLED:
            self._pause = _FIRST_PAUSE
        code = self._process.poll()
        _log.warning(
            "process ended",
            kind=self.kind,
            code=code,
            restart_in=self._pause,
            log=str(self.log),
        )
        self._process = None
        self._next_start = now + self._pause
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)


def program(
    kind: str,
    settings: Settings,
    environment: Mapping[str, str],
    inherited: Sequence[socket.socket] = (),
) -> Start:
    """Return what starts ``easeml process KIND`` in an interpreter of its own.

    ``environment``: its variables, beside the settings in force. ``inherited``: sockets for it.
    """
    variables = {**environment, **as_environment(settings)}
    return program_of(sys.executable, kind, settings.home, variables, descriptors(inherited))


def program_of(
    python: str,
    kind: str,
    home: Path,
    variables: Mapping[str, str],
    open_files: Sequence[int] = (),
) -> Start:
    """Return what starts ``easeml process KIND`` of the easeml that an interpreter has.

    ``open_files``: those that it inherits, by number.
    """
    command = command_of(python, "process", kind, "--home", str(home))

    def start(output: BinaryIO) -> Started:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=variables,
            pass_fds=open_files,
            start_new_session=True,  # Ctrl-C reaches the supervisor only
            preexec_fn=die_with_parent,  # noqa: PLW1509  one system call, no lock
        )

    return start


def command_of(python: str, *arguments: str) -> list[str]:
    """Return the command line of the easeml that an interpreter has.

    Nothing is imported from the folder in which it is started.
    """
    return [python, "-P", "-m", "easeml.cli", *arguments]


def keep_running_until(stop: Stop, processes: Sequence[ManagedProcess]) -> None:
    """Start the processes, and again what ends, until this process is asked to stop."""
    while not stop.asked:
        for process in processes:
            process.keep_running()
        time.sleep(LOOK_EVERY)


def stop_all(processes: Sequence[ManagedProcess], grace: float) -> None:
    """Ask all processes to end; kill those that still run after ``grace`` seconds."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + grace
    for process in processes:
        process.end(deadline - time.monotonic())


def log_tail(log: Path, characters: int = 2000) -> str:
    """Return the end of a log, or an empty string."""
    with suppress(FileNotFoundError):
        return log.read_bytes()[-characters:].decode(errors="replace").strip()
    return ""


def as_environment(settings: Settings) -> dict[str, str]:
    """Return the settings in force as ``EASEML_*`` variables, so that flags reach the processes."""
    values = settings.model_dump(mode="json")
    found = {f"EASEML_{name.upper()}": str(value) for name, value in values.items()}
    return {**found, ORIGINS: json.dumps(settings.origins())}
