"""Pages show nobody what they may not do: every link and form that a role sees works for it."""

import re
from collections import deque
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.testclient import TestClient
from jinja2 import nodes
from starlette.types import Receive, Scope, Send
from test_isolation import things
from test_sharing import give, member_of

from easeml.contract.states import TaskState
from easeml.store import Store
from easeml.web import create_pages, session
from easeml.web.rendering import environment

NOT_OPENED = ("/static", "/live", "/scheduler")  # the scheduler's: a furnished search has no times
# What ends the visit, or takes away what others need: sent last.
LAST = ("/steer", "/delete", "/keys/revoke", "/sign-ins/end", "/password", "/act-in", "/sign-out")
ABOUT_IT = ("/applications", "/tasks", "/work", "/others", "/account", "/notifications")
VIEWERS, LABELLERS, OWNERS = {"look"}, {"label"}, {"look", "label", "change"}
# Whoever looks may predict; the pages Ask and Settings are for owners alone, as a whole.
FORMS_OF_ALL = {
    "application_try.html": 2,
    "application_ask.html": 1,
    "application_settings.html": 10,
}
TYPED = {"user": "provider"}  # what a person would type: somebody that there is
TABS_OF = {
    "look": {"", "/next", "/try", "/models", "/tasks", "/endpoint", "/data", "/history"},
    "label": {"/work"},
    "change": {"/ask", "/settings"},
}


@dataclass
class Form:
    """A form as a browser would send it, once for each of its buttons."""

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    def sendings(self) -> list[dict[str, str]]:
        named = [{**self.fields, name: value} for name, value in self.buttons if name]
        return named or [self.fields]


class Controls(HTMLParser):
    """The links and forms of a page, and where files that are dropped on it go."""

    def __init__(self, text: str):
        super().__init__()
        self.links: set[str] = set()
        self.forms: list[Form] = []
        self.drops: list[tuple[str, str]] = []
        self._form: Form | None = None
        self._select = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "a" and found.get("href", "").startswith(("/", "?")):
            self.links.add(found["href"])
        if "data-to" in found:
            self.drops.append((found["data-to"], found["data-csrf"]))
        if tag == "form":
            self._form = Form(found.get("method", "get"), found.get("action", ""))
            self.forms.append(self._form)
        if self._form is not None:
            self._add(tag, found)

    def _add(self, tag: str, found: dict[str, str]) -> None:
        assert self._form is not None
        name = found.get("name", "")
        if tag == "button" and "disabled" not in found:
            self._form.buttons.append((name, found.get("value", "")))
        elif tag in ("input", "textarea") and name and found.get("type") != "file":
            self._form.fields[name] = found.get("value", "") or TYPED.get(name, "")
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            self._form.fields.setdefault(self._select, found.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        if tag == "select":
            self._select = ""


def pattern_of(address: str) -> str:
    """What addresses of the same page have in common: one of them is enough."""
    path, _, query = address.partition("?")
    names = sorted(re.findall(r"(\w+)=", query))
    return re.sub(r"/(new|tasks|added|export|use)/[^/]+", r"/\1/*", path) + "?" + "&".join(names)


def walk(browser: TestClient, starts: list[str]) -> dict[str, Controls]:
    """Open these pages, and what they lead to; none may be closed.

    Those about applications, tasks and the visitor are returned, and followed further.
    """
    waiting, seen, found = deque(starts), set(), {}
    while waiting:
        address = waiting.popleft()
        if pattern_of(address) in seen or address.startswith(NOT_OPENED):
            continue
        seen.add(pattern_of(address))
        page = browser.get(address)
        assert page.status_code == 200, (address, page.text[-1500:])
        here = urlsplit(str(page.url)).path
        is_page = page.headers.get("content-type", "").startswith("text/html")
        if is_page and here.startswith(ABOUT_IT):
            found[here] = Controls(page.text)
            # The script of uploads fails where there is nothing to drop a file on.
            assert ("upload.js" in page.text) <= ('id="drop"' in page.text), address
            waiting += sorted(urljoin(here, link) for link in found[here].links)
    return found


def send_all(browser: TestClient, pages: dict[str, Controls]) -> list[str]:
    """Send every form as each of its buttons does; return the addresses that were asked."""
    sendings = {}
    for here, controls in pages.items():
        for form in controls.forms:
            for fields in form.sendings():
                action = form.action or here
                if action.endswith("/share") and not fields["role"]:
                    continue  # they would shut themselves out
                sendings[form.method, action, tuple(sorted(fields.items()))] = fields
        for to, token in controls.drops:
            sendings["drop", to, ()] = {"csrf": token}
    order = sorted(sendings, key=lambda one: (list(map(one[1].endswith, LAST)), one))
    for method, action, key in order:
        sent = sendings[method, action, key]
        if method == "drop":
            asked = {"params": {"filename": "a.csv"}, "headers": {"x-csrf": sent["csrf"]}}
            answer = browser.post(action, content=b"size,kind\n1,setosa\n", **asked)
        elif method == "get":
            answer = browser.get(action, params=sent)
        else:
            answer = browser.post(action, data=sent, follow_redirects=False)
        is_open = answer.status_code in (200, 201, 204, 303, 409, 422)  # it may say what is wrong
        assert is_open, (answer.status_code, method, action, sent, answer.text[-900:])
    return [action for _, action, _ in order]


def browser_of(client: TestClient, key: str) -> TestClient:
    """Return what asks for pages as the owner of a key."""
    pages = create_pages(client.app)  # type: ignore[arg-type]

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        await pages({**scope, "asgi": {"version": "3.0"}}, receive, send)  # as servers say it

    return TestClient(served, cookies={"easeml_session": key})


def visit(client: TestClient, ids: dict, key: str, permissions: set[str]) -> list[str]:
    """Walk all pages of somebody, and send all forms; the tabs are those of their permissions."""
    browser = browser_of(client, key)
    here = f"/applications/{ids['application_id']}"
    tabs = set().union(*(TABS_OF[one] for one in permissions))
    found = walk(browser, ["/", "/others", *sorted(here + tab for tab in tabs)])
    for tab in tabs & {"", "/data", "/history"}:
        links = found[here + tab].links
        shown = {link.removeprefix(here) for link in links if link.startswith(here)}
        hidden = set().union(*TABS_OF.values()) - tabs
        assert not shown & hidden, (tab, shown & hidden)
        assert tabs <= shown, (tab, tabs - shown)
    return send_all(browser, found)


def set_running(store: Store, ids: dict) -> None:
    """Let a task run and the search as well, so that there is something to stop."""
    with store.write() as tx:
        tables = tx.unscoped()
        tables.tasks.update(ids["task_id"], state=TaskState.RUNNING)
        tables.jobs.update(ids["job_id"], state="running")


@pytest.mark.parametrize(
    ("role", "permissions"), [("viewer", VIEWERS), ("labeller", LABELLERS), ("owner", OWNERS)]
)
def test_what_was_shared_shows_only_what_its_role_may_do(
    client: TestClient, store: Store, ann, bob, role: str, permissions: set[str]
) -> None:
    ids = things(client, store, ann)
    set_running(store, ids)
    give(client, ids, ann, role)
    sent = visit(client, ids, bob.key, permissions)
    steers = f"/applications/{ids['application_id']}/steer"
    assert (steers in sent) == (role == "owner")


@pytest.mark.parametrize(("role", "follows"), [("viewer", True), ("labeller", False)])
def test_a_page_of_what_was_shared_follows_its_owner_where_it_may_be_seen(
    client: TestClient, store: Store, ann, bob, role: str, follows: bool
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    here = f"/applications/{ids['application_id']}"
    page = browser_of(client, bob.key).get(f"{here}/work" if role == "labeller" else here).text
    assert (f'data-events="application.changed" data-stream="{here}/live"' in page) == follows
    own = browser_of(client, ann.key).get(here).text
    assert 'data-stream="/live?latest=true"' in own


def test_a_form_that_a_viewer_may_not_send_is_not_called_wrong(
    client: TestClient, store: Store, ann, bob
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, "viewer")
    browser = browser_of(client, bob.key)
    here = f"/applications/{ids['application_id']}/next"
    sent = browser.post(here, data={"goal": "0.9", "csrf": session.csrf_token(bob.key)})
    assert sent.status_code == 403
    assert browser.get(here).status_code == 200


@pytest.mark.parametrize("role", ["viewer", "owner"])
def test_the_page_of_a_task_of_what_was_shared_follows_its_owner(
    client: TestClient, store: Store, ann, bob, role: str
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    page = browser_of(client, bob.key).get(f"/tasks/{ids['task_id']}").text
    stream = f"/applications/{ids['application_id']}/live"
    assert f'data-events="application.changed" data-stream="{stream}"' in page
    own = browser_of(client, ann.key).get(f"/tasks/{ids['task_id']}").text
    assert 'data-stream="/live?latest=true"' in own


@pytest.mark.parametrize(
    ("member", "role", "permissions"),
    [
        ("guest", "viewer", VIEWERS),
        ("guest", "labeller", LABELLERS),
        ("guest", "owner", OWNERS),
        ("viewer", "", VIEWERS),
        ("labeller", "", LABELLERS),
        ("viewer", "owner", OWNERS),
    ],
)
def test_what_members_see_is_what_they_may_do(
    client: TestClient, store: Store, ann, member: str, role: str, permissions: set[str]
) -> None:
    ids = things(client, store, ann)
    set_running(store, ids)
    key = member_of(client, ann, member)["Authorization"].removeprefix("Bearer ")
    if role:
        wish = {"user": "carol", "role": role}
        here = f"/api/v1/applications/{ids['application_id']}/share"
        assert client.post(here, json=wish, headers=ann.headers).status_code == 200
    visit(client, ids, key, permissions)


@pytest.mark.parametrize(
    ("role", "may"), [("viewer", ["look"]), ("owner", ["look", "label", "change"])]
)
def test_an_application_tells_what_the_caller_may_do(
    client: TestClient, store: Store, ann, bob, role: str, may: list[str]
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    here = f"/api/v1/applications/{ids['application_id']}"
    for headers, expected in ((bob.headers, may), (ann.headers, ["look", "label", "change"])):
        assert client.get(here, headers=headers).json()["may"] == expected
        for view in ("view", "leaderboard", "history", "journey"):
            answer = client.get(f"{here}/{view}", headers=headers).json()
            assert answer["application"]["may"] == expected, view
        task = client.get(f"/api/v1/tasks/{ids['task_id']}/view", headers=headers).json()
        assert task["may"] == expected


def test_every_form_that_changes_an_application_asks_whether_it_may() -> None:
    unasked = {}
    for name in environment().list_templates(filter_func=_is_about_applications):
        source = environment().loader.get_source(environment(), name)[0]  # type: ignore[union-attr]
        forms = _forms_not_asked(environment().parse(source))
        if forms:
            unasked[name] = forms
    assert unasked == FORMS_OF_ALL


def _is_about_applications(name: str) -> bool:
    others = ("rail.html", "reports.html", "task.html", "work_parts.html")
    return name.startswith("application_") or name in ("application.html", *others)


def _forms_not_asked(node: nodes.Node) -> int:
    """How many forms stand in no condition about what may be done."""
    if isinstance(node, nodes.If):
        tested = [node.test, *node.test.find_all(nodes.Getattr)]
        asks = any(getattr(one, "node", None) == nodes.Name("may", "load") for one in tested)
        parts = [*node.elif_, *node.else_] if asks else node.iter_child_nodes()
    elif isinstance(node, nodes.TemplateData):
        return node.data.count('method="post"')
    else:
        parts = node.iter_child_nodes()
    return sum(map(_forms_not_asked, parts))


@pytest.mark.parametrize(("role", "status"), [("owner", 201), ("viewer", 403)])
def test_a_co_owner_sends_a_long_file_to_the_application_of_another_tenant(
    client: TestClient, store: Store, ann, bob, role: str, status: int
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    here = f"/api/v1/applications/{ids['application_id']}"
    table = b"size,kind\n1.5,setosa\n"
    told = {"Tus-Resumable": "1.0.0", **bob.headers}
    length = {"Upload-Length": str(len(table))}
    begun = client.post(f"{here}/uploads", headers={**told, **length})
    assert begun.status_code == status
    if status == 403:
        return
    piece = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    sent = client.patch(begun.headers["Location"], content=table, headers={**told, **piece})
    assert sent.status_code == 204
    asked = {"filename": "more.csv", "upload": begun.json()["id"]}
    fed = client.post(f"{here}/feed", params=asked, headers=bob.headers)
    assert fed.status_code == 201, fed.text
    own = client.get(f"{here}/versions", headers=ann.headers).json()["items"]
    assert fed.json()["id"] in [one["id"] for one in own]
