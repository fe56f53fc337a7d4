"""Predictions are forwarded byte for byte, in the caller's name."""

import json

import pytest
from fastapi.testclient import TestClient

PATH = "/api/v1/applications/app_1/predict"


def test_bytes_go_through_untouched(client: TestClient, predictor, ann) -> None:
    body = b'{"rows": [ {"a":1} ]}'
    answer = client.post(
        PATH,
        content=body,
        headers={**ann.headers, "content-type": "application/json; charset=utf-8"},
    )
    assert answer.status_code == 200
    told = answer.json()
    assert told.pop("request_id").startswith("req_")
    assert told == json.loads(predictor.content)
    assert answer.headers["content-type"] == "application/json"
    assert predictor.seen == [
        (ann.caller.tenant_id, "app_1", "application/json; charset=utf-8", body)
    ]


def test_each_caller_asks_as_his_own_tenant(client: TestClient, predictor, ann, bob) -> None:
    for person in (ann, bob):
        client.post(PATH, content=b"a\n1\n", headers={**person.headers, "content-type": "text/csv"})
    assert [seen[0] for seen in predictor.seen] == [ann.caller.tenant_id, bob.caller.tenant_id]


@pytest.mark.parametrize("status", [404, 422, 503])
def test_problems_of_the_predictor(client: TestClient, predictor, ann, status: int) -> None:
    predictor.status, predictor.content = (
        status,
        json.dumps({"title": "No", "status": status}).encode(),
    )
    answer = client.post(PATH, content=b"{}", headers=ann.headers)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.content == predictor.content
    assert ("retry-after" in answer.headers) == (status == 503)


def test_too_large_requests_never_reach_the_predictor(client: TestClient, predictor, ann) -> None:
    for content in (b"1" * 5_001, iter([b"1" * 3_000, b"1" * 3_000])):
        answer = client.post(PATH, content=content, headers=ann.headers)
        assert answer.status_code == 413
        assert answer.json()["code"] == "too-large"
    assert predictor.seen == []


def test_a_revoked_key_predicts_no_more(client: TestClient, predictor, ann) -> None:
    key = client.post("/api/v1/keys", json={"name": "endpoint"}, headers=ann.headers).json()
    headers = {"X-API-Key": key["secret"]}
    assert client.post(PATH, content=b"{}", headers=headers).status_code == 200
    client.delete(f"/api/v1/keys/{key['id']}", headers=ann.headers)
    assert client.post(PATH, content=b"{}", headers=headers).status_code == 401
    assert len(predictor.seen) == 1
