"""A worker: two slots (search and short work), their leases, and the process's heartbeat."""

import shutil
import time
from pathlib import Path

import structlog

from easeml.contract.states import AttemptState, Lane, ProcessKind, ProcessState
from easeml.settings import Settings
from easeml.store import Store

from .executors import executor_named
from .limits import task_limits
from .logs import configure_logging
from .membership import HEARTBEAT_SECONDS, beat, register, sign_off
from .signals import Stop
from .slot import Slot, SlotContext

_LONGEST_WAIT = 0.2  # seconds until a stop signal is noticed
_log = structlog.get_logger()


def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; then kill what runs and give it back."""
    configure_logging("worker")
    stop = Stop.on_signals()
    limits = task_limits(settings)
    # Before the record: a worker that is known is warm.
    open_executor = executor_named(settings.executor)
    executor = open_executor(limits, isolation=settings.isolation)
    store = Store.of(settings)
    process = register(store, ProcessKind.WORKER)
    try:
        _remove_leftovers(store, settings.home / "work")
        folder = settings.home / "work" / process.id
        context = SlotContext(store, executor, limits, process.id, folder, settings.lease_seconds)
        Worker(context).run(stop)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        executor.close()
        sign_off(store, process.id)
        store.close()


class Worker:
    """Runs the slots; its own thread keeps the leases and passes wake-ups on."""

    def __init__(self, context: SlotContext):
        self._context = context
        self._slots = [Slot(lane, context) for lane in Lane]

    def run(self, stop: Stop) -> None:
        """Work until ``stop``; afterwards nothing runs any more."""
        wakeup = self._context.store.wakeup()
        for slot in self._slots:
            slot.start()
        try:
            next_beat = 0.0
            while not stop.asked:
                if wakeup.wait(_LONGEST_WAIT):
                    for slot in self._slots:
                        slot.wake()
                    self._follow_attempts()
                if time.monotonic() >= next_beat:
                    self._keep_leases()
                    next_beat = time.monotonic() + min(
                        HEARTBEAT_SECONDS, self._context.lease_seconds / 3
                    )
                if dead := [slot.name for slot in self._slots if not slot.is_alive()]:
                    raise RuntimeError(f"{dead[0]} ended by itself; see its exception above.")
        finally:
            for slot in self._slots:
                slot.stop()
            for slot in self._slots:
                slot.join()
            wakeup.close()

    def _follow_attempts(self) -> None:
        """Kill at once what was cancelled, or given to another; pass on who has to end."""
        attempts = self._under_way()
        if not attempts:
            return
        with self._context.store.read() as tx:
            ids = [attempt_id for _, attempt_id in attempts]
            found = tx.unscoped().attempts.list(id=ids, state=AttemptState.RUNNING, limit=None)
        running = {attempt.id for attempt in found}
        asked = {attempt.id for attempt in found if attempt.asked_to_end is not None}
        for slot, attempt_id in attempts:
            if attempt_id not in running:
                slot.drop(attempt_id)
            elif attempt_id in asked:
                slot.ask_to_end(attempt_id)

    def _under_way(self) -> list[tuple[Slot, str]]:
        return [(slot, attempt_id) for slot in self._slots for attempt_id in slot.attempt_ids]

    def _keep_leases(self) -> None:
        attempts = self._under_way()
        with self._context.store.write() as tx:
            beat(tx, self._context.process_id)
            lost = [
                held
                for held in attempts
                if not tx.queue.renew(held[1], self._context.lease_seconds)
            ]
        for slot, attempt_id in lost:
            _log.info("lease lost", attempt=attempt_id)
            slot.drop(attempt_id)


def _remove_leftovers(store: Store, folder: Path) -> None:
    """Remove the work folders of workers that have ended."""
    if not folder.exists():
        return
    with store.read() as tx:
        running = {
            process.id
            for process in tx.processes.list(
                kind=ProcessKind.WORKER,
                state=ProcessState.RUNNING,
                limit=None,
            )
        }
    for path in folder.iterdir():
        if path.name not in running:
            shutil.rmtree(path, ignore_errors=True)
