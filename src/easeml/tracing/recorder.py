"""Steps of a process: what it did, from when to when."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from easeml.tracing.clocks import boot_id
from easeml.tracing.lines import Line, ProcessLine, SpanLine, written

_MOST_STEPS = 10_000


class Recorder:
    """Notes the steps of one process. May be used from any thread."""

    def __init__(self, process: str):
        """``process``: what it is, for people."""
        self._process = process
        self._steps: list[SpanLine] = []
        self._depth = threading.local()

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Note a step: what happens within, also where it fails."""
        depth = getattr(self._depth, "now", 0)
        self._depth.now = depth + 1
        begin = time.monotonic()
        try:
            yield
        finally:
            self._depth.now = depth
            self.note(name, begin, time.monotonic(), depth)

    def note(self, name: str, begin: float, end: float, depth: int = 0) -> None:
        """Note a step that is over."""
        if len(self._steps) < _MOST_STEPS:
            thread = threading.current_thread().name
            self._steps.append(
                SpanLine(name=name[:300], begin=begin, end=end, depth=min(depth, 50), thread=thread)
            )

    def head(self) -> ProcessLine:
        """Return who writes."""
        return ProcessLine(
            name=self._process,
            pid=os.getpid(),
            boot=boot_id(),
            monotonic=time.monotonic(),
            wall=time.time(),
        )

    def take(self) -> list[SpanLine]:
        """Return the steps that ended since this was asked last."""
        count = len(self._steps)
        taken = self._steps[:count]
        del self._steps[:count]
        return taken

    def text(self, *more: Line) -> bytes:
        """Return all there is as the text of a trace; ``more`` stands after it."""
        return b"".join(map(written, [self.head(), *self.take(), *more]))


_current: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Note the steps of this thread within, wherever ``span`` names one."""
    before = _current.set(recorder)
    try:
        yield
    finally:
        _current.reset(before)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Name a step of the task that this process does; nothing is noted where it does none."""
    recorder = _current.get()
    if recorder is None:
        yield
        return
    with recorder.span(name):
        yield


def forget() -> None:
    """Note no steps any more: this process was forked from one that did."""
    _current.set(None)


os.register_at_fork(after_in_child=forget)
