"""A process that the supervisor keeps running."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import structlog

from easeml.settings import ORIGINS, Settings

from .limits import die_with_parent, thread_environment

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds before a restart; doubles with every quick end
_SETTLED = 3.0  # seconds after which a start counts as good
_LARGEST_LOG = 20 * 2**20  # bytes; a larger one is put aside when the process starts
_log = structlog.get_logger()


class ManagedProcess:
    """``easeml process KIND`` in a session of its own, restarted when it ends, dying with the
    supervisor.
    """

    def __init__(self, kind: str, number: int, settings: Settings):
        self.kind = kind
        self.log = settings.home / "logs" / f"{kind}-{number}.log"
        self._command = [
            sys.executable,
            "-P",  # nothing is imported from the folder in which easeml was started
            "-m",
            "easeml.cli",
            "process",
            kind,
            "--home",
            str(settings.home),
        ]
        # One numerical thread each, but for tasks: where training keeps all cores busy, more would
        # spin for each other.
        self._environment = {**thread_environment(1), **os.environ, **_as_environment(settings)}
        self._process: subprocess.Popen[bytes] | None = None
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
            return
        now = time.monotonic()
        if self._process is not None:
            self._note_end(now)
        if now >= self._next_start:
            self._start(now)

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

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
        if self.log.exists() and self.log.stat().st_size > _LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".old.log"))
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment,
                start_new_session=True,  # Ctrl-C reaches the supervisor only
                preexec_fn=die_with_parent,  # noqa: PLW1509  one system call, no lock
            )
        self._started = now

    def _note_end(self, now: float) -> None:
        assert self._process is not None
        if now - self._started > _SETTLED:
            self._pause = _FIRST_PAUSE
        code = self._process.returncode
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


def log_tail(log: Path, characters: int = 2000) -> str:
    """Return the end of a log, or an empty string."""
    with suppress(FileNotFoundError):
        return log.read_bytes()[-characters:].decode(errors="replace").strip()
    return ""


def _as_environment(settings: Settings) -> dict[str, str]:
    """Return the settings in force as ``EASEML_*`` variables, so that flags reach the processes."""
    values = settings.model_dump(mode="json")
    found = {f"EASEML_{name.upper()}": str(value) for name, value in values.items()}
    return {**found, ORIGINS: json.dumps(settings.origins())}
