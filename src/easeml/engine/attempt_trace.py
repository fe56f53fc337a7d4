"""The worker's part in the trace of an attempt: the switch, its own steps, the database's clock."""

import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from easeml.service.tasks import logs
from easeml.store import Store
from easeml.tracing import LARGEST_TRACE, SWITCH, TRACE, Recorder, exchange


class AttemptTrace:
    """Switches the trace of the attempt in ``folder`` on and off, and puts it together."""

    def __init__(self, store: Store, folder: Path, *, on: bool):
        """``on``: whether it is traced from its beginning on."""
        self._store = store
        self._folder = folder
        self._recorder = Recorder("worker")
        self._is_on = self._was_on = on

    def step(self, name: str) -> AbstractContextManager[None]:
        """Note what the worker does for the attempt within."""
        return self._recorder.span(name)

    def switch(self, *, on: bool) -> None:
        """Let the process of the attempt trace itself, or not, once it has a folder."""
        if on != self._is_on:
            self._is_on = on
            self._was_on = self._was_on or on
            self.tell()

    def tell(self) -> None:
        """Put what is wished into the folder. It belongs to the body: no link in it is followed."""
        path = self._folder / SWITCH
        with suppress(OSError):
            if self._is_on:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
            else:
                path.unlink()

    def text(self) -> bytes:
        """Return the trace; nothing where it was never on. Raises ``DatabaseAway``."""
        if not self._was_on:
            return b""
        own = self._recorder.text(exchange(self._time))
        return own + logs.read_plain(self._folder / TRACE, 0, LARGEST_TRACE - len(own))

    def _time(self) -> float:
        with self._store.read() as tx:
            return tx.now()
