"""Where somebody is signed in: told, and ended."""

import pytest
from fastapi.testclient import TestClient

from easeml.store import Store

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CHROME = (
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Mobile Safari/537.36"
)
PASSWORD = {"name": "ann", "password": "correct horse battery"}


def sign_in(client: TestClient, agent: str) -> dict[str, str]:
    """Sign ann in from a program; the headers of the sign-in."""
    answer = client.post("/api/v1/login", json=PASSWORD, headers={"user-agent": agent})
    assert answer.status_code == 201, answer.text
    return {"authorization": f"Bearer {answer.json()['secret']}"}


def sign_ins(client: TestClient, headers: dict[str, str]) -> list[dict]:
    """The sign-ins that are listed and not ended, the oldest first."""
    items = client.get("/api/v1/keys", headers=headers).json()["items"]
    return [item for item in items if item["kind"] == "sign-in" and not item["revoked"]]


@pytest.mark.parametrize(
    ("agent", "origin"),
    [
        (FIREFOX, "Firefox on Linux, testclient"),
        (CHROME, "Chrome on Android, testclient"),
        ("easeml/0.1", "easeml's client, testclient"),
        ("<script>alert(1)</script>", "a program, testclient"),
    ],
)
def test_a_sign_in_tells_where_it_came_from(
    client: TestClient, ann, agent: str, origin: str
) -> None:
    headers = sign_in(client, agent)
    here = [item for item in sign_ins(client, headers) if item["is_yours_now"]]
    assert [item["origin"] for item in here] == [origin]


def test_all_other_sign_ins_end_and_keys_stay(client: TestClient, ann, bob) -> None:
    mine, lost = sign_in(client, FIREFOX), sign_in(client, CHROME)
    key = client.post("/api/v1/keys", json={"name": "script"}, headers=mine).json()["secret"]
    assert client.get("/api/v1/me", headers=lost).status_code == 200
    answer = client.delete("/api/v1/sign-ins", headers=mine)
    assert answer.status_code == 200
    assert answer.json()["ended"] >= 1
    assert client.get("/api/v1/me", headers=lost).status_code == 401
    assert client.get("/api/v1/me", headers=mine).status_code == 200
    assert client.get("/api/v1/me", headers={"x-api-key": key}).status_code == 200
    assert client.get("/api/v1/me", headers=bob.headers).status_code == 200
    assert len(sign_ins(client, mine)) == 1


def test_with_an_api_key_every_sign_in_ends(client: TestClient, ann) -> None:
    mine = sign_in(client, FIREFOX)
    key = client.post("/api/v1/keys", json={"name": "script"}, headers=mine).json()["secret"]
    script = {"x-api-key": key}
    assert client.delete("/api/v1/sign-ins", headers=script).status_code == 200
    assert client.get("/api/v1/me", headers=mine).status_code == 401
    assert sign_ins(client, script) == []


def test_acting_elsewhere_keeps_where_one_came_from(client: TestClient, ann) -> None:
    mine = sign_in(client, FIREFOX)
    tenant = client.get("/api/v1/me", headers=mine).json()["tenant_id"]
    moved = client.post("/api/v1/me/tenant", json={"tenant_id": tenant}, headers=mine)
    assert moved.json()["origin"] == "Firefox on Linux, testclient"


def test_the_audit_says_who_did_it_and_finds_what_they_did(
    client: TestClient, ann, provider
) -> None:
    limited = client.put(
        f"/api/v1/tenants/{ann.caller.tenant_id}/limits", json={}, headers=provider.headers
    )
    limited.raise_for_status()
    asked = {"person": provider.name, "kind": "tenant"}
    answer = client.get("/api/v1/audit", params=asked, headers=provider.headers)
    told = [(one["by"], one["tenant"], one["kind"]) for one in answer.json()["items"]]
    assert told == [(provider.name, ann.name, "tenant.limited")]


def test_others_are_not_told(client: TestClient, ann, bob) -> None:
    user = client.get("/api/v1/me", headers=ann.headers).json()["id"]
    assert client.get(f"/api/v1/keys?user={user}", headers=bob.headers).status_code == 404


def test_sign_ins_are_in_the_audit_and_found_there(
    client: TestClient, store: Store, ann, provider
) -> None:
    client.post("/api/v1/login", json=PASSWORD).raise_for_status()
    assert client.post("/api/v1/login", json=PASSWORD | {"password": "wrong"}).status_code == 401
    typed = {"name": "my secret password", "password": "x"}
    assert client.post("/api/v1/login", json=typed).status_code == 401

    def told(**asked: str) -> list[dict]:
        answer = client.get("/api/v1/audit", params=asked, headers=provider.headers)
        answer.raise_for_status()
        return answer.json()["items"]

    signed_in = told(kind="user.signed-in", person=ann.name)
    assert signed_in[0]["subject"] == ann.caller.user_id
    assert signed_in[0]["data"]["origin"]
    failed = told(kind="user.sign-in-failed")
    assert [one["data"]["name"] for one in failed] == ["", ann.name]
    assert "my secret password" not in str(failed)
    assert {one["kind"].partition(".")[0] for one in told(kind="user")} == {"user"}
    assert told(kind="user.") == told(kind="user")
    assert told(kind="use") == []
    assert all(
        one["subject"] == ann.caller.user_id or ann.name in (one["tenant"], one["by"])
        for one in told(person=ann.name)
    )
    missing = client.get("/api/v1/audit", params={"person": "nobody"}, headers=provider.headers)
    assert missing.status_code == 404
    with store.read() as tx:
        of_tenant = tx.events.after(0, tenant_id=ann.caller.tenant_id)
    assert not any("sign" in event.kind for event in of_tenant)  # colleagues do not see them
