"""What can be done in one transaction."""

from collections.abc import Collection, Set

import sqlalchemy as sa

from easeml.errors import NotAllowed
from easeml.store import records, tables
from easeml.store.events import Events
from easeml.store.leases import Leases
from easeml.store.mentions import Mention, mentions
from easeml.store.notices import COMMIT
from easeml.store.old_logs import OldLogs
from easeml.store.queue import Queue
from easeml.store.rows import Of, Tables
from easeml.store.session import Session
from easeml.store.snapshots import mentioned_digests
from easeml.store.usage import Used
from easeml.store.work_hints import NOTHING

CHANNEL = "easeml"
"""The channel on which PostgreSQL tells of commits."""
WORK_CHANNEL = "easeml_work"
"""The channel on which it tells workers what a commit may mean for them (``work_hints``)."""


class Transaction:
    """One transaction, for one thread: everything in it happens, or nothing."""

    users = Of(tables.users, records.User)
    tenants = Of(tables.tenants, records.Tenant)
    processes = Of(tables.processes, records.Process)
    module_marks = Of(tables.module_marks, records.ModuleMark)
    gpu_peaks = Of(tables.gpu_peaks, records.GpuPeak)
    needs_peaks = Of(tables.needs_peaks, records.NeedsPeak)
    search_changes = Of(tables.search_changes, records.SearchChanges)
    kept_settings = Of(tables.kept_settings, records.KeptSetting)
    _tenant: str | None = None  # no tenant's: these rows are the house's

    def __init__(self, session: Session):
        self._session = session
        self._seen_by: dict[str | None, Tables] = {}
        self._used = Used(session)
        self.queue = Queue(session, self._used)
        self.leases = Leases(session)
        self.old_logs = OldLogs(session)
        self.events = Events(session)

    def now(self) -> float:
        """The database's clock in seconds of the epoch, the same throughout the transaction."""
        return self._session.now()

    def scoped(self, tenant_id: str) -> Tables:
        """The rows of one tenant: the only way for what is done in a user's name."""
        if not tenant_id:
            raise NotAllowed("No tenant was named.", remedy="Sign in to a tenant.")
        return self._tables(tenant_id)

    def unscoped(self) -> Tables:
        """The rows of all tenants, for the engine and the provider."""
        return self._tables(None)

    def _tables(self, tenant_id: str | None) -> Tables:
        if tenant_id not in self._seen_by:
            self._seen_by[tenant_id] = Tables(self._session, tenant_id)
        return self._seen_by[tenant_id]

    def mentioned_digests(self, but: str = "") -> set[str]:
        """Return what ``Store.mentioned_digests`` does, as this transaction sees it."""
        self.events.flush()
        return mentioned_digests(self._session.connection, but)

    def mentions(self, tenant_id: str, texts: Collection[str]) -> list[Mention]:
        """Return where any of the texts stands in what a tenant has, as this transaction sees it."""
        self.events.flush()
        return mentions(self._session.connection, tenant_id, texts)

    def finish(self) -> None:
        """Write what waited for the end of the transaction; the store calls this just before the
        commit.
        """
        self._used.flush()
        self.events.flush()
        if self._session.changed and self._session.postgres:
            self._tell(CHANNEL, "")
            if self._session.hints:
                self._tell(WORK_CHANNEL, ",".join(sorted(self._session.hints)))

    @property
    def news(self) -> Set[str]:
        """What the commit means for those who wait: words of ``notices``."""
        if not self._session.changed:
            return NOTHING
        return {COMMIT, *self._session.hints}

    def _tell(self, channel: str, words: str) -> None:
        self._session.all(sa.select(sa.func.pg_notify(channel, words)))
