"""An attempt that runs on a node of a cluster, as the worker that sent it there sees it."""

import tarfile
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main

from . import packing
from .base import Ending, Execution, Outcome
from .local import IMPORTS, LocalExecutor
from .node import Sent, Told

_MOST_AT_ONCE = 64
_TO_END = 5.0  # seconds in which a node ends an attempt that is stopped; then it is ended there


class LostAttempt(Exception):
    """What was to run an attempt went away, or does not run it; the message is for people.

    ``retry``: whether another attempt is worth it.
    """

    def __init__(self, text: str, ending: Ending = "lost", *, retry: bool = True):
        super().__init__(text)
        self.ending: Ending = ending
        self.retry = retry


class Way(Protocol):
    """How one attempt is sent to a node. Methods are called from several threads."""

    def sent(self) -> Iterator[Sent]:
        """Send the attempt, and give what the node sends back. Raises ``LostAttempt``."""
        ...

    def ask_to_end(self, grace: float) -> None:
        """Have the body asked to end with what it has; after ``grace`` seconds it is ended."""
        ...

    def cancel(self, *, at_once: bool) -> None:
        """Have the node kill the body, or ``at_once`` end what runs it there."""
        ...

    def close(self) -> None:
        """Give back what the way holds; the attempt has ended."""
        ...


class ExecutionElsewhere:
    """An execution whose body runs on a node."""

    def __init__(self, folder: Path, way: Way, ended: Callable[["ExecutionElsewhere"], None]):
        self._folder = folder
        self._way = way
        self._ended = ended
        self._guard = threading.Lock()
        self._stopped_as: Ending | None = None
        self._begun: float | None = None
        self._over = False
        self._outcome: Future[Outcome] = Future()

    def begin(self, threads: ThreadPoolExecutor) -> None:
        """Follow the attempt in a thread: to pack a large input takes a moment."""
        self._outcome = threads.submit(self._follow)

    def wait(self) -> Outcome:
        """See ``Execution``."""
        return self._outcome.result()

    def kill(self) -> None:
        """See ``Execution``."""
        self._stop("killed")

    def ask_to_end(self, grace: float) -> None:
        """See ``Execution``."""
        if self._over:
            return
        self._way.ask_to_end(grace)
        self._after(grace + _TO_END, lambda: self._stop("suspended"))

    def _stop(self, ending: Ending) -> None:
        with self._guard:
            if self._over or self._stopped_as:
                return
            self._stopped_as = ending
        self._after(_TO_END, lambda: self._cancel(at_once=True))
        self._cancel(at_once=False)

    def _cancel(self, *, at_once: bool) -> None:
        if not self._over:
            self._way.cancel(at_once=at_once)

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, do)
        timer.daemon = True
        timer.start()

    def _follow(self) -> Outcome:
        """Take what the node sends until the attempt has ended."""
        try:
            return self._taken()
        except LostAttempt as lost:
            return self._without_result(lost)
        except tarfile.TarError as error:
            text = f"What the task brought is not laid out: {error}."
            return self._without_result(LostAttempt(text, "crashed", retry=False))
        finally:
            self._over = True
            self._way.close()
            self._ended(self)

    def _taken(self) -> Outcome:
        """Keep what is printed and brought in the work folder; return how it ended."""
        with (self._folder / task_main.LOG).open("ab") as log, tempfile.TemporaryFile() as files:
            for kind, content in self._way.sent():
                if isinstance(content, Outcome):
                    if files.tell():
                        packing.unpack(files, self._folder)
                    return content
                if kind == "begun":
                    self._begun = time.monotonic()
                elif kind == "log":
                    log.write(content)
                    log.flush()
                else:
                    files.write(content)
        raise LostAttempt("The node sent no end.")

    def _without_result(self, lost: LostAttempt) -> Outcome:
        """Return what came of an attempt that did not end by itself."""
        seconds = time.monotonic() - self._begun if self._begun else 0.0
        if self._stopped_as:
            lost = LostAttempt("The attempt was stopped.", self._stopped_as)
        result = TaskResult(ok=False, error=str(lost), retry=lost.retry, cost=seconds)
        return Outcome(lost.ending, result, seconds)


class ExecutorElsewhere(ABC):
    """Runs bodies on nodes of a cluster.

    What needs this machine runs here: containers, whose images lie here, and what was granted a
    secret.
    """

    def __init__(
        self,
        limits: Limits,
        run: Callable[[Path], TaskResult] = task_main.run,
        preload: Sequence[str] = IMPORTS,
        *,
        isolation: Isolation = "none",
    ):
        """See ``LocalExecutor``. Raises as ``check_reachable``."""
        self.check_reachable()
        self._told = Told.of(limits, run, preload, isolation)
        self._here = LocalExecutor(limits, run, preload, isolation=isolation)
        self._running: set[ExecutionElsewhere] = set()
        self._threads = ThreadPoolExecutor(_MOST_AT_ONCE, "elsewhere")

    @classmethod
    @abstractmethod
    def check_reachable(cls) -> None:
        """Raise ``Unreachable`` where nothing can be sent to the cluster from this machine."""

    def start(self, folder: Path, limits: Limits) -> Execution:
        """Have a node run the body in ``folder``; returns at once."""
        if task_main.needs_this_machine(folder):
            return self._here.start(folder, limits)
        execution = ExecutionElsewhere(folder, self._way(folder, limits), self._running.discard)
        self._running.add(execution)
        execution.begin(self._threads)
        return execution

    def close(self) -> None:
        """Kill what still runs, and leave the cluster."""
        for execution in list(self._running):
            execution.kill()
        self._threads.shutdown()
        self._here.close()
        self._leave()

    @abstractmethod
    def _way(self, folder: Path, limits: Limits) -> Way:
        """Return how an attempt is sent."""

    @abstractmethod
    def _leave(self) -> None:
        """Give back what the cluster gave; nothing runs any more."""
