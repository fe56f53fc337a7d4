"""Signing in, keys and users over REST."""

from fastapi.testclient import TestClient
from furnish import PASSWORD


def test_login_gives_a_key_that_works(client: TestClient, ann) -> None:
    answer = client.post("/api/v1/login", json={"name": "ann", "password": PASSWORD})
    assert answer.status_code == 201
    key = answer.json()
    assert key["expires"] > key["created"]
    me = client.get("/api/v1/me", headers={"X-API-Key": key["secret"]}).json()
    assert me["id"] == ann.caller.user_id


def test_wrong_password_and_unknown_name_look_alike(client: TestClient, ann) -> None:
    wrong = client.post("/api/v1/login", json={"name": "ann", "password": "wrong password"})
    unknown = client.post("/api/v1/login", json={"name": "nobody", "password": "wrong password"})
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.content == unknown.content


def test_keys_show_their_secret_once(client: TestClient, ann) -> None:
    made = client.post("/api/v1/keys", json={"name": "script"}, headers=ann.headers)
    assert made.status_code == 201
    assert made.json()["secret"]
    listed = client.get("/api/v1/keys", headers=ann.headers).json()["items"]
    assert {key["name"] for key in listed} >= {"script"}
    assert all(key["secret"] is None for key in listed)


def test_me_is_oneself_for_a_provider_too(client: TestClient, provider, ann) -> None:
    assert client.get("/api/v1/me", headers=provider.headers).json()["role"] == "provider"


def test_only_a_provider_makes_users(client: TestClient, provider, ann) -> None:
    wish = {"name": "carl", "password": PASSWORD}
    refused = client.post("/api/v1/users", json=wish, headers=ann.headers)
    assert refused.status_code == 403
    assert refused.json()["code"] == "not-allowed"
    assert client.post("/api/v1/users", json=wish, headers=provider.headers).status_code == 201
    again = client.post("/api/v1/users", json=wish, headers=provider.headers)
    assert again.status_code == 409
    assert again.json()["code"] == "conflict"


def test_users_see_themselves_only(client: TestClient, provider, ann, bob) -> None:
    def names(person) -> list[str]:
        found = client.get("/api/v1/users", headers=person.headers).json()["items"]
        return [user["name"] for user in found]

    assert names(ann) == ["ann"]
    assert names(provider) == [provider.name, "ann", "bob"]


def test_a_new_password_ends_sign_ins(client: TestClient, ann) -> None:
    path = f"/api/v1/users/{ann.caller.user_id}/password"
    wrong = client.post(path, json={"old": "no", "new": "another password"}, headers=ann.headers)
    assert wrong.status_code == 403
    done = client.post(path, json={"old": PASSWORD, "new": "another password"}, headers=ann.headers)
    assert done.status_code == 204
    assert client.get("/api/v1/me", headers=ann.headers).status_code == 401
    login = client.post("/api/v1/login", json={"name": "ann", "password": "another password"})
    assert login.status_code == 201


def test_creation_is_repeated_safely(client: TestClient, provider) -> None:
    headers = {**provider.headers, "Idempotency-Key": "one"}
    wish = {"name": "dora", "password": PASSWORD}
    first = client.post("/api/v1/users", json=wish, headers=headers)
    second = client.post("/api/v1/users", json=wish, headers=headers)
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    other = client.post("/api/v1/users", json={**wish, "name": "emil"}, headers=headers)
    assert other.status_code == 409


def test_roles_change_but_one_provider_stays(client: TestClient, provider, ann) -> None:
    def change(person, user_id: str, role: str) -> int:
        return client.post(
            f"/api/v1/users/{user_id}/role", json={"role": role}, headers=person.headers
        ).status_code

    own, other = provider.caller.user_id, ann.caller.user_id
    assert change(ann, other, "provider") == 403
    assert change(provider, own, "user") == 409
    assert change(provider, other, "owner") == 422
    assert change(provider, "usr_nobody", "provider") == 404
    assert change(provider, other, "provider") == 200
    assert client.get("/api/v1/tenants", headers=ann.headers).status_code == 200
    assert change(ann, own, "user") == 200
    assert client.get("/api/v1/tenants", headers=provider.headers).status_code == 403
    assert change(ann, other, "user") == 409
