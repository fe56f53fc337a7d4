"""Nobody can use up a controller by headers without end, by silence, or by guessing passwords."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from fastapi.testclient import TestClient
from furnish import PASSWORD
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from easeml.api import patient_protocol, request_limits
from easeml.api.patient_protocol import MOST_HEAD, PatientProtocol
from easeml.api.request_limits import RequestLimits
from easeml.api.sign_in_throttle import SignInThrottle
from easeml.api.tenant_slots import TenantSlots

Connect = Callable[[], socket.socket]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Connections to a server with little patience, that answers with the size of a body."""
    monkeypatch.setattr(patient_protocol, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(request_limits, "PATIENCE", 0.3)

    async def measure(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    app = RequestLimits(Starlette(routes=[Route("/", measure, methods=["POST"])]), lambda _: 2**20)
    config = uvicorn.Config(app, http=PatientProtocol, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    opened: list[socket.socket] = []

    def open_one() -> socket.socket:
        opened.append(socket.create_connection(listener.getsockname(), timeout=20))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()
    server.should_exit = True
    thread.join(20)
    listener.close()


def status_of(connection: socket.socket) -> int:
    """The status of the next answer; 0 where the connection ends without one."""
    try:
        answer = connection.recv(65536)
    except ConnectionResetError:
        return 0
    return int(answer.split()[1]) if answer else 0


def test_usual_requests_are_answered_one_after_another(connect: Connect) -> None:
    connection = connect()
    for size in (0, 10, 70_000, 3):
        body = b"x" * size
        connection.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size + body
        )
        assert status_of(connection) == 200
    connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    connection.sendall(b"1\r\nx\r\n" * 5000 + b"0\r\n\r\n")
    assert status_of(connection) == 200


@pytest.mark.parametrize(
    "start",
    [
        b"POST / HTTP/1.1\r\nX-Long: ",
        b"POST /",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Trailer: ",
    ],
    ids=["header", "address", "trailer"],
)
def test_headers_without_end_are_refused(connect: Connect, start: bytes) -> None:
    connection = connect()
    connection.sendall(start)
    sent = 0
    with pytest.raises(OSError):
        while sent < 1000 * MOST_HEAD:
            sent += connection.send(b"x" * 8192)
            connection.setblocking(False)
            try:
                if b"431" in connection.recv(1000) or not connection.recv(1):
                    raise ConnectionResetError
            except BlockingIOError:
                connection.setblocking(True)


@pytest.mark.parametrize("said", [b"", b"POST / HTTP/1.1\r\nHost", b"\r\n"])
def test_who_does_not_finish_the_headers_is_not_waited_for(connect: Connect, said: bytes) -> None:
    connection = connect()
    connection.sendall(said)
    assert status_of(connection) == 408


def test_a_body_that_stands_still_is_not_waited_for(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nxyz")
    assert status_of(connection) == 408


def test_uploads_that_stand_still_leave_slots_for_other_tenants() -> None:
    release = threading.Event()

    async def attack() -> str:
        slots = TenantSlots()
        stalled = [asyncio.create_task(slots.run("mallory", release.wait)) for _ in range(200)]
        await asyncio.sleep(0)
        found = await asyncio.wait_for(slots.run("ann", lambda: "stored"), 20)
        release.set()
        await asyncio.gather(*stalled)
        return found

    assert asyncio.run(attack()) == "stored"


def test_guesses_are_refused_before_they_cost_anything(client: TestClient, ann) -> None:
    wrong = {"name": "ann", "password": "a wrong password"}
    client.app.state.context.sign_ins.__init__()  # pyright: ignore  # others signed in before
    answers = [client.post("/api/v1/login", json=wrong) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {401}
    began = time.monotonic()
    refused = [client.post("/api/v1/login", json=wrong) for _ in range(145)]
    assert {answer.status_code for answer in refused} == {429}
    assert 0 < int(refused[0].headers["retry-after"]) <= 60
    assert time.monotonic() - began < 10
    assert "Try again" in refused[0].json()["detail"]
    right = client.post("/api/v1/login", json={"name": "bob", "password": PASSWORD})
    assert right.status_code == 201  # others are not delayed


def test_a_name_is_not_locked_by_guesses_from_elsewhere() -> None:
    now = 0.0
    throttle = SignInThrottle(lambda: now)
    for _ in range(5):
        throttle.admit("ann", "1.1.1.1")
    with pytest.raises(HTTPException):
        throttle.admit("ann", "1.1.1.1")
    for _ in range(100):  # right passwords are not counted
        throttle.admit("ann", "2.2.2.2")
        throttle.succeeded("ann", "2.2.2.2")
    now = 61.0
    throttle.admit("ann", "1.1.1.1")


def test_many_names_from_one_address_are_refused() -> None:
    throttle = SignInThrottle(lambda: 0.0)
    for number in range(30):
        throttle.admit(f"name-{number}", "1.1.1.1")
    with pytest.raises(HTTPException, match="429"):
        throttle.admit("another", "1.1.1.1")
    throttle.admit("another", "2.2.2.2")


def test_guesses_from_everywhere_lock_nobody_out_where_they_signed_in_before() -> None:
    now = [0.0]
    throttle = SignInThrottle(lambda: now[0])
    throttle.admit("ann", "home")
    throttle.succeeded("ann", "home")
    for number in range(60):
        throttle.admit("ann", f"192.0.2.{number}")
    with pytest.raises(HTTPException):
        throttle.admit("ann", "192.0.2.99")
    with pytest.raises(HTTPException):
        throttle.admit("ann", "somewhere new")
    throttle.admit("ann", "home")
    throttle.succeeded("ann", "home")
    for _ in range(5):
        throttle.admit("ann", "home")
    with pytest.raises(HTTPException):  # who guesses there is stopped like anybody
        throttle.admit("ann", "home")
    now[0] += 31 * 86_400.0
    for number in range(60):
        throttle.admit("ann", f"198.51.100.{number}")
    with pytest.raises(HTTPException):  # it was long ago
        throttle.admit("ann", "home")
