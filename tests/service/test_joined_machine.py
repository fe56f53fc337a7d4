"""A machine joins, works for a service whose own devices rest, and leaves."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from easeml.client import Client
from easeml.contract.devices import DeviceState, WorkerDevice
from service_process import LOOK_EVERY, READY_SECONDS, EasemlProcess

pytestmark = pytest.mark.service


@pytest.fixture
def client(easeml: EasemlProcess) -> Iterator[Client]:
    with Client(easeml.url, easeml.key) as client:
        yield client


@pytest.fixture
def joined(easeml: EasemlProcess, client: Client, tmp_path: Path) -> Iterator[WorkerDevice]:
    """The device of a machine that has joined."""
    before = {device.id for device in devices_when(client, easeml.workers)}
    (tmp_path / "key").write_text(f"{easeml.key}\n")
    arguments = ["worker", "--join", easeml.url, "--token-file", str(tmp_path / "key")]
    arguments += ["--devices", "1", "--kind", "spare", "--home", str(tmp_path / "w")]
    machine = subprocess.Popen([sys.executable, "-m", "easeml.cli", *arguments])
    try:
        there = devices_when(client, easeml.workers + 1)
        yield next(device for device in there if device.id not in before)
    finally:
        machine.terminate()
        machine.wait()


def devices_when(client: Client, count: int) -> list[WorkerDevice]:
    latest = time.monotonic() + READY_SECONDS
    while len(found := list(client.devices())) < count:
        assert time.monotonic() < latest, found
        time.sleep(LOOK_EVERY)
    return found


@pytest.fixture
def resting(client: Client, joined: WorkerDevice) -> Iterator[None]:
    """The service's own devices take nothing new."""
    own = [device.id for device in client.devices() if device.id != joined.id]
    for device_id in own:
        client.drain_device(device_id, draining=True)
    yield
    for device_id in own:
        client.drain_device(device_id, draining=False)


def test_a_joined_machine_trains_and_the_service_serves(
    easeml: EasemlProcess, client: Client, joined: WorkerDevice, resting: None, tmp_path: Path
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
