"""Running one program of a module: confined, watched, and ended at its limits."""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from easeml.confinement import why_unavailable
from easeml.errors import Conflict, EasemlError, InvalidInput
from easeml.folders import holds_more

from . import launch

LARGEST_OUTPUT = 64 * 2**20  # bytes of what a program learnt or answered
_PIECE = 2**20  # bytes of what it prints that are read at a time
_LOOK_EVERY = 0.02  # seconds
_LOOK_AT_DISK_EVERY = 0.25
_CANNOT_LEARN = 2  # the exit code that says so
_SAID = 2000  # letters of what a program printed that are shown


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may take: ``memory``, ``disk`` and ``printed`` in bytes, ``files`` in number.

    ``gpu``: of a container, whether it gets the GPUs of the machine: never, where there are some, or
    only where there are.
    """

    seconds: float
    memory: int = 2 * 2**30
    disk: int = 512 * 2**20
    files: int = 10_000
    printed: int = 16 * 2**20
    gpu: Literal["", "wanted", "needed"] = ""


class ProgramFailed(EasemlError):
    """A program of a module did not do what it has to."""

    code = "invalid-input"
    retry = False


def nobody(line: bytes) -> None:
    """Nobody listens."""


def run(
    place: Path,
    program: str,
    arguments: list[str],
    limits: Limits,
    told: Callable[[bytes], None] = nobody,
    environment: Path | None = None,
) -> None:
    """Run ``place/module/PROGRAM`` in ``place``, which it may read and write, and nothing else.

    ``environment``: a virtual environment whose Python it finds first. ``told`` is called with each
    line that it prints, while it runs. Raises ``ProgramFailed`` with the end of what it said on its
    error channel, ``InvalidInput`` for exit code 2, ``Conflict`` where programs cannot be confined.
    """
    reason = why_unavailable()
    if reason:
        raise Conflict(
            f"Programs of modules cannot be confined on this machine: {reason}.",
            remedy="Run them on Linux on x86-64 with Landlock (5.13 or newer).",
        )
    command = [str(place / "module" / program), *arguments]
    reads = [str(environment)] if environment else []
    plan = launch.Plan(str(place), limits.memory, command, reads)
    own = environment / "bin" if environment else Path(sys.executable).parent
    variables = _variables(own)
    judge(program, watched(launch.command_of(plan), variables, place, limits, told))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. ``fault``: why it was not left to end by itself; ``said``: the end of
    what it printed.
    """

    code: int
    fault: str
    said: str


def watched(
    command: list[str],
    environment: Mapping[str, str],
    place: Path,
    limits: Limits,
    told: Callable[[bytes], None] = nobody,
    why_stop: Callable[[], str] = str,
) -> Ended:
    """Run a command whose program works in ``place``, and kill it at its limits.

    ``why_stop`` is asked all the while, and ends it by a reason.
    """
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=errors,
            close_fds=True,
        )
        ending = os.pidfd_open(process.pid)
        try:
            fault = _watch(process, place, limits, _Lines(printed, told), why_stop, ending)
        finally:
            os.close(ending)
            process.kill()
            process.wait()
        is_whole = not fault  # what was cut off is no explanation
        said = _end_of(errors) or (_end_of(printed) if is_whole else "")
        return Ended(process.returncode, fault, said)


_IDS = ("EASEML_TASK_ID", "EASEML_REQUEST_ID")


def _variables(own: Path) -> dict[str, str]:
    """Return the little that programs know: where programs are, that threads are few, and the ids of
    the task and of the request that asked for it.

    ``own``: the folder whose Python comes first.
    """
    threads = os.environ.get("OMP_NUM_THREADS", "1")
    ids = {name: os.environ[name] for name in _IDS if name in os.environ}
    return {
        **ids,
        "PATH": f"{own}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class _Lines:
    """What a program prints, line by line, as far as it is there."""

    def __init__(self, file: IO[bytes], told: Callable[[bytes], None]):
        self._file = file
        self._told = told
        self._read = 0
        self._open = b""

    def pass_on(self) -> None:
        """Tell the lines that came to an end since the last time."""
        descriptor = self._file.fileno()
        new = os.pread(descriptor, _PIECE, self._read)
        self._read += len(new)
        *lines, self._open = (self._open + new).split(b"\n")
        for line in lines:
            self._told(line)

    def end(self) -> None:
        """Tell all that is left, a last line without an end as well."""
        while self._read < self.size:
            self.pass_on()
        if self._open:
            self._told(self._open)

    @property
    def size(self) -> int:
        """Bytes that were printed so far."""
        return os.fstat(self._file.fileno()).st_size


def _watch(
    process: subprocess.Popen[bytes],
    place: Path,
    limits: Limits,
    lines: _Lines,
    why_stop: Callable[[], str],
    ending: int,
) -> str:
    """Wait for the end; return why it was not left to end by itself, or nothing.

    ``ending``: what becomes readable when the process ends.
    """
    began = time.monotonic()
    disk_next = began + _LOOK_AT_DISK_EVERY
    while process.poll() is None:
        select.select([ending], [], [], _LOOK_EVERY)
        now = time.monotonic()
        if lines.size > limits.printed:
            return _flood(limits)
        lines.pass_on()
        if reason := why_stop():
            return reason
        if now - began > limits.seconds:
            return f"it ran longer than {limits.seconds:g} s"
        if now > disk_next:
            disk_next = now + _LOOK_AT_DISK_EVERY
            if holds_more(place, limits.disk, limits.files):
                return f"it wrote more than {limits.disk:,} bytes or {limits.files:,} files"
    if lines.size > limits.printed:
        return _flood(limits)
    lines.end()
    return ""


def _flood(limits: Limits) -> str:
    return f"it printed more than {limits.printed:,} bytes"


def _end_of(file: IO[bytes]) -> str:
    size = os.fstat(file.fileno()).st_size
    tail = os.pread(file.fileno(), _SAID, max(0, size - _SAID))
    return tail.decode(errors="replace").strip()


def judge(program: str, ended: Ended) -> None:
    """Raise what an end means; nothing for a good one.

    It is ``InvalidInput`` where the module says that it cannot learn, else ``ProgramFailed``.
    """
    code = ended.code
    said = ended.said
    if ended.fault:
        raise _failed(f"{program} was ended: {ended.fault}.", said)
    if code == 0:
        return
    if code == _CANNOT_LEARN:
        raise InvalidInput(said or "The module cannot learn from this data.", where=program)
    if code < 0:
        raise _failed(f"{program} was ended by {signal.Signals(-code).name}.", said)
    raise _failed(f"{program} ended with exit code {code}.", said)


def _failed(how: str, said: str) -> ProgramFailed:
    return ProgramFailed(f"{how}\n{said}".strip())
