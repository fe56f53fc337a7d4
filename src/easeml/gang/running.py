"""A job's processes on this machine: started, watched and ended as ``states`` says."""

import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from easeml.errors import InvalidInput

from .plan import Job, Member, Port, environment_of, ports_of
from .states import (
    Command,
    Death,
    Ending,
    Event,
    Exited,
    Interrupted,
    Overdue,
    State,
    begin,
    follow,
)

TAIL_LINES = 20
_TAIL_BYTES = 20_000  # of a log that are looked at for its last lines
_LOOPBACK = "127.0.0.1"
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the last: its terminal was closed


@dataclass(frozen=True, slots=True)
class Report:
    """How a job ended.

    ``attempts``: how often it was started. ``deaths``: who died first in each attempt that failed.
    ``log`` and ``tail``: the log of the last of these, and its last lines.
    """

    ending: Ending
    attempts: int
    deaths: tuple[Death, ...] = ()
    log: Path | None = None
    tail: tuple[str, ...] = ()


@dataclass(slots=True)
class _Running:
    """The processes of the attempt under way, and what happens to them."""

    job: Job
    place: Path  # where the commands run
    folder: Path  # of logs and checkpoint
    events: "SimpleQueue[Event]" = field(default_factory=SimpleQueue)
    processes: dict[Member, subprocess.Popen[bytes]] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)
    alarm: threading.Timer | None = None

    def start(self, attempt: int) -> None:
        """Start all processes, or none.

        Raises ``InvalidInput`` where one cannot be started; the others are then ended.
        """
        ports = free_ports(self.job)
        try:
            for member in self.job.members:
                self.processes[member] = self._started(member, attempt, ports)
        except InvalidInput:
            self.signal(signal.SIGKILL)
            for process in self.processes.values():
                process.wait()
            self.processes.clear()
            raise
        # A process that ends at once is taken out of the list by the thread that watches it.
        for member, process in list(self.processes.items()):
            threading.Thread(target=self._watch, args=(member, process), daemon=True).start()

    def signal(self, number: int) -> None:
        """Send a signal to all processes that run, and to those that they have started."""
        with self.guard:
            for process in self.processes.values():
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)

    def obey(self, command: Command, attempt: int) -> None:
        """Do what the plan commands; nothing while it waits."""
        acts = {
            Command.START: self.start,
            Command.ASK: self.ask_to_end,
            Command.KILL: self.kill,
        }
        if command in acts:
            acts[command](attempt)

    def kill(self, attempt: int) -> None:
        """Kill all that run in an attempt."""
        self.signal(signal.SIGKILL)

    def ask_to_end(self, attempt: int) -> None:
        """Ask all that run to end; ``Overdue`` follows when their time for it is over."""
        self.signal(signal.SIGTERM)
        self.alarm = threading.Timer(self.job.grace, self.events.put, [Overdue(attempt)])
        self.alarm.daemon = True
        self.alarm.start()

    def attempt_ended(self) -> None:
        """Forget the alarm of an attempt of which nothing runs any more."""
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None

    def _started(
        self, member: Member, attempt: int, ports: Mapping[Port, int]
    ) -> subprocess.Popen[bytes]:
        command = self.job.roles[member.role].command
        told = environment_of(self.job, member, attempt, str(self.folder / "checkpoint"), ports)
        with log_of(self.folder, member, attempt).open("wb") as log:
            try:
                return subprocess.Popen(
                    command,
                    cwd=self.place,
                    env={**os.environ, **told},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    # A group of its own: a signal reaches all that it starts, and Ctrl-C only us.
                    start_new_session=True,
                )
            except OSError as error:
                raise InvalidInput(
                    f"{member} cannot be started: {error}.",
                    where=f"roles.{member.role}.command",
                    remedy="Name a program that this machine can execute.",
                ) from error

    def _watch(self, member: Member, process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of a process, end what it leaves behind, and tell."""
        # Until it is reaped below, nobody else can have its number.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with self.guard:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            del self.processes[member]
        self.events.put(Exited(member, code))


def run_job(
    job: Job,
    place: Path,
    folder: Path,
    tell: Callable[[str], None],
    events: "SimpleQueue[Event] | None" = None,
) -> Report:
    """Run a job to its end, in the main thread.

    ``place``: where its commands run. ``folder``: gets ``logs`` and ``checkpoint``; a checkpoint
    that is there is kept. ``tell`` is called with a sentence on what happens. SIGINT, SIGTERM and
    SIGHUP end the job, as ``Interrupted`` among ``events`` does. Raises ``InvalidInput`` for a
    program that is not there; then nothing was started.
    """
    _check_programs(job, place)
    _prepare(folder)
    running = _Running(job, place, folder, events or SimpleQueue())
    with ExitStack() as stack:
        for number in _ENDING:
            if signal.getsignal(number) == signal.SIG_IGN:  # as nohup wants it
                continue
            before = signal.signal(number, lambda *_: running.events.put(Interrupted()))
            stack.callback(signal.signal, number, before)
        stack.callback(running.signal, signal.SIGKILL)  # whatever goes wrong, nothing is left
        return _run(running, tell)


def free_ports(job: Job) -> dict[Port, int]:
    """Return a free port of the loopback for each that a job needs, all different.

    They are not held: another program may take one before the process that it is for.
    """
    with ExitStack() as stack:
        found = {}
        for port in ports_of(job):
            held = stack.enter_context(socket.socket())
            held.bind((_LOOPBACK, 0))
            found[port] = held.getsockname()[1]
        return found


def log_of(folder: Path, member: Member, attempt: int) -> Path:
    """Return where the output of a process goes."""
    return folder / "logs" / f"{member.role}-{member.index}-attempt-{attempt}.log"


def last_lines(log: Path) -> tuple[str, ...]:
    """Return the last lines of a log."""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
    return tuple(text.splitlines()[-TAIL_LINES:])


def _run(running: _Running, tell: Callable[[str], None]) -> Report:
    state = begin(running.job)
    command = Command.START
    while command != Command.FINISH:
        if command == Command.START:
            tell(f"Attempt {state.attempt}: {len(running.job.members)} processes start.")
        running.obey(command, state.attempt)
        before = state
        state, command = follow(state, running.events.get())
        if len(state.deaths) > len(before.deaths):
            tell(f"{reason(state.deaths[-1])}; all others are ended.")
        if command in (Command.START, Command.FINISH):
            running.attempt_ended()
    return _report(running.folder, state)


def reason(death: Death) -> str:
    """Return in words how a process ended."""
    if death.code >= 0:
        return f"{death.member} ended with exit code {death.code}"
    return f"{death.member} was ended by {signal.Signals(-death.code).name}"


def _report(folder: Path, state: State) -> Report:
    if not state.deaths:
        return Report(state.ending, state.attempt)
    last = state.deaths[-1]
    log = log_of(folder, last.member, last.attempt)
    return Report(state.ending, state.attempt, state.deaths, log, last_lines(log))


def _prepare(folder: Path) -> None:
    """Make the folders, without the logs of an earlier run."""
    (folder / "checkpoint").mkdir(parents=True, exist_ok=True)
    (folder / "logs").mkdir(exist_ok=True)
    for log in (folder / "logs").glob("*-attempt-*.log"):
        log.unlink()


def _check_programs(job: Job, place: Path) -> None:
    """Raise ``InvalidInput`` for a program that is not there, before anything is started."""
    for name, role in job.roles.items():
        program = role.command[0]
        found = shutil.which(place / program if "/" in program else program)
        if found is None:
            raise InvalidInput(
                f"There is no program {program!r} that can be executed.",
                where=f"roles.{name}.command",
                remedy=f"Name a program of the path, or a file below {place}.",
            )
