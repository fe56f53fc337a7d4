"""Who is refused before the whole body is read sees the refusal, whatever client sends it."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send
from test_patience import serving, status_of

from easeml.api import patient_protocol
from easeml.api.request_limits import RequestLimits
from easeml.errors import NotSignedIn

LIMIT = 2**20
Address = tuple[str, int]


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse who has no key, unread; else answer with the size of the body."""
    request = Request(scope, receive)
    if "authorization" not in request.headers:
        raise NotSignedIn
    answer: Response = PlainTextResponse(str(len(await request.body())))
    await answer(scope, receive, send)


@pytest.fixture
def address() -> Iterator[Address]:
    with serving(RequestLimits(app, lambda _: LIMIT)) as (connect, _):
        yield connect().getpeername()


def refused(address: Address, headers: dict[str, str], size: int) -> tuple[int, str]:
    """What urllib gets for a body: it sends all of it, and says that it closes the connection."""
    asked = urllib.request.Request(
        f"http://{address[0]}:{address[1]}/", data=b"x" * size, headers=headers, method="POST"
    )
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(asked, timeout=20)
    return caught.value.code, json.loads(caught.value.read())["code"]


@pytest.mark.parametrize("size", [LIMIT + 1, 40 * LIMIT])
def test_a_body_that_is_too_large_is_told_to_be(address: Address, size: int) -> None:
    key = {"Authorization": "Bearer x"}
    assert refused(address, key, size) == (413, "too-large")


def test_a_long_body_of_a_stranger_is_answered(address: Address) -> None:
    assert refused(address, {}, LIMIT // 2) == (401, "not-signed-in")


def begun(address: Address, more: bytes = b"") -> socket.socket:
    """A connection whose request is refused, and that has sent little of a body of 100 MB."""
    connection = socket.create_connection(address, timeout=20)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000000\r\n"
    connection.sendall(head + more + b"\r\n")
    return connection


def test_the_rest_of_a_body_is_not_waited_for_long(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_protocol, "REST_SECONDS", 0.2)
    with begun(address) as connection:
        assert status_of(connection) == 413
        assert connection.recv(1) == b""  # it is closed


def test_of_a_rest_without_end_little_is_read(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_protocol, "MOST_REST", LIMIT)
    with begun(address) as connection, pytest.raises(OSError):
        for _ in range(90):
            connection.sendall(b"x" * LIMIT)


def test_who_asks_before_the_body_is_sent_is_not_waited_for(address: Address) -> None:
    with begun(address, b"Expect: 100-continue\r\n") as connection:
        answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 413")
        assert connection.recv(1) == b""
