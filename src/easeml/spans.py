"""Steps that code names, for whoever notes them: ``easeml.tracing``, or nobody.

It needs no library, since models that were taken elsewhere name their steps too.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol


class Notes(Protocol):
    """What notes steps."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """Note a step: what happens within, also where it fails."""
        ...


_current: ContextVar[Notes | None] = ContextVar("notes", default=None)
_NOTHING = nullcontext()


@contextmanager
def recording(notes: Notes) -> Iterator[None]:
    """Note the steps of this thread within, wherever ``span`` names one."""
    before = _current.set(notes)
    try:
        yield
    finally:
        _current.reset(before)


def span(name: str) -> AbstractContextManager[None]:
    """Name a step of the task that this process does; nothing is noted where it does none."""
    notes = _current.get()
    return _NOTHING if notes is None else notes.span(name)


def _forget() -> None:
    """Note no steps any more: this process was forked from one that did."""
    _current.set(None)


os.register_at_fork(after_in_child=_forget)
