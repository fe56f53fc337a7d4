"""A job's processes on this machine: started, watched and ended as ``states`` says."""

import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from easeml.errors import InvalidInput

from .leftovers import RUN, end_leftovers, only_run
from .plan import Job, Member, Port, environment_of, ports_of
from .report import Progress, Report, log_of, reason
from .states import (
    Command,
    Event,
    Exited,
    Interrupted,
    Overdue,
    begin,
    follow,
)
from .usage import Usage, megabytes

_LOOPBACK = "127.0.0.1"
_LOOK_EVERY = 100  # milliseconds
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes of ru_maxrss
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the last: its terminal was closed


@dataclass(slots=True)
class _Running:
    """The processes of the attempt under way, and what happens to them."""

    job: Job
    place: Path  # where the commands run
    folder: Path  # of logs and checkpoint
    run: str  # its id
    events: "SimpleQueue[Event]" = field(default_factory=SimpleQueue)
    processes: dict[Member, subprocess.Popen[bytes]] = field(default_factory=dict)
    usages: list[Usage] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)
    alarm: threading.Timer | None = None

    def start(self, attempt: int) -> None:
        """Start all processes, or none.

        Raises ``InvalidInput`` where one cannot be started; the others are then ended.
        """
        ports = free_ports(self.job)
        begun = time.monotonic()
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
            watched = (member, process, attempt, begun)
            threading.Thread(target=self._watch, args=watched, daemon=True).start()

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
        role = self.job.roles[member.role]
        told = environment_of(self.job, member, attempt, str(self.folder / "checkpoint"), ports)
        with log_of(self.folder, member, attempt).open("wb") as log:
            try:
                process = subprocess.Popen(
                    role.command,
                    cwd=self.place,
                    env={**os.environ, **told, RUN: self.run},
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
        if role.memory is not None and sys.platform == "linux":
            with suppress(ProcessLookupError):  # it has ended
                resource.prlimit(process.pid, resource.RLIMIT_DATA, (role.memory, role.memory))
        return process

    def _watch(
        self, member: Member, process: subprocess.Popen[bytes], attempt: int, begun: float
    ) -> None:
        """Wait for the end of a process, end what it leaves behind, and tell."""
        seen = _memory_until_end(process.pid)
        # Until it is reaped below, nobody else can have its number.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with self.guard:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            _, status, used = os.wait4(process.pid, 0)
            code = process.returncode = os.waitstatus_to_exitcode(status)
            del self.processes[member]
        own = {"EASEML_ROLE": member.role, "EASEML_INDEX": str(member.index)}
        end_leftovers({RUN: self.run, **own})
        usage = Usage(
            member,
            attempt,
            code,
            seconds=time.monotonic() - begun,
            cpu_seconds=used.ru_utime + used.ru_stime,
            memory=max(seen, used.ru_maxrss * _PEAK_UNIT),
        )
        self.usages.append(usage)
        self.events.put(Exited(member, code))


def run_job(
    job: Job,
    place: Path,
    folder: Path,
    tell: Callable[[str], None],
    events: "SimpleQueue[Event] | None" = None,
    name: str = "job",
) -> Report:
    """Run a job to its end, in the main thread.

    ``place``: where its commands run. ``folder``: gets ``logs``, ``checkpoint``, the page
    ``report.html`` and ``usage.json``, the most that processes used; a checkpoint that is there is
    kept. ``tell`` is called with a sentence on what happens. SIGINT, SIGTERM and SIGHUP end the
    job, as ``Interrupted`` among ``events`` does. ``name``: what the page calls it. Raises
    ``InvalidInput`` for a program that is not there, or for more memory than this machine has, and
    ``Conflict`` where the job runs in that folder already; then nothing was started.
    """
    _check_programs(job, place)
    _check_memory(job)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        run = stack.enter_context(only_run(folder))
        _prepare(folder)
        running = _Running(job, place, folder, run, events or SimpleQueue())
        for number in _ENDING:
            if signal.getsignal(number) == signal.SIG_IGN:  # as nohup wants it
                continue
            before = signal.signal(number, lambda *_: running.events.put(Interrupted()))
            stack.callback(signal.signal, number, before)
        # whatever goes wrong, nothing is left
        stack.callback(end_leftovers, {RUN: run})
        stack.callback(running.signal, signal.SIGKILL)
        return _run(running, Progress(name, folder), tell)


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


def _run(running: _Running, progress: Progress, tell: Callable[[str], None]) -> Report:
    state = begin(running.job)
    command = Command.START
    while command != Command.FINISH:
        if command == Command.START:
            tell(f"Attempt {state.attempt}: {len(running.job.members)} processes start.")
        progress.show(state, running.usages)
        running.obey(command, state.attempt)
        before = state
        state, command = follow(state, running.events.get())
        if len(state.deaths) > len(before.deaths):
            tell(f"{reason(state.deaths[-1])}; all others are ended.")
        if command in (Command.START, Command.FINISH):
            running.attempt_ended()
    return progress.end(state, running.usages)


def _prepare(folder: Path) -> None:
    """Make the folders, without the logs of an earlier run."""
    (folder / "checkpoint").mkdir(exist_ok=True)
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


def _check_memory(job: Job) -> None:
    """Raise ``InvalidInput`` for a job whose processes may need more memory than this machine has."""
    has = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if job.memory > has:
        raise InvalidInput(
            f"The processes may have {megabytes(job.memory)} of memory together.",
            where="roles",
            remedy=f"This machine has {megabytes(has)}: lower memory or count.",
        )


def _memory_until_end(pid: int) -> int:
    """Wait for the end of a process; return the most bytes that it was seen with, 0 off Linux.

    It is looked at, since the kernel keeps no peak of what a limit counts: private memory, of which
    libraries take much that they never touch.
    """
    if sys.platform != "linux":
        return 0
    most = 0
    end = os.pidfd_open(pid)
    try:
        ended = select.poll()
        ended.register(end, select.POLLIN)
        while not ended.poll(_LOOK_EVERY):
            most = max(most, _private_bytes(pid))
    finally:
        os.close(end)
    return most


def _private_bytes(pid: int) -> int:
    """Return the private memory of a process, as its limit counts it; 0 of one that has ended."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "VmData":
            return int(value.split()[0]) * 1024
    return 0
