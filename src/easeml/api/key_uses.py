"""When keys were last used: noted beside the requests, so that none waits for it."""

import asyncio
import time

import structlog
from starlette.concurrency import run_in_threadpool

from easeml.service.accounts import keys
from easeml.store import Store

_EVERY = 60.0  # seconds between two notes about a key: each is a write
_MOST = 10_000
_log = structlog.get_logger("easeml.api")


class Uses:
    """Notes the use of keys, of each at most once a minute; lives on one event loop."""

    def __init__(self, store: Store):
        self._store = store
        self._noted: dict[str, float] = {}
        self._writes: set[asyncio.Task[None]] = set()  # a loop alone would not hold them

    def note(self, key_id: str) -> None:
        """Note that a key is used now; returns at once."""
        now = time.monotonic()
        noted = self._noted.get(key_id)
        if noted is not None and now - noted < _EVERY:
            return
        if len(self._noted) >= _MOST:
            self._noted.clear()
        self._noted[key_id] = now
        write = asyncio.create_task(self._write(key_id))
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)

    async def _write(self, key_id: str) -> None:
        try:
            await run_in_threadpool(keys.note_use, self._store, key_id)
        except Exception:  # a full disk is no reason to refuse those who may read
            _log.exception("the use of a key was not noted")
