"""In which order tenants are served that have tasks waiting."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

import sqlalchemy as sa

from easeml.contract.states import Lane, TaskState
from easeml.store.fairness import dominant_share
from easeml.store.session import Session
from easeml.store.tables import tasks

Amounts = Mapping[str, float]

_PATIENCE = 5.0  # seconds, for which others wait while somebody goes on


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A tenant with tasks waiting: its oldest one, and when its newest begun one began and ended.

    ``began``: 0 where none has begun. ``ended``: None where that one still runs.
    """

    oldest: str
    since: float
    began: float
    ended: float | None

    @property
    def goes_on(self) -> bool:
        """Whether it asked for one thing after the other, and not for all at once."""
        return bool(self.began and self.ended and self.since >= self.ended)


def turns(
    session: Session,
    waiting: "sa.ColumnElement[bool]",
    lane: Lane,
    used: Mapping[str, Mapping[str, float]],
    capacity: Amounts,
) -> list[tuple[str, float]]:
    """Return the tenants with waiting tasks, in the order in which they are to be served, and the
    dominant share of each; 0 where there is one tenant only.

    Of equal shares, who was served longest ago comes first. In the short lane nobody has to wait
    long; until then those come first who go on with what they have begun: who declares a table that
    was just read, before others' tables are read. So most have a model sooner.

    ``capacity``: what there is, by name; ``used``: by the same name, what each tenant has of it.
    ``devices`` are those of the lane, and counted here.
    """
    oldest = _oldest(session, waiting)
    if len(oldest) < 2:
        return [(tenant_id, 0.0) for tenant_id in oldest]
    counted = {**used, "devices": _running(session, lane)}
    there = {}
    shares = {}
    for tenant_id, (task_id, since) in oldest.items():
        there[tenant_id] = _Waiting(task_id, since, *_last_served(session, tenant_id, lane))
        own = {name: amounts.get(tenant_id, 0) for name, amounts in counted.items()}
        shares[tenant_id] = dominant_share(own, capacity)
    impatient = session.now() - _PATIENCE

    def turn(tenant_id: str) -> tuple[float, bool, bool, float, str]:
        one = there[tenant_id]
        has_patience = lane == Lane.SHORT and one.since > impatient
        starts = has_patience and not one.goes_on
        return shares[tenant_id], has_patience, starts, one.began, one.oldest

    return [(tenant_id, shares[tenant_id]) for tenant_id in sorted(oldest, key=turn)]


def _oldest(session: Session, waiting: "sa.ColumnElement[bool]") -> dict[str, tuple[str, float]]:
    """Return the oldest waiting task of each tenant, and when it was made."""
    first = sa.func.min(tasks.c.id), sa.func.min(tasks.c.created)
    oldest = sa.select(tasks.c.tenant_id, *first).where(waiting)
    found: dict[str, tuple[str, float]] = {}
    for row in session.all(oldest.group_by(tasks.c.tenant_id)):
        tenant_id, task_id, since = tuple(row)
        found[tenant_id] = (task_id, since)
    return found


def _running(session: Session, lane: Lane) -> dict[str, float]:
    """Return how many tasks of a lane each tenant has running."""
    busy = sa.select(tasks.c.tenant_id, sa.func.count()).where(
        tasks.c.state == TaskState.RUNNING, tasks.c.lane == lane
    )
    return dict(map(tuple, session.all(busy.group_by(tasks.c.tenant_id))))


def _last_served(session: Session, tenant_id: str, lane: Lane) -> tuple[float, float | None]:
    """When the tenant's newest task that was ever begun in the lane was begun, and when it ended; 0
    if none was begun.

    A tenant's tasks begin oldest first, so this one row stands for its whole history.
    """
    begun = sa.select(tasks.c.started, tasks.c.finished).where(
        tasks.c.tenant_id == tenant_id, tasks.c.lane == lane, tasks.c.started.is_not(None)
    )
    row = session.first(begun.order_by(tasks.c.id.desc()).limit(1))
    return (row.started, row.finished) if row else (0.0, None)


def amounts_of(held: Mapping[str, object], name: str) -> dict[str, float]:
    """Return an attribute of what each tenant has."""
    return dict(zip(held, map(attrgetter(name), held.values()), strict=True))
