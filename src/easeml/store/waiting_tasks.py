"""Questions about the tasks that wait and have room on a device, written once."""

from typing import Any

import sqlalchemy as sa

from easeml.contract.states import TaskState
from easeml.store.gpu_claims import HAS_GPU
from easeml.store.machine_claims import HAS_ROOM
from easeml.store.prepared import Prepared, parameter
from easeml.store.tables import tasks
from easeml.store.turns import oldest_of_each


class Waiting:
    """Questions about some of the tasks that wait in a lane and have room on a device.

    What has room is in their parameters: ``GpuRoom.values``, and what ``machine_room`` returns.
    ``oldest``: of each tenant; ``of_tenant``: takes the oldest of a tenant, ``itself`` that with an
    id, by the parameter ``whose``.
    """

    def __init__(self, *conditions: "sa.ColumnElement[bool]"):
        is_waiting = tasks.c.state == TaskState.WAITING
        is_in_lane = tasks.c.lane == parameter("lane", tasks.c.lane)
        self.tasks = sa.and_(is_waiting, is_in_lane, HAS_GPU, HAS_ROOM, *conditions)
        self.oldest = oldest_of_each(self.tasks)
        self.of_tenant = self._taking(tasks.c.tenant_id)
        self.itself = self._taking(tasks.c.id)

    def _taking(self, column: "sa.Column[Any]") -> Prepared:
        theirs = sa.select(tasks.c.id).where(self.tasks, column == parameter("whose", column))
        oldest = theirs.order_by(tasks.c.id).limit(1).with_for_update(skip_locked=True)
        taken = sa.update(tasks).where(tasks.c.id == oldest.scalar_subquery())
        begun = taken.values(
            state=TaskState.RUNNING,
            attempts=tasks.c.attempts + 1,
            started=parameter("begun", tasks.c.started),
            device=parameter("on_device", tasks.c.device),
        )
        return Prepared(begun.returning(*tasks.c))


URGENT = Waiting(tasks.c.urgent)
ANY_WAITING = Waiting()
