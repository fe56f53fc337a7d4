"""Writes of one step of the event loop leave together, and nothing is kept back at an end."""

import asyncio
from collections.abc import Awaitable, Callable

from easeml.engine.joined_writes import JoinedWrites


class Sent:
    """A transport that notes what is sent at once."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.is_closed = False

    def writelines(self, pieces: list[bytes]) -> None:
        self.pieces.append(b"".join(pieces))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


def used(use: Callable[[JoinedWrites], Awaitable[None]]) -> Sent:
    sent = Sent()

    async def main() -> None:
        await use(JoinedWrites(sent))  # pyright: ignore[reportArgumentType]

    asyncio.run(main())
    return sent


def test_writes_of_a_step_leave_together() -> None:
    async def use(writes: JoinedWrites) -> None:
        for step in (b"ab", b"c"):
            for byte in step:
                writes.write(bytes([byte]))
            await asyncio.sleep(0)

    assert used(use).pieces == [b"ab", b"c"]


def test_much_is_sent_at_once() -> None:
    async def use(writes: JoinedWrites) -> None:
        for _ in range(3):
            writes.write(b"x" * 40_000)

    assert list(map(len, used(use).pieces)) == [80_000, 40_000]


def test_closing_sends_what_is_held_and_a_closed_transport_gets_nothing() -> None:
    async def use(writes: JoinedWrites) -> None:
        writes.write(b"last")
        writes.close()
        writes.write(b"too late")
        await asyncio.sleep(0)

    sent = used(use)
    assert (sent.pieces, sent.is_closed) == ([b"last"], True)
