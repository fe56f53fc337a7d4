"""Who may do what is looked up in threads of their own, once for all who ask, and never too late."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress

import pytest
from anyio import CapacityLimiter, to_thread
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from easeml.api import remembered
from easeml.api.authentication import Authenticator
from easeml.api.doors import Doors
from easeml.api.remembered import Remembered
from easeml.api.request_rates import RequestRates
from easeml.errors import NotSignedIn
from easeml.service.access import sharing
from easeml.service.accounts import keys
from easeml.store import Store

APPLICATION = "/api/v1/applications/app_x"


class AllThreads:
    """Every thread that the controller's work shares, taken as waiting uploads took them."""

    def __init__(self) -> None:
        self._borrowers: list[object] = []

    async def take(self) -> CapacityLimiter:
        """Take all; return what hands them out."""
        shared = to_thread.current_default_thread_limiter()
        while shared.available_tokens:
            self._borrowers.append(object())
            shared.acquire_on_behalf_of_nowait(self._borrowers[-1])
        return shared

    async def give_back(self) -> None:
        """Let other work go on."""
        for one in self._borrowers:
            to_thread.current_default_thread_limiter().release_on_behalf_of(one)


def test_a_key_is_looked_up_while_all_shared_threads_are_taken(store: Store, ann) -> None:
    asked = sharing.asked_for("POST", f"{APPLICATION}/predict")
    assert asked is not None

    async def let_in() -> None:
        shared = await AllThreads().take()
        async with asyncio.timeout(30):
            caller = await Authenticator(store).caller(Headers(ann.headers))
            assert caller.key_id == ann.caller.key_id
            assert await Doors(store).admit(caller, asked) == caller
            await RequestRates(store).admit(caller.tenant_id)
            with pytest.raises(NotSignedIn):
                await Authenticator(store).caller(Headers({"X-API-Key": "eml_wrong"}))
        assert shared.available_tokens == 0

    asyncio.run(let_in())


def test_predictions_and_livez_need_no_shared_thread(client: TestClient, ann) -> None:
    assert client.portal is not None
    shared = AllThreads()
    client.portal.call(shared.take)
    try:
        answer = client.post(f"{APPLICATION}/predict", json={"rows": [{}]}, headers=ann.headers)
        assert answer.json()["predictions"] == [1]
        assert client.get("/livez").json()["status"] == "ok"
    finally:
        client.portal.call(shared.give_back)


def test_who_asks_at_once_joins_one_look_up(store: Store, ann, bob, monkeypatch) -> None:
    looked_up: list[str] = []
    authenticate = keys.authenticate

    def counted(store: Store, secret: str) -> object:
        looked_up.append(secret)
        return authenticate(store, secret)

    monkeypatch.setattr(keys, "authenticate", counted)

    async def many() -> None:
        authenticator = Authenticator(store)
        asking = [authenticator.caller(Headers(one.headers)) for one in [ann, bob] * 500]
        assert await asyncio.gather(*asking) == [ann.caller, bob.caller] * 500

    asyncio.run(many())
    assert sorted(looked_up) == sorted([ann.key, bob.key])


def test_who_goes_away_takes_no_answer_from_the_others(store: Store, ann) -> None:
    async def one_leaves() -> None:
        authenticator = Authenticator(store)
        headers = Headers(ann.headers)
        leaving, staying = (asyncio.create_task(authenticator.caller(headers)) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        assert await staying == ann.caller
        with pytest.raises(asyncio.CancelledError):
            await leaving

    asyncio.run(one_leaves())


class SlowDatabase(Executor):
    """A number that people change. A look-up reads it at once, and answers some steps later."""

    def __init__(self, steps: Callable[[], int]):
        self.value = 1
        self._steps = steps

    def submit(self, look: Callable[[], int], /) -> Future[int]:  # type: ignore[override]
        value = look()
        answer: Future[int] = Future()
        self._later(answer, value, self._steps())
        return answer

    def _later(self, answer: Future[int], value: int, steps: int) -> None:
        if steps:
            asyncio.get_running_loop().call_soon(self._later, answer, value, steps - 1)
        elif value % 5 == 0:
            answer.set_exception(NotSignedIn())
        else:
            answer.set_result(value)


@given(st.data(), st.lists(st.sampled_from(["ask", "change", "late", "step"]), max_size=40))
def test_no_answer_is_older_than_the_last_change(data: st.DataObject, acts: list[str]) -> None:
    """Whoever asks after a change that was told of sees it, whatever is under way or remembered.

    Of one that was not told of (``late``), they see it after a second at the latest.
    """
    database = SlowDatabase(lambda: data.draw(st.integers(0, 5)))
    now = [0.0]
    least = [1]
    answers: list[tuple[int, int]] = []

    async def asked(known: Remembered[int]) -> None:
        owed = least[0]
        with suppress(NotSignedIn):
            answers.append((await known.get("key", lambda: database.value), owed))

    async def play() -> None:
        known: Remembered[int] = Remembered(database)
        asking = []
        for act in acts:
            if act == "ask":
                asking.append(asyncio.create_task(asked(known)))
            elif act == "change":
                database.value += 1
                known.forget()
                least[0] = database.value
            elif act == "late":
                database.value += 1
                least[0] = max(least[0], database.value - 1)
                now[0] += remembered.SECONDS
            else:
                now[0] += data.draw(st.sampled_from([0.0, 0.4, 0.6]))
            await asyncio.sleep(0)
        await asyncio.gather(*asking)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(remembered.time, "monotonic", lambda: now[0])
        asyncio.run(play())
    assert all(seen >= owed for seen, owed in answers)


def test_a_look_up_of_a_loop_that_has_ended_is_joined_by_nobody() -> None:
    never, threads = Future[int](), ThreadPoolExecutor(2)
    kept: Remembered[int] = Remembered(threads)

    async def ask_and_leave() -> None:
        asking = asyncio.ensure_future(kept.get("key", never.result))
        await asyncio.sleep(0)
        asking.cancel()

    async def ask() -> int:
        return await kept.get("key", lambda: 2)

    asyncio.run(ask_and_leave())
    try:
        assert asyncio.run(ask()) == 2
    finally:
        never.set_result(1)
        threads.shutdown()
