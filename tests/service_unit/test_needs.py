"""What is learned of the memory and disk that tasks take, and what is said of those that fit nowhere."""

from typing import Any

from easeml.contract.applications import Application, Declaration
from easeml.contract.states import Lane, ProcessKind, ProcessState, TaskState
from easeml.contract.tasks import TaskResult
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.modules import load_registry, packed, skeletons
from easeml.search import policy_named
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.scheduling import overview
from easeml.service.search import waiting
from easeml.service.tasks import needs, requests, results, task_views
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.machine_room import Needs, Offer
from easeml.store.records import Attempt, Task

from .test_story import decide, searching
from .world import bring, claim, ingested, upload

GIB = 2**30
MIB = 2**20
TOLD = {"source": "", "trusted": []}
UPLOADED = 780  # bytes of the table that ``upload`` brings, and a few


def offer(memory: int, *, machine: str = "a", **more: int) -> Offer:
    return Offer(machine, memory, more.get("disk", 100 * GIB), memory, 100 * GIB, 2)


def worker(store: Store, memory: int = 8 * GIB, **more: Any) -> str:
    return register(store, ProcessKind.WORKER, offer=offer(memory, **more)).id


def request(store: Store) -> Task:
    with store.write() as tx:
        return requests.request(tx, "t1", "check-module", "mod_1", **TOLD)


def taken(store: Store, process: str, lane: str = "short") -> tuple[Task, Attempt]:
    with store.write() as tx:
        found = tx.queue.claim(process, Lane(lane), 10.0)
    assert found is not None
    return found


def learn(store: Store, **seen: int) -> None:
    with store.write() as tx:
        task = requests.request(tx, "t1", "check-module", "mod_1", **TOLD)
        needs.learn(tx, task, TaskResult(ok=True, **seen))
        tx.queue.cancel(task.id)


def test_nothing_is_known_at_first(store: Store) -> None:
    worker(store)
    assert request(store).needs == Needs()


def test_the_most_that_was_seen_is_believed_and_a_little_more(store: Store) -> None:
    worker(store)
    for memory, disk in ((2 * GIB, 5), (3 * GIB, 10), (GIB, 0)):
        learn(store, memory=memory, disk=disk)
    assert request(store).needs == Needs(int(3 * GIB * 1.2), 12)


def test_the_margin_is_no_reason_to_wait(store: Store) -> None:
    learn(store, memory=7 * GIB)
    assert request(store).needs.memory == int(7 * GIB * 1.2)  # nobody is there to say
    worker(store, 8 * GIB)
    worker(store, 4 * GIB, machine="b")
    assert request(store).needs.memory == 8 * GIB


def test_what_took_more_than_any_machine_has_waits_and_says_so(store: Store) -> None:
    learn(store, memory=10 * GIB)
    process = worker(store, 8 * GIB)
    task = request(store)
    with store.write() as tx:
        assert tx.queue.claim(process, Lane(task.lane), 10.0) is None
        (found,) = needs.stuck(tx)
    assert found.text == "It needs 10.0 GiB of memory, and no machine offers more than 8.0 GiB."


def test_a_search_tries_its_candidates_in_any_case(store: Store, ann: Caller) -> None:
    application = searching(store, ann)
    worker(store, 8 * GIB)
    first = decide(store, application, 0)
    assert first is not None
    with store.write() as tx:
        tx.queue.cancel(first.id)
        needs.learn(tx, first, TaskResult(ok=True, memory=10 * GIB))
    again = decide(store, application, 0)
    assert again is not None
    assert again.needs.memory == 8 * GIB


def test_a_result_teaches_what_its_attempt_used(store: Store, ann: Caller) -> None:
    """What is read next, of a table that is about as large, asks for it."""
    process = worker(store)
    upload(store, ann)
    task, attempt = taken(store, process)
    assert task.disk >= UPLOADED
    assert task.memory == 0
    value = {"columns": [], "rows": 60, "target": None, "notes": []}
    used = TaskResult(ok=True, value=value, outputs=["table"], memory=100 * MIB, disk=MIB)
    bring(store, attempt, used)
    for name in ("again", "others"):
        upload(store, ann, name)
        task, _ = taken(store, process)
        assert task.needs == Needs(int(120 * MIB), int(1.2 * MIB))


def test_who_ran_out_of_memory_goes_where_more_is_and_else_fails(store: Store) -> None:
    small = worker(store, GIB)
    large = worker(store, 4 * GIB, machine="b")
    short = TaskResult(ok=False, error="It needed more memory.", memory_exceeded=True)
    request(store)
    _, attempt = taken(store, small)
    with store.write() as tx:
        again = results.accept(tx, attempt, short, {})
        assert (again.state, again.memory) == (TaskState.WAITING, GIB + 1)
        assert tx.queue.claim(small, Lane(again.lane), 10.0) is None
    _, attempt = taken(store, large)
    with store.write() as tx:
        assert results.accept(tx, attempt, short, {}).state == TaskState.FAILED


def test_what_a_module_says_is_believed_until_it_was_measured(store: Store, tmp_path: Any) -> None:
    folder = tmp_path / "deep"
    skeletons.make(folder, "model", "shell")
    manifest = folder / "module.toml"
    said = f"[resources]\nmemory = {2 * GIB}\nthreads = 2\n"
    manifest.write_text(manifest.read_text() + f"\n{said}")
    told = {"source": packed.pack(folder), "trusted": []}
    worker(store)
    with store.write() as tx:
        first = requests.request(tx, "t1", "check-module", "mod_1", **told)
        assert first.needs == Needs(2 * GIB, 0, 2)
        spec = results.task_spec(tx, first)
        assert (spec.needs.memory, spec.needs.threads) == (2 * GIB, 2)


def test_a_task_that_fits_no_machine_says_so_to_its_owner_and_in_the_queue(
    store: Store, ann: Caller, admin: Caller
) -> None:
    worker(store, disk=100)
    upload(store, ann)
    (page,) = task_views.list_page(store, ann).items
    assert page.waits.startswith("It needs 0 MiB of disk, and no machine has more than 0 MiB")
    assert task_views.get(store, ann, page.id) == page
    (queued,) = overview.show(store, Settings(), admin).queue
    assert queued.waits == page.waits
    with store.write() as tx:
        for process in tx.processes.list(kind=ProcessKind.WORKER, limit=None):
            tx.processes.update(process.id, state=ProcessState.ENDED)
    worker(store)
    assert task_views.get(store, ann, page.id).waits == ""
    claim(store)


def reason(store: Store, caller: Caller, application: Application) -> str:
    job = applications.get(store, caller, application.id).job
    assert job is not None
    return job.waiting_reason


def waiting_by_tenant(store: Store) -> dict[str, int]:
    with store.read() as tx:
        tasks = tx.unscoped().tasks
        return dict(tasks.count_by("tenant_id", lane=Lane.SEARCH, state=TaskState.WAITING))


def test_a_search_says_so_and_its_task_keeps_no_device_from_others(
    store: Store, ann: Caller, bob: Caller
) -> None:
    register(store, ProcessKind.SCHEDULER)
    application = searching(store, ann)
    task = decide(store, application, 0)
    assert task is not None
    worker(store)
    assert "waits for a device" in reason(store, ann, application)
    with store.write() as tx:
        tx.unscoped().tasks.update(task.id, memory=20 * GIB)
    found = reason(store, ann, application)
    assert "needs 20.0 GiB of memory, and no machine offers more than 8.0 GiB" in found
    assert "larger machine" in found
    with store.read() as tx:
        assert [one.waits_for for one in waiting.blocked(tx).values()] == [waiting.WaitsFor.ROOM]
    searching(store, bob)
    Scheduler(store, load_registry(), policy_named(), lease_seconds=60.0).step()
    assert waiting_by_tenant(store) == {ann.tenant_id: 1, bob.tenant_id: 2}


def test_a_search_whose_data_fit_no_machine_says_so(store: Store, ann: Caller) -> None:
    dataset = ingested(store, ann)
    process = worker(store)
    declared = applications.declare(store, ann, Declaration(dataset_id=dataset.id))
    assert "being prepared" in reason(store, ann, declared)
    with store.write() as tx:
        tx.processes.update(process, offer=offer(8 * GIB, disk=1))
    assert "no machine has more than 0 MiB free" in reason(store, ann, declared)
