"""What attempts printed and noted of themselves that ended long ago."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from easeml.store.session import Session
from easeml.store.tables import attempts


class OldLogs:
    """The logs and traces of attempts, by when these ended."""

    __slots__ = ("_session",)

    def __init__(self, session: Session):
        self._session = session

    def list(self, before: float, limit: int) -> list[tuple[Any, ...]]:
        """Ids, tenants, tasks and digests of logs and traces of attempts that ended before a time,
        oldest first.
        """
        columns = attempts.c
        wanted = sa.select(
            columns.id, columns.tenant_id, columns.task_id, columns.log, columns.trace
        )
        is_old = columns.finished < before
        has_any = sa.or_(columns.log != "", columns.trace != "")
        found = wanted.where(has_any, is_old).order_by(columns.id).limit(limit)
        return list(map(tuple, self._session.all(found)))

    def forget(self, ids: Sequence[str]) -> int:
        """Let these attempts have printed and noted nothing; return how many."""
        if not ids:
            return 0
        change = sa.update(attempts).where(attempts.c.id.in_(ids)).values(log="", trace="")
        return self._session.change(change)
