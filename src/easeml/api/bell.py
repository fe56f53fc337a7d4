"""Rings open event streams when their tenant has news: one thread for all streams of a controller."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import structlog

from easeml.store import Store

_PAUSE = 0.5  # seconds: longest wait for a hint, which may get lost; and before another try after a failure
_BATCH = 500

_log = structlog.get_logger("easeml.api")


class Bell:
    """Waits for commits while there are streams, sees whose events they hold, and wakes those tenants' streams.

    Streams live on one event loop, which alone touches them.
    """

    def __init__(self, store: Store):
        self._store = store
        self._streams: defaultdict[str | None, set[asyncio.Event]] = defaultdict(set)
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self.closed = False

    @contextmanager
    def subscribe(self, tenant_id: str | None) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever the tenant (None: any) may have news, and when the bell is closed."""
        signal = asyncio.Event()
        self._streams[tenant_id].add(signal)
        self._wanted.set()
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._run, args=(loop,), name="bell", daemon=True)
            self._thread.start()
        try:
            yield signal
        finally:
            self._streams[tenant_id].discard(signal)
            if not self._streams[tenant_id]:
                del self._streams[tenant_id]
            if not self._streams and not self.closed:
                self._wanted.clear()

    async def close(self) -> None:
        """End all streams and the thread."""
        self.closed = True
        self._wanted.set()
        self._ring(list(self._streams))
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _ring(self, tenants: Iterable[str | None]) -> None:
        for tenant_id in tenants:
            for signal in self._streams.get(tenant_id, ()):
                signal.set()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        pause = threading.Event()
        while not self.closed:
            try:
                self._watch(loop)
            except Exception:
                _log.exception("event streams wait for the database")
                pause.wait(_PAUSE)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        wakeup = self._store.wakeup()
        try:
            while self._wanted.wait() and not self.closed:
                with self._store.read() as tx:
                    seq = tx.events.last()
                self._call(loop, None)  # whoever looked before that may have missed something
                while self._wanted.is_set() and not self.closed:
                    wakeup.wait(_PAUSE)
                    seq, tenants = self._news(seq)
                    if tenants:
                        self._call(loop, tenants)
        finally:
            wakeup.close()

    def _call(self, loop: asyncio.AbstractEventLoop, tenants: set[str] | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(lambda: self._ring(list(self._streams) if tenants is None else [*tenants, None]))

    def _news(self, seq: int) -> tuple[int, set[str]]:
        """Return the last event's number, and the tenants that have events after ``seq``."""
        tenants: set[str] = set()
        while True:
            with self._store.read() as tx:
                events = tx.events.after(seq, limit=_BATCH)
            tenants.update(event.tenant_id for event in events)
            seq = events[-1].seq if events else seq
            if len(events) < _BATCH:
                return seq, tenants
