"""Nobody can use up a controller by headers without end, by silence, or by guessing passwords."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import uvicorn
from fastapi.testclient import TestClient
from furnish import PASSWORD
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from easeml.api import patient_protocol, request_limits, tenant_slots
from easeml.api.patient_protocol import FIRST_READ, MOST_HEAD, FrugalProtocol
from easeml.api.request_limits import RequestLimits
from easeml.api.sign_in_throttle import SignInThrottle
from easeml.api.tenant_slots import TenantSlots
from easeml.errors import NotReady, TooMany
from easeml.service.accounts import passwords

Connect = Callable[[], socket.socket]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Connections to a server with little patience, that answers with the size of a body."""
    monkeypatch.setattr(patient_protocol, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(request_limits, "PATIENCE", 0.3)

    async def measure(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    app = RequestLimits(Starlette(routes=[Route("/", measure, methods=["POST"])]), lambda _: 2**20)
    with serving(app) as (open_one, _):
        yield open_one


@contextmanager
def serving(app: ASGIApp) -> Iterator[tuple[Connect, uvicorn.Server]]:
    """Let a server answer by an app as the controller's does; gives what connects to it."""
    config = uvicorn.Config(app, http=FrugalProtocol, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    opened: list[socket.socket] = []

    def open_one() -> socket.socket:
        opened.append(socket.create_connection(listener.getsockname(), timeout=20))
        return opened[-1]

    yield open_one, server
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


def test_of_a_body_that_nobody_wants_yet_little_is_read() -> None:
    wanted = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def wait(request: Request) -> Response:
        loops.append(asyncio.get_running_loop())
        await wanted.wait()
        return PlainTextResponse(str(len(await request.body())))

    size = 3 * 2**20
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size
    with serving(Starlette(routes=[Route("/", wait, methods=["POST"])])) as (connect, server):
        connections = [connect() for _ in range(5)]
        senders = [
            threading.Thread(target=one.sendall, args=(head + b"x" * size,)) for one in connections
        ]
        for sender in senders:
            sender.start()
        deadline = time.monotonic() + 20
        while len(loops) < len(connections) and time.monotonic() < deadline:
            time.sleep(0.01)
        held = [len(one.cycle.body) for one in server.server_state.connections]  # type: ignore[union-attr]
        loops[0].call_soon_threadsafe(wanted.set)
        answers = [one.recv(65536) for one in connections]
    assert len(held) == len(connections)
    assert max(held) <= FIRST_READ
    assert all(answer.endswith(str(size).encode()) for answer in answers)


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


def test_uploads_beyond_what_may_wait_are_told_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tenant_slots, "MOST_HERE", 30)
    monkeypatch.setattr(tenant_slots, "MOST_OF_TENANT", 20)
    release = threading.Event()

    async def attack() -> tuple[list[object], list[object], str]:
        slots = TenantSlots()
        of_mallory = [asyncio.create_task(slots.run("mallory", release.wait)) for _ in range(50)]
        of_eve = [asyncio.create_task(slots.run("eve", release.wait)) for _ in range(50)]
        await asyncio.sleep(0)
        release.set()
        ended = [
            await asyncio.gather(*some, return_exceptions=True) for some in (of_mallory, of_eve)
        ]
        return ended[0], ended[1], await slots.run("ann", lambda: "stored")

    of_mallory, of_eve, of_ann = asyncio.run(attack())
    assert [sum(isinstance(one, NotReady) for one in some) for some in (of_mallory, of_eve)] == [
        30,
        40,
    ]
    assert of_ann == "stored"  # there is room again


def test_guesses_are_refused_before_they_cost_anything(
    client: TestClient, ann, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []

    def look_at(password_hash: str, password: str) -> bool:
        looked_at.append(password_hash)
        return False

    monkeypatch.setattr(passwords, "is_right", look_at)
    wrong = {"name": "ann", "password": "a wrong password"}
    client.app.state.context.sign_ins.__init__()  # pyright: ignore  # others signed in before
    answers = [client.post("/api/v1/login", json=wrong) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {401}
    assert len(looked_at) == 5
    refused = [client.post("/api/v1/login", json=wrong) for _ in range(145)]
    assert {answer.status_code for answer in refused} == {429}
    assert 0 < int(refused[0].headers["retry-after"]) <= 60
    assert len(looked_at) == 5
    monkeypatch.undo()
    assert refused[0].json()["remedy"].startswith("Try again in ")
    right = client.post("/api/v1/login", json={"name": "bob", "password": PASSWORD})
    assert right.status_code == 201  # others are not delayed


def test_two_passwords_at_most_are_compared_at_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes 64 MiB while it is compared, so this bounds what strangers can have taken."""
    lock = threading.Lock()
    under_way = [0, 0]  # now, at most

    def look_at(password_hash: str, password: str) -> bool:
        with lock:
            under_way[0] += 1
            under_way[1] = max(under_way)
        threading.Event().wait(0.02)
        with lock:
            under_way[0] -= 1
        return False

    monkeypatch.setattr(passwords, "is_right", look_at)
    client.app.state.context.sign_ins.__init__()  # pyright: ignore  # others signed in before

    def guess(number: int) -> int:
        wish = {"name": f"name-{number}", "password": "a wrong password"}
        return client.post("/api/v1/login", json=wish).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(guess, range(12))) == {401}
    assert under_way[1] == 2


def test_a_name_is_not_locked_by_guesses_from_elsewhere() -> None:
    now = 0.0
    throttle = SignInThrottle(lambda: now)
    for _ in range(5):
        throttle.admit("ann", "1.1.1.1")
    with pytest.raises(TooMany):
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
    with pytest.raises(TooMany):
        throttle.admit("another", "1.1.1.1")
    throttle.admit("another", "2.2.2.2")


def test_guesses_from_everywhere_lock_nobody_out_where_they_signed_in_before() -> None:
    now = [0.0]
    throttle = SignInThrottle(lambda: now[0])
    throttle.admit("ann", "home")
    throttle.succeeded("ann", "home")
    for number in range(60):
        throttle.admit("ann", f"192.0.2.{number}")
    with pytest.raises(TooMany):
        throttle.admit("ann", "192.0.2.99")
    with pytest.raises(TooMany):
        throttle.admit("ann", "somewhere new")
    throttle.admit("ann", "home")
    throttle.succeeded("ann", "home")
    for _ in range(5):
        throttle.admit("ann", "home")
    with pytest.raises(TooMany):  # who guesses there is stopped like anybody
        throttle.admit("ann", "home")
    now[0] += 31 * 86_400.0
    for number in range(60):
        throttle.admit("ann", f"198.51.100.{number}")
    with pytest.raises(TooMany):  # it was long ago
        throttle.admit("ann", "home")
