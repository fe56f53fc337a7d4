"""Predictions are forwarded byte for byte, in the caller's name."""

import json

import pytest
from fastapi.testclient import TestClient

from easeml.api import request_limits

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


def test_what_cannot_be_asked_for_is_refused_and_not_ignored(
    client: TestClient, predictor, ann
) -> None:
    answer = client.post(f"{PATH}?model=logistic-2", content=b"{}", headers=ann.headers)
    assert answer.status_code == 422
    assert answer.json()["where"] == "query: model"
    assert "'fill_empty'" in answer.json()["remedy"]
    assert predictor.seen == []


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


def test_every_answer_has_the_headers_and_the_count_of_other_routes(
    client: TestClient, predictor, ann, provider
) -> None:
    other = client.get("/api/v1/me", headers=ann.headers)
    told = client.post(PATH, content=b"{}", headers=ann.headers)
    stranger = client.post(PATH, content=b"{}")
    large = client.post(PATH, content=b"1" * 5_001, headers=ann.headers)
    nul = client.post(PATH + "?a=%00", content=b"{}", headers=ann.headers)
    predictor.status, predictor.content = 422, b"{}"
    refused = client.post(PATH, content=b"{}", headers=ann.headers)
    answers = (told, stranger, large, nul, refused)
    assert [answer.status_code for answer in answers] == [200, 401, 413, 422, 422]
    of_all = {name: other.headers[name] for name in request_limits.HEADERS}
    for answer in answers:
        assert {name: answer.headers[name] for name in request_limits.HEADERS} == of_all
    metrics = client.get("/metrics", headers=provider.headers).text
    route = 'method="POST",route="/applications/{application_id}/predict"'
    for status, count in ((200, 1), (401, 1), (413, 1), (422, 2)):
        counted = f'easeml_http_request_duration_seconds_count{{{route},status="{status}"}}'
        assert f"{counted} {count}.0" in metrics


def test_a_predictor_that_fails_unforeseen_tells_nothing_of_itself(
    client: TestClient, predictor, ann, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(predictor, "predict", fail)
    answer = client.post(PATH, content=b"{}", headers=ann.headers)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text
