"""Sign-in by an identity provider: over real HTTP to one that signs in whom a test says."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from furnish import PASSWORD
from test_invitations import invite

from easeml.api.context import Context
from easeml.settings import Settings
from easeml.store import Store
from easeml.web import create_pages, session
from identity_provider import CLIENT_ID, CLIENT_SECRET, StandInProvider, running_provider

ADA = {"sub": "42", "email": "ada@lab.org", "email_verified": True}


@pytest.fixture(scope="module")
def served() -> Iterator[StandInProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def there(served: StandInProvider) -> StandInProvider:
    served.person = dict(ADA)
    served.refusal = ""
    return served


@pytest.fixture
def settings(settings: Settings, there: StandInProvider) -> Settings:
    known = {"openid_client_id": CLIENT_ID, "openid_client_secret": CLIENT_SECRET}
    return settings.model_copy(
        update={"openid_issuer": there.issuer, "openid_name": "Lab login", **known}
    )


def admit(app: FastAPI, store: Store, settings: Settings, predictor, whom: str) -> None:
    """Go on as a controller that was started with this setting."""
    admitting = settings.model_copy(update={"openid_admits": whom})
    app.state.context = Context.over(store, admitting, predictor)


@pytest.fixture
def everybody(client: TestClient, app, store, settings, predictor) -> None:
    """Whoever the provider knows may come."""
    admit(app, store, settings, predictor, "everybody")


def browser(client: TestClient, key: str = "") -> TestClient:
    cookies = {"easeml_session": key} if key else {}
    return TestClient(create_pages(client.app), cookies=cookies)  # type: ignore[arg-type]


def go(visitor: TestClient, path: str = "/sign-in/identity?next=/account") -> httpx.Response:
    """Go to the provider and back, as a browser would, and show the page after it."""
    return back(visitor, visitor.get(path, follow_redirects=False))


def back(visitor: TestClient, sent: httpx.Response) -> httpx.Response:
    assert sent.status_code == 303, sent.text
    returned = urlsplit(httpx.get(sent.headers["location"]).headers["location"])
    assert returned.netloc == "testserver"
    return visitor.get(f"{returned.path}?{returned.query}")


def key_of(visitor: TestClient) -> dict[str, str]:
    return {"Authorization": f"Bearer {visitor.cookies['easeml_session']}"}


def test_the_door_names_the_provider_where_there_is_one(client: TestClient) -> None:
    page = browser(client).get("/sign-in?next=/tasks").text
    assert 'href="/sign-in/identity?next=/tasks"' in page
    assert "Sign in by Lab login" in page


@pytest.mark.usefixtures("everybody")
def test_who_comes_first_gets_a_tenant_and_is_known_again(client: TestClient, there) -> None:
    visitor = browser(client)
    page = go(visitor)
    assert page.url.path == "/account"
    assert "You sign in as <strong>ada@lab.org</strong>." in page.text
    assert "/account/password" not in page.text, "they have no password to change"
    me = client.get("/api/v1/me", headers=key_of(visitor)).json()
    assert (me["name"], me["member"], me["has_password"]) == ("ada", "owner", False)
    there.person["email"] = "ada.byron@lab.org"  # people marry
    again = browser(client)
    go(again)
    assert client.get("/api/v1/me", headers=key_of(again)).json()["id"] == me["id"]


@pytest.mark.usefixtures("everybody")
def test_a_name_that_is_taken_is_not_taken_over(client: TestClient, there, ann) -> None:
    there.person = {"sub": "43", "email": "ann@lab.org", "email_verified": True}
    visitor = browser(client)
    go(visitor)
    me = client.get("/api/v1/me", headers=key_of(visitor)).json()
    assert me["name"] == "ann-2"
    assert me["id"] != ann.caller.user_id


def test_without_an_invitation_nobody_comes_by_default(client: TestClient) -> None:
    visitor = browser(client)
    page = go(visitor)
    assert page.status_code == 403
    assert "Nobody here is known as ada@lab.org" in page.text
    assert "Sign in by Lab login" in page.text, "one may try again, as somebody else"
    assert "easeml_session" not in visitor.cookies


@pytest.mark.parametrize(
    ("whom", "person", "comes"),
    [
        ("lab.org", {}, True),
        ("other.org, @LAB.org", {}, True),
        ("lab.org", {"email_verified": False}, False),
        ("lab.org", {"email": "ada@lab.org.evil.org"}, False),
        ("lab.org", {"email": "ada@evil.org"}, False),
        ("lab.org", {"email": "lab.org"}, False),
        ("", {"email": ""}, False),
        ("invited", {"email": "ada@invited"}, False),
    ],
)
def test_mail_domains_admit_whose_address_is_verified(
    client: TestClient, app, store, settings, predictor, there, whom, person, comes
) -> None:
    admit(app, store, settings, predictor, whom)
    there.person |= person
    assert go(browser(client)).status_code == (200 if comes else 403)


def test_an_invitation_is_taken_without_a_password(client: TestClient, ann) -> None:
    made = invite(client, ann, role="viewer")
    visitor = browser(client)
    door = visitor.get(made["path"]).text
    found = re.search(r'href="(/sign-in/identity\?invitation=[^"]+)"', door)
    assert found, door
    assert "Continue with Lab login" in door
    assert go(visitor, found.group(1)).url.path == "/applications"
    me = client.get("/api/v1/me", headers=key_of(visitor)).json()
    assert (me["name"], me["member"]) == ("ada", "viewer")
    assert "was used" in go(browser(client), found.group(1)).text
    assert go(browser(client)).status_code == 200, "they are known from now on"


def test_who_has_a_password_connects_the_two_and_ends_it(client: TestClient, there, ann) -> None:
    visitor = browser(client, ann.key)
    form = {"csrf": session.csrf_token(ann.key)}
    refused = visitor.post("/account/identity", data={"csrf": "x"}, follow_redirects=False)
    assert refused.status_code == 403
    sent = visitor.post("/account/identity", data=form, follow_redirects=False)
    page = back(visitor, sent)
    assert "You sign in as <strong>ada@lab.org</strong>, or with your password" in page.text
    other = browser(client)
    go(other)
    assert client.get("/api/v1/me", headers=key_of(other)).json()["id"] == ann.caller.user_id
    visitor.post("/account/identity/end", data=form)
    assert go(browser(client)).status_code == 403


def test_a_password_that_a_provider_sets_ends_a_connection_that_somebody_else_may_have_made(
    client: TestClient, ann, provider
) -> None:
    visitor = browser(client, ann.key)
    form = {"csrf": session.csrf_token(ann.key)}
    back(visitor, visitor.post("/account/identity", data=form, follow_redirects=False))
    assert go(browser(client)).status_code == 200
    change = {"old": "", "new": "a new password of ann 7"}
    here = f"/api/v1/users/{ann.caller.user_id}/password"
    assert client.post(here, json=change, headers=provider.headers).status_code == 204
    assert go(browser(client)).status_code == 403


def test_an_identity_is_of_one_user(client: TestClient, ann, bob) -> None:
    for person, status in ((ann, 200), (bob, 403)):
        visitor = browser(client, person.key)
        form = {"csrf": session.csrf_token(person.key)}
        page = back(visitor, visitor.post("/account/identity", data=form, follow_redirects=False))
        assert page.status_code == status
    assert "signs in here as 'ann'" in page.text.replace("&#39;", "'")


def test_what_another_browser_began_lets_nobody_in(client: TestClient, everybody, ann) -> None:
    victim, attacker = browser(client), browser(client)
    sent = attacker.get("/sign-in/identity", follow_redirects=False)
    returned = urlsplit(httpx.get(sent.headers["location"]).headers["location"])
    link = f"{returned.path}?{returned.query}"
    assert "not begun in this browser" in victim.get(link).text
    go(victim)
    assert "not begun in this browser" in victim.get(link).text
    assert attacker.get(link).url.path == "/applications"
    assert "not begun in this browser" in attacker.get(link).text, "it is good for once"


def test_a_session_of_somebody_else_is_not_connected(client: TestClient, ann, bob) -> None:
    visitor = browser(client, ann.key)
    form = {"csrf": session.csrf_token(ann.key)}
    sent = visitor.post("/account/identity", data=form, follow_redirects=False)
    visitor.cookies.set("easeml_session", bob.key)
    assert back(visitor, sent).status_code == 403
    me = client.get("/api/v1/me", headers=bob.headers).json()
    assert me["identity"] == ""


@pytest.mark.parametrize("cookie", ["", "zz", "7b7d", "5b5d", b'{"state": 1}'.hex()])
def test_a_cookie_that_is_none_of_ours_is_no_sign_in(client: TestClient, cookie: str) -> None:
    visitor = browser(client)
    visitor.cookies.set("easeml_session_identity", cookie)
    answer = visitor.get("/sign-in/identity/back?state=1&code=x")
    assert answer.status_code == 403
    assert "not begun in this browser" in answer.text


def test_a_refusal_of_the_provider_is_shown(client: TestClient, there) -> None:
    there.refusal = "access_denied"
    page = go(browser(client))
    assert "The identity provider refused: access_denied." in page.text


@pytest.mark.usefixtures("everybody")
def test_who_is_disabled_or_removed_stays_out(client: TestClient, there, provider) -> None:
    visitor = browser(client)
    go(visitor)
    me = client.get("/api/v1/me", headers=key_of(visitor)).json()
    access = f"/api/v1/users/{me['id']}/access"
    client.post(access, json={"disabled": True}, headers=provider.headers)
    page = go(browser(client))
    assert page.status_code == 403
    assert "ada is disabled" in page.text
    gone = f"/api/v1/users/{me['id']}/remove"
    assert client.post(gone, json={"data": "keep"}, headers=provider.headers).status_code == 200
    newcomer = browser(client)
    go(newcomer)
    assert client.get("/api/v1/me", headers=key_of(newcomer)).json()["id"] != me["id"]


@pytest.mark.usefixtures("everybody")
def test_nobody_without_a_password_signs_in_with_one_or_loses_the_other(client: TestClient) -> None:
    visitor = browser(client)
    go(visitor)
    for tried in ("", " ", PASSWORD):
        answer = client.post("/api/v1/login", json={"name": "ada", "password": tried})
        assert answer.status_code == 401
    headers = key_of(visitor)
    assert client.delete("/api/v1/me/identity", headers=headers).status_code == 409
    me = client.get("/api/v1/me", headers=headers).json()
    change = {"old": "", "new": "a new password of ada 7"}
    answer = client.post(f"/api/v1/users/{me['id']}/password", json=change, headers=headers)
    assert answer.status_code == 403


def test_without_a_provider_nothing_is_offered(
    client: TestClient, app, store, settings, predictor
) -> None:
    plain = settings.model_copy(update={"openid_issuer": "", "openid_name": ""})
    app.state.context = Context.over(store, plain, predictor)
    assert "/sign-in/identity" not in browser(client).get("/sign-in").text
    answer = client.post("/api/v1/sign-in/identity/ask", json={"site": "http://testserver"})
    assert answer.status_code == 404


def test_the_secret_of_the_client_is_told_to_nobody(client: TestClient, provider) -> None:
    found = client.get("/api/v1/settings", headers=provider.headers).json()
    assert CLIENT_SECRET not in str(found)


@pytest.mark.parametrize("site", ["javascript:alert(1)", "testserver", "", "//x"])
def test_a_site_that_is_none_is_refused(client: TestClient, site: str) -> None:
    answer = client.post("/api/v1/sign-in/identity/ask", json={"site": site})
    assert answer.status_code == 422
