"""Whatever is taken back, goes away or breaks: each request gets its own answer, and none waits for ever."""

import asyncio
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest

from easeml.engine.serving import child
from easeml.engine.serving.answers import Answer, Request
from easeml.engine.serving.endpoint import Endpoint
from easeml.engine.serving.frames import encode, receive_frame
from easeml.engine.serving.lines import Line, Place

_REQUESTS = 150
_SECONDS = 30.0  # in which all are answered


class Model:
    """Answers each request with its own body, after a while."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self.bodies: list[bytes] = []

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        self.bodies += [one.body for one in requests]
        time.sleep(self._random.choice((0.0, 0.001, 0.01)))
        return [Answer(200, one.body) for one in requests]


@asynccontextmanager
async def machine(model: Model, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[socket.socket]:
    """Yield where a child, a thread here, is handed connections."""
    monkeypatch.setattr(child, "_load", lambda _: model)  # at once
    monkeypatch.setattr(child, "answer_each", Model.answer)
    control, its_control = socket.socketpair()
    handing, handed = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    running = threading.Thread(target=child.answer, args=(its_control, handed))
    running.start()
    control.sendall(encode({"id": 1, "do": "load", "model_id": "m"}))
    assert receive_frame(control)[0]["error"] == ""
    assign = {"application": "app", "model_id": "m", "challenger_id": "", "share": 0.0}
    control.sendall(encode({"id": 2, "do": "serve", **assign}))
    assert receive_frame(control)[0]["error"] == ""
    yield handing
    control.close()
    handing.close()
    await asyncio.to_thread(running.join)


async def connected(handing: socket.socket, name: str) -> Line:
    """Return a new connection to a child."""
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(handing, [b"app"], [theirs.fileno()])
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(lambda: Line(Place(name, "", "")), sock=ours)
    return line


async def ask(endpoint: Endpoint, number: int) -> str:
    """Return what became of a request, which is asked again where its connection breaks."""
    body = str(number).encode()
    while True:
        line = endpoint.least_busy()
        if line is None:
            await asyncio.sleep(0.001)
            continue
        with suppress(OSError):
            head, reply = await endpoint.answer(line, encode({"content_type": "t"}, body))
            return "right" if (head["status"], reply) == (200, body) else f"{head} {reply!r}"


async def break_lines(
    endpoint: Endpoint, handing: Sequence[socket.socket], chance: random.Random
) -> None:
    """End a connection, another in its place, again and again; half of them once answers came."""
    while True:
        await asyncio.sleep(0.02)
        end = chance.choice((Line.abort, Line.close))
        end(chance.choice(endpoint._lines))
        number = chance.randrange(len(handing))
        endpoint.add(await connected(handing[number], str(number)))


async def leave(task: "asyncio.Task[str]", seconds: float) -> str:
    """Go away after a while, unless the answer came before."""
    await asyncio.wait([task], timeout=seconds)
    task.cancel()
    with suppress(asyncio.CancelledError):
        return await task
    return "left"


async def ask_all(endpoint: Endpoint, leaves: float, chance: random.Random) -> Counter[str]:
    """Return what became of requests; whoever asks goes away with probability ``leaves``."""
    asked = list[asyncio.Task[str]]()
    for number in range(_REQUESTS):
        task = asyncio.create_task(ask(endpoint, number))
        if chance.random() < leaves:
            task = asyncio.create_task(leave(task, chance.choice((0.0, 0.002, 0.01))))
        asked.append(task)
        await asyncio.sleep(chance.choice((0.0, 0.0, 0.001, 0.005)))
    async with asyncio.timeout(_SECONDS):
        return Counter(await asyncio.gather(*asked))


@pytest.mark.parametrize("machines", [2, 3])
@pytest.mark.parametrize("breaks", [True, False])
def test_each_request_gets_its_own_answer(
    machines: int,
    breaks: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    chance = random.Random(machines)
    models = [Model(seed) for seed in range(machines)]

    async def main() -> Counter[str]:
        async with AsyncExitStack() as stack:
            endpoint = Endpoint("app")
            handing = list[socket.socket]()
            for number, model in enumerate(models):
                handing.append(await stack.enter_async_context(machine(model, monkeypatch)))
                endpoint.add(await connected(handing[-1], str(number)))
            if not breaks:
                return await ask_all(endpoint, 0.0, chance)
            breaking = asyncio.create_task(break_lines(endpoint, handing, chance))
            became = await ask_all(endpoint, 0.2, chance)
            breaking.cancel()
            endpoint.close()
            return became

    became = asyncio.run(main())
    assert became.keys() <= {"right", "left"}, became
    assert became.total() == _REQUESTS
    assert "never retrieved" not in caplog.text
    if not breaks:
        answers = sum(len(model.bodies) for model in models)
        assert answers <= 1.1 * _REQUESTS
    print(became, [len(model.bodies) for model in models])
