"""The outbox: events are committed with what they tell of, and read in order without missing one."""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from easeml.store.prepared import Prepared, parameter
from easeml.store.records import Event
from easeml.store.session import Session
from easeml.store.shapes import given
from easeml.store.tables import events

_LOCK = 0x6561_7365_0001  # one writer numbers events at a time

_AFTER = (
    sa.select(events)
    .where(events.c.seq > parameter("after", events.c.seq))
    .order_by(events.c.seq)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_ALL_AFTER = Prepared(_AFTER)
_OWN_AFTER = Prepared(_AFTER.where(events.c.tenant_id == parameter("owner", events.c.tenant_id)))

_BY = "by"  # the id of who did it; see ``shapes.Deed``


class Events:
    """Events of this easeml, numbered in the order of their commits."""

    __slots__ = ("_pending", "_session")

    def __init__(self, session: Session):
        self._session = session
        self._pending: list[dict[str, Any]] = []

    def append(self, kind: str, subject: str, data: dict[str, Any], tenant_id: str) -> None:
        """Tell of something, if the transaction commits."""
        event = {"kind": kind, "subject": subject, "data": data, "tenant_id": tenant_id}
        self._pending.append({**event, "created": self._session.now()})

    def after(self, seq: int, *, tenant_id: str | None = None, limit: int = 500) -> list[Event]:
        """Events numbered above ``seq`` in order, of one tenant or of all, at most ``limit``."""
        self.flush()
        query = _ALL_AFTER if tenant_id is None else _OWN_AFTER
        values = given(after=seq, most=limit, owner=tenant_id)
        return [Event(*row) for row in self._session.run(query, **values)]

    def newest(
        self, tenant_id: str, kinds: Sequence[str], *, after: int = 0, limit: int = 50
    ) -> list[Event]:
        """The newest events of these kinds of a tenant, numbered above ``after``, newest first."""
        self.flush()
        query = sa.select(events).where(
            events.c.tenant_id == tenant_id, events.c.kind.in_(kinds), events.c.seq > after
        )
        return self._read(query.order_by(events.c.seq.desc()).limit(limit))

    def newest_about(self, subject: str, tenant_id: str, kinds: Sequence[str]) -> Event | None:
        """The newest event of these kinds of a tenant about a subject, if any."""
        self.flush()
        query = sa.select(events).where(
            events.c.tenant_id == tenant_id, events.c.kind.in_(kinds), events.c.subject == subject
        )
        return next(iter(self._read(query.order_by(events.c.seq.desc()).limit(1))), None)

    def next_of_kinds(
        self, tenant_id: str | None, kinds: Sequence[str], *, after: int, limit: int
    ) -> list[Event]:
        """The events of these kinds of a tenant, or of all, numbered above ``after``, oldest first."""
        self.flush()
        query = sa.select(events).where(events.c.kind.in_(kinds), events.c.seq > after)
        if tenant_id is not None:
            query = query.where(events.c.tenant_id == tenant_id)
        return self._read(query.order_by(events.c.seq).limit(limit))

    def before(
        self,
        seq: int,
        *,
        kind: str = "",
        person: tuple[str, str] | None = None,
        limit: int = 50,
    ) -> list[Event]:
        """Events of all tenants numbered below ``seq``, newest first, at most ``limit``.

        ``kind``: a whole kind, or what stands before its dot. ``person``: id of a user and of the
        tenant of their own: what they did, and what they or their tenant are the subject of.
        """
        self.flush()
        query = sa.select(events).where(events.c.seq < seq)
        if kind:
            is_kind = events.c.kind == kind
            is_under = events.c.kind.startswith(f"{kind}.", autoescape=True)
            query = query.where(is_kind | is_under)
        if person is not None:
            user_id, tenant_id = person
            is_theirs = events.c.subject == user_id
            is_theirs |= events.c.data[_BY].as_string() == user_id
            if tenant_id:
                is_theirs |= events.c.tenant_id == tenant_id
            query = query.where(is_theirs)
        return self._read(query.order_by(events.c.seq.desc()).limit(limit))

    def _read(self, query: "sa.Select[*tuple[Any, ...]]") -> list[Event]:
        return [Event(*row) for row in self._session.all(query)]

    def last(self) -> int:
        """The highest number so far, 0 if there is none."""
        self.flush()
        row = self._session.first(sa.select(sa.func.coalesce(sa.func.max(events.c.seq), 0)))
        return row[0] if row else 0

    def count_before(self, time: float) -> int:
        """How many events are older than a time (seconds of the epoch)."""
        row = self._session.first(sa.select(sa.func.count()).where(events.c.created < time))
        return row[0] if row else 0

    def forget(self, before: float) -> int:
        """Remove the events that are older than a time; return how many.

        The newest stays: its number is how far everybody has read.
        """
        newest = sa.select(sa.func.max(events.c.seq)).scalar_subquery()
        old = sa.delete(events).where(events.c.created < before, events.c.seq < newest)
        return self._session.change(old)

    def unsay(self, about: Collection[str], kinds: Sequence[str], name: str, text: str) -> None:
        """Put a text in the place of what events of these kinds say under a name.

        ``about``: their subjects.
        """
        self.flush()
        for event in self._read(sa.select(events).where(events.c.kind.in_(kinds))):
            if event.subject in about and name in event.data:
                data = {**event.data, name: text}
                change = sa.update(events).where(events.c.seq == event.seq).values(data=data)
                self._session.change(change)

    def subjects(self, kind: str, since: float) -> set[str]:
        """What events of a kind were about, in all tenants, since a time."""
        query = sa.select(events.c.subject).where(events.c.kind == kind, events.c.created >= since)
        return {row[0] for row in self._session.all(query)}

    def flush(self) -> None:
        """Write what was appended.

        The transaction does this last: from here to its commit no other may number events, so that
        numbers become visible in order, and nothing is waited for while holding that right.
        """
        if not self._pending:
            return
        if self._session.postgres:
            self._session.all(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        self._session.add(events, self._pending)
        self._pending = []
