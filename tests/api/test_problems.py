"""Every error is a problem document with a code, a place and a remedy, and gives nothing away."""

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from easeml.api.app import create_app
from easeml.contract.resources import Problem
from easeml.errors import Damaged, Fenced, NotReady


def problem(answer, status: int, code: str) -> Problem:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = Problem.model_validate_json(answer.content)
    assert (found.status, found.code, found.type) == (status, code, f"urn:easeml:problem:{code}")
    assert found.title
    return found


def test_unknown_route_and_method(client: TestClient, ann) -> None:
    found = problem(client.get("/nothing", headers=ann.headers), 404, "not-found")
    assert (found.where, found.detail) == ("/nothing", "There is no such address.")
    assert "/api/v1/openapi.json" in found.remedy
    answer = client.put("/api/v1/me", headers=ann.headers)
    found = problem(answer, 405, "method-not-allowed")
    assert (found.where, found.remedy) == ("PUT /api/v1/me", "Ask it by GET.")
    assert answer.headers["allow"] == "GET"
    problem(
        client.get("/api/v1/applications/app_1/predict", headers=ann.headers),
        405,
        "method-not-allowed",
    )


def test_unknown_thing(client: TestClient, ann) -> None:
    found = problem(client.get("/api/v1/datasets/data_none", headers=ann.headers), 404, "not-found")
    assert found.detail


def test_validation_names_the_field(client: TestClient, ann) -> None:
    answer = client.post("/api/v1/keys", json={"name": "k", "expires_in": -1}, headers=ann.headers)
    found = problem(answer, 422, "invalid-input")
    assert found.where == "expires_in"
    assert "greater than 0" in found.detail
    answer = client.post(
        "/api/v1/applications",
        json={"dataset_id": 1, "targt": "x", "set": {"a": 2}},
        headers=ann.headers,
    )
    found = problem(answer, 422, "invalid-input")
    assert {entry["where"] for entry in found.errors} == {"dataset_id", "targt", "set.a"}
    assert all(place in found.detail for place in ("dataset_id", "targt", "set.a"))


@pytest.mark.parametrize(
    ("path", "body", "wrong"),
    [
        ("/invitations", {"role": "viewer", "days": 1}, "days"),
        ("/invitations", {"rol": "viewer"}, "rol"),
        ("/me/tenant", {"tenant_id": "ten_1", "tenant": "ten_1"}, "tenant"),
    ],
)
def test_a_misspelt_key_of_any_request_is_named(
    client: TestClient, ann, path: str, body: dict, wrong: str
) -> None:
    """A lesser wish that is misspelt would else be granted in full: an invitation of an owner."""
    answer = client.post(f"/api/v1{path}", json=body, headers=ann.headers)
    assert problem(answer, 422, "invalid-input").where == wrong


def test_all_bodies_are_closed(client: TestClient) -> None:
    """But for those that other programs define (MLflow, the Open Inference Protocol)."""
    document = client.get("/api/v1/openapi.json").json()
    theirs = ("/invocations", "/infer", "/predict")
    found = [
        (path, body["schema"]["$ref"].rsplit("/", 1)[-1])
        for path, item in document["paths"].items()
        for asked in item.values()
        for form, body in asked.get("requestBody", {"content": {}})["content"].items()
        if form == "application/json" and "$ref" in body["schema"] and not path.endswith(theirs)
    ]
    schemas = document["components"]["schemas"]
    open_ones = {path for path, name in found if schemas[name].get("additionalProperties", True)}
    assert open_ones == {"/api/v1/applications/{application_id}/feedback"}  # a list
    assert len(found) > 40


def test_a_body_that_may_be_left_out_has_its_defaults(client: TestClient, ann) -> None:
    answer = client.post("/api/v1/invitations", headers=ann.headers)
    problem(answer, 403, "not-allowed")  # to a new tenant, which is for providers


def test_validation_does_not_echo_what_was_sent(client: TestClient) -> None:
    answer = client.post("/api/v1/login", json={"name": "ann", "password": 123456789})
    problem(answer, 422, "invalid-input")
    assert "123456789" not in answer.text


def test_a_field_that_there_is_not_is_said_to_be_unknown(client: TestClient, ann) -> None:
    answer = client.post("/api/v1/keys", json={"name": "k", "expires_inn": 1}, headers=ann.headers)
    found = problem(answer, 422, "invalid-input")
    assert (found.where, found.detail) == ("expires_inn", "There is no such field")
    assert found.errors == [{"where": "expires_inn", "message": "There is no such field"}]


def test_a_text_that_is_too_long_is_said_to_be_so_with_its_length(client: TestClient, ann) -> None:
    place = "/api/v1/work/item_1/answer"
    answer = client.post(place, json={"value": "x" * 10_001}, headers=ann.headers)
    found = problem(answer, 422, "invalid-input")
    assert found.where == "value"
    assert found.detail == "It has 10,001 characters, and may have 10,000"
    assert "xxx" not in answer.text


def test_broken_json_is_said_to_be_broken_and_where(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/v1/login", content=b'{"name": "ann", }', headers=headers)
    found = problem(answer, 422, "invalid-input")
    assert found.where == "body, character 16"
    assert found.detail.startswith("The body is not JSON: ")


@pytest.mark.parametrize("headers", [{}, {"content-type": "application/x-www-form-urlencoded"}])
def test_a_body_that_is_not_called_json_is_told_how_to_be(
    client: TestClient, headers: dict[str, str]
) -> None:
    answer = client.post("/api/v1/login", content=b'{"name": "ann"}', headers=headers)
    found = problem(answer, 422, "invalid-input")
    assert found.where == "body"
    assert found.remedy == "Send an object of JSON, with the header Content-Type: application/json."


@pytest.mark.parametrize("limit", ["0", "201", "many"])
def test_limit_of_a_page(client: TestClient, ann, limit: str) -> None:
    answer = client.get("/api/v1/datasets", params={"limit": limit}, headers=ann.headers)
    assert problem(answer, 422, "invalid-input").where == "limit"


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b"\xff\xfe{}"])
def test_broken_json(client: TestClient, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/v1/login", content=body, headers=headers)
    assert answer.status_code in {400, 422}
    problem(answer, answer.status_code, "invalid-input")


def test_bodies_are_bounded(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(3):
            yield b" " * 2**19

    headers = {"content-type": "application/json"}
    refused = client.post("/api/v1/login", content=b" " * (2**20 + 1), headers=headers)
    problem(refused, 413, "too-large")
    assert "has 1048577 bytes; 1048576 are allowed" in refused.json()["detail"]
    assert "/api/v1/uploads" in refused.json()["remedy"]
    problem(client.post("/api/v1/login", content=chunks(), headers=headers), 413, "too-large")


def test_nul_characters(client: TestClient, ann) -> None:
    problem(client.get("/api/v1/datasets/a%00b", headers=ann.headers), 422, "invalid-input")
    problem(client.get("/api/v1/tasks?job_id=a%00b", headers=ann.headers), 422, "invalid-input")


def test_halves_of_characters(client: TestClient, ann) -> None:
    bodies = {
        "login": b'{"name": "\\ud800", "password": "a"}',
        "applications": b'{"dataset_id": "\\ud800"}',
    }
    for path, body in bodies.items():
        answer = client.post(f"/api/v1/{path}", content=body, headers=ann.headers)
        problem(answer, 422, "invalid-input")


@pytest.fixture
def failing(store, settings, predictor) -> Iterator[TestClient]:
    app: FastAPI = create_app(store, settings, predictor)
    errors = {
        "unforeseen": ZeroDivisionError("secret of the house"),
        "damaged": Damaged("digest differs", where="/home/of/easeml/artefacts/x"),
        "not-ready": NotReady("The upload is being read.", remedy="Wait a second."),
        "fenced": Fenced(),
    }

    @app.get("/fail/{how}")
    def fail(how: str) -> None:
        raise errors[how]

    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_unforeseen_errors_leak_nothing(failing: TestClient, ann, capsys) -> None:
    answer = failing.get("/fail/unforeseen", headers=ann.headers)
    found = problem(answer, 500, "internal")
    assert "secret of the house" not in answer.text
    assert "Traceback" not in answer.text
    reference = found.remedy.removesuffix(".").split()[-1]
    assert reference in "".join(capsys.readouterr())
    damaged = failing.get("/fail/damaged", headers=ann.headers)
    problem(damaged, 500, "damaged")
    assert "/home" not in damaged.text


def test_states_of_the_service(failing: TestClient, ann) -> None:
    answer = failing.get("/fail/not-ready", headers=ann.headers)
    assert problem(answer, 503, "not-ready").remedy == "Wait a second."
    assert int(answer.headers["retry-after"]) >= 1
    problem(failing.get("/fail/fenced", headers=ann.headers), 409, "fenced")


@pytest.mark.parametrize(
    "path", ["/healthz", "/metrics", "/api/v1/me", "/api/v1/nothing", "/fail/unforeseen"]
)
def test_security_headers_everywhere(failing: TestClient, ann, path: str) -> None:
    for headers in ({}, ann.headers):
        answer = failing.get(path, headers={**headers, "Origin": "https://elsewhere.example"})
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers


def test_an_unknown_state_of_tasks_is_refused(client: TestClient, ann) -> None:
    found = problem(
        client.get("/api/v1/tasks?state=dragon", headers=ann.headers), 422, "invalid-input"
    )
    assert found.where == "state"
