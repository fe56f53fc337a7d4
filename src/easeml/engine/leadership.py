"""The leadership of the scheduler: a lease, and writes that only its holder can make."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from easeml.errors import Fenced
from easeml.service.administration.readiness import SCHEDULER_LEASE
from easeml.store import Store, Transaction
from easeml.store.records import Lease

_RENEW_BELOW = 0.7  # part of a lease that must be left, or it is renewed
_log = structlog.get_logger()


class Leadership:
    """What one scheduler knows of the lease: whether it leads, and since which epoch."""

    def __init__(self, store: Store, holder: str, seconds: float):
        """``holder``: the id of this scheduler; ``seconds``: how long a lease lasts."""
        self._store = store
        self._holder = holder
        self._seconds = seconds
        self._lease: Lease | None = None
        self._looked = 0.0  # by the clock of this machine, which only tells when to look again

    @property
    def is_held(self) -> bool:
        """Whether this scheduler led when it last looked."""
        return self._lease is not None

    @property
    def epoch(self) -> int:
        """The epoch of the lease that is held; it grows with every change of the leader."""
        assert self._lease is not None, "Only a leader has an epoch."
        return self._lease.epoch

    def take(self) -> bool:
        """Take the lease, or renew it where much of it is over; returns whether it is held."""
        self._looked = time.monotonic()
        if self._lease is not None and self._is_fresh(self._lease):
            return True
        with self._store.write() as tx:
            self._lease = tx.leases.acquire(SCHEDULER_LEASE, self._holder, self._seconds)
        return self._lease is not None

    def keep(self) -> None:
        """Renew the lease, where much of it may be over, within a step that takes long.

        Else a stand-by would lead, begin anew, take as long, and lose the lead in turn. Raises
        ``Fenced`` where another scheduler leads by now.
        """
        if time.monotonic() - self._looked < (1.0 - _RENEW_BELOW) * self._seconds:
            return
        epoch = self.epoch
        if not self.take() or self.epoch != epoch:
            _log.warning("another scheduler leads now")
            raise Fenced

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Open a transaction that writes only while the lease is held in the same epoch.

        Raises ``Fenced`` where another scheduler leads by now.
        """
        try:
            with self._store.write() as tx:
                tx.leases.check(SCHEDULER_LEASE, self._holder, self.epoch)
                yield tx
        except Fenced:
            _log.warning("another scheduler leads now")
            self._lease = None
            raise

    def release(self) -> None:
        """Let a stand-by lead at once."""
        if self._lease is None:
            return
        with self._store.write() as tx:
            tx.leases.release(SCHEDULER_LEASE, self._holder)
        self._lease = None

    def _is_fresh(self, lease: Lease) -> bool:
        """Is most of the lease still to come?

        Then it is not renewed yet: each look would take the writers' lock.
        """
        with self._store.read() as tx:
            return tx.now() < lease.expires - _RENEW_BELOW * self._seconds
