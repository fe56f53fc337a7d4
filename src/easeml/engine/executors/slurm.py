"""Executor of an existing Slurm cluster: easeml says what an attempt needs, Slurm says where it runs.

``srun`` starts a program on a node and keeps pipes to it. Work folders travel through them, so nodes
share no folder with easeml and hold no keys of its database or bucket. What Slurm has allocated runs
one attempt after the other, and is given back when none comes for a while.
"""

import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits, TaskResult, TaskSpec
from easeml.engine import task_main
from easeml.errors import Unreachable

from . import packing
from .base import Outcome
from .elsewhere import ExecutorElsewhere, LostAttempt, Way
from .frames import receive, send
from .local import IMPORTS
from .node import Sent, Told
from .slurm_node import Attempt, Ended, Part

_OWN_MEMORY = 2**30  # bytes that the program on a node needs beside the body
_TO_END = 5.0  # seconds in which srun ends what it started
_TO_ANSWER = 30.0  # seconds; Slurm's own patience with a controller is shorter
_NODE = "easeml.engine.executors.slurm_node"
_EXPORTED = ("PATH", "HOME", "USER", "LANG", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that nodes get, beside those of Slurm; others may hold passwords."""

IDLE_SECONDS = 10.0
"""After these an allocation that runs nothing is given back."""

SILENT_SECONDS = 30.0
"""After these a node that says nothing is lost: srun does not always tell."""


class SlurmExecutor(ExecutorElsewhere):
    """Runs bodies where ``srun`` starts them; its own variables say how (``SLURM_PARTITION``, ...).

    An allocation has as many processors as an attempt has threads, and its memory.
    """

    def __init__(
        self,
        limits: Limits,
        run: Callable[[Path], TaskResult] = task_main.run,
        preload: Sequence[str] = IMPORTS,
        *,
        isolation: Isolation = "none",
    ):
        """See ``ExecutorElsewhere``."""
        super().__init__(limits, run, preload, isolation=isolation)
        self._pools: dict[tuple[int, int], _Pool] = {}
        self._numbers = itertools.count(1)  # of attempts

    @classmethod
    def check_reachable(cls) -> None:
        """Raise ``Unreachable`` where there is no ``srun``, or no controller of Slurm answers it."""
        if shutil.which("srun") is None:
            raise Unreachable(
                "There is no srun on this machine.",
                where="executor",
                remedy="Start easeml on a machine from which jobs of Slurm are submitted.",
            )
        asked = subprocess.run(
            ["scontrol", "ping"], capture_output=True, text=True, check=False, timeout=_TO_ANSWER
        )
        if asked.returncode:
            raise Unreachable(
                f"Slurm does not answer.\n{asked.stdout}{asked.stderr}".rstrip(),
                where="executor",
                remedy="Have its controller (slurmctld) run; SLURM_CONF names its configuration.",
            )

    def _way(self, folder: Path, limits: Limits) -> Way:
        pool = self._pools.setdefault(_needs(limits), _Pool(self._told, limits))
        return _SlurmWay(folder, limits, pool, next(self._numbers))

    def _leave(self) -> None:
        for pool in self._pools.values():
            pool.close()


class _Allocation:
    """A program on a node, and the pipes to it. ``kept``: digests of the parts that the node has."""

    def __init__(self, told: Told, limits: Limits):
        self.kept: set[str] = set()
        self._told = told
        self._job = ""  # its number, once it runs
        self._guard = threading.Lock()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  as long as srun
        self._srun = subprocess.Popen(
            _command(limits),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def greet(self) -> None:
        """Wait until the node runs it. Raises ``LostAttempt``."""
        self.send("told", self._told.model_dump_json().encode())
        kind, content = self.receive()
        if kind != "hi":
            self.end()
            raise LostAttempt(content.decode(), "crashed", retry=False)
        self._job = content.decode()

    def send(self, kind: str, content: bytes = b"", attempt: int = 0) -> None:
        """Send the node a message about an attempt. Raises ``LostAttempt``."""
        assert self._srun.stdin is not None
        try:
            with self._guard:
                send(self._srun.stdin, kind, content, attempt)
        except OSError as error:
            raise self._lost() from error

    def receive(self) -> tuple[str, bytes]:
        """Wait for a message of the node. Raises ``LostAttempt``."""
        pipe = self._srun.stdout
        assert pipe is not None
        waits = SILENT_SECONDS if self._job else None  # before, it may be in Slurm's queue for long
        try:
            if not select.select([pipe], [], [], waits)[0]:
                raise EOFError
            kind, _, content = receive(pipe)
        except (EOFError, OSError) as error:
            raise self._lost() from error
        return kind, content

    def end(self) -> None:
        """Give the allocation back."""
        self._srun.terminate()
        try:
            self._srun.wait(_TO_END)
        except subprocess.TimeoutExpired:
            self._srun.kill()
            self._srun.wait()
            if self._job:
                subprocess.run(["scancel", self._job], capture_output=True, check=False)

    def _lost(self) -> LostAttempt:
        """Return what ``srun`` says of its end."""
        self.end()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        return LostAttempt(f"Slurm lost the task.\n{said}".strip())


class _Pool:
    """Allocations of one size: some run nothing for a while, some are asked of Slurm and are to come.

    An attempt takes what is there first, which need not be what was asked of Slurm for it.
    """

    def __init__(self, told: Told, limits: Limits):
        self._told = told
        self._limits = limits
        self._changed = threading.Condition()
        self._waiting = 0
        self._idle: dict[_Allocation, threading.Timer] = {}
        self._coming: set[_Allocation] = set()
        self._failures: list[LostAttempt] = []

    def take(self, is_stopped: Callable[[], bool]) -> _Allocation:
        """Wait for an allocation. Raises ``LostAttempt`` where none comes, or once it is stopped."""
        with self._changed:
            self._waiting += 1
            if len(self._idle) + len(self._coming) < self._waiting:
                self._ask()
            try:
                self._changed.wait_for(lambda: self._idle or self._failures or is_stopped())
                return self._taken()
            finally:
                self._waiting -= 1
                _later(self._end_surplus)

    def put(self, allocation: _Allocation) -> None:
        """Keep an allocation for the next attempt, or give it back where none comes."""
        with self._changed:
            self._idle[allocation] = _later(self._give_back, allocation)
            self._changed.notify_all()

    def look_again(self) -> None:
        """Have those who wait look whether they are stopped."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Give all back; nobody waits any more."""
        for allocation in list(self._idle):
            self._give_back(allocation)
        self._end_surplus()

    def _taken(self) -> _Allocation:
        if self._idle:
            allocation, timer = self._idle.popitem()
            timer.cancel()
            return allocation
        if self._failures:
            raise self._failures.pop()
        raise LostAttempt("The attempt was stopped.", "killed")

    def _ask(self) -> None:
        allocation = _Allocation(self._told, self._limits)
        self._coming.add(allocation)
        threading.Thread(target=self._greet, args=[allocation], daemon=True).start()

    def _greet(self, allocation: _Allocation) -> None:
        try:
            allocation.greet()
        except LostAttempt as lost:
            with self._changed:
                if allocation in self._coming:
                    self._coming.remove(allocation)
                    self._failures += [lost] if self._waiting else []
                    self._changed.notify_all()
            return
        with self._changed:
            self._coming.discard(allocation)
            self.put(allocation)

    def _end_surplus(self) -> None:
        """End what was asked of Slurm and nobody waits for, so that it is not in its queue for ever."""
        with self._changed:
            surplus = [self._coming.pop() for _ in range(len(self._coming) - self._waiting)]
        for allocation in surplus:
            allocation.end()

    def _give_back(self, allocation: _Allocation) -> None:
        with self._changed:
            timer = self._idle.pop(allocation, None)
        if timer is not None:
            timer.cancel()
            allocation.end()


class _SlurmWay:
    """An attempt in an allocation, once there is one."""

    def __init__(self, folder: Path, limits: Limits, pool: _Pool, number: int):
        self._folder = folder
        self._limits = limits
        self._pool = pool
        self._number = number
        self._guard = threading.Lock()
        self._allocation: _Allocation | None = None
        self._is_stopped = False
        self._has_ended = False

    def sent(self) -> Iterator[Sent]:
        """See ``Way``."""
        allocation = self._pool.take(lambda: self._is_stopped)
        self._allocation = allocation
        self._send_attempt(allocation)
        while not self._has_ended:
            kind, content = allocation.receive()
            if kind == "go":
                yield "begun", b""
            elif kind == "log":
                yield "log", content
            elif kind == "file":
                yield "files", content
            elif kind == "beat":
                continue
            elif kind == "kill":
                self._has_ended = True
                raise LostAttempt("The attempt was stopped.", "killed")
            else:
                self._has_ended = True
                yield "ended", _outcome(content)

    def ask_to_end(self, grace: float) -> None:
        """See ``Way``. An attempt that waits for an allocation is stopped after its grace."""
        self._tell("ask", str(grace).encode())

    def cancel(self, *, at_once: bool) -> None:
        """See ``Way``."""
        self._is_stopped = True
        self._pool.look_again()
        if not at_once:
            self._tell("kill")
            return
        allocation = self._given_up()
        if allocation is not None:
            allocation.end()

    def close(self) -> None:
        """Keep the allocation for the next attempt, where this one ended as it should."""
        allocation = self._given_up()
        if allocation is None:
            return
        if self._has_ended:
            self._pool.put(allocation)
        else:
            allocation.end()

    def _given_up(self) -> _Allocation | None:
        """Return the allocation to the one who asks first: afterwards others may have it."""
        with self._guard:
            allocation, self._allocation = self._allocation, None
        return allocation

    def _tell(self, kind: str, content: bytes = b"") -> None:
        # Not under the guard: the node may take nothing, until somebody ends the allocation.
        allocation = self._allocation
        if allocation is not None:
            with suppress(LostAttempt):
                allocation.send(kind, content, self._number)

    def _send_attempt(self, allocation: _Allocation) -> None:
        paths, parts = _parts(self._folder)
        sent = [number for number, part in enumerate(parts) if part.digest not in allocation.kept]
        attempt = Attempt(limits=self._limits, parts=parts, sent=sent)
        allocation.send("run", attempt.model_dump_json().encode(), self._number)
        for number in sent:
            with tempfile.TemporaryFile() as packed:
                packing.pack(paths[number], packed)
                for piece in packing.pieces(packed):
                    allocation.send("part", piece, self._number)
            allocation.send("done", attempt=self._number)
        allocation.kept = {part.digest for part in parts if part.digest}


def _later(do: Callable[..., None], *arguments: object) -> threading.Timer:
    """Do it after the seconds for which an allocation may run nothing."""
    timer = threading.Timer(IDLE_SECONDS, do, arguments)
    timer.daemon = True
    timer.start()
    return timer


def _parts(folder: Path) -> tuple[list[list[Path]], list[Part]]:
    """Return the paths of each part of a work folder, its words first, and what is told of it."""
    digests: dict[str, str] = {}
    spec = folder / task_main.SPEC
    if spec.exists():
        digests = TaskSpec.model_validate_json(spec.read_bytes()).inputs
    words = [path for path in folder.iterdir() if path.name != task_main.INPUTS]
    places = folder / task_main.INPUTS
    inputs = sorted(places.iterdir()) if places.exists() else []
    paths = [words, *([path] for path in inputs)]
    parts = [Part()]
    for path in inputs:
        digest = digests.get(path.name, "")
        parts.append(Part(digest=digest and f"{path.name} {digest}", is_input=True))
    return paths, parts


def _outcome(content: bytes) -> Outcome:
    ended = Ended.model_validate(json.loads(content))
    return Outcome(ended.ending, TaskResult.model_validate_json(ended.result), ended.seconds)


def _needs(limits: Limits) -> tuple[int, int]:
    """Return threads and bytes of memory."""
    return limits.threads, limits.memory + _OWN_MEMORY


def _command(limits: Limits) -> list[str]:
    """Return what starts the program on a node."""
    threads, memory = _needs(limits)
    exported = ",".join(filter(os.environ.__contains__, _EXPORTED))
    return [
        "srun",
        "--job-name=easeml",
        "--ntasks=1",
        f"--cpus-per-task={threads}",
        f"--mem={memory // 2**20}M",
        f"--export={exported}",
        "--quiet",
        "--unbuffered",  # else it waits for the ends of lines
        *(sys.executable, "-P", "-m", _NODE),
    ]
