"""Rings open event streams when their tenant has news: one thread reads the events for all streams
of a controller.
"""

import asyncio
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import takewhile

import structlog

from easeml.errors import TooMany
from easeml.store import Store, Wakeup
from easeml.store.records import Event

_PAUSE = 0.5  # seconds: longest wait for a hint, which may get lost; and before another try after a failure
_BATCH = 500
_KEPT = 2000  # newest events, for streams that are a little behind
MOST_STREAMS = 500
"""Open streams of one tenant: each holds a connection, of which a process has only so many."""
_SOON = 10.0  # seconds after which one may have ended

_log = structlog.get_logger("easeml.api")


class EventFanout:
    """Waits for commits while there are streams, sees whose events they hold, and wakes those
    tenants' streams.

    Streams live on one event loop, which alone touches them.
    """

    def __init__(self, store: Store):
        self._store = store
        self._streams: defaultdict[str | None, set[asyncio.Event]] = defaultdict(set)
        self._recent: deque[Event] = deque()
        self._known_from: int | None = (
            None  # all events after this number are in ``_recent``, or still to come
        )
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self.closed = False

    @contextmanager
    def subscribe(self, tenant_id: str | None) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever the tenant (None: any) may have news, and when the
        fanout is closed. Raises ``TooMany``.
        """
        self.check_room(tenant_id)
        signal = asyncio.Event()
        self._streams[tenant_id].add(signal)
        self._wanted.set()
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(
                target=self._run, args=(loop,), name="fanout", daemon=True
            )
            self._thread.start()
        try:
            yield signal
        finally:
            self._streams[tenant_id].discard(signal)
            if not self._streams[tenant_id]:
                del self._streams[tenant_id]
            if not self._streams and not self.closed:
                self._wanted.clear()

    def check_room(self, tenant_id: str | None) -> None:
        """Raise ``TooMany`` where a tenant has as many open streams as it may."""
        if tenant_id is not None and len(self._streams.get(tenant_id, ())) >= MOST_STREAMS:
            raise TooMany(
                f"{MOST_STREAMS} streams of events are open.",
                where="events",
                remedy="Close some: pages that are open hold one each.",
                seconds=_SOON,
            )

    @property
    def last(self) -> int:
        """The number of the newest event that was heard of, 0 if none was."""
        if self._recent:
            return self._recent[-1].seq
        return self._known_from or 0

    def of_all_since(self, seq: int) -> list[Event]:
        """Return the events of all tenants after ``seq`` that were heard of."""
        newer = list(takewhile(lambda event: event.seq > seq, reversed(self._recent)))
        return newer[::-1]

    def since(self, tenant_id: str, seq: int) -> list[Event] | None:
        """Return the tenant's events after ``seq`` that were heard of; None if they reach back too
        far to be known.
        """
        if self._known_from is None or seq < self._known_from:
            return None
        newer = self.of_all_since(seq)
        return [event for event in newer if event.tenant_id == tenant_id]

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

    def _begin(self, seq: int) -> None:
        self._recent.clear()
        self._known_from = seq
        self._ring(list(self._streams))  # whoever looked before that may have missed something

    def _tell(self, events: list[Event]) -> None:
        self._recent.extend(events)
        while len(self._recent) > _KEPT:
            self._known_from = self._recent.popleft().seq
        self._ring({None, *(event.tenant_id for event in events)})

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        pause = threading.Event()
        while not self.closed:
            try:
                self._watch(loop)
            except Exception:
                _log.exception("event streams wait for the database")
                pause.wait(_PAUSE)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._wanted.wait() and not self.closed:
            with closing(self._store.wakeup()) as wakeup:
                self._follow(wakeup, loop)

    def _follow(self, wakeup: Wakeup, loop: asyncio.AbstractEventLoop) -> None:
        """Tell all events to streams, while there are any."""
        with self._store.read() as tx:
            seq = tx.events.last()
        self._call(loop, partial(self._begin, seq))
        while self._wanted.is_set() and not self.closed:
            wakeup.wait(_PAUSE)
            if events := self._news(seq):
                seq = events[-1].seq
                self._call(loop, partial(self._tell, events))

    def _call(self, loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(act)

    def _news(self, seq: int) -> list[Event]:
        """Return all events after ``seq``."""
        found: list[Event] = []
        while True:
            with self._store.read() as tx:
                events = tx.events.after(seq, limit=_BATCH)
            found += events
            if len(events) < _BATCH:
                return found
            seq = events[-1].seq
