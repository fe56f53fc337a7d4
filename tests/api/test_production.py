"""Requests are kept where their owner wants it, off their way, and truth finds them later."""

import json
import time

import pytest
from fastapi.testclient import TestClient
from furnish import furnish

from easeml.store import Store

ASKED = {"rows": [{"size": 1.5, "name": "Ann", "key": 7}, {"size": 2.5, "name": "Bob"}]}
ANSWER = {"model_id": "model_1", "model_name": "tree", "predictions": ["setosa", "virginica"]}


@pytest.fixture
def application(store: Store, predictor, ann) -> str:
    predictor.content = json.dumps(ANSWER).encode()
    return furnish(store, ann.caller.tenant_id).application_id


def place(application: str, what: str) -> str:
    return f"/api/v1/applications/{application}/{what}"


def predict(client: TestClient, person, application: str, body=ASKED) -> str:
    answer = client.post(place(application, "predict"), json=body, headers=person.headers)
    assert answer.status_code == 200
    return answer.json()["request_id"]


def rows(store: Store, client: TestClient):
    client.app.state.context.log.flush()
    with store.read() as tx:
        return tx.unscoped().production_rows.list(limit=None)


def test_nothing_is_kept_unless_the_owner_wants_it(
    client: TestClient, store: Store, ann, application: str
) -> None:
    predict(client, ann, application)
    assert rows(store, client) == []
    shown = client.get(place(application, "requests"), headers=ann.headers).json()
    assert (shown["share"], shown["rows"]) == (0.0, 0)


def test_rows_are_kept_without_what_is_masked(
    client: TestClient, store: Store, ann, application: str
) -> None:
    wish = {"share": 1.0, "days": 7, "mask": ["size"]}
    client.put(place(application, "requests"), json=wish, headers=ann.headers).raise_for_status()
    request_id = predict(client, ann, application)
    first, second = rows(store, client)
    assert (first.request_id, first.row, first.key) == (request_id, 0, "7")
    assert first.inputs == {"name": "Ann", "key": 7}
    assert second.answer["prediction"] == "virginica"
    assert first.tenant_id == ann.caller.tenant_id
    unknown = {"share": 1.0, "mask": ["weight"]}
    refused = client.put(place(application, "requests"), json=unknown, headers=ann.headers)
    assert refused.status_code == 422
    assert "'weight'" in refused.text


def test_one_request_that_is_not_understood_loses_no_other(
    client: TestClient, store: Store, ann, application: str
) -> None:
    client.put(place(application, "requests"), json={}, headers=ann.headers).raise_for_status()
    predict(client, ann, application, {"rows": [1, 2]})
    predict(client, ann, application)
    assert len(rows(store, client)) == 2
    shown = client.get(place(application, "requests"), headers=ann.headers).json()
    assert (shown["rows"], shown["missed"]) == (2, 1)


def test_rows_of_a_table_are_kept_like_those_in_json(
    client: TestClient, store: Store, ann, application: str
) -> None:
    client.put(place(application, "requests"), json={}, headers=ann.headers).raise_for_status()
    headers = {**ann.headers, "content-type": "text/csv"}
    table = 'size,name\n1.5,"Ann, 2nd"\n,Bob\n'
    client.post(place(application, "predict"), content=table, headers=headers).raise_for_status()
    first, second = rows(store, client)
    assert first.inputs == {"size": "1.5", "name": "Ann, 2nd"}
    assert second.inputs == {"size": None, "name": "Bob"}
    assert second.answer["prediction"] == "virginica"


def test_a_long_table_is_kept_and_so_much_of_long_ones_as_there_is_room_for(
    client: TestClient, store: Store, predictor, ann, application: str
) -> None:
    client.put(place(application, "requests"), json={}, headers=ann.headers).raise_for_status()
    text = "size\n" + "1\n" * 2_000
    answer = {**ANSWER, "predictions": ["setosa"] * 2_000, "model_name": "A" * 3_000_000}
    predictor.content = json.dumps(answer).encode()
    headers = {**ann.headers, "content-type": "text/csv"}

    def ask() -> None:
        found = client.post(place(application, "predict"), content=text, headers=headers)
        found.raise_for_status()

    ask()
    assert len(rows(store, client)) == 2_000
    log = client.app.state.context.log
    with log._writing:  # nothing is written meanwhile; 30 need more than there is room for
        for _ in range(30):
            ask()
        assert 0 < log._missed[application] < 15
        log._waiting.clear()


def test_what_cannot_be_kept_is_counted(
    client: TestClient, store: Store, predictor, ann, application: str
) -> None:
    client.put(place(application, "requests"), json={}, headers=ann.headers).raise_for_status()
    predict(client, ann, application)
    headers = {**ann.headers, "content-type": "text/csv"}
    table = "size,name\n1.5\n,Bob\n"  # a cell lacks
    client.post(place(application, "predict"), content=table, headers=headers).raise_for_status()
    predictor.content = json.dumps({**ANSWER, "model_name": "A" * (4 * 2**20)}).encode()
    predict(client, ann, application)
    assert len(rows(store, client)) == 2
    shown = client.get(place(application, "requests"), headers=ann.headers).json()
    assert (shown["rows"], shown["missed"]) == (2, 2)


def test_rows_are_written_without_being_asked_for(
    client: TestClient, store: Store, ann, application: str
) -> None:
    client.put(place(application, "requests"), json={}, headers=ann.headers).raise_for_status()
    predict(client, ann, application)
    ends = time.monotonic() + 20
    with store.read() as tx:
        found = tx.unscoped().production_rows.count()
    while not found and time.monotonic() < ends:
        with store.read() as tx:
            found = tx.unscoped().production_rows.count()
    assert found == 2


def test_truth_comes_by_request_and_by_key(
    client: TestClient, store: Store, ann, bob, application: str
) -> None:
    client.put(place(application, "requests"), json={}, headers=ann.headers).raise_for_status()
    request_id = predict(client, ann, application)
    rows(store, client)
    told = [
        {"request_id": request_id, "row": 1, "value": "virginica"},
        {"key": 7, "value": "virginica"},
        {"key": "nobody", "value": "Setosa"},
    ]
    answer = client.post(place(application, "feedback"), json=told, headers=ann.headers)
    counts = {"kept": 3, "known": 2, "foreign": 1, "drawn": 0, "withdrawn": 0, "contradicted": 0}
    assert answer.json() == counts
    both = [{"request_id": request_id, "key": "7", "value": "setosa"}]
    assert (
        client.post(place(application, "feedback"), json=both, headers=ann.headers).status_code
        == 422
    )
    for no_number in ("NaN", "Infinity"):
        text = f'[{{"key": "7", "value": {no_number}}}]'
        refused = client.post(place(application, "feedback"), content=text, headers=ann.headers)
        assert refused.status_code == 422
    shown = client.get(place(application, "requests"), headers=ann.headers).json()
    assert (shown["rows"], shown["told"]) == (2, 3)
