"""Named leases: one holder at a time, and an epoch that tells an old holder from the new one."""

import sqlalchemy as sa

from easeml.errors import Fenced
from easeml.store.changing import insert_into
from easeml.store.prepared import Prepared, parameter
from easeml.store.records import Lease
from easeml.store.session import Session
from easeml.store.tables import leases

_NAMED = sa.select(leases).where(leases.c.name == parameter("lease", leases.c.name))
_HELD = Prepared(_NAMED)
_KEPT = Prepared(_NAMED.with_for_update(read=True))
_RENEW_AFTER = 0.1  # of the lease: a loop woken by its own renewals would never rest


class Leases:
    """The named leases of this easeml, such as the scheduler's leadership."""

    __slots__ = ("_session",)

    def __init__(self, session: Session):
        self._session = session

    def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take the lease if it is free, expired or one's own; ``None`` if another holds it.

        Epochs start at 1 and grow with every change of holder. Renewing an almost whole lease
        writes nothing.
        """
        now = self._session.now()
        held = self._find(_HELD, name)
        if held and held.holder == holder and held.expires >= now + (1 - _RENEW_AFTER) * seconds:
            return held
        insert = insert_into(leases, postgres=self._session.postgres).values(
            name=name, holder=holder, epoch=1, expires=now + seconds
        )
        same = leases.c.holder == holder
        # One that lasts longer than any can is from before the clock was set back: its holder may be
        # dead, and nobody would lead until the clock is there again. If it lives, it is fenced.
        is_over = (leases.c.expires <= now) | (leases.c.expires > now + seconds)
        taken = insert.on_conflict_do_update(
            index_elements=["name"],
            set_={
                "holder": holder,
                "epoch": leases.c.epoch + sa.case((same, 0), else_=1),
                "expires": now + seconds,
            },
            where=same | is_over,
        )
        rows = self._session.change_returning(taken.returning(*leases.c))
        return Lease(*rows[0]) if rows else None

    def is_held(self, name: str) -> bool:
        """Tell whether somebody holds the lease now."""
        held = self._find(_HELD, name)
        return held is not None and held.expires > self._session.now()

    def check(self, name: str, holder: str, epoch: int) -> None:
        """Raise ``Fenced`` unless this holder has the lease in this epoch, and keep it so until the
        commit.
        """
        held = self._find(_KEPT, name)
        if held is None or (held.holder, held.epoch) != (holder, epoch):
            raise Fenced(where=f"lease {name}, epoch {epoch}")

    def release(self, name: str, holder: str) -> None:
        """Give the lease up, so that the next holder need not wait; does nothing if it is not one's
        own.
        """
        own = sa.update(leases).where(leases.c.name == name, leases.c.holder == holder)
        self._session.change(own.values(holder="", expires=0.0))

    def _find(self, query: Prepared, name: str) -> Lease | None:
        for row in self._session.run(query, lease=name):
            return Lease(*row)
        return None
