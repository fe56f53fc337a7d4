"""The controller as a process, started once, and event streams over a real connection."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from furnish import furnish

from easeml.settings import Settings
from easeml.store import Store
from service_process import LOOK_EVERY

PROGRAM = """
import sys
from pathlib import Path
from easeml.api.controller import run_controller
from easeml.settings import Settings
run_controller(Settings(home=Path(sys.argv[1]), port=int(sys.argv[2])))
"""


@dataclass
class Running:
    process: subprocess.Popen
    http: httpx.Client


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, furnished: tuple[Path, Any]) -> Settings:
    home = tmp_path_factory.mktemp("controller")
    shutil.copytree(furnished[0], home, dirs_exist_ok=True)
    return Settings(home=home)


@pytest.fixture(scope="module")
def store(settings: Settings) -> Iterator[Store]:
    store = Store.open(settings.database, settings.artefacts)
    yield store
    store.close()


@pytest.fixture(scope="module")
def controller(store: Store, settings: Settings) -> Iterator[Running]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(settings.home), str(port)])
    retries = httpx.HTTPTransport(retries=0)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, transport=retries) as http:
        try:
            _wait_until_up(http, process)
            yield Running(process, http)
        finally:
            process.kill()
            process.wait()


def _wait_until_up(http: httpx.Client, process: subprocess.Popen) -> None:
    while process.poll() is None:
        try:
            if http.get("/healthz").is_success:
                return
        except httpx.TransportError:
            time.sleep(LOOK_EVERY)  # a closed loop would take the processor from what is starting
    pytest.fail("the controller did not start")


@contextmanager
def events_of(http: httpx.Client, headers: dict, **params: int) -> Iterator[Iterator[dict]]:
    with http.stream("GET", "/api/v1/events", headers=headers, params=params) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield (event for event in _events(answer.iter_lines()) if event["kind"] != "user.created")


def _events(lines: Iterator[str]) -> Iterator[dict]:
    message: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name:
            message[name] = value
        elif "data" in message:
            event = json.loads(message["data"])
            assert message["id"] == str(event["seq"])
            assert message["event"] == event["kind"]
            yield event
            message = {}


def latest(store: Store) -> int:
    """Return the number of the last event: tests tell their events from those before."""
    with store.read() as tx:
        return max((event.seq for event in tx.events.after(0, limit=1000)), default=0)


def append(store: Store, tenant_id: str, *subjects: str) -> None:
    with store.write() as tx:
        for subject in subjects:
            tx.events.append("task.done", subject, {"text": "two\nlines"}, tenant_id)


def test_streams_give_the_past_then_the_present_of_one_tenant(controller, store, ann, bob) -> None:
    before = latest(store)
    append(store, ann.caller.tenant_id, "a1", "a2")
    with (
        events_of(controller.http, ann.headers, after=before) as anns,
        events_of(controller.http, bob.headers, after=before) as bobs,
    ):
        assert [next(anns)["subject"] for _ in range(2)] == ["a1", "a2"]
        append(store, bob.caller.tenant_id, "b1")
        append(store, ann.caller.tenant_id, "a3")
        assert next(bobs)["subject"] == "b1"
        last = next(anns)
        assert (last["subject"], last["data"]) == ("a3", {"text": "two\nlines"})
        append(store, bob.caller.tenant_id, "b2")
        assert next(bobs)["subject"] == "b2"


def test_a_stream_is_taken_up_where_it_broke(controller, store, ann) -> None:
    before = latest(store)
    append(store, ann.caller.tenant_id, "a1", "a2", "a3")
    with events_of(controller.http, ann.headers, after=before) as events:
        first, second = next(events), next(events)
    with events_of(controller.http, ann.headers, after=first["seq"]) as events:
        assert next(events)["subject"] == "a2"
    headers = {**ann.headers, "Last-Event-ID": str(second["seq"])}
    with events_of(controller.http, headers) as events:
        assert next(events)["subject"] == "a3"
        append(store, ann.caller.tenant_id, "a4")
        assert next(events)["subject"] == "a4"
    listed = controller.http.get(
        "/api/v1/events/list", params={"after": first["seq"], "limit": 2}, headers=ann.headers
    ).json()
    assert [event["subject"] for event in listed["items"]] == ["a2", "a3"]
    assert listed["next"] == str(listed["items"][-1]["seq"])


def test_twenty_streams_at_once(controller, store, ann) -> None:
    asked = {"headers": ann.headers, "after": latest(store)}
    with ExitStack() as stack:
        streams = [stack.enter_context(events_of(controller.http, **asked)) for _ in range(20)]
        append(store, ann.caller.tenant_id, "a1")
        assert [next(events)["subject"] for events in streams] == ["a1"] * 20


def test_who_something_is_shared_with_hears_that_it_changed_until_it_is_not(
    controller, store, ann, bob
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    here = f"/api/v1/applications/{made.application_id}"
    refused = controller.http.get(f"{here}/live", headers=bob.headers)
    assert refused.status_code == 404
    shared = {"user": "bob", "role": "viewer"}
    controller.http.post(f"{here}/share", json=shared, headers=ann.headers).raise_for_status()
    with controller.http.stream("GET", f"{here}/live", headers=bob.headers) as answer:
        lines = answer.iter_lines()
        assert next(lines) == ": easeml"
        append(store, ann.caller.tenant_id, "a1")
        told = {line for line, _ in zip(lines, range(5), strict=False) if not line.startswith("id")}
        assert told == {"", "event: application.changed", "data: {}"}
        shared["role"] = None
        controller.http.post(f"{here}/share", json=shared, headers=ann.headers).raise_for_status()
        append(store, ann.caller.tenant_id, "a2")
        later = [line for line in lines if line.startswith("id")]
    assert len(later) <= 1  # what was on its way


def test_its_heartbeat_grows(controller, store) -> None:
    def heartbeat() -> float:
        with store.read() as tx:
            (process,) = tx.processes.list(kind="controller")
        return process.heartbeat

    first = heartbeat()
    wakeup = store.wakeup()
    try:
        while heartbeat() == first:
            assert wakeup.wait(30)
    finally:
        wakeup.close()


def test_a_broken_connection_names_no_server(controller, ann) -> None:
    answer = controller.http.get("/api/v1/me", headers=ann.headers)
    assert "server" not in answer.headers


def test_stopping_ends_open_streams_and_signs_off(controller, store, ann) -> None:
    """The last test, as it ends what all of them share."""
    with store.read() as tx:
        (registered,) = tx.processes.list(kind="controller", state="running")
    assert registered.pid == controller.process.pid
    with events_of(controller.http, ann.headers, after=latest(store)) as events:
        append(store, ann.caller.tenant_id, "a1")
        assert next(events)["subject"] == "a1"
        controller.process.send_signal(signal.SIGTERM)
        assert list(events) == []
    assert controller.process.wait(timeout=90) == 0
    with store.read() as tx:
        assert tx.processes.get(registered.id).state == "ended"
