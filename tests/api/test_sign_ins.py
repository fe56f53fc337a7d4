"""Where somebody is signed in: told, and ended."""

import pytest
from fastapi.testclient import TestClient

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


def test_others_are_not_told(client: TestClient, ann, bob) -> None:
    user = client.get("/api/v1/me", headers=ann.headers).json()["id"]
    assert client.get(f"/api/v1/keys?user={user}", headers=bob.headers).status_code == 404
