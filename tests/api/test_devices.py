"""Devices over REST: who may see, drain and join, and what a machine is told."""

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

import easeml
from easeml.contract.states import Lane, ProcessKind, TaskGroup
from easeml.errors import Conflict
from easeml.ids import new_id
from easeml.service.administration import devices
from easeml.settings import Settings
from easeml.store import Process, Store, Task
from easeml.store.machine_room import Offer
from easeml.store.shapes import SeenGpu, SeenGpus

HERE = {"version": easeml.__version__, "host": "this machine"}
ELSEWHERE = {"version": easeml.__version__, "host": "another machine"}


@pytest.fixture
def worker(store: Store) -> str:
    """A controller and a worker of this machine; the worker's id."""
    with store.write() as tx:
        for kind in (ProcessKind.CONTROLLER, ProcessKind.WORKER):
            process = Process(
                new_id("proc"), kind, 1, "this machine", heartbeat=tx.now(), device="old", pace=4.0
            )
            process = replace(process, temperature=61.5, memory=8_000, memory_free=2_000)
            tx.processes.add(process)
    return process.id


def test_only_providers_see_drain_and_join(client: TestClient, ann, provider, worker: str) -> None:
    for person, status in ((ann, 403), (provider, 200)):
        seen = client.get("/api/v1/devices", headers=person.headers)
        drained = client.post(
            f"/api/v1/devices/{worker}/drain", json={"draining": True}, headers=person.headers
        )
        joined = client.post("/api/v1/devices/join", json=HERE, headers=person.headers)
        assert [seen.status_code, drained.status_code, joined.status_code] == [status] * 3


def test_a_device_is_drained_and_resumed(client: TestClient, provider, worker: str) -> None:
    states = []
    for draining in (True, False):
        body = {"draining": draining}
        client.post(f"/api/v1/devices/{worker}/drain", json=body, headers=provider.headers)
        (found,) = client.get("/api/v1/devices", headers=provider.headers).json()["items"]
        states.append(found["state"])
        metrics = client.get("/metrics", headers=provider.headers).text
        assert f'easeml_devices{{state="{states[-1]}"}} 1.0' in metrics
    assert states == ["drained", "free"]
    assert (found["kind"], found["pace"]) == ("old", 4.0)
    felt = [found[name] for name in ("temperature", "memory", "memory_free")]
    assert felt == [61.5, 8_000, 2_000]
    assert client.post("/api/v1/devices/proc_1/drain", headers=provider.headers).status_code == 404


def test_a_device_says_what_of_its_gpus_is_free(
    client: TestClient, store: Store, provider, worker: str
) -> None:
    """Two devices share one, on which a task of the other runs; 1 GiB is of another program."""
    gib = 2**30
    seen = SeenGpus([SeenGpu("GPU-a", "made up", 16 * gib, used=7 * gib, foreign=gib)])
    with store.write() as tx:
        other = tx.processes.add(Process(new_id("proc"), ProcessKind.WORKER, 2, "this machine"))
        for id in (worker, other.id):
            tx.processes.update(id, gpus=seen)
        task = Task(new_id("task"), provider.caller.tenant_id, TaskGroup.TRAIN, Lane.SEARCH, {})
        task = replace(task, payload={"kind": "train"}, gpu_memory=6 * gib)
        tx.scoped(task.tenant_id).tasks.add(task)
        assert tx.queue.claim(other.id, Lane.SEARCH, 10.0) is not None
    found = client.get("/api/v1/devices", headers=provider.headers).json()["items"]
    shown = {"id": "GPU-a", "name": "made up", "memory": 16 * gib, "used": 7 * gib}
    assert [one["gpus"] for one in found] == [[{**shown, "promised": 6 * gib, "free": 9 * gib}]] * 2
    (running,) = found[1]["tasks"]
    assert (running["gpu"], running["gpu_memory"]) == ("GPU-a", 6 * gib)


def test_a_device_says_what_its_machine_has_for_tasks_and_what_is_promised(
    client: TestClient, store: Store, provider, worker: str
) -> None:
    gib = 2**30
    offer = Offer("this machine", 16 * gib, 90 * gib, 4 * gib, 20 * gib, 2)
    with store.write() as tx:
        tx.processes.update(worker, offer=offer)
        task = Task(new_id("task"), provider.caller.tenant_id, TaskGroup.TRAIN, Lane.SEARCH, {})
        task = replace(task, payload={"kind": "train"}, memory=3 * gib, disk=gib)
        tx.scoped(task.tenant_id).tasks.add(task)
        assert tx.queue.claim(worker, Lane.SEARCH, 10.0) is not None
    (found,) = client.get("/api/v1/devices", headers=provider.headers).json()["items"]
    assert found["offers"] == {"memory": 16 * gib, "disk": 90 * gib}
    assert found["promised"] == {"memory": 3 * gib, "disk": gib}
    assert found["threads"] == 2


def test_a_process_of_this_machine_needs_no_server(client: TestClient, provider, worker) -> None:
    told = client.post("/api/v1/devices/join", json=HERE, headers=provider.headers).json()
    assert told["database_url"].startswith("sqlite:///")
    assert told["artefacts_url"].startswith("file:///")


@pytest.mark.parametrize(
    ("service", "where"),
    [
        ({}, "database_url"),
        ({"database_url": "postgresql+psycopg://host/lab"}, "artefacts_url"),
    ],
)
def test_a_machine_that_cannot_reach_the_store_is_refused(
    store: Store, settings: Settings, provider, worker: str, service, where: str
) -> None:
    with pytest.raises(Conflict) as refused:
        devices.join(store, settings.model_copy(update=service), provider.caller, **ELSEWHERE)
    assert refused.value.where == where


def test_a_machine_with_a_shared_store_is_told_all_it_needs(
    store: Store, settings: Settings, provider, worker: str
) -> None:
    shared = {
        "database_url": "postgresql+psycopg://host/lab",
        "artefacts_url": "s3://lab-models",
        "task_memory": 2**31,
        "task_disk": 2**33,
        "long_task_seconds": 60.0,
    }
    told = devices.join(store, settings.model_copy(update=shared), provider.caller, **ELSEWHERE)
    assert shared.items() <= told.model_dump().items()


def test_another_version_is_refused(client: TestClient, provider, worker: str) -> None:
    old = {**HERE, "version": "0.0.1"}
    answer = client.post("/api/v1/devices/join", json=old, headers=provider.headers)
    assert answer.status_code == 409
    assert f"easeml=={easeml.__version__}" in answer.json()["remedy"]
