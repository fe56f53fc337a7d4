"""Links that let people in: to an application, to a tenant, to a tenant of their own."""

import pytest
from fastapi.testclient import TestClient
from furnish import PASSWORD, furnish

from easeml.contract.accounts import Invitation
from easeml.contract.states import InvitationState
from easeml.settings import Settings
from easeml.store import Store

NEW = "a sound passphrase 7"


def invite(client: TestClient, person, application_id: str = "", **wish) -> dict:
    where = f"applications/{application_id}/invitations" if application_id else "invitations"
    answer = client.post(f"/api/v1/{where}", json=wish, headers=person.headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


def join(client: TestClient, secret: str, name: str = "carol", password: str = NEW):
    wish = {"secret": secret, "name": name, "password": password}
    return client.post("/api/v1/invitations/accept", json=wish)


def let_in(client: TestClient, person, name: str = "carol", application_id: str = "", **wish):
    """Return the headers of somebody who took an invitation."""
    made = invite(client, person, application_id, **wish)
    joined = join(client, made["secret"], name)
    assert joined.status_code == 201, joined.text
    return {"Authorization": f"Bearer {joined.json()['key']['secret']}"}


def test_a_link_lets_one_labeller_in_once(client: TestClient, store: Store, ann) -> None:
    made = furnish(store, ann.caller.tenant_id)
    invited = invite(client, ann, made.application_id, role="labeller")
    assert invited["path"] == "/join/" + invited["secret"]
    seen = client.post("/api/v1/invitations/look", json={"secret": invited["secret"]}).json()
    assert (seen["by"], seen["role"], seen["kind"]) == ("ann", "labeller", "application")
    joined = join(client, invited["secret"])
    assert joined.status_code == 201, joined.text
    assert joined.json()["path"] == f"/applications/{made.application_id}/work"
    headers = {"Authorization": f"Bearer {joined.json()['key']['secret']}"}
    me = client.get("/api/v1/me", headers=headers).json()
    assert (me["name"], me["member"]) == ("carol", "guest")
    shared = client.get("/api/v1/shared", headers=headers).json()["items"]
    assert [one["role"] for one in shared] == ["labeller"]
    work = f"/api/v1/applications/{made.application_id}/work"
    assert client.post(work, headers=headers).status_code == 200
    for path in ("applications", "datasets", "events/list", "status", "members", "invitations"):
        assert client.get(f"/api/v1/{path}", headers=headers).status_code == 403, path
    again = join(client, invited["secret"], "dave")
    assert again.status_code == 409
    assert "was used" in again.json()["detail"]
    assert again.json()["remedy"]
    listed = client.get("/api/v1/invitations", headers=ann.headers).json()["items"]
    assert [(one["state"], one["used_by"]) for one in listed] == [("used", "carol")]
    assert "secret" not in listed[0] or listed[0]["secret"] is None
    assert client.post("/api/v1/login", json={"name": "carol", "password": NEW}).status_code == 201


def test_a_link_has_the_address_that_people_use(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch, store: Store, ann
) -> None:
    """Whoever invites may sit on the machine itself, where easeml has another address."""
    assert invite(client, ann, role="viewer")["link"] is None
    monkeypatch.setattr(settings, "public_url", "https://easeml.lab/")
    application = furnish(store, ann.caller.tenant_id).application_id
    for made in (
        invite(client, ann, role="viewer"),
        invite(client, ann, application, role="viewer"),
    ):
        assert made["link"] == f"https://easeml.lab{made['path']}"
        shown = client.get("/api/v1/invitations", headers=ann.headers).json()["items"][-1]
        assert (shown["link"], shown["path"]) == (None, None)


def test_an_invitation_whose_time_is_over_is_not_called_open(client: TestClient, ann) -> None:
    invite(client, ann, role="viewer", expires_in=3600)
    answer = client.get("/api/v1/invitations", headers=ann.headers).json()["items"][0]
    told = Invitation.model_validate(answer)
    assert told.state_at(told.expires - 1) == "open"
    assert told.state_at(told.expires) == "over"
    taken_back = told.model_copy(update={"state": InvitationState.REVOKED})
    assert taken_back.state_at(told.expires) == "revoked"


def test_only_a_hash_is_kept(client: TestClient, store: Store, ann) -> None:
    secret = invite(client, ann, role="viewer")["secret"]
    with store.read() as tx:
        rows = tx.unscoped().invitations.list()
        events = tx.events.after(0, limit=1000)
    assert secret not in repr(rows)
    assert secret not in repr(events)


@pytest.mark.parametrize(
    ("role", "opens", "closed"),
    [
        ("viewer", ("applications", "jobs", "datasets", "notifications"), ("members", "keys/x")),
        ("labeller", ("shared", "me", "keys"), ("applications", "datasets", "events/list")),
        ("owner", ("applications", "members", "invitations"), ()),
    ],
)
def test_members_of_a_tenant(
    client: TestClient, store: Store, ann, role: str, opens: tuple, closed: tuple
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    headers = let_in(client, ann, role=role)
    for path in opens:
        assert client.get(f"/api/v1/{path}", headers=headers).status_code == 200, path
    for path in closed:
        assert client.get(f"/api/v1/{path}", headers=headers).status_code == 403, path
    here = f"/api/v1/applications/{made.application_id}"
    expected = {"viewer": (200, 403, 403), "labeller": (403, 200, 403), "owner": (200, 200, 200)}
    got = (
        client.get(here, headers=headers).status_code,
        client.post(f"{here}/work", headers=headers).status_code,
        client.post(f"{here}/rename", json={"name": "x"}, headers=headers).status_code,
    )
    assert got == expected[role]
    shown = client.get("/api/v1/members", headers=ann.headers).json()["items"]
    assert [(one["name"], one["role"]) for one in shown] == [("ann", "owner"), ("carol", role)]


def test_a_labeller_of_the_tenant_has_all_its_applications(
    client: TestClient, store: Store, ann, bob
) -> None:
    mine = [furnish(store, ann.caller.tenant_id).application_id for _ in range(2)]
    furnish(store, bob.caller.tenant_id)
    headers = let_in(client, ann, role="labeller")
    shared = client.get("/api/v1/shared", headers=headers).json()["items"]
    assert sorted(one["application_id"] for one in shared) == sorted(mine)


def test_only_a_provider_invites_to_a_new_tenant(client: TestClient, provider, ann) -> None:
    assert client.post("/api/v1/invitations", json={}, headers=ann.headers).status_code == 403
    headers = let_in(client, provider)
    me = client.get("/api/v1/me", headers=headers).json()
    assert (me["member"], me["role"]) == ("owner", "user")
    assert [one["name"] for one in me["tenants"]] == ["carol"]
    assert client.get("/api/v1/applications", headers=headers).json()["items"] == []


def test_an_invitation_ends_by_time_and_by_being_taken_back(
    client: TestClient, store: Store, ann, bob
) -> None:
    made = invite(client, ann, role="viewer")
    here = f"/api/v1/invitations/{made['id']}"
    assert client.delete(here, headers=bob.headers).status_code == 404
    assert client.delete(here, headers=ann.headers).json()["state"] == "revoked"
    assert "taken back" in join(client, made["secret"]).json()["detail"]
    late = invite(client, ann, role="viewer", expires_in=60)
    with store.write() as tx:
        tx.unscoped().invitations.update(late["id"], expires=tx.now() - 1)
    assert "is over" in join(client, late["secret"]).json()["detail"]
    assert join(client, "inv_nothing").status_code == 404


def test_an_invitation_ends_with_the_right_to_invite(
    client: TestClient, store: Store, ann, bob
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    share = f"/api/v1/applications/{made.application_id}/share"
    client.post(share, json={"user": "bob", "role": "owner"}, headers=ann.headers)
    invited = invite(client, bob, made.application_id, role="viewer")
    client.post(share, json={"user": "bob", "role": None}, headers=ann.headers)
    answer = join(client, invited["secret"])
    assert answer.status_code == 409
    assert "may no longer invite" in answer.json()["detail"]


def test_who_is_there_takes_it_with_their_password(
    client: TestClient, store: Store, ann, bob
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    invited = invite(client, ann, made.application_id, role="viewer")
    assert join(client, invited["secret"], "bob", "not the password 3").status_code == 401
    assert join(client, invited["secret"], "bob", PASSWORD).status_code == 201
    here = f"/api/v1/applications/{made.application_id}"
    assert client.get(here, headers=bob.headers).status_code == 200
    me = client.get("/api/v1/me", headers=bob.headers).json()
    assert [one["name"] for one in me["tenants"]] == ["bob"]


def test_a_member_of_two_tenants_acts_in_one_at_a_time(
    client: TestClient, store: Store, ann, bob
) -> None:
    furnish(store, ann.caller.tenant_id)
    invited = invite(client, ann, role="viewer")
    assert join(client, invited["secret"], "bob", PASSWORD).status_code == 201
    wish = {"tenant_id": ann.caller.tenant_id}
    key = client.post("/api/v1/me/tenant", json=wish, headers=bob.headers).json()
    headers = {"Authorization": f"Bearer {key['secret']}"}
    assert len(client.get("/api/v1/applications", headers=headers).json()["items"]) == 1
    assert client.get("/api/v1/me", headers=headers).json()["member"] == "viewer"
    back = {"tenant_id": bob.caller.tenant_id}
    assert client.post("/api/v1/me/tenant", json=back, headers=headers).status_code == 201
    nowhere = {"tenant_id": "ten_x"}
    again = client.post("/api/v1/me/tenant", json=nowhere, headers=ann.headers)
    assert again.status_code == 404


def test_ending_a_membership_counts_at_once(client: TestClient, store: Store, ann) -> None:
    made = furnish(store, ann.caller.tenant_id)
    headers = let_in(client, ann, application_id=made.application_id, role="labeller")
    key = client.post("/api/v1/keys", json={"name": "mine"}, headers=headers).json()["secret"]
    work = f"/api/v1/applications/{made.application_id}/work"
    assert client.post(work, headers=headers).status_code == 200
    user_id = client.get("/api/v1/me", headers=headers).json()["id"]
    ended = client.delete(f"/api/v1/members/{user_id}", headers=ann.headers)
    assert ended.json()["role"] == "guest"
    for secret in (headers["Authorization"], f"Bearer {key}"):
        sent = {"Authorization": secret}
        assert client.post(work, headers=sent).status_code == 401
        assert client.get("/api/v1/me", headers=sent).status_code == 401
    answer = client.post("/api/v1/login", json={"name": "carol", "password": NEW})
    assert answer.status_code == 401
    assert "no tenant" in answer.json()["detail"]
    invited = invite(client, ann, made.application_id, role="labeller")
    assert join(client, invited["secret"], "carol", NEW).status_code == 201


def test_a_role_changes_at_once_and_an_owner_stays(client: TestClient, store: Store, ann) -> None:
    furnish(store, ann.caller.tenant_id)
    headers = let_in(client, ann, role="viewer")
    assert client.get("/api/v1/applications", headers=headers).status_code == 200
    user_id = client.get("/api/v1/me", headers=headers).json()["id"]
    here = f"/api/v1/members/{user_id}"
    assert client.post(here, json={"role": "owner"}, headers=headers).status_code == 403
    changed = client.post(here, json={"role": "labeller"}, headers=ann.headers)
    assert changed.json()["role"] == "labeller"
    assert client.get("/api/v1/applications", headers=headers).status_code == 403
    own = f"/api/v1/members/{ann.caller.user_id}"
    assert client.delete(own, headers=ann.headers).status_code == 409
    assert client.post(own, json={"role": "guest"}, headers=ann.headers).status_code == 409


def test_guessing_is_slowed(client: TestClient) -> None:
    status = [join(client, "inv_wrong").status_code for _ in range(7)]
    assert status[:5] == [404] * 5
    assert status[5:] == [429] * 2


def test_what_happened_is_in_the_audit(client: TestClient, store: Store, provider, ann) -> None:
    headers = let_in(client, ann, role="viewer")
    user_id = client.get("/api/v1/me", headers=headers).json()["id"]
    client.post(f"/api/v1/members/{user_id}", json={"role": "guest"}, headers=ann.headers)
    client.delete(f"/api/v1/members/{user_id}", headers=ann.headers)
    invited = invite(client, ann, role="viewer")
    client.delete(f"/api/v1/invitations/{invited['id']}", headers=ann.headers)
    found = client.get("/api/v1/audit", headers=provider.headers).json()["items"]
    kinds = {one["kind"] for one in found}
    assert {"invitation.created", "invitation.accepted", "invitation.revoked"} <= kinds
    assert {"member.changed", "member.ended"} <= kinds
