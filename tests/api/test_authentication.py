"""Nobody gets in without a key, whatever the route."""

import asyncio
import base64
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from starlette.datastructures import Headers

from easeml.api import remembered
from easeml.api.authentication import OPEN, Authenticator
from easeml.errors import NotSignedIn
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys
from easeml.store import Store

MEANT_TO_BE_OPEN = {
    "/healthz",
    "/livez",
    "/readyz",
    "/v2/health/live",
    "/v2/health/ready",
    "/api/v1/login",
    "/api/v1/sign-in/ways",
    "/api/v1/sign-in/identity/ask",
    "/api/v1/sign-in/identity",
    "/api/v1/invitations/look",
    "/api/v1/invitations/accept",
    "/api/v1/openapi.json",
}


def routes_of(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Give method and path of every route, with placeholders filled."""
    for context in iter_route_contexts(app.routes):
        path = str(context.path).replace("{action}", "pause")
        for method in sorted(context.methods or ()):
            yield method, path.replace("{", "").replace("}", "")


def test_what_is_open_is_what_is_meant_to_be() -> None:
    assert OPEN == MEANT_TO_BE_OPEN


def test_every_other_route_answers_401_without_credentials(client: TestClient) -> None:
    routes = [route for route in routes_of(client.app) if route[1] not in MEANT_TO_BE_OPEN]  # type: ignore[arg-type]
    assert ("POST", "/api/v1/applications/application_id/predict") in routes
    assert len(routes) >= 25
    for method, path in routes:
        answer = client.request(method, path, content=b"not even json")
        assert answer.status_code == 401, (method, path)
        assert answer.headers["www-authenticate"].startswith("Bearer"), (method, path)
        if path.startswith("/v2") or path.endswith("/invocations"):  # these have their own form
            assert "Authorization: Bearer" in answer.text, (method, path)
            continue
        assert answer.headers["content-type"] == "application/problem+json", (method, path)
        if method != "HEAD":
            assert answer.json()["code"] == "not-signed-in", (method, path)


def test_open_routes_need_no_key(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok", "problems": []}
    assert client.get("/api/v1/openapi.json").json()["openapi"].startswith("3.1")


@pytest.mark.parametrize("form", ["bearer", "lower-case bearer", "x-api-key", "basic"])
def test_ways_to_send_a_key(client: TestClient, ann, form: str) -> None:
    basic = base64.b64encode(f"anything:{ann.key}".encode()).decode()
    headers = {
        "bearer": {"Authorization": f"Bearer {ann.key}"},
        "lower-case bearer": {"authorization": f"bearer {ann.key}"},
        "x-api-key": {"X-API-Key": ann.key},
        "basic": {"Authorization": f"Basic {basic}"},
    }[form]
    assert client.get("/api/v1/me", headers=headers).json()["name"] == "ann"


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer eml_wrong"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic %%%"},
        {"Authorization": "Digest abc"},
        {"X-API-Key": ""},
        {"X-API-Key": b"\xff\xfe"},
    ],
)
def test_bad_credentials(client: TestClient, ann, headers: dict) -> None:
    assert client.get("/api/v1/me", headers=headers).status_code == 401


def test_a_revoked_key_ends_at_once(client: TestClient, ann) -> None:
    made = client.post("/api/v1/keys", json={"name": "script"}, headers=ann.headers).json()
    headers = {"X-API-Key": made["secret"]}
    assert client.get("/api/v1/me", headers=headers).status_code == 200
    assert client.delete(f"/api/v1/keys/{made['id']}", headers=ann.headers).status_code == 204
    assert client.get("/api/v1/me", headers=headers).status_code == 401


def test_a_key_in_steady_use_is_looked_up_beside_the_requests(
    store: Store, ann, monkeypatch
) -> None:
    lookups: list[str] = []
    authenticate = keys.authenticate

    def counted(store: Store, secret: str) -> Caller:
        lookups.append(secret)
        return authenticate(store, secret)

    monkeypatch.setattr(keys, "authenticate", counted)
    monkeypatch.setattr(remembered, "SECONDS", 3600.0)
    monkeypatch.setattr(remembered, "RENEW_SECONDS", 0.0)
    headers = Headers(ann.headers)

    async def revoked_elsewhere() -> None:
        authenticator = Authenticator(store)
        assert await authenticator.caller(headers) == ann.caller
        with store.write() as tx:
            tx.scoped(ann.caller.tenant_id).api_keys.update(ann.caller.key_id, revoked=True)
        assert (
            await authenticator.caller(headers) == ann.caller
        )  # answered from memory; the look-up has begun
        with pytest.raises(NotSignedIn):
            while True:
                await authenticator.caller(headers)
                await asyncio.sleep(0)

    asyncio.run(revoked_elsewhere())
    assert len(lookups) <= 3  # at first, beside the second request, and for the one that is refused


def test_an_expired_key_is_refused(client: TestClient, store: Store, ann) -> None:
    made = client.post(
        "/api/v1/keys", json={"name": "short", "expires_in": 60}, headers=ann.headers
    ).json()
    with store.write() as tx:
        tx.scoped(ann.caller.tenant_id).api_keys.update(made["id"], expires=tx.now() - 1)
    assert client.get("/api/v1/me", headers={"X-API-Key": made["secret"]}).status_code == 401


def test_strangers_do_not_learn_which_routes_exist(client: TestClient, ann) -> None:
    assert client.get("/api/v1/nothing").status_code == 401
    assert client.get("/api/v1/nothing", headers=ann.headers).status_code == 404
