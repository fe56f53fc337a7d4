"""What a worker can claim that uses a GPU, as long as the transaction that looks holds its GPUs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import sqlalchemy as sa

from easeml.contract.states import AttemptState, Lane, TaskState
from easeml.store.gpu_shares import WHOLE, Gpu, granted, place, without_kept
from easeml.store.prepared import Prepared
from easeml.store.session import Session
from easeml.store.shapes import SeenGpu
from easeml.store.tables import attempts, tasks

_PATIENCE = 60.0  # seconds for which a task may be passed by others with smaller shares
_LOCK = 0x6770_7573  # of advisory locks, the one of who gives shares of GPUs

_FREE = sa.bindparam("gpu_free", type_=sa.BigInteger)
_LARGEST = sa.bindparam("gpu_largest", type_=sa.BigInteger)
_HAS_WHOLE = sa.bindparam("has_whole_gpu", type_=sa.Boolean)
_SHARES_BY_COUNT = sa.bindparam("shares_gpus_by_count", type_=sa.Boolean)
_GIVES_CONTAINERS = sa.bindparam("gives_containers", type_=sa.Boolean)
_ASKED = tasks.c.gpu_memory
_CAN_DO_WITHOUT = tasks.c.gpu.is_(sa.false())

HAS_GPU = sa.and_(
    sa.or_(
        _ASKED.is_(None),
        sa.and_(_ASKED > WHOLE, _ASKED <= _FREE),
        sa.and_(_ASKED == WHOLE, _HAS_WHOLE),
        sa.and_(_CAN_DO_WITHOUT, _ASKED > _LARGEST),
        sa.and_(tasks.c.gpu, _SHARES_BY_COUNT),
    ),
    sa.or_(_CAN_DO_WITHOUT, _GIVES_CONTAINERS),
)
"""Whether a worker can take a task now, by the ``values`` of its ``GpuRoom``.

Who can do without a GPU takes a processor only where no worker has one that is large enough.
"""

_SHARES = Prepared(
    sa.select(attempts.c.gpu, attempts.c.gpu_memory).where(
        attempts.c.gpu != "", attempts.c.state == AttemptState.RUNNING
    )
)


@dataclass(frozen=True, slots=True)
class GpuRoom:
    """What a worker has for tasks that use a GPU.

    ``gpus``: those of which it may give shares now. ``is_known``: it knows the memory of its GPUs;
    else containers share what there is. ``largest``: bytes of the largest GPU that any worker has,
    -1 where none has one.
    """

    gpus: Sequence[Gpu]
    is_known: bool
    gives_containers: bool
    largest: int

    @property
    def values(self) -> dict[str, int | bool]:
        """What ``HAS_GPU`` asks for."""
        return {
            "gpu_free": max(map(attrgetter("free"), self.gpus), default=0),
            "gpu_largest": self.largest,
            "has_whole_gpu": place(WHOLE, self.gpus) is not None,
            "shares_gpus_by_count": not self.is_known,
            "gives_containers": self.gives_containers,
        }

    def share(self, asked: int | None) -> tuple[str, int]:
        """Return the GPU that a task has a share of, and its bytes; nothing where it has none."""
        if asked is None:
            return "", 0
        gpu = place(asked, self.gpus)
        if gpu is None:
            return "", 0
        return gpu.id, granted(asked, gpu)


def gpu_room(
    session: Session,
    seen: Sequence[SeenGpu],
    all_seen: Iterable[SeenGpu],
    lane: Lane,
    *,
    gives_containers: bool,
) -> GpuRoom:
    """Return what a worker that has seen such GPUs can give; no other gives shares of them meanwhile.

    ``all_seen``: by all workers that take tasks.
    """
    largest = max(map(attrgetter("memory"), all_seen), default=-1)
    if not seen:
        return GpuRoom((), False, gives_containers, largest)
    if session.postgres:  # SQLite has one writer at a time
        session.all(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    shares = shares_of_gpus(session)
    gpus = [Gpu(one.id, one.memory, one.foreign, shares[one.id]) for one in seen]
    for oldest in _waiting_long(session, lane):
        gpus = without_kept(oldest, gpus)
    return GpuRoom(gpus, True, gives_containers, largest)


def shares_of_gpus(session: Session) -> defaultdict[str, tuple[int, ...]]:
    """Return the bytes of each running attempt's share, by GPU."""
    found: defaultdict[str, tuple[int, ...]] = defaultdict(tuple)
    for gpu, memory in session.run(_SHARES):
        found[gpu] += (memory,)
    return found


def held_lately(session: Session, ids: Sequence[str], seconds: float) -> set[str]:
    """Return the GPUs of which an attempt has a share, and those of these of which one had one so
    long ago.
    """
    lately = sa.select(attempts.c.gpu).where(
        attempts.c.gpu.in_(ids), attempts.c.finished > session.now() - seconds
    )
    ended = map(attrgetter("gpu"), session.all(lately))
    return {*ended, *shares_of_gpus(session)}


def shares_by_tenant(session: Session) -> dict[str, int]:
    """Return the bytes of GPUs that each tenant's running attempts have."""
    total = sa.cast(sa.func.sum(attempts.c.gpu_memory), sa.BigInteger)
    held = sa.select(attempts.c.tenant_id, total).where(
        attempts.c.gpu != "", attempts.c.state == AttemptState.RUNNING
    )
    return dict(map(tuple, session.all(held.group_by(attempts.c.tenant_id))))


def _waiting_long(session: Session, lane: Lane) -> list[int]:
    """Return what the oldest task asks for that waits for a GPU, if others could pass it for long."""
    waiting = sa.select(tasks.c.gpu_memory).where(
        tasks.c.state == TaskState.WAITING,
        tasks.c.lane == lane,
        tasks.c.gpu_memory.is_not(None),
        tasks.c.created < session.now() - _PATIENCE,
    )
    found = session.all(waiting.order_by(tasks.c.id).limit(1))
    return list(map(attrgetter("gpu_memory"), found))
