"""What a key may be used for: every route, and keys that are revoked, expired or too small."""

import asyncio
import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.datastructures import Headers
from test_isolation import BODIES, QUERIES, things
from test_sharing import HERE, PREDICTING, every_route

from easeml.api import remembered
from easeml.api.authentication import Authenticator
from easeml.api.context import Context
from easeml.api.other_controllers import follow_changes
from easeml.errors import NotSignedIn
from easeml.service.accounts import keys
from easeml.store import Store
from easeml.web import create_pages, session

ABOUT_MODEL = {
    ("GET", "/v2/models/{application_id}"),
    ("GET", "/v2/models/{application_id}/ready"),
    ("GET", "/v2/models/{application_id}/versions/{model_id}"),
    ("GET", "/v2/models/{application_id}/versions/{model_id}/ready"),
}
OF_PREDICTIONS = {*PREDICTING, *ABOUT_MODEL}
DAY = 86400.0


def made(client: TestClient, person, **wish) -> dict:
    """A new key of somebody, and the headers to send it."""
    answer = client.post("/api/v1/keys", json={"name": "k", **wish}, headers=person.headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


def sent(key: dict) -> dict[str, str]:
    return {"X-API-Key": key["secret"]}


def asked(
    client: TestClient, ids: dict, headers: dict, routes: set[tuple[str, str]] | None = None
) -> Iterator[tuple[str, str, int, str]]:
    """Ask routes, or every one that needs a key."""
    for method, template in sorted(routes or every_route(client)):
        named = {"name": "x", "tenant_id": "x", "action": "pause", "device_id": "x", **ids}
        path = re.sub(r"{(\w+)(:\w+)?}", lambda found, of=named: of.get(found[1], "x"), template)
        body = {"params": QUERIES.get(template), "json": BODIES.get(template, {})}
        answer = client.request(method, path, **body, headers=headers)
        yield method, template, answer.status_code, answer.text


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_no_route_takes_a_key_that_ended_and_each_says_why(
    client: TestClient, store: Store, ann, end: str
) -> None:
    ids = things(client, store, ann)
    key = made(client, ann)
    with store.write() as tx:
        change = {"revoked": True} if end == "revoked" else {"expires": tx.now() - 1}
        tx.unscoped().api_keys.update(key["id"], **change)
    for method, template, status, text in asked(client, ids, sent(key)):
        assert status == 401, (method, template)
        assert end in text, (method, template, text)


def test_a_key_for_reading_changes_nothing(client: TestClient, store: Store, ann) -> None:
    ids = things(client, store, ann)
    key = made(client, ann, scope="read")
    signing = ("POST", "/api/v1/models/{model_id}/signatures")  # which changes nothing
    changing = {route for route in every_route(client) if route[0] != "GET"} - {signing}
    assert len(changing) > 70
    for method, template, status, text in asked(client, ids, sent(key), changing):
        assert status == 403, (method, template)
        assert "scope of this key is reading" in text, (method, template, text)
    [(_, _, status, _)] = asked(client, ids, sent(key), {signing})
    assert status == 422
    looking = {("GET", HERE), ("GET", f"{HERE}/models"), ("GET", "/api/v1/me")}
    for method, template, status, text in asked(client, ids, sent(key), looking):
        assert status == 200, (method, template, text)


def test_a_key_for_predictions_predicts_and_nothing_else(
    client: TestClient, store: Store, ann
) -> None:
    ids = things(client, store, ann)
    open_ones = {*OF_PREDICTIONS, ("GET", "/v2")}
    for key in (
        made(client, ann, scope="predict"),
        made(client, ann, scope="predict", application_id=ids["application_id"]),
    ):
        for method, template, status, text in asked(client, ids, sent(key)):
            is_refused = status == 403 and "scope of this key" in text
            assert is_refused == ((method, template) not in open_ones), (method, template, text)


def test_a_key_of_one_application_asks_no_other(client: TestClient, store: Store, ann) -> None:
    ids, other = things(client, store, ann), things(client, store, ann)
    key = made(client, ann, scope="predict", application_id=other["application_id"])
    for method, template in sorted(OF_PREDICTIONS):
        answer = client.request(method, template.format(**ids), json={}, headers=sent(key))
        assert answer.status_code == 403, (method, template)
        assert other["application_id"] in answer.text


def test_a_key_for_metrics_reads_them_and_nothing_else(
    client: TestClient, store: Store, provider, ann
) -> None:
    ids = things(client, store, ann)
    key = made(client, provider, scope="metrics")
    for method, template, status, text in asked(client, ids, sent(key)):
        is_refused = status == 403 and "scope of this key is metrics" in text
        assert is_refused == ((method, template) != ("GET", "/metrics")), (method, template, text)
    assert client.get("/metrics", headers=sent(key)).status_code == 200
    assert (
        client.get("/metrics", headers=sent(made(client, ann, scope="metrics"))).status_code == 403
    )


def test_a_scope_gives_nothing_that_its_owner_has_not(
    client: TestClient, store: Store, ann, bob
) -> None:
    ids = things(client, store, ann)
    for scope in ("all", "read", "predict"):
        key = made(client, bob, scope=scope)
        answer = client.get(f"/v2/models/{ids['application_id']}", headers=sent(key))
        assert answer.status_code == 404, scope


def test_a_key_for_an_application_of_somebody_else_is_not_made(
    client: TestClient, store: Store, ann, bob
) -> None:
    wish = {"name": "k", "scope": "predict"}
    wish["application_id"] = things(client, store, ann)["application_id"]
    refused = client.post("/api/v1/keys", json=wish, headers=bob.headers)
    assert refused.status_code == 404
    wish["scope"] = "read"
    assert client.post("/api/v1/keys", json=wish, headers=ann.headers).status_code == 422


@pytest.mark.parametrize("path", ["/predict/", "//predict", "/predict%00", "/predict/../rename"])
def test_another_spelling_of_a_path_opens_nothing(
    client: TestClient, store: Store, ann, path: str
) -> None:
    ids = things(client, store, ann)
    key = made(client, ann, scope="predict")
    answer = client.post(HERE.format(**ids) + path, json={"name": "x"}, headers=sent(key))
    assert answer.status_code in (403, 404, 422), answer.text


def test_a_key_that_expires_makes_none_that_outlives_it(client: TestClient, ann) -> None:
    """Whoever stole it for a day has it for a day."""
    short = made(client, ann, expires_in=60.0)
    thief = sent(short)
    for wish in ({"name": "k"}, {"name": "k", "expires_in": DAY}):
        gained = client.post("/api/v1/keys", json=wish, headers=thief).json()
        assert gained["expires"] <= short["expires"]
    tenant = {"tenant_id": ann.caller.tenant_id}
    elsewhere = client.post("/api/v1/me/tenant", json=tenant, headers=thief).json()
    assert elsewhere["expires"] <= short["expires"]
    gained = client.post("/api/v1/keys", json={"name": "k"}, headers=sent(elsewhere)).json()
    assert gained["expires"] <= short["expires"]


def test_lists_tell_what_a_key_is_for_and_when_it_was_used(client: TestClient, ann) -> None:
    key = made(client, ann, scope="read", expires_in=DAY)
    client.get("/api/v1/me", headers=sent(key)).raise_for_status()

    def shown() -> dict:
        items = client.get("/api/v1/keys", headers=ann.headers).json()["items"]
        return next(item for item in items if item["id"] == key["id"])

    for _ in range(200):  # it is noted beside the request
        if shown()["used"]:
            break
    assert (shown()["scope"], shown()["secret"]) == ("read", None)
    assert shown()["used"] >= key["created"]


def test_a_key_that_another_controller_revokes_ends_here_at_once(
    store: Store, settings, ann, monkeypatch
) -> None:
    monkeypatch.setattr("easeml.api.remembered.SECONDS", 3600.0)
    monkeypatch.setattr("easeml.api.remembered.RENEW_SECONDS", 3600.0)

    async def revoked_elsewhere() -> None:
        here = Context.over(store, settings, predictor=None)  # type: ignore[arg-type]
        following = asyncio.create_task(follow_changes(here))
        assert await here.authenticator.caller(Headers(ann.headers)) == ann.caller
        await asyncio.to_thread(keys.revoke_key, store, ann.caller, ann.caller.key_id)
        with pytest.raises(NotSignedIn, match="revoked"):
            async with asyncio.timeout(30):
                while True:
                    await here.authenticator.caller(Headers(ann.headers))
                    await asyncio.sleep(0)
        await here.fanout.close()
        await following

    asyncio.run(revoked_elsewhere())


def test_a_remembered_key_ends_when_it_expires(store: Store, ann, monkeypatch) -> None:
    monkeypatch.setattr(remembered, "SECONDS", 3600.0)
    monkeypatch.setattr(remembered, "RENEW_SECONDS", 3600.0)
    clock = [0.0]
    monkeypatch.setattr(remembered.time, "monotonic", lambda: clock[0])

    async def used_too_long() -> None:
        authenticator = Authenticator(store)
        with store.write() as tx:
            rows = tx.unscoped().api_keys
            rows.update(ann.caller.key_id, expires=tx.now() + 60)
        await authenticator.caller(Headers(ann.headers))
        with store.write() as tx:
            tx.unscoped().api_keys.update(ann.caller.key_id, expires=tx.now() - 1)
        clock[0] = 59.0
        await authenticator.caller(Headers(ann.headers))
        clock[0] = 61.0
        with pytest.raises(NotSignedIn, match="expired"):
            await authenticator.caller(Headers(ann.headers))

    asyncio.run(used_too_long())


def test_the_page_makes_a_key_of_one_application(client: TestClient, store: Store, ann) -> None:
    application_id = things(client, store, ann)["application_id"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    wish = {"csrf": session.csrf_token(ann.key), "name": "till", "days": "30"}
    wish |= {"scope": "predict", "application": application_id}
    assert "till" in browser.post("/account/keys", data=wish).text
    shown = browser.get("/account").text
    assert f"predictions only of <code>{application_id}</code>" in shown
