"""Requests begin in turn by who sends them, a few in each step of the event loop."""

import asyncio
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from easeml.api.turns import A_STEP, Turns


class Steps:
    """Plays requests that come at once; notes who began in which step of the loop."""

    def __init__(self) -> None:
        self.now = 0
        self.began: list[tuple[int, str]] = []

    def _count(self) -> None:
        self.now += 1
        asyncio.get_running_loop().call_soon(self._count)

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.began.append((self.now, scope["name"]))

    def play(self, scopes: list[Scope], gone: frozenset[int] = frozenset()) -> None:
        """Let all begin but those that go away first."""

        async def all_at_once() -> None:
            turns = Turns(self._begin)
            self._count()
            asked = [asyncio.create_task(turns(one, None, None)) for one in scopes]  # type: ignore[arg-type]
            await asyncio.sleep(0)
            for place in gone:
                asked[place].cancel()
            await asyncio.gather(*asked, return_exceptions=True)

        asyncio.run(all_at_once())


def sent(name: str, **headers: str) -> Scope:
    """A request by somebody."""
    named = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    return {"type": "http", "name": name, "headers": named, "client": ("10.0.0.1", 1)}


def one_after_another(senders: list[str]) -> list[str]:
    """The senders in the order in which they take turns, by whole rounds."""
    queues = [[one] * senders.count(one) for one in dict.fromkeys(senders)]
    rounds = zip_longest(*queues)
    return [one for taken in rounds for one in taken if one is not None]


@given(st.lists(st.sampled_from("abcde"), max_size=120))
def test_senders_take_turns(senders: list[str]) -> None:
    steps = Steps()
    steps.play([sent(one, authorization=f"Bearer {one}") for one in senders])
    began = [name for _, name in steps.began]
    assert began == senders[:A_STEP] + one_after_another(senders[A_STEP:])
    numbers = [number for number, _ in steps.began]
    assert max(map(numbers.count, numbers), default=0) <= A_STEP


@pytest.mark.parametrize("header", ["authorization", "x_api_key", "cookie"])
def test_who_stands_beside_begins_in_the_next_step(header: str) -> None:
    steps = Steps()
    steps.play([sent("many", **{header: "m"})] * 5000 + [sent("beside", **{header: "b"})])
    step = next(number for number, name in steps.began if name == "beside")
    assert len(steps.began) == 5001
    assert step - steps.began[0][0] <= 2


def test_senders_without_a_key_are_told_apart_by_their_address() -> None:
    steps = Steps()
    beside = {**sent("beside"), "client": ("10.0.0.2", 1)}
    steps.play([sent("many")] * 1000 + [beside])
    assert [name for _, name in steps.began].index("beside") <= A_STEP + 1


@given(st.integers(0, 60), st.frozensets(st.integers(0, 59)))
def test_who_goes_away_is_nobodys_hindrance(number: int, gone: frozenset[int]) -> None:
    steps = Steps()
    left = frozenset(place for place in gone if place < number)
    steps.play([sent(str(place), cookie="c") for place in range(number)], left)
    waited = {str(place) for place in range(number)} - {str(place) for place in left}
    assert waited <= {name for _, name in steps.began}
