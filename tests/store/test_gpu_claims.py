"""What workers claim that uses a GPU: shares of its memory, whole ones, and who waits."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from easeml.contract.states import Lane, ProcessKind, TaskGroup
from easeml.ids import new_id
from easeml.store import Store, Task
from easeml.store.gpu_shares import WHOLE
from easeml.store.records import Attempt, Process
from easeml.store.shapes import SeenGpu, SeenGpus

GIB = 2**30
LEASE = 10.0


def seen(id: str = "GPU-a", memory: int = 16 * GIB, foreign: int = 0) -> SeenGpu:
    return SeenGpu(id, "made up", memory, used=foreign, foreign=foreign)


def worker(store: Store, *gpus: SeenGpu, containers: bool = False) -> str:
    with store.write() as tx:
        known = SeenGpus(list(gpus))
        process = Process(new_id("proc"), ProcessKind.WORKER, 1, "here", gpus=known)
        tx.processes.add(process)
        tx.processes.update(process.id, gpu=containers)
    return process.id


def task(store: Store, memory: int | None, *, needed: bool = False, tenant: str = "t1") -> str:
    with store.write() as tx:
        added = tx.scoped(tenant).tasks.add(
            Task(
                new_id("task"), tenant, TaskGroup.TRAIN, Lane.SEARCH, {"kind": "train"},
                gpu=needed, gpu_memory=memory,
            )
        )  # fmt: skip
    return added.id


def claim(store: Store, process: str) -> Attempt | None:
    with store.write() as tx:
        found = tx.queue.claim(process, Lane.SEARCH, LEASE)
    return found[1] if found else None


def complete(store: Store, attempt: Attempt) -> None:
    with store.write() as tx:
        tx.queue.complete(attempt, result={}, quality=None, cost=1.0)


def test_two_tasks_share_a_gpu_and_the_third_waits_until_one_ends(store: Store) -> None:
    workers = [worker(store, seen()) for _ in range(3)]
    for _ in range(3):
        task(store, 6 * GIB)
    first, second, third = (claim(store, one) for one in workers)
    assert first is not None
    assert second is not None
    assert third is None
    assert {(one.gpu, one.gpu_memory) for one in (first, second)} == {("GPU-a", 6 * GIB)}
    with store.read() as tx:
        assert tx.queue.gpu_shares()["GPU-a"] == (6 * GIB, 6 * GIB)
    complete(store, first)
    assert claim(store, workers[2]) is not None


def test_what_uses_no_gpu_is_taken_past_one_that_waits_for_it(store: Store) -> None:
    first, second = worker(store, seen()), worker(store, seen())
    task(store, WHOLE)
    assert claim(store, first) is not None
    task(store, 6 * GIB)
    plain = task(store, None)
    taken = claim(store, second)
    assert taken is not None
    assert (taken.task_id, taken.gpu, taken.gpu_memory) == (plain, "", 0)


def test_of_what_is_not_known_one_has_the_whole_gpu(store: Store) -> None:
    first, second = worker(store, seen(foreign=2 * GIB)), worker(store, seen(foreign=2 * GIB))
    for _ in range(2):
        task(store, WHOLE)
    taken = claim(store, first)
    assert taken is not None
    assert taken.gpu_memory == 14 * GIB
    assert claim(store, second) is None


def test_other_programs_memory_is_not_given_away(store: Store) -> None:
    task(store, 6 * GIB)
    assert claim(store, worker(store, seen(foreign=11 * GIB))) is None
    assert claim(store, worker(store, seen("GPU-b", foreign=10 * GIB))) is not None


def test_a_gpu_is_settled_some_time_after_its_last_task(store: Store, clock: Any) -> None:
    """What a look just after an end still shows of it is of no other program."""

    def held() -> set[str]:
        with store.read() as tx:
            return tx.queue.gpus_held_lately(["GPU-a", "GPU-b"], 10.0)

    task(store, 6 * GIB)
    assert held() == set()
    attempt = claim(store, worker(store, seen()))
    assert attempt is not None
    clock.now += 60
    assert held() == {"GPU-a"}
    complete(store, attempt)
    clock.now += 9
    assert held() == {"GPU-a"}
    clock.now += 2
    assert held() == set()


def test_a_worker_without_a_gpu_leaves_it_to_one_with_a_gpu_that_is_large_enough(
    store: Store,
) -> None:
    plain = worker(store)
    with_gpu = worker(store, seen())
    small, large = task(store, 6 * GIB), task(store, 20 * GIB)
    taken = claim(store, plain)
    assert taken is not None
    assert (taken.task_id, taken.gpu) == (large, "")  # nobody has so much
    assert claim(store, plain) is None
    with store.write() as tx:
        tx.processes.update(with_gpu, draining=True)
    taken = claim(store, plain)
    assert taken is not None
    assert (taken.task_id, taken.gpu) == (small, "")


def test_what_needs_a_gpu_never_runs_without(store: Store) -> None:
    task(store, WHOLE, needed=True)
    assert claim(store, worker(store)) is None
    assert claim(store, worker(store, seen())) is None  # it gives containers none
    first, second = (worker(store, seen("GPU-b"), containers=True) for _ in range(2))
    task(store, WHOLE, needed=True)
    taken = claim(store, first)
    assert taken is not None
    assert taken.gpu == "GPU-b"
    assert claim(store, second) is None
    of_others = worker(store, containers=True)  # a GPU whose driver tells no memory
    taken = claim(store, of_others)
    assert taken is not None
    assert taken.gpu == ""


def test_a_task_that_was_passed_for_a_minute_gets_a_gpu(store: Store, clock: Any) -> None:
    workers = [worker(store, seen()) for _ in range(4)]
    task(store, 6 * GIB)
    small = claim(store, workers[0])
    assert small is not None
    whole = task(store, WHOLE)
    clock.now += 30
    task(store, 2 * GIB)
    passing = claim(store, workers[1])
    assert passing is not None
    assert passing.task_id != whole
    clock.now += 31
    task(store, 2 * GIB)
    assert claim(store, workers[2]) is None  # it is kept now
    complete(store, small)
    complete(store, passing)
    taken = claim(store, workers[2])
    assert taken is not None
    assert taken.task_id == whole


def test_the_tenant_with_the_smallest_dominant_share_is_served_first(store: Store) -> None:
    """Both have a device; one has most of the GPU besides, and so waits, though it has fewer."""
    workers = [worker(store, seen()) for _ in range(6)]
    task(store, 12 * GIB, tenant="much")
    assert claim(store, workers[0]) is not None
    for number in (1, 2):
        task(store, None, tenant="little")
        assert claim(store, workers[number]) is not None
    task(store, None, tenant="much")
    expected = task(store, None, tenant="little")
    taken = claim(store, workers[3])
    assert taken is not None
    assert taken.task_id == expected  # 3 of 6 devices beside 12 of 16 GiB


@pytest.mark.parametrize("count", [8])
def test_workers_that_claim_at_once_never_promise_more_than_there_is(
    store: Store, count: int
) -> None:
    workers = [worker(store, seen()) for _ in range(count)]
    for _ in range(count):
        task(store, 6 * GIB)
    begin = Barrier(count)

    def race(process: str) -> Attempt | None:
        begin.wait()
        return claim(store, process)

    with ThreadPoolExecutor(count) as threads:
        taken = [one for one in threads.map(race, workers) if one is not None]
    assert len(taken) == 2
