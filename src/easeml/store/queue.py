"""The queue of tasks: claims under a lease, and completions that are accepted from the current
attempt only.

A task's row is always locked before its attempts' rows, so that no two transactions wait for each
other.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from easeml.contract.states import (
    TASKS_UNDER_WAY,
    AttemptState,
    Lane,
    ProcessKind,
    ProcessState,
    TaskState,
)
from easeml.errors import Fenced, NotFound
from easeml.ids import new_id
from easeml.store.changing import alteration, new_values
from easeml.store.gpu_claims import (
    gpu_room,
    held_lately,
    shares_by_tenant,
    shares_of_gpus,
)
from easeml.store.machine_claims import Held, capacity, held_by_tasks, machine_room
from easeml.store.machine_room import Needs, Offer
from easeml.store.prepared import Prepared, parameter
from easeml.store.records import Attempt, Task
from easeml.store.rows import values
from easeml.store.selecting import Shape
from easeml.store.session import Session
from easeml.store.shapes import SeenGpus
from easeml.store.tables import attempts, candidates, processes, tasks
from easeml.store.turns import amounts_of, turns
from easeml.store.usage import Used
from easeml.store.waiting_tasks import ANY_WAITING, URGENT, Waiting
from easeml.store.work_hints import ANY, ROOM

LOST_ALLOWED = 3
"""Attempts that may be lost, with their process, on top of a task's own ``max_attempts``."""

_SUSPENDED = "It was ended so that an urgent task could run; it goes on later."
_RENEW_AFTER = 0.1
"""Part of a lease that must have passed before renewing writes: a loop woken by its own writes
calms down.
"""

_WAITING_LANES = Prepared(
    sa.select(tasks.c.lane).where(tasks.c.state == TaskState.WAITING).distinct()
)
_TASK = sa.select(tasks).where(tasks.c.id == parameter("task", tasks.c.id))
_HELD_TASK = Prepared(_TASK.with_for_update())
_ATTEMPT_RUNS = sa.and_(
    attempts.c.id == parameter("attempt", attempts.c.id),
    attempts.c.state == AttemptState.RUNNING,
)
_ENDING = Prepared(
    sa.update(attempts)
    .where(_ATTEMPT_RUNS)
    .values(
        state=parameter("ending", attempts.c.state),
        error=parameter("said", attempts.c.error),
        finished=parameter("ended", attempts.c.finished),
    )
    .returning(attempts.c.id)
)
_ONE_TASK = Shape(tasks, singles=("id",))
_DEVICES = Prepared(
    sa.select(
        processes.c.id,
        processes.c.device,
        processes.c.pace,
        processes.c.gpu,
        processes.c.gpus,
        processes.c.draining,
        processes.c.offer,
    ).where(processes.c.kind == ProcessKind.WORKER, processes.c.state == ProcessState.RUNNING)
)
_EXPIRES = Prepared(sa.select(attempts.c.lease_expires).where(_ATTEMPT_RUNS))
_RUNNING = (
    sa.select(attempts.c.id, attempts.c.asked_to_end, tasks.c.traced)
    .join(tasks, tasks.c.id == attempts.c.task_id)
    .where(
        attempts.c.id.in_(sa.bindparam("ids", expanding=True)),
        attempts.c.state == AttemptState.RUNNING,
    )
)


@dataclass(frozen=True, slots=True)
class _Device:
    kind: str = ""
    pace: float = 1.0
    gpu: bool = False
    gpus: SeenGpus = field(default_factory=SeenGpus)
    draining: bool = False
    offer: Offer = field(default_factory=Offer)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a running attempt is asked for: to end with what it has, to be traced."""

    to_end: bool
    traced: bool


class Queue:
    """Tasks waiting for work and under work, over all tenants."""

    __slots__ = ("_session", "_used")

    def __init__(self, session: Session, used: Used):
        """``used``: counts the device seconds of attempts that end."""
        self._session = session
        self._used = used

    def claim(
        self, process_id: str, lane: Lane, lease_seconds: float
    ) -> tuple[Task, Attempt] | None:
        """Take a waiting task of a lane; ``None`` if there is none.

        Urgent tasks come first. Tenants take turns: the one with the smallest dominant share comes
        first, of the devices of the lane, of memory, disk or the memory of GPUs, then the one that
        was served longest ago. A tenant's own tasks are taken oldest first. A device that is slower than others
        takes the shortest run of the tenants that come first, so that long ones are left for the
        fast ones. What uses a GPU is taken where one has room for it (``gpu_claims``),
        and all else where the machine has (``machine_claims``).
        """
        devices = self._devices()
        device = devices.get(process_id, _Device())
        paces = {one.pace for one in devices.values()}
        giving = [one for one in devices.values() if not one.draining]
        seen = [gpu for one in giving for gpu in one.gpus.seen]
        room = gpu_room(self._session, device.gpus.seen, seen, lane, gives_containers=device.gpu)
        offers = {id: one.offer for id, one in devices.items()}
        has_room, held = machine_room(self._session, device.offer, offers, lane)
        can_take = {"lane": lane, **room.values, **has_room}
        for which in (URGENT, ANY_WAITING):
            waiting = self._session.run(which.oldest, **can_take)
            oldest = dict(map(tuple, waiting))
            order = self._turns(oldest, lane, devices, held)
            offered = [(which.of_tenant, tenant_id) for tenant_id, _ in order]
            prefers_short = lane == Lane.SEARCH and _is_slow(device, paces)
            if order and prefers_short:
                least = order[0][1]
                first = [tenant_id for tenant_id, share in order if share == least]
                shortest = self._shortest(which, can_take, first)
                offered.insert(0, (which.itself, shortest))
            for taking, whose in offered:
                told = {**can_take, "whose": whose}
                task = self._take(taking, told, device.kind)
                if task is not None:
                    share = room.share(task.gpu_memory)
                    return task, self._attempt(task, process_id, lease_seconds, share)
        return None

    def waiting_lanes(self) -> set[Lane]:
        """Return the lanes in which a task waits."""
        return {lane for (lane,) in self._session.run(_WAITING_LANES)}

    def current(self, attempt_ids: Sequence[str]) -> dict[str, Asked]:
        """Return which of these attempts run, and what each is asked for."""
        if not attempt_ids:
            return {}
        found = self._session.all(_RUNNING, {"ids": list(attempt_ids)})
        return {row.id: Asked(row.asked_to_end is not None, row.traced) for row in found}

    def gpu_shares(self) -> defaultdict[str, tuple[int, ...]]:
        """Return the bytes of each share that running attempts have of GPUs, by GPU."""
        return shares_of_gpus(self._session)

    def offers(self) -> dict[str, Offer]:
        """Return what the workers offer that run and take tasks, by process id."""
        found = self._devices()
        return {id: device.offer for id, device in found.items() if not device.draining}

    def held_by_machine(self, offers: Mapping[str, Offer]) -> Mapping[str, Needs]:
        """Return what the tasks that run need of the machines of these workers, by machine."""
        return held_by_tasks(self._session, offers).by_machine

    def gpus_held_lately(self, ids: Sequence[str], seconds: float) -> set[str]:
        """Return those of these GPUs of which an attempt has a share, or had one so long ago."""
        return held_lately(self._session, ids, seconds)

    def _turns(
        self,
        oldest: Mapping[str, str],
        lane: Lane,
        devices: Mapping[str, _Device],
        held: Held,
    ) -> list[tuple[str, float]]:
        """Return the tenants in the order in which they are to be served; see ``turns``."""
        memory = {gpu.id: gpu.memory for device in devices.values() for gpu in device.gpus.seen}
        machines = capacity({id: device.offer for id, device in devices.items()})
        there = {
            "devices": max(1, len(devices)),
            "gpu": sum(memory.values()),
            "memory": machines.memory,
            "disk": machines.disk,
        }
        used = {
            "gpu": shares_by_tenant(self._session) if memory else {},
            "memory": amounts_of(held.by_tenant, "memory"),
            "disk": amounts_of(held.by_tenant, "disk"),
        }
        return turns(self._session, oldest, lane, used, there)

    def _devices(self) -> dict[str, _Device]:
        """Return the devices of all workers that run, by the id of the worker."""
        return {id: _Device(*device) for id, *device in self._session.run(_DEVICES)}

    def _shortest(self, which: Waiting, can_take: Mapping[str, Any], tenants: Sequence[str]) -> str:
        """Return the waiting task of these tenants that is believed to take the least time."""
        cost = candidates.c.predicted_cost
        shortest = (
            sa.select(tasks.c.id)
            .join(candidates, candidates.c.id == tasks.c.candidate_id)
            .where(which.tasks, tasks.c.tenant_id.in_(tenants))
            .order_by(cost, tasks.c.id)
            .limit(1)
        )
        found = self._session.first(shortest, can_take)
        return found.id if found is not None else ""

    def _take(self, taking: Prepared, values: Mapping[str, Any], device: str) -> Task | None:
        """Start the oldest of some tasks that no other transaction is taking, on a kind of
        device.
        """
        begun = {"begun": self._session.now(), "on_device": device}
        rows = self._session.alter(taking, {**values, **begun})
        return Task(*rows[0]) if rows else None

    def _attempt(
        self, task: Task, process_id: str, lease_seconds: float, share: tuple[str, int]
    ) -> Attempt:
        now = self._session.now()
        attempt = Attempt(
            new_id("att"),
            task.tenant_id,
            task.id,
            task.attempts,
            process_id,
            now + lease_seconds,
            started=now,
            gpu=share[0],
            gpu_memory=share[1],
        )
        self._session.add(attempts, [values(attempt)])
        return attempt

    def renew(self, attempt_id: str, lease_seconds: float) -> bool:
        """Prolong the lease of a running attempt; false if the attempt is no longer current.

        Nothing is written while the lease is still almost whole.
        """
        expires = self._session.now() + lease_seconds
        found = self._session.run(_EXPIRES, attempt=attempt_id)
        if not found or found[0][0] >= expires - _RENEW_AFTER * lease_seconds:
            return bool(found)
        current = sa.and_(attempts.c.id == attempt_id, attempts.c.state == AttemptState.RUNNING)
        renewed = sa.update(attempts).where(current).values(lease_expires=expires)
        return self._session.note(renewed) > 0

    def complete(
        self,
        attempt: Attempt,
        *,
        result: dict[str, Any],
        quality: float | None,
        cost: float,
        measure: dict[str, Any] | None = None,
    ) -> Task:
        """Accept a result: the task is done. ``cost`` (device seconds) adds to the task's.

        ``measure``: the quality in its own unit. Raises ``Fenced`` unless the attempt is running
        and current.
        """
        found = {"result": result, "quality": quality, "measure": measure or {}, "cost": cost}
        return self._finish(attempt, TaskState.DONE, "", found)

    def fail(self, attempt: Attempt, *, error: str, retry: bool, cost: float) -> Task:
        """Record a failure. With ``retry`` the task waits again until ``max_attempts`` of its
        attempts failed.

        Attempts lost with their process do not count. Raises ``Fenced`` unless the attempt is
        running and current.
        """
        failed = self._finish(attempt, TaskState.FAILED, error, {"cost": cost})
        if not retry or self._failures(failed.id) >= failed.max_attempts:
            return failed
        return self._set(failed, state=TaskState.WAITING, finished=None)

    def ask_to_end(self, task_id: str) -> None:
        """Ask the running attempt of a task, if there is one, to end with what it has."""
        running = sa.and_(attempts.c.task_id == task_id, attempts.c.state == AttemptState.RUNNING)
        asked = sa.update(attempts).where(running, attempts.c.asked_to_end.is_(None))
        self._session.change(asked.values(asked_to_end=self._session.now()))
        self._session.hints.add(ANY)

    def suspend(self, attempt: Attempt, *, cost: float) -> Task:
        """Put back the task of an attempt that was asked to end and had nothing to show.

        ``cost``: device seconds that are lost by it. Raises ``Fenced`` unless the attempt is
        running and current.
        """
        task = self._ended(attempt, AttemptState.SUSPENDED, _SUSPENDED)
        self._used.add(task.tenant_id, cost)
        return self._set(
            task,
            state=TaskState.WAITING,
            suspensions=task.suspensions + 1,
            cost=task.cost + cost,
            lost=task.lost + cost,
        )

    def reap(self) -> list[Task]:
        """Give up all attempts whose lease has expired; returns their tasks, waiting again or
        failed.
        """
        return self._lose(attempts.c.lease_expires < self._session.now(), "The worker fell silent.")

    def release(self, process_id: str) -> list[Task]:
        """Give up all attempts of a process that ended; returns their tasks, waiting again or
        failed.
        """
        return self._lose(attempts.c.process_id == process_id, "The worker ended.")

    def lose(self, attempt: Attempt, error: str) -> list[Task]:
        """Give up an attempt whose machine went away; returns its task, waiting again or failed.

        Nothing where it is no longer running.
        """
        return self._lose(attempts.c.id == attempt.id, error)

    def cancel(self, task_id: str, reason: str = "The task was cancelled.") -> Task:
        """Cancel a waiting or running task; one that is finished stays as it is.

        The seconds that a running one has had count as its cost. Raises ``NotFound``.
        """
        task = self._locked(task_id)
        if task.state not in TASKS_UNDER_WAY:
            return task
        now = self._session.now()
        own = 0.0
        if task.state == TaskState.RUNNING and task.started is not None:
            own = max(0.0, now - task.started)
        cost = task.cost + own
        self._used.add(task.tenant_id, own)
        self._end_attempt(attempts.c.task_id == task_id, AttemptState.LOST, reason)
        self._session.hints.add(ANY)
        return self._set(task, state=TaskState.CANCELLED, error=reason, cost=cost, finished=now)

    def _finish(
        self, attempt: Attempt, state: TaskState, error: str, outcome: dict[str, Any]
    ) -> Task:
        task = self._ended(attempt, AttemptState(state), error)
        self._used.add(task.tenant_id, outcome["cost"])
        cost = task.cost + outcome["cost"]
        return self._set(
            task,
            **{
                **outcome,
                "cost": cost,
                "state": state,
                "error": error,
                "finished": self._session.now(),
            },
        )

    def _ended(self, attempt: Attempt, state: AttemptState, error: str) -> Task:
        """End the attempt of a task and return the task; raises ``Fenced`` if it is not current."""
        task = self._locked(attempt.task_id)
        is_current = task.state == TaskState.RUNNING and task.attempts == attempt.number
        end = {"attempt": attempt.id, "ending": state, "said": error, "ended": self._session.now()}
        if not is_current or not self._session.alter(_ENDING, end):
            raise Fenced(where=f"{attempt.task_id} attempt {attempt.number}")
        return task

    def _lose(self, which: "sa.ColumnElement[bool]", error: str) -> list[Task]:
        lost = sa.select(attempts.c.id, attempts.c.task_id).where(
            attempts.c.state == AttemptState.RUNNING, which
        )
        found = self._session.all(lost.order_by(attempts.c.task_id))
        return [task for row in found if (task := self._lose_one(row, which, error))]

    def _lose_one(self, row: Any, which: "sa.ColumnElement[bool]", error: str) -> Task | None:
        task = self._locked(row.task_id)
        if not self._end_attempt(sa.and_(attempts.c.id == row.id, which), AttemptState.LOST, error):
            return None  # renewed or finished meanwhile
        self._session.hints.add(ANY)
        if task.attempts - task.suspensions < task.max_attempts + LOST_ALLOWED:
            return self._set(task, state=TaskState.WAITING, error=error)
        return self._set(task, state=TaskState.FAILED, error=error, finished=self._session.now())

    def _locked(self, task_id: str) -> Task:
        for row in self._session.run(_HELD_TASK, task=task_id):
            return Task(*row)
        raise NotFound("There is no such task.", where=task_id)

    def _end_attempt(
        self, which: "sa.ColumnElement[bool]", state: AttemptState, error: str
    ) -> bool:
        ended = sa.update(attempts).where(which, attempts.c.state == AttemptState.RUNNING)
        end = {"state": state, "error": error, "finished": self._session.now()}
        return self._session.change(ended.values(**end)) > 0

    def _failures(self, task_id: str) -> int:
        failed = sa.select(sa.func.count()).where(
            attempts.c.task_id == task_id, attempts.c.state == AttemptState.FAILED
        )
        row = self._session.first(failed)
        return row[0] if row else 0

    def _set(self, task: Task, **changes: Any) -> Task:
        setting = alteration(_ONE_TASK, tuple(changes))
        self._session.alter(setting, {"id": task.id, **new_values(changes)})
        after = replace(task, **changes)
        # Others may have room for it, or for what waits, now that it holds none.
        self._session.hints.add(after.lane if after.state == TaskState.WAITING else ROOM)
        return after


def _is_slow(device: _Device, paces: set[float]) -> bool:
    if len(paces) < 2:
        return False
    from easeml.search.costs import is_slow  # reads numpy, which devices that are alike do not need

    return is_slow(device.pace, paces)
