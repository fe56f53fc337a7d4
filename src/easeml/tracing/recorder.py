"""Steps of a process: what it did, from when to when."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
