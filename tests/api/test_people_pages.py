"""Pages of people: links that let them in, who belongs to a tenant, work of who only labels."""

import html
import re

import pytest
from fastapi.testclient import TestClient
from furnish import PASSWORD, furnish
from test_invitations import NEW, invite, join, let_in
from test_isolation import made_item

from easeml.store import Store
from easeml.web import create_pages, session


def browser(client: TestClient, key: str = "") -> TestClient:
    cookies = {"easeml_session": key} if key else {}
    return TestClient(create_pages(client.app), cookies=cookies)  # type: ignore[arg-type]


def link_in(text: str) -> str:
    found = re.search(r'id="secret">http://testserver(/join/[^<]+)<', text)
    assert found, text
    return html.unescape(found.group(1))


def links(text: str) -> set[str]:
    return {one for one in re.findall(r'href="(/[^"]*)"', text) if not one.startswith("/static")}


def test_from_the_settings_of_an_application_to_its_questions(
    client: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    made_item(store, ann, made)
    page = f"/applications/{made.application_id}"
    owner = browser(client, ann.key)
    sent = {"csrf": session.csrf_token(ann.key), "role": "labeller", "days": "7"}
    link = link_in(owner.post(f"{page}/invite", data=sent).text)
    visitor = browser(client)
    door = visitor.get(link)
    assert "answer questions" in door.text
    assert door.headers["cache-control"] == "no-store"
    weak = visitor.post(link, data={"name": "carol", "password": "password"})
    assert weak.status_code == 422
    assert "not a safe password" in weak.text
    landed = visitor.post(link, data={"name": "carol", "password": NEW})
    assert landed.status_code == 200
    assert landed.url.path == f"{page}/work"
    assert 'data-key="1"' in landed.text
    assert "Use the answers now" not in landed.text
    for here in links(landed.text) | {"/", "/work"}:
        assert visitor.get(here).status_code == 200, here
    for closed in (page, "/applications", "/tasks", "/people"):
        assert visitor.get(closed).status_code in (403, 404), closed
    used = browser(client).get(link)
    assert used.status_code == 409
    assert "was used" in used.text


def test_a_form_of_another_site_takes_no_invitation(client: TestClient, ann) -> None:
    made = invite(client, ann, role="viewer")
    answer = browser(client).post(
        made["path"],
        data={"name": "carol", "password": NEW},
        headers={"origin": "https://elsewhere.example"},
    )
    assert answer.status_code == 403


def test_the_page_of_people_invites_changes_and_ends(client: TestClient, store: Store, ann) -> None:
    furnish(store, ann.caller.tenant_id)
    owner = browser(client, ann.key)
    token = {"csrf": session.csrf_token(ann.key)}
    assert "/people" in links(owner.get("/account").text)
    shown = owner.post("/people/invite", data={**token, "role": "viewer", "days": "1"})
    visitor = browser(client)
    landed = visitor.post(link_in(shown.text), data={"name": "carol", "password": NEW})
    assert landed.url.path == "/applications"
    with store.read() as tx:
        user_id = tx.users.list(name="carol")[0].id
    owner.post("/people", data={**token, "user": user_id, "role": "labeller"})
    assert visitor.get("/applications").status_code == 403
    assert visitor.get("/").url.path.endswith("/work")
    ended = owner.post("/people", data={**token, "user": user_id, "role": ""})
    assert "carol" not in ended.text
    assert visitor.get("/").url.path == "/sign-in"
    refused = owner.post("/people", data={**token, "user": ann.caller.user_id, "role": ""})
    assert refused.status_code == 422
    assert "only owner" in refused.text
    open_one = invite(client, ann, role="viewer")
    assert "Take back" in owner.get("/people").text
    owner.post("/people/revoke", data={**token, "invitation": open_one["id"]})
    assert "No invitation is open" in owner.get("/people").text


@pytest.mark.parametrize("part", ["", "/invite", "/revoke", "/act-in"])
def test_forms_about_people_need_the_token_of_the_session(
    client: TestClient, ann, part: str
) -> None:
    assert browser(client, ann.key).post(f"/people{part}", data={}).status_code == 403


def test_a_viewer_reads_the_pages_of_the_tenant(client: TestClient, store: Store, ann) -> None:
    made = furnish(store, ann.caller.tenant_id)
    headers = let_in(client, ann, role="viewer")
    visitor = browser(client, headers["Authorization"][7:])
    for page in ("/applications", f"/applications/{made.application_id}", "/tasks", "/account"):
        shown = visitor.get(page)
        assert shown.status_code == 200, page
        for here in links(shown.text):
            assert visitor.get(here).status_code == 200 or "#" in here, (page, here)


def test_who_acts_in_another_tenant_sees_where(client: TestClient, store: Store, ann, bob) -> None:
    made = invite(client, ann, role="viewer")
    assert join(client, made["secret"], "bob", PASSWORD).status_code == 201
    visitor = browser(client, bob.key)
    assert "in ann" not in visitor.get("/account").text
    sent = {"csrf": session.csrf_token(bob.key), "tenant": ann.caller.tenant_id}
    visitor.post("/people/act-in", data=sent)
    assert '<span class="muted">in ann</span>' in visitor.get("/account").text


def test_the_account_page_tells_where_one_is_signed_in_and_ends_the_others(
    client: TestClient, ann
) -> None:
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    visitors = [browser(client), browser(client)]
    for visitor in visitors:
        visitor.headers["user-agent"] = firefox
        told = {"name": "ann", "password": PASSWORD}
        assert visitor.post("/sign-in", data=told).status_code == 200
    mine, other = visitors
    page = mine.get("/account").text
    assert page.count("Firefox on Linux, testclient") == 2
    assert page.count('<span class="badge badge-mark">here</span>') == 1
    token = {"csrf": session.csrf_token(mine.cookies["easeml_session"])}
    assert mine.post("/account/sign-ins/end", data={"csrf": "wrong"}).status_code == 403
    after = mine.post("/account/sign-ins/end", data=token).text
    assert after.count("Firefox on Linux, testclient") == 1
    assert "End all others" not in after
    assert other.get("/account").url.path == "/sign-in"
    assert mine.get("/account").status_code == 200
