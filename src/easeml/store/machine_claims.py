"""What a worker can claim by what its machine has left, as long as the transaction that looks holds
the machine.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import sqlalchemy as sa

from easeml.contract.states import AttemptState, Lane, TaskState
from easeml.store.machine_room import NOTHING, Needs, Offer, most_here
from easeml.store.prepared import Prepared, parameter
from easeml.store.session import Session
from easeml.store.tables import attempts, tasks

_PATIENCE = 60.0  # seconds for which a task may be passed by others that need less
_LOCK = 0x6D61_6368  # of advisory locks, those of who gives room on a machine

_NEEDS = (tasks.c.memory, tasks.c.disk, tasks.c.threads)
_SIZE = tasks.c.memory.type

HAS_ROOM = sa.and_(
    tasks.c.memory <= sa.bindparam("most_memory", type_=_SIZE),
    tasks.c.disk <= sa.bindparam("most_disk", type_=_SIZE),
    tasks.c.threads <= sa.bindparam("most_threads", type_=_SIZE),
)
"""Whether a worker has room for a task, by what ``machine_room`` returns."""

_IS_COUNTED = sa.or_(tasks.c.memory > 0, tasks.c.disk > 0)
_HELD = Prepared(
    sa.select(attempts.c.process_id, attempts.c.tenant_id, *_NEEDS)
    .join(tasks, tasks.c.id == attempts.c.task_id)
    .where(attempts.c.state == AttemptState.RUNNING, _IS_COUNTED)
)
_OLDEST = Prepared(
    sa.select(tasks.c.created, *_NEEDS)
    .where(
        tasks.c.state == TaskState.WAITING,
        tasks.c.lane == parameter("lane", tasks.c.lane),
        _IS_COUNTED,
    )
    .order_by(tasks.c.id)
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Held:
    """What the tasks that run need: by machine, and by tenant."""

    by_machine: Mapping[str, Needs]
    by_tenant: Mapping[str, Needs]


def machine_room(
    session: Session, mine: Offer, offers: Mapping[str, Offer], lane: Lane
) -> tuple[dict[str, int], Held]:
    """Return what a worker has room for, as ``HAS_ROOM`` asks for it, and what those that run need.

    ``offers``: of all workers, by process id. No other claims on its machine meanwhile, where that
    matters.
    """
    oldest = session.run(_OLDEST, lane=lane)
    if session.postgres and mine.machine and oldest:
        lock = sa.func.pg_advisory_xact_lock(_LOCK, _number_of(mine.machine))
        session.all(sa.select(lock))  # SQLite has one writer at a time
    held = held_by_tasks(session, offers)
    patient = None
    for created, *needs in oldest:
        if created < session.now() - _PATIENCE:
            patient = Needs(*needs)
    most = most_here(mine, offers.values(), held.by_machine, patient)
    room = {
        "most_memory": most.memory,
        "most_disk": most.disk,
        "most_threads": most.threads,
    }
    return room, held


def held_by_tasks(session: Session, offers: Mapping[str, Offer]) -> Held:
    """Return what the tasks that run need, of the machines of these workers and by tenant."""
    by_machine: defaultdict[str, Needs] = defaultdict(Needs)
    by_tenant: defaultdict[str, Needs] = defaultdict(Needs)
    for process_id, tenant_id, *amounts in session.run(_HELD):
        needs = Needs(*amounts)
        by_tenant[tenant_id] += needs
        if process_id in offers:
            by_machine[offers[process_id].machine] += needs
    return Held(by_machine, by_tenant)


def capacity(offers: Mapping[str, Offer]) -> Needs:
    """Return what all machines offer together; what one does not say counts as none."""
    machines = {one.machine: one for one in offers.values()}
    whole = NOTHING
    for one in machines.values():
        memory = one.memory or 0
        disk = one.disk or 0
        whole += Needs(memory, disk)
    return whole


def _number_of(machine: str) -> int:
    """Return a number of 31 bits for a lock: two machines may have the same, and then wait."""
    return crc32(machine.encode()) >> 1
