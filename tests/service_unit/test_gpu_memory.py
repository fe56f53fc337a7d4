"""What is learned of the memory that models take of a GPU, and what tasks ask for by it."""

from typing import Any

import pytest

from easeml.contract.states import Lane, ProcessKind, TaskState
from easeml.contract.tasks import TaskResult
from easeml.engine.membership import register
from easeml.modules import Module, load_registry
from easeml.service.knowledge import gpus
from easeml.service.tasks import requests, results
from easeml.store import Store
from easeml.store.gpu_shares import WHOLE
from easeml.store.records import Attempt, Task
from easeml.store.shapes import SeenGpu, SeenGpus

GIB = 2**30
PIPELINE = {"pipeline": {"transforms": [], "model": {"module": "table-network-classifier"}}}
TREE = {"pipeline": {"transforms": [], "model": {"module": "tree"}}}


def network() -> Module:
    return load_registry().get("table-network-classifier")


@pytest.fixture
def worker(store: Store) -> str:
    """A worker with 16 GiB."""
    process = register(store, ProcessKind.WORKER)
    seen = SeenGpus([SeenGpu("GPU-a", "made up", 16 * GIB, 0, 0)])
    with store.write() as tx:
        tx.processes.update(process.id, gpus=seen)
    return process.id


def asked(store: Store, payload: dict[str, Any] = PIPELINE) -> int | None:
    with store.read() as tx:
        return gpus.asked(tx, payload).memory


def claimed(store: Store, worker: str, memory: int | None) -> tuple[Task, Attempt]:
    """A task that trains a network and is claimed with what it asks for."""
    with store.write() as tx:
        task = requests.request(tx, "t1", "check-module", "mod_1", source="", trusted=[])
        tx.unscoped().tasks.update(task.id, payload={**task.payload, **PIPELINE}, gpu_memory=memory)
        found = tx.queue.claim(worker, Lane(task.lane), 10.0)
    assert found is not None
    return found


def test_networks_use_a_gpu_and_trees_do_not(store: Store, worker: str) -> None:
    assert network().uses_gpu
    assert not network().gpu
    assert asked(store) == WHOLE
    assert asked(store, TREE) is None


def test_the_most_that_was_seen_is_believed_and_a_little_more(store: Store, worker: str) -> None:
    for peak in (2 * GIB, 3 * GIB, GIB):
        task, attempt = claimed(store, worker, asked(store))
        with store.write() as tx:
            gpus.learn(tx, task, peak)
            tx.queue.complete(attempt, result={}, quality=None, cost=1.0)
    assert asked(store) == int(3 * GIB * 1.2)


def test_more_than_any_gpu_has_is_a_whole_one(store: Store, worker: str) -> None:
    task, _ = claimed(store, worker, WHOLE)
    with store.write() as tx:
        gpus.learn(tx, task, 15 * GIB)
    assert asked(store) == WHOLE


def test_what_was_not_measured_teaches_nothing(store: Store, worker: str) -> None:
    task, _ = claimed(store, worker, WHOLE)
    with store.write() as tx:
        gpus.learn(tx, task, 0)
    assert asked(store) == WHOLE


def test_who_had_too_small_a_share_is_made_again_with_a_whole_gpu_and_once_only(
    store: Store, worker: str
) -> None:
    short = TaskResult(ok=False, error="The task needed more memory of its GPU.", gpu_exceeded=True)
    _, attempt = claimed(store, worker, 6 * GIB)
    assert attempt.gpu_memory == 6 * GIB
    with store.write() as tx:
        again = results.accept(tx, attempt, short, {})
        assert (again.state, again.gpu_memory) == (TaskState.WAITING, WHOLE)
        found = tx.queue.claim(worker, Lane(again.lane), 10.0)
    assert found is not None
    assert found[1].gpu_memory == 16 * GIB
    with store.write() as tx:
        assert results.accept(tx, found[1], short, {}).state == TaskState.FAILED
