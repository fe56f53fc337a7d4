"""One thread wakes the streams of the tenants that have news."""

import asyncio
import threading
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from easeml.api import event_fanout
from easeml.api.change_stream import has_news
from easeml.api.event_fanout import EventFanout
from easeml.errors import TooMany
from easeml.store import Store


def append(store: Store, tenant_id: str) -> None:
    with store.write() as tx:
        tx.events.append("task.done", "task_1", {}, tenant_id)


def fanouts() -> int:
    return sum(thread.name == "fanout" for thread in threading.enumerate())


async def rung(*signals: asyncio.Event) -> None:
    for signal in signals:
        await asyncio.wait_for(signal.wait(), 30)


def test_streams_share_a_thread_and_hear_of_their_own_tenant(store: Store, ann, bob) -> None:
    async def scenario() -> None:
        fanout = EventFanout(store)
        with ExitStack() as stack:
            anns = [stack.enter_context(fanout.subscribe(ann.caller.tenant_id)) for _ in range(10)]
            bobs = stack.enter_context(fanout.subscribe(bob.caller.tenant_id))
            await rung(*anns, bobs)  # at the start everybody looks once
            assert fanouts() == 1
            for signal in (*anns, bobs):
                signal.clear()
            append(store, ann.caller.tenant_id)
            await rung(*anns)
            assert not bobs.is_set()
            append(store, bob.caller.tenant_id)
            await rung(bobs)
        await fanout.close()
        assert fanouts() == 0

    asyncio.run(scenario())


def test_a_stream_without_content_is_rung_by_its_tenant_alone(store: Store, ann, bob) -> None:
    async def scenario() -> None:
        fanout = EventFanout(store)
        here: Any = SimpleNamespace(fanout=fanout)
        with fanout.subscribe(None) as signal:
            await rung(signal)
            signal.clear()
            began = fanout.last
            append(store, bob.caller.tenant_id)
            await rung(signal)
            assert has_news(here, bob.caller.tenant_id, began)
            assert has_news(here, None, began)
            assert not has_news(here, ann.caller.tenant_id, began)
            assert has_news(here, ann.caller.tenant_id, began - 1)  # what was then is not known
        await fanout.close()

    asyncio.run(scenario())


def test_a_stream_that_comes_after_a_quiet_time_hears(store: Store, ann) -> None:
    async def scenario() -> None:
        fanout = EventFanout(store)
        for _ in range(3):
            with fanout.subscribe(ann.caller.tenant_id) as signal:
                await rung(signal)
                signal.clear()
                append(store, ann.caller.tenant_id)
                await rung(signal)
            append(store, ann.caller.tenant_id)  # while nobody listens
        await fanout.close()

    asyncio.run(scenario())


def test_closing_wakes_everybody(store: Store, ann) -> None:
    async def scenario() -> None:
        fanout = EventFanout(store)
        with fanout.subscribe(ann.caller.tenant_id) as signal:
            await rung(signal)
            signal.clear()
            await fanout.close()
            assert signal.is_set()
            assert fanout.closed

    asyncio.run(scenario())


def test_what_was_heard_is_not_read_again_for_each_stream(store: Store, ann, bob) -> None:
    async def scenario() -> None:
        fanout, tenant = EventFanout(store), ann.caller.tenant_id
        assert fanout.since(tenant, 0) is None
        with fanout.subscribe(tenant) as signal:
            await rung(signal)
            start = fanout.last
            for person in (ann, bob, ann):
                signal.clear()
                append(store, person.caller.tenant_id)
                if person is ann:
                    await rung(signal)
            assert [event.seq for event in fanout.since(tenant, start) or []] == [
                start + 1,
                start + 3,
            ]
            assert [event.seq for event in fanout.since(bob.caller.tenant_id, start) or []] == [
                start + 2
            ]
            assert fanout.since(tenant, fanout.last) == []
            assert fanout.since(tenant, start - 1) is None
        await fanout.close()

    asyncio.run(scenario())


def test_a_tenant_has_so_many_streams_and_others_are_not_held_up(
    client: TestClient, store: Store, ann, bob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_fanout, "MOST_STREAMS", 2)

    async def scenario() -> None:
        fanout = EventFanout(store)
        with ExitStack() as stack:
            for _ in range(2):
                stack.enter_context(fanout.subscribe(ann.caller.tenant_id))
            with pytest.raises(TooMany, match="2 streams"):
                fanout.check_room(ann.caller.tenant_id)
            fanout.check_room(bob.caller.tenant_id)
            stack.enter_context(fanout.subscribe(None))
        fanout.check_room(ann.caller.tenant_id)  # they ended
        await fanout.close()

    asyncio.run(scenario())
    monkeypatch.setattr(event_fanout, "MOST_STREAMS", 0)
    refused = client.get("/api/v1/events", headers=ann.headers)
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many")
    assert refused.headers["retry-after"] == "10"
