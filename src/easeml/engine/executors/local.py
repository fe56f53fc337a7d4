"""The default executor: for every task a child of a warm zygote on this machine, forked before it
is needed.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from easeml.confinement import Isolation, Starting, confine, enter_ahead, readable_places
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_logs, task_main
from easeml.engine.flood import FloodWatch
from easeml.engine.fork_server import fork_server
from easeml.engine.limits import cap_threads, thread_environment
from easeml.modules import gpu_share
from easeml.modules.leash import END_WITH_WHAT_IS_THERE
from easeml.service.tasks import logs

from .base import Ending, Outcome
from .isolation import free_reserve, isolate, redirect_output
from .joblib_threads import use_plain_threads

if TYPE_CHECKING:
    from multiprocessing.connection import _ConnectionBase

IMPORTS = ("easeml.engine.executors.imports",)
OUT_OF_MEMORY = 77  # exit code of a child whose body ran out of memory
_BY_CODE: dict[int | None, Ending] = {0: "finished", OUT_OF_MEMORY: "out-of-memory"}
LARGEST_RESULT = 64 * 2**20  # bytes
_LOG_TAIL = 4000  # bytes
_TIME_IS_UP = "ran longer than its limit"


@dataclass(frozen=True, slots=True)
class _Child:
    """A child that has isolated itself and waits to be told its work folder."""

    process: ForkServerProcess
    folder: "_ConnectionBase"
    kind: tuple[Limits, bool]


class LocalExecutor:
    """Forks a child a task from the standard library's fork server, which has imported everything
    already.

    One child with ``limits`` is always kept ready, so that a task need not wait for its fork. Make
    the executor in the main thread: the zygote dies with the thread that made it.
    """

    def __init__(
        self,
        limits: Limits,
        run: Callable[[Path], TaskResult] = task_main.run,
        preload: Sequence[str] = IMPORTS,
        *,
        isolation: Isolation = "none",
    ):
        """``run`` is called in the child with the work folder and must be importable; it writes the
        result.

        The zygote imports ``preload`` with one thread a library; a task that has work for more
        takes them, as its limits allow. A task with other limits starts a little slower.
        ``isolation``: from ``process`` on children cannot reach the network, other files and other
        processes (``confinement``).
        """
        self._run = run
        os.environ.update(thread_environment(1))
        self._context = fork_server(preload)
        self._running: set[_LocalExecution] = set()
        self._guard = threading.Lock()
        self._limits = limits
        self._isolation: Isolation = isolation
        self._spare: _Child | None = self._fork(limits, is_apart=isolation == "sandbox")

    def start(self, folder: Path, limits: Limits) -> "_LocalExecution":
        """Have a child run the body in ``folder``; returns at once."""
        # What enters its namespaces before it is asked cannot reach out any more.
        is_apart = self._isolation == "sandbox" and not task_main.needs_system(folder)
        child = self._spare_with(limits, is_apart) or self._fork(limits, is_apart=is_apart)
        execution = _LocalExecution(child.process, folder, limits, self._running.discard)
        self._running.add(execution)
        with suppress(OSError):  # it was killed meanwhile: ``wait`` tells
            child.folder.send_bytes(os.fsencode(folder))
        child.folder.close()
        self._keep_spare()
        return execution

    def close(self) -> None:
        """Kill what still runs."""
        for execution in list(self._running):
            execution.kill()
        with self._guard:
            if self._spare is not None:
                self._spare.process.kill()
                self._spare.folder.close()

    def _fork(self, limits: Limits, *, is_apart: bool) -> _Child:
        theirs, ours = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_child,
            args=(self._run, theirs, limits, self._isolation, is_apart),
            daemon=True,
        )
        process.start()
        theirs.close()
        return _Child(process, ours, _kind(limits, is_apart))

    def _spare_with(self, limits: Limits, is_apart: bool) -> _Child | None:
        with self._guard:
            spare = self._spare
            if spare is None or spare.kind != _kind(limits, is_apart):
                return None
            self._spare = None
        return spare if spare.process.is_alive() else None

    def _keep_spare(self) -> None:
        with self._guard:
            if self._spare is None:
                is_apart = self._isolation == "sandbox"
                self._spare = self._fork(self._limits, is_apart=is_apart)


class _LocalExecution:
    def __init__(
        self,
        process: ForkServerProcess,
        folder: Path,
        limits: Limits,
        ended: Callable[["_LocalExecution"], None],
    ):
        self._folder = folder
        self._seconds = limits.seconds
        self._ended = ended
        self._killed = False
        self._asked = False
        self._suspended = False
        self._over = False
        self._started = time.monotonic()
        self._process = process
        assert process.pid is not None
        self._flood = FloodWatch(process.pid, folder, limits.disk)

    def wait(self) -> Outcome:
        stopped = self._watch()
        self._end_group()
        self._process.join()
        self._over = True
        self._ended(self)
        seconds = time.monotonic() - self._started
        ending, result = self._judge(stopped)
        return Outcome(ending, result.model_copy(update={"cost": seconds}), seconds)

    def _watch(self) -> str:
        """Wait for the end of the child; return why it is to be ended, if it did not end itself."""
        deadline = self._started + self._seconds
        while True:
            left = max(deadline - time.monotonic(), 0)
            if wait([self._process.sentinel], timeout=min(left, self._flood.pause)):
                return ""
            if time.monotonic() >= deadline:
                return _TIME_IS_UP
            if fault := self._flood.fault():
                return fault

    def kill(self) -> None:
        self._killed = True
        if not self._over:
            self._end_group()

    def ask_to_end(self, grace: float) -> None:
        """See ``Execution``. The body is told by a file in its work folder."""
        if self._asked or self._over:
            return
        self._asked = True
        with suppress(FileExistsError):  # never through a link that the body made
            (self._folder / END_WITH_WHAT_IS_THERE).touch(exist_ok=False)
        timer = threading.Timer(grace, self._suspend)
        timer.daemon = True
        timer.start()

    def _suspend(self) -> None:
        if not self._over:
            self._suspended = True
            self._end_group()

    def _end_group(self) -> None:
        """Kill the child and whatever it forked; it leads a session, and so a process group, of its
        own.
        """
        pid = self._process.pid
        assert pid is not None
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        if self._process.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # it may not have made its session yet

    def _judge(self, stopped: str) -> tuple[Ending, TaskResult]:
        code = self._process.exitcode
        written = self._read_result()
        if self._killed:
            return "killed", TaskResult(
                ok=False,
                error="The attempt was stopped.",
                retry=True,
            )
        if self._suspended and code != 0:
            return "suspended", TaskResult(ok=False, error="The attempt was suspended.", retry=True)
        if stopped == _TIME_IS_UP:
            return "timed-out", self._at_limit(written)
        if stopped:
            return "flooded", self._failed(f"The task {stopped}, and was stopped.")
        if code in _BY_CODE and written is not None:
            return _BY_CODE[code], written
        text = f"The process of the task {_how_it_ended(code)} before it had a result."
        return "crashed", TaskResult(
            ok=False,
            error=self._with_log(text),
            retry=True,
        )

    def _at_limit(self, written: TaskResult | None) -> TaskResult:
        """Return what there is when the time is up: what was kept by then, or a failure."""
        limit = f"{self._seconds:g} s"
        if written is not None and written.ok:
            note = f"It was stopped at its limit of {limit}: this is what it had by then."
            return written.model_copy(update={"notes": [*written.notes, note]})
        return self._failed(f"The task ran longer than its limit of {limit} and was stopped.")

    def _failed(self, text: str) -> TaskResult:
        """Return the failure of a body that went beyond a limit: trying again will not help."""
        return TaskResult(ok=False, error=self._with_log(text), value={"fault": text})

    def _read_result(self) -> TaskResult | None:
        path = self._folder / task_main.RESULT
        with suppress(OSError, ValidationError):
            # A link that a body left could lead to what it may not read itself, and what is cut
            # off is no result.
            content = logs.read_plain(path, 0, LARGEST_RESULT)
            return TaskResult.model_validate_json(content)
        return None

    def _with_log(self, text: str) -> str:
        tail = task_main.printed(self._folder, _LOG_TAIL)
        said = tail.decode(errors="replace").strip()
        return f"{text}\n{said}" if said else text


def _kind(limits: Limits, is_apart: bool) -> tuple[Limits, bool]:
    """Return what tells children apart: not their seconds, which who waits for them counts."""
    return limits.model_copy(update={"seconds": 0.0}), is_apart


def _child(
    run: Callable[[Path], TaskResult],
    told: "_ConnectionBase",
    limits: Limits,
    isolation: Isolation,
    is_apart: bool,
) -> None:
    isolate(limits)
    devices, told_of_them = _take_share(limits)
    user = enter_ahead() if is_apart else 0
    readable_places()  # before the task is there
    try:
        folder = Path(os.fsdecode(told.recv_bytes()))
    except EOFError:
        os._exit(0)  # the worker ended
    told.close()
    redirect_output(folder / task_main.LOG)
    task_logs.begin(task_main.ids(folder))
    task_main.begin_keeping_containers(folder)
    packages = task_main.begin_using_environments(folder)
    cap_threads(task_main.useful_threads(folder, limits.threads))
    task_main.give_way(folder)
    if isolation != "none" and not task_main.reaches_out(folder):
        starts = task_main.starts_programs(folder)
        starting = Starting.PROGRAMS if starts else Starting.NOTHING
        reads = [*packages, *told_of_them]
        confine(folder, starting, isolation, reads, devices=devices, user=user)
        if limits.threads > 1:
            use_plain_threads(limits.threads)
    code = 0
    try:
        run(folder)
    except MemoryError as error:
        free_reserve()
        task_main.write_result(folder, task_main.out_of_memory(error, limits))
        code = OUT_OF_MEMORY
    finally:
        task_main.flush()
    os._exit(code)  # threads and exit handlers of the body do not hold the end up


def _take_share(limits: Limits) -> tuple[list[Path], list[Path]]:
    """Tell this process its share of a GPU; return the files of devices that it needs for it, and
    what it has to read besides.
    """
    share = limits.gpu
    if share is None:
        return [], []
    told = gpu_share.variables(share.id, share.number, share.memory, share.whole, share.holder)
    os.environ.update(told)
    return gpu_share.device_files(), gpu_share.places_to_read()


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
