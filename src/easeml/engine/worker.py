"""A worker: a slot a lane (search, short work, long files), their leases, and the heartbeat."""

import time
from collections.abc import Callable, Mapping, Set
from functools import partial
from pathlib import Path

import structlog

from easeml.contract.states import Lane, ProcessKind, ProcessState
from easeml.errors import DatabaseAway
from easeml.folders import remove_folder
from easeml.modules.containers import devices
from easeml.service.modules.environments import MachineEnvironments
from easeml.service.modules.images import MachineImages
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.machine_room import Offer
from easeml.store.queue import Asked
from easeml.store.work_hints import ANY, NOTHING, ROOM

from . import containers, copies
from .away import AwayPause
from .checkpoints import Checkpoints
from .executors import executor_named
from .gpus import GpuWatch
from .limits import task_limits
from .logs import configure_logging
from .membership import HEARTBEAT_SECONDS, beat, register, sign_off
from .offers import offer_of
from .sensors import Sensors
from .signals import Stop
from .slot import Slot, SlotContext

_LONGEST_WAIT = 0.2  # seconds until a stop signal is noticed
# Between looks of slots that found no room: a machine's room changes with other work on it.
_ROUND_SECONDS = 1.0
_log = structlog.get_logger()


def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; then kill what runs and give it back."""
    configure_logging("worker", has_file=True)
    stop = Stop.on_signals()
    limits = task_limits(settings)
    # Before the record: a worker that is known is warm.
    open_executor = executor_named(settings.executor)
    is_local = settings.executor == "local"  # clusters give GPUs and run no containers
    watch = GpuWatch.of_this_process() if is_local else GpuWatch()
    executor = open_executor(limits, isolation=settings.isolation)
    store = Store.found(settings)
    has_gpu = is_local and devices.are_there()
    gpus = watch.latest.gpus
    offer = partial(offer_of, settings, limits)
    process = register(
        store,
        ProcessKind.WORKER,
        device=settings.device_kind,
        gpu=has_gpu,
        gpus=gpus,
        offer=offer(),
        domain=settings.fault_domain,
    )
    try:
        work = settings.home / "work"
        watch.start()
        is_shared = bool(settings.artefacts_url)
        checkpoints = Checkpoints(store, settings.home / "checkpoints", work, is_shared)
        _remove_leftovers(store, work, checkpoints)
        folder = work / process.id
        images = MachineImages(store, settings.home)
        containers.look_after(images)
        copies.look_after(store.artefacts)
        environments = MachineEnvironments(store, settings.home)
        environments.remove_unneeded()
        context = SlotContext(
            store,
            executor,
            limits,
            process.id,
            folder,
            settings.lease_seconds,
            images,
            environments,
            settings,
            checkpoints,
            watch,
        )
        Worker(context, Sensors(gpu=has_gpu or bool(gpus)), offer).run(stop)
        remove_folder(folder)
    finally:
        watch.stop()
        executor.close()
        sign_off(store, process.id)
        store.close()


class Worker:
    """Runs the slots; its own thread keeps the leases and passes wake-ups on."""

    def __init__(self, context: SlotContext, sensors: Sensors, offer: Callable[[], Offer] = Offer):
        """``offer``: what it offers to tasks, by now."""
        self._context = context
        self._sensors = sensors
        self._offer = offer
        self._slots = [Slot(lane, context) for lane in Lane]

    def run(self, stop: Stop) -> None:
        """Work until ``stop``; afterwards nothing runs any more."""
        wakeup = self._context.store.work_wakeup()
        for slot in self._slots:
            slot.start()
        try:
            next_beat = next_round = 0.0
            pause = AwayPause()
            told: Set[str] = {ANY}
            while not stop.asked:
                try:
                    # Who could not look when they were told have to look later.
                    told |= wakeup.wait(_LONGEST_WAIT)
                    if time.monotonic() >= next_round:
                        told |= {ROOM}
                        next_round = time.monotonic() + _ROUND_SECONDS
                    if told:
                        self._follow_commits(told)
                        told = NOTHING
                    if time.monotonic() >= next_beat:
                        self._keep_leases()
                        next_beat = time.monotonic() + min(
                            HEARTBEAT_SECONDS, self._context.lease_seconds / 3
                        )
                except DatabaseAway:
                    # What runs goes on. If its lease runs out meanwhile, another may have the task
                    # by then, and the next renewal says so.
                    _log.warning("the database does not answer")
                    pause.wait()
                else:
                    pause.end()
                if dead := [slot.name for slot in self._slots if not slot.is_alive()]:
                    raise RuntimeError(f"{dead[0]} ended by itself; see its exception above.")
        finally:
            for slot in self._slots:
                slot.stop()
            for slot in self._slots:
                slot.join()
            wakeup.close()

    def _follow_commits(self, told: Set[str]) -> None:
        """Wake the slots that have something to do; kill at once what was cancelled, or given to
        another; pass on who has to end.

        ``told``: what commits may mean for workers. Those that do not concern this one cost it no
        look, those that may concern all of it one short look for all slots.
        """
        if ANY not in told:
            for slot in self._slots:
                slot.hear(told)
            return
        attempts = self._under_way()
        with self._context.store.read() as tx:
            waiting = tx.queue.waiting_lanes()
            current = tx.queue.current([attempt_id for _, attempt_id in attempts])
        for slot in self._slots:
            if slot.lane in waiting:
                slot.wake()
        self._follow_attempts(attempts, current)

    def _follow_attempts(
        self, attempts: list[tuple[Slot, str]], current: Mapping[str, Asked]
    ) -> None:
        for slot, attempt_id in attempts:
            asked = current.get(attempt_id)
            if asked is None:
                slot.drop(attempt_id)
                continue
            slot.trace(attempt_id, on=asked.traced)
            if asked.to_end:
                slot.ask_to_end(attempt_id)

    def _under_way(self) -> list[tuple[Slot, str]]:
        attempts = []
        for slot in self._slots:
            attempts += [(slot, attempt_id) for attempt_id in slot.attempt_ids]
        return attempts

    def _keep_leases(self) -> None:
        attempts = self._under_way()
        seconds = self._context.lease_seconds
        felt = self._sensors.read()
        offer = self._offer()
        with self._context.store.write() as tx:
            beat(tx, self._context.process_id, felt, self._context.watch.latest.gpus, offer)
            lost = [held for held in attempts if not tx.queue.renew(held[1], seconds)]
        for slot, attempt_id in lost:
            _log.info("lease lost", attempt=attempt_id)
            slot.drop(attempt_id)


def _remove_leftovers(store: Store, folder: Path, checkpoints: Checkpoints) -> None:
    """Remove the work folders of workers that have ended, and keep their checkpoints."""
    checkpoints.remove_unneeded()
    with store.read() as tx:
        workers = {"kind": ProcessKind.WORKER, "state": ProcessState.RUNNING}
        running = tx.processes.column("id", **workers)
    for path in list(folder.glob("*")):
        if path.name not in running:
            checkpoints.keep_those_of(path)
            remove_folder(path)
