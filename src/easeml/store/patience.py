"""Connections to PostgreSQL that do not wait for ever for a server that stands still.

The kernel of a server that was stopped, or whose disk hangs, goes on to acknowledge packets: no
setting of TCP notices it, and the server cannot end a statement itself.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

SILENT_SECONDS = 60.0
"""How long a statement may be without a sign of the server: as long as SQLite's writers wait."""

_Answer = TypeVar("_Answer")


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is closed, and raises ``OperationalError``, when its server is silent."""

    silent_seconds: float = SILENT_SECONDS

    def wait(self, gen: PQGen[_Answer], *args: Any, **options: Any) -> _Answer:
        """Wait for the server as psycopg does, for ``silent_seconds`` at most."""
        try:
            return super().wait(_bounded(gen, self.silent_seconds), *args, **options)
        except _Silent:
            self.pgconn.finish()  # a late answer would be taken for that of another statement
            raise

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """Within the block, wait for ``seconds`` at most."""
        before = self.silent_seconds
        self.silent_seconds = seconds
        try:
            yield
        finally:
            self.silent_seconds = before


class _Silent(psycopg.OperationalError):
    """The server gave no sign for too long."""


def _bounded(gen: PQGen[_Answer], seconds: float) -> PQGen[_Answer]:
    """Pass on what ``gen`` waits for, until nothing came for ``seconds``.

    psycopg sends 0 several times a second while nothing is ready.
    """
    latest = time.monotonic() + seconds
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                latest = time.monotonic() + seconds
            elif time.monotonic() > latest:
                raise _Silent(f"the server was silent for {seconds:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value
