"""Which code runs, looked at from a thread beside it many times a second.

Nothing is done at calls and returns, so that a function that is called a million times costs
nothing more. What runs shorter than the time between two looks is seen by chance only.
"""

import sys
import threading
import time
from itertools import islice
from types import CodeType, FrameType

from easeml.tracing.lines import CodeLine, Line, SamplesLine, StackLine

EVERY = 0.01  # seconds between two looks
_SLOWER_AFTER = 30_000  # looks after which they become half as many a second
_DEEPEST = 100  # frames of a stack; of a deeper one, the outermost are left out
_MOST_THREADS = 16
_NO_STACK = -1


class Sampler:
    """Looks at the threads of this process, except its own; gives lines of what it saw."""

    def __init__(self) -> None:
        self.every = EVERY
        self._looks = 0
        self._codes: dict[CodeType, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._new: list[Line] = []
        self._seen: dict[int, tuple[list[float], list[int]]] = {}

    def begin(self) -> None:
        """Say that looks begin now, after a time without."""
        now = time.monotonic()
        for ident in _others():
            self._keep(ident, now, _NO_STACK)

    def look(self) -> None:
        """Note what each thread is at."""
        now = time.monotonic()
        for ident, frame in _others().items():
            self._keep(ident, now, self._stack(frame))
        self._looks += 1
        if self._looks % _SLOWER_AFTER == 0:
            self.every *= 2  # a trace of hours stays small

    def take(self) -> list[Line]:
        """Return the lines that are new."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        lines = self._new
        for ident, (times, stacks) in self._seen.items():
            name = names.get(ident, f"thread {ident}")[:300]
            lines.append(SamplesLine(thread=name, times=times, stacks=stacks))
        self._new = []
        self._seen = {}
        return lines

    def _keep(self, ident: int, now: float, stack: int) -> None:
        times, stacks = self._seen.setdefault(ident, ([], []))
        times.append(round(now, 6))
        stacks.append(stack)

    def _stack(self, frame: FrameType | None) -> int:
        found: list[int] = []
        while frame is not None and len(found) < _DEEPEST:
            code = frame.f_code
            number = self._codes.get(code)
            if number is None:
                number = self._add(code, frame)
            found.append(number)
            frame = frame.f_back
        stack = tuple(found)
        number = self._stacks.get(stack)
        if number is None:
            number = self._stacks[stack] = len(self._stacks)
            self._new.append(StackLine(frames=found[::-1]))
        return number

    def _add(self, code: CodeType, frame: FrameType) -> int:
        module = str(frame.f_globals.get("__name__", ""))
        line = CodeLine(
            name=code.co_qualname[:300], module=module[:300], number=code.co_firstlineno
        )
        self._new.append(line)
        number = self._codes[code] = len(self._codes)
        return number


def _others() -> dict[int, FrameType]:
    """Return what the other threads are at, by their numbers; of many, the first ones."""
    frames = sys._current_frames()
    del frames[threading.get_ident()]
    return dict(islice(frames.items(), _MOST_THREADS))
