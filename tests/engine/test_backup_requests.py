"""A request that waits longer than usual is asked of a second predictor, and taken back from the first."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from easeml.engine.serving import child
from easeml.engine.serving.answers import Answer, Request
from easeml.engine.serving.backups import Backups
from easeml.engine.serving.endpoint import Endpoint
from easeml.engine.serving.frames import TAKEN_BACK, encode, receive_frame
from easeml.engine.serving.lines import Line, Place


class Model:
    """Answers with its name, unless it is held up."""

    def __init__(self, name: str):
        self.name = name
        self.bodies: list[bytes] = []
        self.has_begun = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        self.bodies += [one.body for one in requests]
        self.has_begun.set()
        assert self.goes_on.wait(20)
        return [Answer(200, self.name.encode())] * len(requests)


def request(body: bytes) -> bytes:
    return encode({"content_type": "text/csv"}, body)


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, Model]:
    """What children load, by name."""
    there = {name: Model(name) for name in ("first", "second")}
    monkeypatch.setattr(child, "_load", lambda order: there[order["model_id"]])
    monkeypatch.setattr(child, "answer_each", Model.answer)
    return there


@asynccontextmanager
async def served(name: str) -> AsyncIterator[Line]:
    """Yield a connection to a child that has loaded a model; the child is a thread here."""
    control, its_control = socket.socketpair()
    handing, handed = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    running = threading.Thread(target=child.answer, args=(its_control, handed))
    running.start()
    control.sendall(encode({"id": 1, "do": "load", "model_id": name}))
    assert receive_frame(control)[0]["error"] == ""
    assign = {"application": "app", "model_id": name, "challenger_id": "", "share": 0.0}
    control.sendall(encode({"id": 2, "do": "serve", **assign}))
    assert receive_frame(control)[0]["error"] == ""
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(handing, [b"app"], [theirs.fileno()])
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(lambda: Line(Place(name, "", "")), sock=ours)
    yield line
    line.abort()
    control.close()
    handing.close()
    await asyncio.to_thread(running.join)


def test_a_request_that_waits_behind_another_is_answered_by_who_is_free(
    models: dict[str, Model],
) -> None:
    async def main() -> None:
        async with served("first") as first, served("second") as second:
            endpoint = Endpoint("app")
            endpoint.add(first)
            endpoint.add(second)
            for _ in range(20):
                await endpoint.answer(second, request(b"before"))
            models["first"].goes_on.clear()
            held_up = first.ask(request(b"held up"))
            await asyncio.to_thread(models["first"].has_begun.wait)
            head, body = await endpoint.answer(first, request(b"waits"))
            assert (head["status"], body) == (200, b"second")
            await asyncio.sleep(0)  # what is written leaves at the end of a step
            models["first"].goes_on.set()
            assert (await held_up)[1] == b"first"
            assert (await first.ask(request(b"after")))[1] == b"first"

    asyncio.run(main())
    assert models["first"].bodies == [b"held up", b"after"]


def test_what_nobody_waits_for_any_more_is_not_begun(models: dict[str, Model]) -> None:
    async def main() -> None:
        async with served("first") as first, served("second") as second:
            endpoint = Endpoint("app")
            endpoint.add(first)
            endpoint.add(second)
            models["first"].goes_on.clear()
            held_up = first.ask(request(b"held up"))
            await asyncio.to_thread(models["first"].has_begun.wait)
            leaves = asyncio.create_task(endpoint.answer(first, request(b"leaves")))
            await asyncio.sleep(0)
            leaves.cancel()
            await asyncio.wait([leaves])
            await asyncio.sleep(0)  # what is written leaves at the end of a step
            models["first"].goes_on.set()
            await held_up
            assert (await first.ask(request(b"after")))[1] == b"first"

    asyncio.run(main())
    assert models["first"].bodies == [b"held up", b"after"]


def test_what_is_taken_back_is_not_begun_and_all_others_are_answered_in_their_order(
    models: dict[str, Model],
) -> None:
    async def main() -> list[int]:
        async with served("first") as line:
            models["first"].goes_on.clear()
            asked = [line.ask(request(b"0"))]
            await asyncio.to_thread(models["first"].has_begun.wait)
            asked += [line.ask(request(str(number).encode())) for number in range(1, 5)]
            for number in (3, 1, 0):
                line.take_back(asked[number])
            asked.append(line.ask(request(b"5")))
            models["first"].goes_on.set()
            heads = [(await one)[0] for one in asked]
            line.take_back(asked[2])  # it is answered: nothing happens
            assert (await line.ask(request(b"6")))[0]["status"] == 200
            return [head["status"] for head in heads]

    assert asyncio.run(main()) == [200, TAKEN_BACK, 200, TAKEN_BACK, 200, 200]
    assert models["first"].bodies == [b"0", b"2", b"4", b"5", b"6"]


def test_at_most_a_tenth_of_the_requests_is_answered_twice() -> None:
    seen = Backups()
    assert not seen.may_ask
    for _ in range(25):
        seen.note_answer(0.01)
    assert seen.patience == pytest.approx(0.02)
    asked_twice = 0
    while seen.may_ask:
        seen.note_asked_twice()
        asked_twice += 1
    assert asked_twice == 2
    seen.note_spared()
    assert seen.may_ask


def test_what_was_long_ago_counts_less() -> None:
    seen = Backups()
    for _ in range(10_000):
        seen.note_answer(0.01)
        if seen.may_ask:
            seen.note_asked_twice()
    for _ in range(2_000):
        seen.note_answer(1.0)
    more = 0
    while seen.may_ask:
        seen.note_asked_twice()
        more += 1
    assert 30 < more < 200  # about 1,000 count
    assert seen.patience == pytest.approx(2.0)
