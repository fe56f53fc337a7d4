"""What the controller does when connections to serving children break, against a predictor that
breaks them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from easeml.engine.membership import register
from easeml.engine.predictor_client import PredictorClient
from easeml.engine.serving.frames import encode, read_frame
from easeml.errors import NotReady
from easeml.protocols.answered import Answered
from easeml.settings import Settings
from easeml.store import Store

Behaviour = Callable[[int, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class FakePredictor:
    """Greets like a predictor, then does with the n-th connection what it is told."""

    def __init__(self, behave: Behaviour, status: int = 200):
        self._behave = behave
        self._status = status
        self.greetings: list[dict[str, Any]] = []

    async def __aenter__(self) -> "FakePredictor":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.address = "{}:{}".format(*self._server.sockets[0].getsockname())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greeting, _ = await read_frame(reader)
        self.greetings.append(greeting)
        writer.write(encode({"status": self._status}, b"" if self._status == 200 else b"no"))
        if self._status == 200:
            await self._behave(len(self.greetings), reader, writer)
        writer.close()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, times: int) -> None:
    for _ in range(times):
        header, body = await read_frame(reader)
        writer.write(encode({"status": 200}, header["content_type"].encode() + b" " + body))


def run(
    store: Store,
    home: Path,
    behave: Behaviour,
    use: Callable[..., Awaitable[None]],
    status: int = 200,
) -> None:
    async def main() -> None:
        async with FakePredictor(behave, status) as predictor:
            (home / "internal.secret").write_text("s3")
            register(store, "predictor", predictor.address)
            client = PredictorClient(store, Settings(home=home))
            await use(client, predictor)
            await client.close()

    asyncio.run(main())


def test_a_kept_connection_serves_again_and_a_dead_one_is_replaced(
    store: Store, tmp_path: Path
) -> None:
    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        for body in (b"1", b"2", b"3"):  # the first connection ends after two answers
            assert await client.predict("ten_1", "app_1", "text/csv", body) == Answered(
                200,
                b"text/csv " + body,
            )
        assert [g["application"] for g in predictor.greetings] == ["app_1", "app_1"]
        assert {(g["tenant"], g["secret"]) for g in predictor.greetings} == {("ten_1", "s3")}

    run(store, tmp_path, lambda _, reader, writer: answer(reader, writer, 2), use)


def test_connections_are_not_shared_between_applications(store: Store, tmp_path: Path) -> None:
    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        for application in ("app_1", "app_2", "app_1"):
            await client.predict("ten_1", application, "text/csv", b"x")
        assert [g["application"] for g in predictor.greetings] == ["app_1", "app_2"]

    run(store, tmp_path, lambda _, reader, writer: answer(reader, writer, 9), use)


def test_a_request_that_ends_the_child_is_given_up(store: Store, tmp_path: Path) -> None:
    async def die(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_frame(reader)

    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        with pytest.raises(NotReady, match="ended while it worked"):
            await client.predict("ten_1", "app_1", "text/csv", b"x")
        assert len(predictor.greetings) == 3

    run(store, tmp_path, die, use)


def test_a_child_that_dies_once_is_asked_again(store: Store, tmp_path: Path) -> None:
    async def die_first(
        number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await (read_frame(reader) if number == 1 else answer(reader, writer, 1))

    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        assert (await client.predict("ten_1", "app_1", "text/csv", b"x")).status == 200

    run(store, tmp_path, die_first, use)


def test_a_refusal_is_the_answer(store: Store, tmp_path: Path) -> None:
    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        assert await client.predict("ten_1", "app_1", "text/csv", b"x") == Answered(404, b"no")
        assert len(predictor.greetings) == 1

    run(store, tmp_path, lambda _, reader, writer: answer(reader, writer, 1), use, status=404)


def test_an_answer_that_nobody_waits_for_reaches_nobody_else(store: Store, tmp_path: Path) -> None:
    """Requests share a connection, also when who asked first has gone before the answer came."""

    async def answer_when_both_came(
        number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        _, first = await read_frame(reader)
        asked.set()
        _, second = await read_frame(reader)
        for body in (first, second):
            writer.write(encode({"status": 200}, body))

    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        first = asyncio.create_task(client.predict("ten_1", "app_1", "text/csv", b"first"))
        await asked.wait()
        first.cancel()
        second = await client.predict("ten_1", "app_1", "text/csv", b"second")
        assert second == Answered(200, b"second")
        assert len(predictor.greetings) == 1

    asked = asyncio.Event()
    run(store, tmp_path, answer_when_both_came, use)


def test_those_who_ask_at_once_share_one_connection(store: Store, tmp_path: Path) -> None:
    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        bodies = [str(number).encode() for number in range(9)]
        asked = [client.predict("ten_1", "app_1", "text/csv", body) for body in bodies]
        answers = await asyncio.gather(*asked)
        assert [answer.content for answer in answers] == [b"text/csv " + body for body in bodies]
        assert len(predictor.greetings) == 1

    run(store, tmp_path, lambda _, reader, writer: answer(reader, writer, 9), use)


def test_a_predictor_of_another_machine_is_not_asked(store: Store, tmp_path: Path) -> None:
    """Two services on one database: the newer predictor listens on the loopback of the other."""

    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        async with FakePredictor(lambda *_: answer(*_[1:], 1)) as other:
            record = register(store, "predictor", other.address)
            with store.write() as tx:
                tx.processes.update(record.id, host="elsewhere")
            await client.predict("ten_1", "app_1", "text/csv", b"x")
        assert (len(predictor.greetings), len(other.greetings)) == (1, 0)

    run(store, tmp_path, lambda _, reader, writer: answer(reader, writer, 1), use)


def test_of_two_services_on_one_machine_each_asks_its_own_predictor(
    store: Store, tmp_path: Path
) -> None:
    """The newer one does not know this secret, and a third does not answer at all."""

    async def use(client: PredictorClient, predictor: FakePredictor) -> None:
        async with FakePredictor(lambda *_: answer(*_[1:], 1), status=401) as other:
            register(store, "predictor", other.address)
            register(store, "predictor", "127.0.0.1:1")
            answered = await client.predict("ten_1", "app_1", "text/csv", b"x")
            assert answered == Answered(200, b"text/csv x")
            assert (len(predictor.greetings), len(other.greetings)) == (1, 1)

    run(store, tmp_path, lambda _, reader, writer: answer(reader, writer, 1), use)
