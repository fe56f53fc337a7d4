"""What commits tell workers, on both databases."""

import sys
from collections.abc import Iterator

import pytest

from easeml.contract.states import ProcessKind
from easeml.engine.membership import beat, register
from easeml.ids import new_id
from easeml.store import Store, Task
from easeml.store.work_hints import ANY, ROOM

LEASE = 10.0


@pytest.fixture
def heard(store: Store) -> Iterator[object]:
    """What workers were told since the last time."""
    wakeup = store.work_wakeup()
    yield lambda: set(wakeup.wait(0.2))
    wakeup.close()


def add_task(store: Store, lane: str = "search") -> Task:
    with store.write() as tx:
        return tx.scoped("t1").tasks.add(Task(new_id("task"), "t1", "train", lane, {}))


def claim(store: Store):
    with store.write() as tx:
        return tx.queue.claim("p1", "search", LEASE)[1]


@pytest.fixture
def is_told(url: str) -> bool:
    """Whether writers tell what they committed; elsewhere SQLite says only that something was."""
    return url.startswith("postgres") or sys.platform == "linux"


def test_a_task_that_waits_concerns_who_works_in_its_lane(store, heard, is_told):
    add_task(store)
    assert heard() == ({"search"} if is_told else {ANY})
    add_task(store, "short")
    assert heard() == ({"short"} if is_told else {ANY})


def test_a_claim_concerns_no_other_worker_and_an_end_only_those_that_lack_room(
    store, heard, is_told
):
    add_task(store)
    heard()
    attempt = claim(store)
    assert heard() == (set() if is_told else {ANY})
    with store.write() as tx:
        tx.queue.complete(attempt, result={}, quality=None, cost=1.0)
    assert heard() == ({ROOM} if is_told else {ANY})


@pytest.mark.parametrize("way", ["cancel", "ask to end", "release", "trace", "reap"])
def test_who_runs_an_attempt_hears_what_becomes_of_it(store, clock, heard, way):
    task = add_task(store)
    claim(store)
    heard()
    with store.write() as tx:
        if way == "cancel":
            tx.queue.cancel(task.id)
        elif way == "ask to end":
            tx.queue.ask_to_end(task.id)
        elif way == "release":
            tx.queue.release("p1")
        elif way == "trace":
            tx.scoped("t1").tasks.update(task.id, traced=True)
        else:
            clock.now += 2 * LEASE
            tx.queue.reap()
    assert ANY in heard()


def test_a_failed_attempt_that_waits_again_is_told_to_its_lane(store, heard, is_told):
    with store.write() as tx:
        task = Task(new_id("task"), "t1", "train", "search", {}, max_attempts=2)
        tx.scoped("t1").tasks.add(task)
    attempt = claim(store)
    heard()
    with store.write() as tx:
        tx.queue.fail(attempt, error="boom", retry=True, cost=1.0)
    assert ({"search"} if is_told else {ANY}) <= heard()


def test_a_device_that_takes_tasks_again_hears_it(store, heard):
    process = register(store, ProcessKind.WORKER)
    heard()
    with store.write() as tx:
        tx.processes.update(process.id, draining=True)
    assert heard() == {ANY}


@pytest.mark.postgres
def test_signs_of_life_and_leases_wake_nobody(store, heard, clock, is_told):
    """A hundred devices give thirty a second."""
    process = register(store, ProcessKind.WORKER)
    add_task(store)
    attempt = claim(store)
    everything = store.wakeup()
    heard()
    clock.now += LEASE / 2
    with store.write() as tx:
        beat(tx, process.id)
        assert tx.queue.renew(attempt.id, LEASE)
    is_quiet = not everything.wait(0.2) and not heard()
    everything.close()
    assert is_quiet == is_told
    with store.read() as tx:
        assert tx.processes.get(process.id).heartbeat == clock.now
        assert tx.unscoped().attempts.get(attempt.id).lease_expires == clock.now + LEASE
