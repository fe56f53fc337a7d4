"""A slot's order of things: the next task runs while the last result is being recorded."""

from collections.abc import Callable
from pathlib import Path

import simulated
from simulated import REGISTRY, SimulatedExecutor

from easeml.contract.tasks import Limits
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.search import policy_named
from easeml.store import Store


def slot_with_two_tasks(store: Store, folder: Path) -> Slot:
    """Return a slot for which a scheduler has written two tasks."""
    simulated.add_job(store, folder)
    process = register(store, "worker")
    Scheduler(store, REGISTRY, policy_named(), 10.0).step()
    limits = Limits(seconds=1, memory=1, threads=1)
    return Slot(
        "search", SlotContext(store, SimulatedExecutor(), limits, process.id, folder / "work", 10.0)
    )


def test_a_scheduler_takes_a_step_for_results_and_not_for_what_it_wrote_or_what_begins(
    store: Store, tmp_path: Path
) -> None:
    simulated.add_job(store, tmp_path)
    process = register(store, "worker")
    scheduler = Scheduler(store, REGISTRY, policy_named(), 10.0)
    assert scheduler.has_news()
    scheduler.step()
    assert states(store) == ["waiting", "waiting"]
    assert not scheduler.has_news()  # its own decisions
    heard: list[bool] = []
    executor = SimulatedExecutor(meanwhile=lambda: heard.append(scheduler.has_news()))
    limits = Limits(seconds=1, memory=1, threads=1)
    context = SlotContext(store, executor, limits, process.id, tmp_path / "work", 10.0)
    assert Slot("search", context).step()
    assert heard == [False]  # the task ran
    assert scheduler.has_news()
    scheduler.step()
    assert states(store) == ["done", "waiting", "waiting"]  # the result was followed by a decision
    with store.write() as tx:
        tx.queue.cancel(next(t.id for t in tx.unscoped().tasks.list(state="waiting")))
        tx.events.append("task.cancelled", "task", {"job_id": "job"}, "ten")
    assert scheduler.has_news()


def states(store: Store) -> list[str]:
    with store.read() as tx:
        return sorted(task.state for task in tx.unscoped().tasks.list(limit=None))


def test_the_next_task_runs_before_the_last_result_is_recorded(
    store: Store, tmp_path: Path
) -> None:
    slot = slot_with_two_tasks(store, tmp_path)
    records: list[Callable[[], None]] = []
    assert slot.step(records.append)
    assert states(store) == ["running", "waiting"]
    assert slot.step(records.append)
    assert states(store) == ["running", "running"]
    assert len(slot.attempt_ids) == 2  # both leases are kept until the results are in
    for record in records:
        record()
    assert states(store) == ["done", "done"]
    assert slot.attempt_ids == []
    assert not list((tmp_path / "work").iterdir())


def test_a_lost_lease_while_recording_discards_the_result(store: Store, tmp_path: Path) -> None:
    slot = slot_with_two_tasks(store, tmp_path)
    records: list[Callable[[], None]] = []
    slot.step(records.append)
    with store.write() as tx:
        tx.queue.cancel(
            next(t.id for t in tx.unscoped().tasks.list(limit=None) if t.state == "running")
        )
    records[0]()
    assert states(store) == ["cancelled", "waiting"]
    assert slot.attempt_ids == []


def test_a_link_in_place_of_the_outputs_is_not_followed(store: Store, tmp_path: Path) -> None:
    slot = slot_with_two_tasks(store, tmp_path)
    records: list[Callable[[], None]] = []
    slot.step(records.append)
    (outputs,) = (tmp_path / "work").glob("*/outputs")
    outputs.rename(tmp_path / "of another tenant")
    outputs.symlink_to(tmp_path / "of another tenant")
    records[0]()
    assert "done" not in states(store)
