"""People are removed for good, and what becomes of their data is said."""

import pytest
from fastapi.testclient import TestClient
from furnish import PASSWORD, furnish
from test_invitations import NEW, invite, join, let_in
from test_people_pages import browser, link_in

from easeml.service.applications import deleting as applications
from easeml.service.datasets import deleting as datasets
from easeml.store import Store
from easeml.web import session


def remove(client: TestClient, provider, person, **wish):
    here = f"/api/v1/users/{person.caller.user_id}/remove"
    return client.post(here, json=wish, headers=provider.headers)


@pytest.mark.parametrize("data", ["keep", "delete"])
def test_who_is_removed_can_do_nothing_and_their_name_is_free(
    client: TestClient, store: Store, provider, ann, data: str
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    done = remove(client, provider, ann, data=data)
    assert done.status_code == 200, done.text
    assert len(done.json()["applications"]) == (1 if data == "delete" else 0)
    assert client.get("/api/v1/me", headers=ann.headers).status_code == 401
    login = {"name": "ann", "password": PASSWORD}
    assert client.post("/api/v1/login", json=login).status_code == 401
    names = [
        one["name"] for one in client.get("/api/v1/users", headers=provider.headers).json()["items"]
    ]
    assert "ann" not in names
    with store.read() as tx:
        application = tx.unscoped().applications.get(made.application_id)
    assert (application.deleted is None) == (data == "keep")
    again = {"name": "ann", "password": NEW}
    assert client.post("/api/v1/users", json=again, headers=provider.headers).status_code == 201
    assert remove(client, provider, ann, data=data).status_code == 404


def test_tenants_that_lose_their_last_owner_are_named(
    client: TestClient, provider, ann, bob
) -> None:
    others, own = bob.caller.tenant_id, ann.caller.tenant_id
    here = f"/api/v1/tenants/{others}/members"
    client.post(here, json={"user": "ann", "role": "owner"}, headers=provider.headers)
    assert remove(client, provider, bob, data="keep").json()["ownerless"] == []
    done = remove(client, provider, ann, data="keep")
    assert done.json()["ownerless"] == sorted([own, others])


def test_what_a_removed_person_did_is_found_by_their_name_and_id(
    client: TestClient, provider, ann
) -> None:
    """Until somebody else has the name: that is asked about often just after a removal."""
    client.post("/api/v1/login", json={"name": "ann", "password": PASSWORD}).raise_for_status()
    remove(client, provider, ann, data="keep")

    def told(person: str) -> list[str]:
        answer = client.get("/api/v1/audit", params={"person": person}, headers=provider.headers)
        answer.raise_for_status()
        return [one["kind"] for one in answer.json()["items"]]

    user_id = ann.caller.user_id
    assert told("ann")[0] == "user.removed"
    assert "user.signed-in" in told("ann")
    assert told("ann") == told(user_id) == told(f"removed {user_id}")
    again = {"name": "ann", "password": NEW}
    client.post("/api/v1/users", json=again, headers=provider.headers).raise_for_status()
    assert told("ann") == ["user.created"]
    assert "user.removed" in told(user_id)


def test_what_is_deleted_with_a_person_is_erased_a_day_later(
    client: TestClient, store: Store, provider, ann, bob
) -> None:
    tenant = ann.caller.tenant_id
    made = furnish(store, tenant)
    done = remove(client, provider, ann, data="delete").json()
    assert done["datasets"] == ["iris"]
    here = f"/api/v1/tenants/{tenant}/members"
    client.post(here, json={"user": "bob", "role": "owner"}, headers=provider.headers)
    key = client.post("/api/v1/me/tenant", json={"tenant_id": tenant}, headers=bob.headers).json()
    headers = {"X-API-Key": key["secret"]}
    assert client.get("/api/v1/datasets", headers=headers).json()["items"] == []
    assert datasets.erase_old(store) == 0
    back = client.post(f"/api/v1/applications/{made.application_id}/restore", headers=headers)
    assert back.status_code == 200, back.text
    names = [one["name"] for one in client.get("/api/v1/datasets", headers=headers).json()["items"]]
    assert names == ["iris"]

    with store.write() as tx:
        before = tx.now() - 2 * datasets.UNDO_SECONDS
        tables = tx.scoped(tenant)
        tables.datasets.update(made.dataset_id, deleted=before)
        tables.applications.update(made.application_id, deleted=before)
    assert datasets.erase_old(store) == 0  # the application is not erased yet
    assert applications.erase_old(store) == 1
    assert datasets.erase_old(store) == 1
    assert datasets.erase_old(store) == 0
    with store.read() as tx:
        versions = tx.scoped(tenant).versions.list(dataset_id=made.dataset_id, limit=None)
        assert "iris" not in str(versions)
        assert {(one.artefact, one.source_artefact, len(one.columns)) for one in versions} == {
            ("", "", 0)
        }


def test_what_is_restored_while_it_is_erased_stays(
    client: TestClient, store: Store, ann, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    with store.write() as tx:
        before = tx.now() - 2 * datasets.UNDO_SECONDS
        tables = tx.scoped(ann.caller.tenant_id)
        tables.datasets.update(made.dataset_id, deleted=before)
        tables.applications.update(made.application_id, deleted=before)
    write = store.write

    def write_after_a_restoration():
        monkeypatch.undo()
        here = f"/api/v1/applications/{made.application_id}/restore"
        assert client.post(here, headers=ann.headers).status_code == 200
        return write()

    monkeypatch.setattr(store, "write", write_after_a_restoration)
    assert applications.erase_old(store) == 0
    assert datasets.erase_old(store) == 0
    found = client.get(f"/api/v1/applications/{made.application_id}", headers=ann.headers)
    assert found.status_code == 200, found.text
    with store.read() as tx:
        assert tx.scoped(ann.caller.tenant_id).models.count() == 2


def test_nothing_is_made_of_a_data_set_that_is_deleted(
    client: TestClient, store: Store, ann
) -> None:
    """It would be used for ever, and never be erased."""
    made = furnish(store, ann.caller.tenant_id)
    with store.write() as tx:
        datasets.delete_all(tx, ann.caller.tenant_id)
    wish = {"dataset_id": made.dataset_id, "target": "species"}
    for path in "/api/v1/applications", "/api/v1/applications/propose":
        refused = client.post(path, json=wish, headers=ann.headers)
        assert refused.status_code == 404, refused.text
        assert "deleted" in refused.text
    here = f"/api/v1/datasets/{made.dataset_id}"
    assert client.get(here, headers=ann.headers).status_code == 404


def test_a_tenant_is_handed_over(client: TestClient, store: Store, provider, ann, bob) -> None:
    made = furnish(store, ann.caller.tenant_id)
    done = remove(client, provider, ann, data="hand-over", to="bob")
    assert done.status_code == 200, done.text
    wish = {"tenant_id": ann.caller.tenant_id}
    key = client.post("/api/v1/me/tenant", json=wish, headers=bob.headers).json()["secret"]
    found = client.get("/api/v1/applications", headers={"X-API-Key": key}).json()["items"]
    assert [one["id"] for one in found] == [made.application_id]


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        ({}, 422),
        ({"data": "hand-over"}, 422),
        ({"data": "keep", "to": "bob"}, 422),
        ({"data": "hand-over", "to": "nobody"}, 404),
        ({"data": "hand-over", "to": "ann"}, 422),
    ],
)
def test_what_is_not_said_is_not_done(
    client: TestClient, provider, ann, wish: dict, status: int
) -> None:
    assert remove(client, provider, ann, **wish).status_code == status
    assert client.get("/api/v1/me", headers=ann.headers).status_code == 200


def test_applications_of_others_are_not_deleted_with_a_person(
    client: TestClient, store: Store, provider, ann
) -> None:
    furnish(store, ann.caller.tenant_id)
    let_in(client, ann, role="owner")
    assert remove(client, provider, ann, data="delete").status_code == 409
    assert remove(client, provider, ann, data="keep").status_code == 200


def test_only_a_provider_removes_and_nobody_themselves(
    client: TestClient, provider, ann, bob
) -> None:
    assert remove(client, bob, ann, data="keep").status_code == 404
    assert remove(client, ann, ann, data="keep").status_code == 403
    assert remove(client, provider, provider, data="keep").status_code == 409


def test_a_provider_lets_somebody_into_a_tenant_that_was_left(
    client: TestClient, provider, ann, bob
) -> None:
    remove(client, provider, ann, data="keep")
    here = f"/api/v1/tenants/{ann.caller.tenant_id}/members"
    wish = {"user": "bob", "role": "owner"}
    assert client.post(here, json=wish, headers=bob.headers).status_code == 403
    assert client.post(here, json=wish, headers=provider.headers).status_code == 201
    assert client.post(here, json=wish, headers=provider.headers).status_code == 409
    me = client.get("/api/v1/me", headers=bob.headers).json()
    assert {one["name"] for one in me["tenants"]} == {"ann", "bob"}


def test_an_invitation_of_who_was_removed_is_of_no_use(client: TestClient, provider, ann) -> None:
    made = invite(client, ann, role="viewer")
    remove(client, provider, ann, data="keep")
    assert join(client, made["secret"]).status_code == 409


def test_the_page_of_the_provider_invites_and_removes(
    client: TestClient, store: Store, provider, ann
) -> None:
    furnish(store, ann.caller.tenant_id)
    page = browser(client, provider.key)
    token = {"csrf": session.csrf_token(provider.key)}
    shown = page.post("/admin/invite", data={**token, "days": "1"})
    visitor = browser(client)
    landed = visitor.post(link_in(shown.text), data={"name": "carol", "password": NEW})
    assert landed.url.path == "/applications"
    gone = {**token, "user": ann.caller.user_id}
    unsaid = page.post("/admin/remove", data={**gone, "data": ""})
    assert unsaid.status_code == 422
    assert page.post("/admin/remove", data={**gone, "data": "keep"}).status_code == 200
    assert ">ann</option>" not in page.get("/admin").text.split('id="remove-user"')[1]
    assert page.post("/admin/uninvite", data={"invitation": "inv_x"}).status_code == 403


def test_a_guest_has_no_tenant_to_hand_over(
    client: TestClient, store: Store, provider, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    headers = let_in(client, ann, application_id=made.application_id, role="labeller")
    user_id = client.get("/api/v1/me", headers=headers).json()["id"]
    here = f"/api/v1/users/{user_id}"
    for wish in ({"data": "hand-over", "to": "bob"}, {"data": "delete"}):
        answer = client.post(f"{here}/remove", json=wish, headers=provider.headers)
        assert answer.status_code == 409, wish
    promoted = client.post(f"{here}/role", json={"role": "provider"}, headers=provider.headers)
    assert promoted.status_code == 409
    kept = client.post(f"{here}/remove", json={"data": "keep"}, headers=provider.headers)
    assert kept.status_code == 200


def test_a_provider_stays_one_whoever_else_owns_their_tenant(client: TestClient, provider) -> None:
    headers = let_in(client, provider, role="owner")
    here = f"/api/v1/members/{provider.caller.user_id}"
    assert client.post(here, json={"role": "viewer"}, headers=headers).status_code == 409
    assert client.delete(here, headers=headers).status_code == 409
    assert client.get("/api/v1/tenants", headers=provider.headers).status_code == 200
    assert client.get("/api/v1/tenants", headers=headers).status_code == 403
