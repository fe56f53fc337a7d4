"""A collector of OpenTelemetry gets one trace an application, from its upload on."""

import asyncio
import json
import queue
import time
from typing import Any

import httpx
import pytest

from easeml.api.telemetry import Telemetry, ToldPredictor
from easeml.engine.messages.collector import Collector, collector_of
from easeml.errors import InvalidInput, Unreachable
from easeml.protocols.answered import Answered
from easeml.service.access.caller import Caller
from easeml.service.views.first_prediction import Predicted
from easeml.settings import Settings
from easeml.store import Store

from .conftest import Clock
from .test_story import searching, train


class Receiver:
    """The other side: what it was sent, and whether it is away."""

    def __init__(self) -> None:
        self.got: queue.Queue[dict[str, Any]] = queue.Queue()
        self.is_away = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            return httpx.Response(503)
        assert str(request.url) == "http://otel.lab:4318/v1/traces"
        self.got.put(json.loads(request.content))
        return httpx.Response(200, json={})

    def spans(self) -> list[dict[str, Any]]:
        (resource,) = self.got.get(timeout=20)["resourceSpans"]
        (scope,) = resource["scopeSpans"]
        return scope["spans"]


def telemetry(store: Store, receiver: Receiver) -> Telemetry:
    transport = httpx.MockTransport(receiver)
    return Telemetry(store, Collector("http://otel.lab:4318/", transport))


def test_the_way_to_the_first_prediction_is_one_trace_that_is_sent_once(
    store: Store, ann: Caller, clock: Clock
) -> None:
    began = clock.now
    app = searching(store, ann)
    clock.now += 5
    train(store, app, 0, 0.8)
    clock.now += 2
    first = Predicted(ann.tenant_id, app.id, "req_1", clock.now, clock.now + 0.5)
    clock.now += 100
    train(store, app, 1, 0.9)  # after it: no part of the way
    receiver = Receiver()
    receiver.is_away = True
    with pytest.raises(Unreachable, match="503"):
        telemetry(store, receiver).tell(first)
    receiver.is_away = False
    telemetry(store, receiver).tell(first)
    spans = receiver.spans()
    whole = spans[0]
    by_name = {span["name"]: span for span in spans}
    names = {"ingest-upload", "ingest-declare", "train", "promotion", "first prediction"}
    assert names <= by_name.keys()
    assert "train, attempt 1" in by_name
    assert len({span["traceId"] for span in spans}) == 1
    ids = {span["spanId"]: span for span in spans}
    assert len(ids) == len(spans)
    for span in spans[1:]:
        parent = ids[span["parentSpanId"]]
        assert int(parent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
        assert int(span["endTimeUnixNano"]) <= int(whole["endTimeUnixNano"])
    assert "parentSpanId" not in whole
    taken = int(whole["endTimeUnixNano"]) - int(whole["startTimeUnixNano"])
    assert taken == pytest.approx(7.5e9)
    assert int(whole["startTimeUnixNano"]) == pytest.approx(began * 1e9)
    # Another controller, or this one after a restart.
    telemetry(store, receiver).tell(first)
    assert receiver.got.empty()


class Endpoint:
    """A predictor that answers, or does not."""

    status = 503

    async def predict(self, *asked: object) -> Answered:
        return Answered(self.status, b"{}")


def test_only_what_was_predicted_counts_and_answers_wait_for_nobody(
    store: Store, ann: Caller, clock: Clock
) -> None:
    app = searching(store, ann)
    train(store, app, 0, 0.8)
    receiver = Receiver()
    told = telemetry(store, receiver)
    endpoint = Endpoint()
    predictor = ToldPredictor(endpoint, told)

    def ask() -> int:
        return asyncio.run(predictor.predict(ann.tenant_id, app.id, "text/csv", b"")).status

    assert ask() == 503
    endpoint.status = 200
    before = time.time()
    assert [ask(), ask()] == [200, 200]
    told.start()
    (first,) = [span for span in receiver.spans() if span["name"] == "first prediction"]
    assert int(first["startTimeUnixNano"]) >= before * 1e9 - 1
    assert receiver.got.empty()
    told.close()


def test_an_address_that_is_none_is_refused_at_the_start() -> None:
    assert collector_of(Settings()) is None
    with pytest.raises(InvalidInput, match="http://otel"):
        collector_of(Settings(otlp_endpoint="otel.lab:4318"))
