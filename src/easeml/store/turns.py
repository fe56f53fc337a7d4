"""In which order tenants are served that have tasks waiting."""

from collections.abc import Mapping
from operator import attrgetter

import sqlalchemy as sa

from easeml.contract.states import Lane, TaskState
from easeml.store.fairness import dominant_share
from easeml.store.prepared import Prepared, parameter
from easeml.store.session import Session
from easeml.store.tables import tasks

Amounts = Mapping[str, float]

_LANE = parameter("lane", tasks.c.lane)
_BUSY = Prepared(
    sa.select(tasks.c.tenant_id, sa.func.count())
    .where(tasks.c.state == TaskState.RUNNING, tasks.c.lane == _LANE)
    .group_by(tasks.c.tenant_id)
)
_LAST_BEGUN = Prepared(
    sa.select(tasks.c.started)
    .where(
        tasks.c.tenant_id == parameter("tenant", tasks.c.tenant_id),
        tasks.c.lane == _LANE,
        tasks.c.started.is_not(None),
    )
    .order_by(tasks.c.id.desc())
    .limit(1)
)


def oldest_of_each(which: "sa.ColumnElement[bool]") -> Prepared:
    """Return the question for the oldest task of each tenant among some."""
    oldest = sa.select(tasks.c.tenant_id, sa.func.min(tasks.c.id)).where(which)
    return Prepared(oldest.group_by(tasks.c.tenant_id))


def turns(
    session: Session,
    oldest: Mapping[str, str],
    lane: Lane,
    used: Mapping[str, Mapping[str, float]],
    capacity: Amounts,
) -> list[tuple[str, float]]:
    """Return the tenants with waiting tasks, in the order in which they are to be served, and the
    dominant share of each; 0 where there is one tenant only.

    ``oldest``: the oldest waiting task of each of them. ``capacity``: what there is, by name;
    ``used``: by the same name, what each tenant has of it. ``devices`` are those of the lane, and
    counted here.
    """
    if len(oldest) < 2:
        return [(tenant_id, 0.0) for tenant_id in oldest]
    counted = {**used, "devices": _running(session, lane)}
    served = {tenant_id: _last_served(session, tenant_id, lane) for tenant_id in oldest}
    shares = {}
    for tenant_id in oldest:
        own = {name: amounts.get(tenant_id, 0) for name, amounts in counted.items()}
        shares[tenant_id] = dominant_share(own, capacity)

    def turn(tenant_id: str) -> tuple[float, float, str]:
        return shares[tenant_id], served[tenant_id], oldest[tenant_id]

    return [(tenant_id, shares[tenant_id]) for tenant_id in sorted(oldest, key=turn)]


def _running(session: Session, lane: Lane) -> dict[str, float]:
    """Return how many tasks of a lane each tenant has running."""
    return dict(map(tuple, session.run(_BUSY, lane=lane)))


def _last_served(session: Session, tenant_id: str, lane: Lane) -> float:
    """When the tenant's newest task that was ever begun in the lane was begun; 0 if none was.

    A tenant's tasks begin oldest first, so this one row stands for its whole history.
    """
    begun = session.run(_LAST_BEGUN, tenant=tenant_id, lane=lane)
    return begun[0][0] if begun else 0.0


def amounts_of(held: Mapping[str, object], name: str) -> dict[str, float]:
    """Return an attribute of what each tenant has."""
    return dict(zip(held, map(attrgetter(name), held.values()), strict=True))
