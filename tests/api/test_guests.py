"""Who has an application of another tenant is told of it, and finds it from the menu."""

import pytest
from fastapi.testclient import TestClient
from furnish import PASSWORD, furnish
from test_pages_of_roles import browser_of

from easeml.store import Store

MENU = 'aria-label="Main"'


def guest_of(client: TestClient, owner, application_id: str, role: str) -> dict[str, str]:
    """Return the headers of somebody who came by a link to one application."""
    wish = {"role": role}
    path = f"/api/v1/applications/{application_id}/invitations"
    made = client.post(path, json=wish, headers=owner.headers)
    assert made.status_code == 201, made.text
    joining = {"secret": made.json()["secret"], "name": "carol", "password": PASSWORD}
    joined = client.post("/api/v1/invitations/accept", json=joining).json()
    return {"Authorization": f"Bearer {joined['key']['secret']}"}


def tell(store: Store, tenant_id: str, kind: str, subject: str) -> None:
    with store.write() as tx:
        tx.events.append(kind, subject, {"name": "tree"}, tenant_id)


def menu_of(page: str) -> list[str]:
    entries = page.partition(MENU)[2].partition("</nav>")[0].split("<a href=")[1:]
    return [one.split('"')[1] for one in entries]


@pytest.mark.parametrize("role", ["viewer", "owner"])
def test_a_guest_is_told_of_what_they_may_look_at_and_of_nothing_else(
    client: TestClient, store: Store, ann, role: str
) -> None:
    tenant_id = ann.caller.tenant_id
    made, other = furnish(store, tenant_id), furnish(store, tenant_id)
    headers = guest_of(client, ann, made.application_id, role)
    tell(store, tenant_id, "promotion.live", made.application_id)
    tell(store, tenant_id, "promotion.live", other.application_id)
    tell(store, tenant_id, "dataset.failed", other.version_id)
    tell(store, tenant_id, "module.fault", "tree")
    found = client.get("/api/v1/notifications", headers=headers).json()
    assert [one["subject"] for one in found["items"]] == [made.application_id]
    me = client.get("/api/v1/me", headers=headers).json()
    assert (me["member"], me["looks"], me["unread"]) == ("guest", True, 1)
    read = {"seq": found["items"][0]["seq"]}
    answer = client.post("/api/v1/notifications/read", json=read, headers=headers)
    assert answer.json()["unread"] == 0

    browser = browser_of(client, headers["Authorization"].removeprefix("Bearer "))
    first = browser.get("/")
    assert first.url.path == "/applications"
    assert menu_of(first.text) == ["/applications", "/work"]
    assert f'href="/applications/{made.application_id}"' in first.text
    assert other.application_id not in first.text
    assert 'href="/notifications"' in first.text
    notes = browser.get("/notifications").text
    assert made.application_id in notes
    assert other.application_id not in notes


@pytest.mark.parametrize("role", ["labeller", "none"])
def test_who_may_look_at_nothing_is_told_nothing(
    client: TestClient, store: Store, ann, role: str
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    headers = guest_of(client, ann, made.application_id, "labeller")
    if role == "none":
        ended = {"user": "carol", "role": None}
        share = f"/api/v1/applications/{made.application_id}/share"
        assert client.post(share, json=ended, headers=ann.headers).status_code == 200
    tell(store, ann.caller.tenant_id, "promotion.live", made.application_id)
    found = client.get("/api/v1/notifications", headers=headers).json()
    assert (found["items"], found["unread"]) == ([], 0)
    assert client.get("/api/v1/me", headers=headers).json()["looks"] is False
    browser = browser_of(client, headers["Authorization"].removeprefix("Bearer "))
    first = browser.get("/", follow_redirects=False)
    assert first.headers["location"] == "/work"
    page = browser.get("/account").text
    assert menu_of(page) == ["/work"]
    assert 'href="/notifications"' not in page
