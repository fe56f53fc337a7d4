"""Real worker processes on a real store: results, misbehaving bodies, kill -9, leases, stopping."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from watching_processes import alive, eventually

from easeml.engine.housekeeping import give_back_lost_work, live_workers
from easeml.errors import Conflict, NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.datasets import datasets
from easeml.service.tasks import steering, traces
from easeml.store import Store
from easeml.store.records import Task, Tenant
from easeml.tracing import SWITCH, TRACE
from warm_python import Started, WarmPython

HERE = Path(__file__).parent

SILENCE = 30.0
Start = Callable[[], Started]


@pytest.fixture
def caller(store: Store) -> Caller:
    tenant = Tenant(new_id("ten"), "lab")
    with store.write() as tx:
        tx.tenants.add(tenant)
    return Caller("user", tenant.id)


@pytest.fixture(scope="module")
def warm() -> Iterator[WarmPython]:
    with WarmPython(["worker_for_tests"], HERE) as python:
        yield python


@pytest.fixture
def start_worker(store: Store, tmp_path: Path, warm: WarmPython) -> Iterator[Start]:
    """Starts workers on the store's home, forked as in a service; they are killed afterwards."""
    started: list[Started] = []

    def start() -> Started:
        before = count_workers(store)
        started.append(
            warm.start(
                ["-m", "worker_for_tests", str(tmp_path)],
                tmp_path,
                {**os.environ, "PYTHONPATH": str(HERE)},
            )
        )
        eventually(lambda: count_workers(store) > before)
        return started[-1]

    yield start
    for process in started:
        if alive(process.pid):
            process.kill()
            process.wait()


def count_workers(store: Store) -> int:
    with store.read() as tx:
        return tx.processes.count(kind="worker")


def submit(store: Store, caller: Caller, behaviour: str) -> str:
    """Upload a file whose ingest task behaves as named; return the task's id."""
    dataset = datasets.upload(
        store, caller, behaviour, "table.csv", [behaviour.encode()], None, 10**6
    )
    assert dataset.version is not None
    with store.read() as tx:
        return tx.scoped(caller.tenant_id).tasks.list(subject=dataset.version.id)[0].id


def task(store: Store, task_id: str) -> Task:
    with store.read() as tx:
        return tx.unscoped().tasks.get(task_id)


def wait_for(store: Store, task_id: str, *states: str) -> Task:
    eventually(lambda: task(store, task_id).state in states)
    return task(store, task_id)


def attempts(store: Store, task_id: str) -> list[str]:
    with store.read() as tx:
        return [attempt.state for attempt in tx.unscoped().attempts.list(task_id=task_id)]


def test_results_are_accepted_and_faults_stay_their_own(
    store: Store, caller: Caller, start_worker: Start
) -> None:
    start_worker()
    tasks = {
        name: submit(store, caller, name) for name in ("finish", "eat-memory", "fault", "linger")
    }
    good = wait_for(store, tasks["finish"], "done", "failed")
    assert good.state == "done"
    with store.read() as tx:
        version = tx.scoped(caller.tenant_id).versions.get(good.subject)
        assert version.state == "ready"
        assert store.artefacts.path is not None
        assert {event.kind for event in tx.events.after(0)} >= {
            "task.running",
            "task.done",
            "dataset.ready",
        }
    greedy = wait_for(store, tasks["eat-memory"], "done", "failed")
    assert (greedy.state, greedy.attempts) == ("failed", 1)
    assert "more memory than its limit" in greedy.error
    crashed = wait_for(store, tasks["fault"], "done", "failed")
    assert (crashed.state, crashed.attempts) == ("failed", 2)
    assert "SIGSEGV" in crashed.error
    assert wait_for(store, tasks["linger"], "done", "failed").state == "done"


def test_kill_9_in_the_middle_leads_to_exactly_one_accepted_result(
    store: Store, caller: Caller, start_worker: Start, tmp_path: Path
) -> None:
    first = start_worker()
    task_id = submit(store, caller, "once")
    marker = tmp_path / "work" / "hung"
    eventually(lambda: marker.exists() and marker.read_text())
    first.kill()
    first.wait()
    eventually(lambda: not alive(int(marker.read_text())))
    start_worker()
    give_back_lost_work(store, SILENCE)
    assert wait_for(store, task_id, "done", "failed").state == "done"
    assert attempts(store, task_id) == ["lost", "done"]


def test_a_cancelled_task_is_killed(
    store: Store, caller: Caller, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    task_id = submit(store, caller, "once")
    marker = tmp_path / "work" / "hung"
    eventually(lambda: marker.exists() and marker.read_text())
    with store.write() as tx:
        tx.queue.cancel(task_id)
    eventually(lambda: not alive(int(marker.read_text())))
    assert task(store, task_id).state == "cancelled"
    assert wait_for(store, submit(store, caller, "finish"), "done").attempts == 1


def test_a_task_that_is_asked_to_end_is_put_back_and_goes_on_later(
    store: Store, caller: Caller, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    task_id = submit(store, caller, "once")
    marker = tmp_path / "work" / "hung"
    eventually(lambda: marker.exists() and marker.read_text())
    with store.write() as tx:
        tx.queue.ask_to_end(task_id)
    done = wait_for(store, task_id, "done", "failed")
    assert attempts(store, task_id) == ["suspended", "done"]
    assert done.suspensions == 1
    assert 1.5 <= done.lost < done.cost


def test_a_running_task_is_traced_and_no_more_when_told(
    store: Store, caller: Caller, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    work = tmp_path / "work"
    task_id = submit(store, caller, "be-seen")
    wait_for(store, task_id, "running")
    with pytest.raises(NotFound):
        traces.chrome(store, work, caller, task_id)

    steering.trace(store, caller, task_id, on=True)
    eventually(lambda: "end_when_asked" in traced(store, work, caller, task_id))
    steering.trace(store, caller, task_id, on=False)
    switch = next(work.glob(f"*/*/{TRACE}")).with_name(SWITCH)
    eventually(lambda: not switch.exists())
    with store.write() as tx:
        tx.queue.ask_to_end(task_id)
    assert wait_for(store, task_id, "done", "failed").state == "done"

    bars = traced(store, work, caller, task_id)
    assert bars["run the body"]["ts"] <= bars["be seen"]["ts"]
    inside = bars["be seen"]["ts"] + bars["be seen"]["dur"]
    assert inside <= bars["run the body"]["ts"] + bars["run the body"]["dur"]
    assert bars["end_when_asked"]["ts"] + bars["end_when_asked"]["dur"] <= inside
    with pytest.raises(Conflict):
        steering.trace(store, caller, task_id, on=True)
    with pytest.raises(NotFound):
        traces.chrome(store, work, replace(caller, tenant_id="ten_other"), task_id)


def traced(store: Store, work: Path, caller: Caller, task_id: str) -> dict[str, dict[str, Any]]:
    """Return the bars of a trace by name, nothing while there are none."""
    try:
        content = traces.chrome(store, work, caller, task_id)
    except NotFound:
        return {}
    events = json.loads(content)["traceEvents"]
    return {event["name"]: event for event in events if event["ph"] == "X"}


def test_sigterm_gives_the_work_back_at_once(
    store: Store, caller: Caller, start_worker: Start, tmp_path: Path
) -> None:
    worker = start_worker()
    task_id = submit(store, caller, "hang")
    wait_for(store, task_id, "running")
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait() == 0
    assert task(store, task_id).state == "waiting"
    assert attempts(store, task_id) == ["lost"]
    with store.read() as tx:
        assert [process.state for process in tx.processes.list(kind="worker")] == ["ended"]
    assert list((tmp_path / "work").iterdir()) == []


def test_a_draining_worker_takes_nothing_new(
    store: Store, caller: Caller, start_worker: Start
) -> None:
    start_worker()
    with store.write() as tx:
        (worker,) = tx.processes.list(kind="worker", limit=None)
        tx.processes.update(worker.id, draining=True)
    with store.read() as tx:
        assert live_workers(tx, SILENCE) == 0
    waiting = submit(store, caller, "finish")
    beats = heartbeat(store, worker.id)
    eventually(lambda: heartbeat(store, worker.id) > beats)  # it has looked since
    assert state_of(store, caller, waiting) == "waiting"
    with store.write() as tx:
        tx.processes.update(worker.id, draining=False)
    eventually(lambda: state_of(store, caller, waiting) == "done")


def heartbeat(store: Store, process_id: str) -> float:
    with store.read() as tx:
        return tx.processes.get(process_id).heartbeat


def state_of(store: Store, caller: Caller, task_id: str) -> str:
    with store.read() as tx:
        return tx.scoped(caller.tenant_id).tasks.get(task_id).state
