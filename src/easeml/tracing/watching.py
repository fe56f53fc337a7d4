"""The thread that traces the task of its process, whenever a file of the work folder asks for it."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from easeml.spans import recording
from easeml.tracing.lines import LARGEST_TRACE, Line, written
from easeml.tracing.pace import Pace
from easeml.tracing.recorder import Recorder
from easeml.tracing.sampler import Sampler

SWITCH = "trace"
"""The file in a work folder that asks for a trace while it is there."""

TRACE = "trace.jsonl"
"""What the process of a task writes of itself."""

_ASK_EVERY = 0.2  # seconds between two looks for the file
_WRITE_EVERY = 0.5
_STACK = 2**19  # bytes; the usual 8 MiB would count against the memory of the task
_KEPT_BACK = 2**20  # bytes for the steps, and for the lines of the worker


@contextmanager
def watch(folder: Path, process: str = "task") -> Iterator[None]:
    """Trace what happens within, while ``folder`` has the file ``SWITCH``.

    Steps are noted always, so that a trace that begins late knows those before.
    """
    watcher = _Watcher(folder, Recorder(process))
    usual = threading.stack_size(_STACK)
    watcher.start()
    threading.stack_size(usual)
    try:
        with recording(watcher.recorder):
            yield
    finally:
        watcher.end()


class _Watcher(threading.Thread):
    def __init__(self, folder: Path, recorder: Recorder):
        super().__init__(name="trace", daemon=True)
        self.recorder = recorder
        self._switch = folder / SWITCH
        self._out = _Out(folder / TRACE, recorder)
        self._over = threading.Event()

    def run(self) -> None:
        # A body that has used up its memory must not fail for its trace, nor a full disk.
        with suppress(MemoryError, OSError):
            self._work()

    def end(self) -> None:
        """Write what is left, and end."""
        self._over.set()
        self.join()
        with suppress(MemoryError, OSError):
            if self._out.is_open or self._switch.exists():
                self._out.add(self.recorder.take())
            self._out.close()

    def _work(self) -> None:
        sampler = Sampler()
        is_over = self._over.is_set()
        while not is_over:
            if self._switch.exists() and not self._out.is_full:
                self._sample(sampler)
            is_over = self._over.wait(_ASK_EVERY)

    def _sample(self, sampler: Sampler) -> None:
        """Look and write until the file is gone, the body has ended, or the trace is full."""
        pace = Pace()
        sampler.begin()
        asked = wrote = time.monotonic()
        is_on = True
        while is_on and not self._out.is_full:
            is_on = not self._over.wait(pace.pause(sampler.every))
            sampler.look()
            now = time.monotonic()
            if now - asked >= _ASK_EVERY:
                asked = now
                is_on &= self._switch.exists()
            if now - wrote >= _WRITE_EVERY or not is_on:
                wrote = now
                self._out.add([*self.recorder.take(), *sampler.take()])


class _Out:
    """A file that lines are added to, up to a size. It is opened when there is a first line."""

    def __init__(self, path: Path, recorder: Recorder):
        self._path = path
        self._recorder = recorder
        self._descriptor: int | None = None
        self._size = 0

    @property
    def is_open(self) -> bool:
        return self._descriptor is not None

    @property
    def is_full(self) -> bool:
        return self._size > LARGEST_TRACE - _KEPT_BACK

    def add(self, lines: Sequence[Line]) -> None:
        if self._descriptor is None:
            # Opened once: the body may do to its folder what it likes.
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            self._descriptor = os.open(self._path, flags, 0o600)
            lines = [self._recorder.head(), *lines]
        text = b"".join(map(written, lines))
        self._size += os.write(self._descriptor, text)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
