"""Steps that code names, for whoever notes them: ``easeml.tracing``, or nobody.

It needs no library, since models that were taken elsewhere name their steps too.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol


class Notes(Protocol):
    """What notes steps."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """Note a step: what happens within, also where it fails."""
        ...


_current: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def recording(notes: Notes) -> Iterator[None]:
    """Note the steps of this thread within, wherever ``span`` names one."""
    before = _current.set(notes)
    try:
        yield
    finally:
        _current.reset(before)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Name a step of the task that this process does; nothing is noted where it does none."""
    notes = _current.get()
    if notes is None:
        yield
        return
    with notes.span(name):
        yield


def _forget() -> None:
    """Note no steps any more: this process was forked from one that did."""
    _current.set(None)


os.register_at_fork(after_in_child=_forget)
