"""The default executor: a forked child of a warm zygote for every task, on this machine."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from pydantic import ValidationError

from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main

from .base import Ending, Outcome
from .isolation import free_reserve, isolate, thread_environment

OUT_OF_MEMORY = 77  # exit code of a child whose body ran out of memory
_LOG_TAIL = 4000  # characters


class LocalExecutor:
    """Forks a child a task from the standard library's fork server, which has imported everything already.

    Make it in the main thread: the zygote dies with the thread that made it.
    """

    def __init__(
        self,
        run: Callable[[Path], TaskResult] = task_main.run,
        threads: int = 1,
        preload: Sequence[str] = ("easeml.engine.executors.imports",),
    ):
        """``run`` is called in the child with the work folder and must be importable; it writes the result.

        The zygote imports ``preload`` with the libraries capped to ``threads``; a task with another limit starts a
        little slower.
        """
        self._run = run
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["easeml.engine.executors.zygote", *preload])
        os.environ.update(thread_environment(threads))
        self._running: set[_LocalExecution] = set()
        warm = self._context.Process(target=_nothing)
        warm.start()
        warm.join()

    def start(self, folder: Path, limits: Limits) -> "_LocalExecution":
        """Fork a child that isolates itself and runs the body; returns at once."""
        process = self._context.Process(target=_child, args=(self._run, folder, limits), daemon=True)
        execution = _LocalExecution(process, folder, limits.seconds, self._running.discard)
        self._running.add(execution)
        return execution

    def close(self) -> None:
        """Kill what still runs."""
        for execution in list(self._running):
            execution.kill()


class _LocalExecution:
    def __init__(
        self, process: ForkServerProcess, folder: Path, seconds: float, ended: Callable[["_LocalExecution"], None]
    ):
        self._folder = folder
        self._seconds = seconds
        self._ended = ended
        self._killed = False
        self._over = False
        self._started = time.monotonic()
        process.start()
        self._process = process

    def wait(self) -> Outcome:
        left = self._seconds - (time.monotonic() - self._started)
        timed_out = not wait([self._process.sentinel], timeout=max(left, 0))
        self._end_group()
        self._process.join()
        self._over = True
        self._ended(self)
        seconds = time.monotonic() - self._started
        ending, result = self._judge(timed_out)
        return Outcome(ending, result.model_copy(update={"cost": seconds}), seconds)

    def kill(self) -> None:
        self._killed = True
        if not self._over:
            self._end_group()

    def _end_group(self) -> None:
        """Kill the child and whatever it forked; it leads a session, and so a process group, of its own."""
        pid = self._process.pid
        assert pid is not None
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        if self._process.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # it may not have made its session yet

    def _judge(self, timed_out: bool) -> tuple[Ending, TaskResult]:
        code = self._process.exitcode
        written = self._read_result()
        if self._killed:
            return "killed", TaskResult(ok=False, error="The attempt was stopped.", retry=True)
        if timed_out:
            text = f"The task ran longer than its limit of {self._seconds:g} s and was stopped."
            return "timed-out", TaskResult(ok=False, error=self._with_log(text))
        if code == OUT_OF_MEMORY and written is not None:
            return "out-of-memory", written
        if code == 0 and written is not None:
            return "finished", written
        how = f"was ended by {signal.Signals(-code).name}" if code and code < 0 else f"ended with exit code {code}"
        text = f"The process of the task {how} before it had a result."
        return "crashed", TaskResult(ok=False, error=self._with_log(text), retry=True)

    def _read_result(self) -> TaskResult | None:
        with suppress(FileNotFoundError, ValidationError):
            return TaskResult.model_validate_json((self._folder / task_main.RESULT).read_bytes())
        return None

    def _with_log(self, text: str) -> str:
        with suppress(FileNotFoundError):
            tail = (self._folder / task_main.LOG).read_bytes()[-_LOG_TAIL:].decode(errors="replace").strip()
            return f"{text}\n{tail}" if tail else text
        return text


def _nothing() -> None:
    """Its end tells that the zygote has finished its imports."""


def _child(run: Callable[[Path], TaskResult], folder: Path, limits: Limits) -> None:
    isolate(folder / task_main.LOG, limits)
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
