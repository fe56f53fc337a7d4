"""Devices: the workers that are there, machines that join, and devices that shall rest."""

from collections import defaultdict
from typing import Annotated

from pydantic import Field

from easeml.contract.devices import DeviceGpu, DeviceState, Joined, Room, RunningTask, WorkerDevice
from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.states import AttemptState, ProcessKind, ProcessState
from easeml.errors import Conflict, NotFound
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.gpu_shares import Gpu
from easeml.store.machine_room import NOTHING
from easeml.store.records import Process
from easeml.store.shapes import SeenGpu
from easeml.version import __version__

DRAINED, RESUMED, JOINED = "device.drained", "device.resumed", "device.joined"

Draining = Annotated[bool, Field(description="whether it shall take no new tasks")]
Version = Annotated[str, Field(max_length=50, description="of its easeml")]
Host = Annotated[str, Field(max_length=500, description="name of what shares process ids with it")]


def list_page(
    store: Store, settings: Settings, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[WorkerDevice]:
    """Return a page of the devices that are there, oldest first (providers only)."""
    caller.require_provider()
    with store.read() as tx:
        there = {"kind": ProcessKind.WORKER, "state": ProcessState.RUNNING}
        workers, following = page_records(tx.processes, after, limit, **there)
        return Page(items=_show(tx, settings, workers), next=following)


def states(tx: Transaction, silence: float) -> list[DeviceState]:
    """Return what each device does. ``silence``: seconds after which a worker counts as silent."""
    there = {"kind": ProcessKind.WORKER, "state": ProcessState.RUNNING}
    workers = tx.processes.list(limit=None, **there)
    attempts = {"process_id": [one.id for one in workers], "state": AttemptState.RUNNING}
    busy = set(tx.unscoped().attempts.column("process_id", **attempts))
    latest = tx.now() - silence
    return [
        _state(one, is_busy=one.id in busy, is_silent=one.heartbeat < latest) for one in workers
    ]


def drain(
    store: Store, settings: Settings, caller: Caller, device_id: str, *, draining: Draining = True
) -> WorkerDevice:
    """Let a device take no new tasks, or let it take them again (providers only).

    What it runs goes on to its end. Raises ``NotFound`` where no such device is there.
    """
    caller.require_provider()
    with store.write() as tx:
        worker = tx.processes.find(id=device_id, kind=ProcessKind.WORKER)
        if worker is None or worker.state != ProcessState.RUNNING:
            raise NotFound(
                "There is no such device.", where=device_id, remedy="See easeml device list."
            )
        worker = tx.processes.update(device_id, draining=draining)
        event = DRAINED if draining else RESUMED
        tx.events.append(event, device_id, {"by": caller.user_id}, caller.tenant_id)
        return _show(tx, settings, [worker])[0]


def join(
    store: Store, settings: Settings, caller: Caller, *, version: Version, host: Host
) -> Joined:
    """Tell a machine what its workers need to work for this easeml (providers only).

    Raises ``Conflict`` where its easeml is of another version, or cannot reach the database or the
    artefacts.
    """
    caller.require_provider()
    if version != __version__:
        raise Conflict(
            f"The machine has easeml {version}, this is {__version__}.",
            where="version",
            remedy=f"Install the same there: pip install easeml=={__version__}.",
        )
    with store.write() as tx:
        own_hosts = tx.processes.column(
            "host", kind=ProcessKind.CONTROLLER, state=ProcessState.RUNNING
        )
        if host not in own_hosts:
            _check_shared(settings)
        tx.events.append(JOINED, host, {"by": caller.user_id}, caller.tenant_id)
    return Joined(
        database_url=settings.database,
        artefacts_url=settings.shared_artefacts,
        task_seconds=settings.task_seconds,
        task_memory=settings.task_memory,
        task_disk=settings.task_disk,
        long_task_seconds=settings.long_task_seconds,
        isolation=settings.isolation,
        lease_seconds=settings.lease_seconds,
        module_packages=settings.module_packages,
        package_index=settings.package_index,
    )


def _check_shared(settings: Settings) -> None:
    """Raise ``Conflict`` where only this machine can reach what workers need."""
    if settings.database.startswith("sqlite"):
        raise Conflict(
            "The database is a file of another machine.",
            where="database_url",
            remedy="Move it to PostgreSQL: easeml backup, then easeml restore with "
            "EASEML_DATABASE_URL set.",
        )
    if not settings.artefacts_url:
        raise Conflict(
            "Data and models lie in a folder of another machine.",
            where="artefacts_url",
            remedy="Name a bucket, or a folder that all machines share: EASEML_ARTEFACTS_URL.",
        )


def _show(tx: Transaction, settings: Settings, workers: list[Process]) -> list[WorkerDevice]:
    under_way = _under_way(tx, workers)
    latest = tx.now() - settings.lease_seconds
    shares = tx.queue.gpu_shares()
    held = tx.queue.held_by_machine({worker.id: worker.offer for worker in workers})
    devices = []
    for worker in workers:
        tasks = under_way[worker.id]
        is_silent = worker.heartbeat < latest
        offer, promised = worker.offer, held.get(worker.offer.machine, NOTHING)
        device = WorkerDevice(
            id=worker.id,
            machine=worker.host.partition(" ")[0],
            process=worker.pid,
            kind=worker.device,
            pace=worker.pace,
            domain=worker.domain,
            state=_state(worker, is_busy=bool(tasks), is_silent=is_silent),
            tasks=tasks,
            joined=worker.created,
            heard=worker.heartbeat,
            temperature=worker.temperature,
            memory=worker.memory,
            memory_free=worker.memory_free,
            threads=offer.threads,
            offers=Room(memory=offer.memory, disk=offer.disk),
            promised=Room(memory=promised.memory, disk=promised.disk),
            gpus=[_gpu(seen, shares[seen.id]) for seen in worker.gpus.seen],
        )
        devices.append(device)
    return devices


def _gpu(seen: SeenGpu, shares: tuple[int, ...]) -> DeviceGpu:
    known = Gpu(seen.id, seen.memory, seen.foreign, shares)
    return DeviceGpu(
        id=known.id,
        name=seen.name,
        memory=known.memory,
        used=seen.used,
        promised=sum(shares),
        free=known.free,
    )


def _under_way(tx: Transaction, workers: list[Process]) -> defaultdict[str, list[RunningTask]]:
    """Return what runs on workers, by the id of the worker."""
    tables = tx.unscoped()
    ids = [worker.id for worker in workers]
    attempts = tables.attempts.list(process_id=ids, state=AttemptState.RUNNING, limit=None)
    tasks = tables.tasks.by_id(id=[attempt.task_id for attempt in attempts])
    tenant_ids = [task.tenant_id for task in tasks.values()]
    tenants = dict(tx.tenants.pick("id", "name", id=tenant_ids))
    under_way: defaultdict[str, list[RunningTask]] = defaultdict(list)
    for attempt in attempts:
        task = tasks[attempt.task_id]
        run = RunningTask(
            task_id=task.id,
            kind=task.spec_kind,
            tenant=tenants[task.tenant_id],
            since=attempt.started,
            gpu=attempt.gpu,
            gpu_memory=attempt.gpu_memory,
        )
        under_way[attempt.process_id].append(run)
    return under_way


_HEARD = {
    (False, False): DeviceState.FREE,
    (False, True): DeviceState.WORKING,
    (True, False): DeviceState.DRAINED,
    (True, True): DeviceState.DRAINING,
}  # by whether the worker is draining, and busy


def _state(worker: Process, *, is_busy: bool, is_silent: bool) -> DeviceState:
    if is_silent:
        return DeviceState.SILENT
    return _HEARD[worker.draining, is_busy]
