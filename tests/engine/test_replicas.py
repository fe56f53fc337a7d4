"""Predictors of other machines: when they are asked, how they are reached, and what happens when one
goes away.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_predictor_client import Behaviour, FakePredictor

from easeml.engine import predictor_client
from easeml.engine.membership import register
from easeml.engine.predictor_client import PredictorClient
from easeml.engine.serving import doors, endpoint, lines, load
from easeml.engine.serving.certificates import make_certificate
from easeml.engine.serving.doors import NetworkDoor
from easeml.engine.serving.frames import encode, read_frame
from easeml.engine.serving.lines import Place, open_line
from easeml.engine.serving.load import LATE_SECONDS, Load
from easeml.errors import InvalidInput
from easeml.settings import Settings
from easeml.store import Store

KEY = ("ten_1", "app_1")


class FakeChild:
    """Takes connections over as a child does, and does with them what it is told."""

    def __init__(self, behave: Behaviour):
        self._behave = behave
        self.connections: list[asyncio.Task[None]] = []

    def hand_over(self, connection: socket.socket, application: str) -> None:
        assert application == KEY[1]
        self.connections.append(asyncio.create_task(self._serve(connection.dup())))

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        await self._behave(len(self.connections), reader, writer)
        writer.close()


class FakeServing:
    """What stands behind the door of another machine."""

    def __init__(self, behave: Behaviour):
        self.child = FakeChild(behave)
        self.has_let_go = asyncio.Event()

    async def child_of(self, tenant: str, application: str) -> Any:
        assert (tenant, application) == KEY
        return self.child

    async def let_go(self, tenant: str, application: str) -> None:
        assert (tenant, application) == KEY
        self.has_let_go.set()


@asynccontextmanager
async def another_machine(behave: Behaviour) -> AsyncIterator[tuple[NetworkDoor, FakeServing]]:
    serving = FakeServing(behave)
    door = NetworkDoor(serving, "127.0.0.1")
    standing = asyncio.create_task(door.stand_open())
    try:
        yield door, serving
    finally:
        standing.cancel()
        door.close()


def answers(name: bytes, seconds: float = 0.0) -> Behaviour:
    """One that answers with its name, each request after some seconds."""

    async def behave(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_frame(reader)
            await asyncio.sleep(seconds)
            writer.write(encode({"status": 200}, name))

    async def until_the_end(*given: Any) -> None:
        try:
            await behave(*given)
        except (asyncio.IncompleteReadError, OSError):
            return

    return until_the_end


async def dies(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Be gone as soon as it is asked."""
    await read_frame(reader)


async def stalls(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read, and never answer."""
    await reader.read()


def played(
    store: Store,
    home: Path,
    behave: Behaviour,
    use: Callable[[PredictorClient, FakeServing], Coroutine[Any, Any, None]],
    own_address: str = "",
) -> None:
    """Run ``use`` with a predictor of its own that takes .1 s a request, and another machine's.

    ``own_address``: where its own is said to be.
    """

    async def main() -> None:
        (home / "internal.secret").write_text("s3")
        own = FakePredictor(answers(b"own", 0.1))
        async with own, another_machine(behave) as (door, serving):
            register(store, "predictor", "127.0.0.1:1")  # of another home, or killed just now
            register(store, "predictor", own_address or own.address)
            keys = {"certificate": door.certificate, "secret": door.secret}
            register(store, "predictor", door.address, **keys)
            client = PredictorClient(store, Settings(home=home))
            await use(client, serving)
            await client.close()

    asyncio.run(main())


async def ask_until(client: PredictorClient, is_enough: Callable[[], bool]) -> set[bytes]:
    """Ask as four callers without a pause; return who answered."""
    found: set[bytes] = set()

    async def ask() -> None:
        while not is_enough():
            answered = await client.predict(*KEY, "text/csv", b"x")
            assert answered.status == 200
            found.add(answered.content)

    async with asyncio.timeout(20):
        await asyncio.gather(*(ask() for _ in range(4)))
    return found


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often, and wait for little."""
    monkeypatch.setattr(predictor_client, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(load, "_QUIET_LOOKS", 3)
    monkeypatch.setattr(load, "_MANY", 2)
    monkeypatch.setattr(doors, "REST_SECONDS", 0.05)


def test_a_loaded_endpoint_is_answered_by_another_machine_and_later_by_one_again(
    store: Store, tmp_path: Path
) -> None:
    async def use(client: PredictorClient, serving: FakeServing) -> None:
        asked = 0

        def is_enough() -> bool:
            nonlocal asked
            asked += bool(serving.child.connections)
            return asked > 40

        assert await ask_until(client, is_enough) == {b"own", b"other"}
        async with asyncio.timeout(20):
            await serving.has_let_go.wait()

    played(store, tmp_path, answers(b"other"), use)


@pytest.mark.parametrize("behave", [dies, stalls])
def test_a_machine_that_goes_away_loses_no_request(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behave: Behaviour
) -> None:
    for module in (endpoint, lines):
        monkeypatch.setattr(module, "STALLED_SECONDS", 0.3)

    async def use(client: PredictorClient, serving: FakeServing) -> None:
        asked = 0

        def is_enough() -> bool:
            nonlocal asked
            asked += bool(serving.child.connections)
            return asked > 12

        assert await ask_until(client, is_enough) == {b"own"}

    played(store, tmp_path, behave, use)


def test_a_silent_machine_is_asked_no_more(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may not have heard of what it should serve."""
    monkeypatch.setattr(load, "_QUIET_LOOKS", 10**6)  # it is not let go for this reason

    async def use(client: PredictorClient, serving: FakeServing) -> None:
        await ask_until(client, lambda: bool(serving.child.connections))
        with store.write() as tx:
            for one in tx.processes.list():
                tx.processes.update(one.id, heartbeat=tx.now() - 60.0)
        async with asyncio.timeout(20):
            await serving.has_let_go.wait()

    played(store, tmp_path, answers(b"other"), use)


def test_without_a_predictor_of_its_own_another_machine_answers(
    store: Store, tmp_path: Path
) -> None:
    async def use(client: PredictorClient, serving: FakeServing) -> None:
        assert (await client.predict(*KEY, "text/csv", b"x")).content == b"other"

    played(store, tmp_path, answers(b"other"), use, own_address="127.0.0.1:1")


def test_the_next_machine_that_answers_is_of_another_fault_domain(
    store: Store, tmp_path: Path
) -> None:
    """The one of the own rack is as free, and came first."""

    async def main() -> None:
        (tmp_path / "internal.secret").write_text("s3")
        near, far = another_machine(answers(b"near")), another_machine(answers(b"far"))
        own = FakePredictor(answers(b"own", 0.1))
        async with own, near as (near_door, _), far as (far_door, serving):
            register(store, "predictor", own.address, domain="rack1")
            for door, domain in ((near_door, "rack1"), (far_door, "rack2")):
                keys = {"certificate": door.certificate, "secret": door.secret}
                register(store, "predictor", door.address, domain=domain, **keys)
            client = PredictorClient(store, Settings(home=tmp_path, replicas=2))
            asked = 0

            def is_enough() -> bool:
                nonlocal asked
                asked += bool(serving.child.connections)
                return asked > 12

            assert await ask_until(client, is_enough) == {b"own", b"far"}
            await client.close()

    asyncio.run(main())


def test_strangers_and_nonsense_are_not_let_in(tmp_path: Path) -> None:
    async def main() -> None:
        async with another_machine(answers(b"other")) as (door, serving):
            place = Place("proc_1", door.address, door.secret, door.certificate)
            (await open_line(place, KEY)).abort()
            with pytest.raises(ConnectionRefusedError):
                await open_line(replace(place, secret="another"), KEY)
            with pytest.raises(ssl.SSLCertVerificationError):
                await open_line(replace(place, certificate=make_certificate("easeml")[0]), KEY)
            assert await said_to(place, b"GET / HTTP/1.1\r\n\r\n") == b""
            assert await said_to(place, encode({"secret": "x" * 2**13})) == b""
            assert len(serving.child.connections) == 1

    asyncio.run(main())


async def said_to(place: Place, words: bytes) -> bytes:
    """Return all that the door answers to somebody who does not greet."""
    host, _, port = place.address.rpartition(":")
    context = lines.trusting(place.certificate)
    reader, writer = await asyncio.open_connection(host, int(port), ssl=context)
    writer.write(words)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    return answer


def test_an_address_that_is_not_this_machines_is_refused() -> None:
    for place in ("192.0.2.1", "127.0.0.1:x", "no such host"):
        with pytest.raises(InvalidInput) as refused:
            doors.listener_at(place)
        assert refused.value.where == "serve_at"


def test_load_asks_for_more_where_most_requests_are_late_and_for_fewer_where_it_is_quiet() -> None:
    seen = Load()
    for _ in range(3):
        seen.note(2 * LATE_SECONDS)
    assert seen.change(predictors=1, busy=1) == 1
    for wait in (2 * LATE_SECONDS, 0.0, 0.0, 0.0):
        seen.note(wait)
    assert seen.change(predictors=2, busy=2) == 0  # most were not late
    assert [seen.change(predictors=2, busy=0) for _ in range(3)] == [0, 0, -1]
    assert [seen.change(predictors=1, busy=0) for _ in range(9)] == [0] * 9


class OpenTransport(asyncio.Transport):
    """Is open until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = True

    def close(self) -> None:
        self.is_open = False


def test_two_predictors_of_this_machine_become_one_where_it_is_quiet() -> None:
    """One takes over from another, and the first has not ended: it raised where none was far."""
    transports = [OpenTransport(), OpenTransport()]

    async def main() -> list[str]:
        asked = endpoint.Endpoint("app_1")
        for number, transport in enumerate(transports):
            line = lines.Line(Place(f"proc_{number}", "127.0.0.1:1", "secret"))
            line.connection_made(transport)
            asked.add(line)
        for _ in range(40):
            asked.look()
        return asked.predictors

    assert asyncio.run(main()) == ["proc_0"]
    assert [transport.is_open for transport in transports] == [True, False]


def test_slow_requests_of_which_few_come_in_a_second_are_late_too() -> None:
    seen = Load()
    asked = []
    for _ in range(4):  # two requests tell enough here
        seen.note(2 * LATE_SECONDS)
        asked.append(seen.change(predictors=1, busy=1))
    assert asked == [0, 1, 0, 1]
    seen.note(2 * LATE_SECONDS)
    assert seen.change(predictors=1, busy=0) == 0  # it is answered, and forgotten
    seen.note(2 * LATE_SECONDS)
    assert seen.change(predictors=1, busy=1) == 0
