"""A machine joins, works for a service whose own devices rest, answers predictions, and is lost."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

import commands
from easeml.client import Client
from easeml.contract.devices import DeviceState, WorkerDevice
from service_process import LOOK_EVERY, EasemlProcess
from warm_python import Started

pytestmark = pytest.mark.service
_CALLERS = 6
_LATEST = 200.0  # seconds, in which also a busy machine has opened a predictor


@pytest.fixture
def client(easeml: EasemlProcess) -> Iterator[Client]:
    with Client(easeml.url, easeml.key) as client:
        yield client


@pytest.fixture
def machine(easeml: EasemlProcess, tmp_path: Path) -> Iterator[Started]:
    """A machine that joins, and answers predictions."""
    (tmp_path / "key").write_text(f"{easeml.key}\n")
    arguments = ["worker", "--join", easeml.url, "--token-file", str(tmp_path / "key")]
    arguments += ["--devices", "1", "--kind", "spare", "--home", str(tmp_path / "w")]
    arguments += ["--serve", "127.0.0.1"]
    started = commands.warm().start(
        ["-m", "easeml.cli", *arguments], Path.cwd(), os.environ, tmp_path
    )
    yield started
    with suppress(ProcessLookupError):  # it is lost by then, unless the test failed
        started.kill()


@pytest.fixture
def joined(easeml: EasemlProcess, machine: Started) -> WorkerDevice:
    """The device of the machine that has joined."""
    there = easeml.wait_for_devices(easeml.workers + 1)
    return next(device for device in there if device.kind == "spare")


@pytest.fixture
def resting(client: Client, joined: WorkerDevice) -> Iterator[None]:
    """The service's own devices take nothing new."""
    own = [device.id for device in client.devices() if device.id != joined.id]
    for device_id in own:
        client.drain_device(device_id, draining=True)
    yield
    for device_id in own:
        client.drain_device(device_id, draining=False)


@pytest.mark.usefixtures("resting")
def test_a_joined_machine_trains_and_answers_and_nothing_is_lost_with_it(
    easeml: EasemlProcess,
    client: Client,
    joined: WorkerDevice,
    machine: Started,
    tmp_path: Path,
) -> None:
    path = tmp_path / "wine.csv"
    frame = load_wine(as_frame=True).frame
    frame.to_csv(path, index=False)
    easeml.command("app", "create", str(path), "--target", "target", "--max-tasks", "1", "--yes")
    application = list(client.applications())[-1]
    easeml.wait(application.id, "converged", 120)
    rows = frame.drop(columns="target").iloc[:3].to_dict("records")
    assert len(client.predict(application.id, rows).predictions) == 3
    states = {device.id: device.state for device in client.devices()}
    assert states.pop(joined.id) in (DeviceState.FREE, DeviceState.WORKING)
    assert set(states.values()) == {DeviceState.DRAINED}
    assert joined.kind == "spare"
    (listed,) = [
        line for line in easeml.command("device", "list").splitlines() if joined.id in line
    ]
    assert "spare" in listed
    many = frame.drop(columns="target").sample(10_000, replace=True, random_state=0)
    with asked_without_pause(easeml, application.id, many.to_dict("records")):
        wait_for_log(easeml, '"predictors": 2')
        machine.kill()
        machine.wait()
        wait_for_log(easeml, "process ended", "scheduler-1.log")  # and it goes on


@contextmanager
def asked_without_pause(
    easeml: EasemlProcess, application: str, rows: list[dict[str, float]]
) -> Iterator[None]:
    """Have several callers ask for predictions meanwhile; each request has to be answered.

    They encode rows in one process: fewer would not keep a predictor busy on a busy machine.
    """
    is_over, counts = threading.Event(), list[int]()

    def ask() -> None:
        with Client(easeml.url, easeml.key) as caller:
            while not is_over.is_set():
                counts.append(len(caller.predict(application, rows).predictions))

    with ThreadPoolExecutor(_CALLERS) as callers:
        asking = [callers.submit(ask) for _ in range(_CALLERS)]
        try:
            yield
        finally:
            is_over.set()
        for one in asking:
            one.result()
    assert set(counts) == {len(rows)}


def wait_for_log(easeml: EasemlProcess, words: str, name: str = "controller-1.log") -> None:
    """Wait until a process of the service has said something."""
    latest = time.monotonic() + _LATEST
    while words not in (easeml.home / "logs" / name).read_text():
        assert time.monotonic() < latest, words
        time.sleep(LOOK_EVERY)
