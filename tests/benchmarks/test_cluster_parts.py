"""Parts of the benchmark of faults: who idles, and ways that are cut."""

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from cluster_history import check_history
from cut_network import Network
from idle_devices import IdleDevices, Span, ancestors, runs
from linearizability import NotLinearizable, Operation
from service_process import free_port


def test_idling_is_timed_from_look_to_look() -> None:
    watched = IdleDevices(cast(Any, None), lambda _: False, lambda: "a stall")
    for now, idle in ((0.0, ["a"]), (0.5, ["a", "b"]), (2.0, ["b"]), (3.0, []), (4.0, ["a"])):
        watched.look(now, idle)
    watched.look(5.0, [])
    expected = [("a", 2.0), ("b", 2.5), ("a", 1.0)]
    assert watched.spans == [Span(*one, "a stall") for one in expected]


def test_this_process_runs_and_has_ancestors() -> None:
    import os

    assert runs(os.getpid())
    assert not runs(2**22 + 1)
    assert ancestors(os.getpid())[:2] == [os.getpid(), os.getppid()]


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that says what it hears."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            while heard := connection.recv(100):
                connection.sendall(heard)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield server.getsockname()[1]
    server.close()


def test_a_way_between_ports_is_cut_and_mended(echo: int) -> None:
    port = free_port()
    network = Network(port, echo)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            client.sendall(b"one")
            assert client.recv(3) == b"one"
            network.cut("back")
            client.sendall(b"two")
            client.settimeout(0.2)
            with pytest.raises(TimeoutError):
                client.recv(3)
            client.settimeout(30)
            network.mend(breaks=False)
            assert client.recv(3) == b"two"
            network.mend(breaks=True)
            with pytest.raises(ConnectionError):
                client.sendall(b"three")
                if not client.recv(5):
                    raise ConnectionResetError
    finally:
        network.close()


SERVED = [
    Operation("live a", "promote", ("", "m1", "better"), None, 0.0, 100.0),
    Operation("live a", "get", None, ("m1", False), 1.0, 1.1),
    Operation("live a", "roll back", "m2", None, 2.0, 2.1),
]


def test_the_least_lag_of_predictions_is_told() -> None:
    late = [Operation("live a", "predict", None, model, 5.0, 5.1) for model in ("m1", "m2")]
    verdict = check_history([*SERVED, *late])
    assert (verdict.lag, verdict.operations, verdict.objects) == (5.0, 5, 1)
    assert check_history([*SERVED, late[1]]).lag == 0.0


def test_a_prediction_of_a_model_that_never_served_is_refused() -> None:
    wrong = Operation("live a", "predict", None, "m3", 5.0, 5.1)
    with pytest.raises(NotLinearizable):
        check_history([*SERVED, wrong])
