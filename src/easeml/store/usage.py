"""Device seconds by tenant and day, added up as attempts end."""

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache

from easeml.store.changing import insert_into, new_values, places
from easeml.store.prepared import Prepared
from easeml.store.records import Usage
from easeml.store.session import Session
from easeml.store.tables import usage


class Used:
    """What the attempts that end in this transaction have used; written just before the commit.

    So no transaction waits for another's rows while it holds these, which all of a tenant share.
    """

    __slots__ = ("_pending", "_session")

    def __init__(self, session: Session):
        self._session = session
        self._pending: Counter[str] = Counter()

    def add(self, tenant_id: str, seconds: float) -> None:
        """Count device seconds, if the transaction commits."""
        if seconds > 0:
            self._pending[tenant_id] += seconds  # type: ignore[assignment]

    def flush(self) -> None:
        """Write what was counted."""
        if not self._pending:
            return
        now = self._session.now()
        day = day_of(now)
        adding = _adding(postgres=self._session.postgres)
        for tenant_id, seconds in sorted(self._pending.items()):
            row = Usage(f"{tenant_id}:{day}", tenant_id, day, seconds, now)
            self._session.alter(adding, new_values(asdict(row)))
        self._pending.clear()


@cache
def _adding(*, postgres: bool) -> Prepared:
    """Return the statement that adds to the seconds of a day; its parameters are ``new_values``."""
    adding = insert_into(usage, postgres=postgres).values(places(usage, usage.c.keys()))
    total = usage.c.seconds + adding.excluded.seconds
    summed = adding.on_conflict_do_update(index_elements=["id"], set_={"seconds": total})
    return Prepared(summed.returning(usage.c.id))


def day_of(moment: float) -> str:
    """Return the day (UTC, ISO) of a moment in seconds of the epoch."""
    return datetime.fromtimestamp(moment, UTC).date().isoformat()
