"""Who may do what with an application that was shared: every route, every role."""

import re

import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from furnish import PASSWORD, furnish
from test_isolation import BODIES, HEADERS, QUERIES, routes_with_ids, things

from easeml.service.tasks import requests
from easeml.store import Store
from easeml.web import create_pages, session

HERE = "/api/v1/applications/{application_id}"
LOOKS = "/view /leaderboard /live /history /models /promotions /gates /goal /journey /next /reports /rows"
VIEWER = {
    ("GET", HERE),
    *(("GET", HERE + rest) for rest in LOOKS.split()),
    *(
        ("GET", HERE + rest)
        for rest in ("/source", "/suggestions", "/tools", "/versions", "/watch", "/rollouts")
    ),
    *(("GET", HERE + rest) for rest in ("/doubts", "/measures", "/model-rules", "/pareto")),
    ("POST", f"{HERE}/predict"),
    ("POST", f"{HERE}/invocations"),
    ("GET", "/v2/models/{application_id}"),
    ("GET", "/v2/models/{application_id}/ready"),
    ("GET", "/v2/models/{application_id}/versions/{model_id}"),
    ("GET", "/v2/models/{application_id}/versions/{model_id}/ready"),
    ("POST", "/v2/models/{application_id}/infer"),
    ("POST", "/v2/models/{application_id}/versions/{model_id}/infer"),
    ("GET", "/api/v1/jobs/{job_id}"),
    ("GET", "/api/v1/jobs/{job_id}/ending"),
    ("GET", "/api/v1/jobs/{job_id}/progress"),
    ("GET", "/api/v1/jobs/{job_id}/tasks"),
    ("GET", "/api/v1/tasks/{task_id}"),
    ("GET", "/api/v1/tasks/{task_id}/view"),
    ("GET", "/api/v1/tasks/{task_id}/report"),
    ("GET", "/api/v1/tasks/{task_id}/reports"),
    ("GET", "/api/v1/versions/{version_id}"),
    ("GET", "/api/v1/versions/{version_id}/comparison"),
}
LABELLER = {("POST", f"{HERE}/work"), ("POST", "/api/v1/work/{item_id}/answer")}
ALLOWED = {"viewer": VIEWER, "labeller": LABELLER}
STREAM = ("GET", f"{HERE}/live")  # it does not end
PREDICTING = (
    ("POST", f"{HERE}/predict"),
    ("POST", f"{HERE}/invocations"),
    ("POST", "/v2/models/{application_id}/infer"),
    ("POST", "/v2/models/{application_id}/versions/{model_id}/infer"),
)


ACCOUNT = {
    ("GET", "/api/v1/me"),
    ("POST", "/api/v1/me/tenant"),
    ("GET", "/api/v1/shared"),
    ("GET", "/api/v1/notifications"),
    ("POST", "/api/v1/notifications/read"),
    ("GET", "/api/v1/users"),
    ("POST", "/api/v1/users/{user_id}/password"),
    ("GET", "/api/v1/keys"),
    ("POST", "/api/v1/keys"),
    ("DELETE", "/api/v1/keys/{key_id}"),
    ("DELETE", "/api/v1/sign-ins"),
    ("POST", "/api/v1/logout"),
    ("GET", "/api/v1/modules/titles"),
    ("GET", "/v2"),
}
LISTS = "applications jobs tasks tasks/overview datasets modules status events events/list"
OF_MEMBER = {
    "guest": ACCOUNT,
    "labeller": ACCOUNT | LABELLER,
    "viewer": ACCOUNT
    | VIEWER
    | {("GET", f"/api/v1/{name}") for name in LISTS.split()}
    | {
        ("GET", "/api/v1/datasets/unused"),
        ("GET", "/api/v1/datasets/{dataset_id}"),
    },
}
OPEN_PATHS = (
    "/healthz",
    "/livez",
    "/readyz",
    "/v2/health",
    "/api/v1/login",
    "/api/v1/openapi",
    "/api/v1/sign-in/",
)


def every_route(client: TestClient) -> set[tuple[str, str]]:
    """All routes of the application that need a key, those without an id as well."""
    found = set()
    for context in iter_route_contexts(client.app.routes):  # type: ignore[attr-defined]
        path = str(context.path)
        if not path.startswith((*OPEN_PATHS, "/api/v1/invitations/")):
            found |= {(method, path) for method in set(context.methods or ()) - {"HEAD"}}
    return found


def member_of(client: TestClient, owner, role: str) -> dict[str, str]:
    """Return the headers of a new member of the owner's tenant."""
    wish = {"role": "viewer" if role == "guest" else role}
    made = client.post("/api/v1/invitations", json=wish, headers=owner.headers).json()
    wish = {"secret": made["secret"], "name": "carol", "password": PASSWORD}
    joined = client.post("/api/v1/invitations/accept", json=wish).json()
    change = {"role": role}
    client.post(f"/api/v1/members/{joined['user_id']}", json=change, headers=owner.headers)
    return {"Authorization": f"Bearer {joined['key']['secret']}"}


def give(client: TestClient, ids: dict, ann, role: str | None) -> None:
    answer = client.post(
        f"/api/v1/applications/{ids['application_id']}/share",
        json={"user": "bob", "role": role},
        headers=ann.headers,
    )
    assert answer.status_code == 200, answer.text


def all_routes(client: TestClient) -> set[tuple[str, str]]:
    return {*routes_with_ids(client.app), *PREDICTING}  # type: ignore[arg-type]


def ask(client: TestClient, person, method: str, template: str, ids: dict):
    sent = {"params": QUERIES.get(template), "json": BODIES.get(template, {})}
    headers = {**HEADERS.get(template, {}), **person.headers}
    return client.request(method, template.format(**ids), **sent, headers=headers)


@pytest.mark.parametrize("role", ["viewer", "labeller"])
def test_every_route_is_closed_to_a_role_that_does_not_name_it(
    client: TestClient, store: Store, ann, bob, role: str
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    for method, template in sorted(all_routes(client) - ALLOWED[role]):
        answer = ask(client, bob, method, template, ids)
        assert answer.status_code in (403, 404), (method, template, answer.text)
        if template.startswith(HERE):
            assert answer.status_code == 403, (method, template)


@pytest.mark.parametrize("role", ["viewer", "labeller"])
def test_what_a_role_names_is_open(client: TestClient, store: Store, ann, bob, role: str) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    for method, template in sorted(ALLOWED[role] - {STREAM}):
        answer = ask(client, bob, method, template, ids)
        assert answer.status_code not in (401, 403, 404, 500), (method, template, answer.text)
        own = ask(client, ann, method, template, ids)
        assert own.status_code not in (401, 403, 404, 500), (method, template, own.text)


def test_what_was_taken_back_is_closed_at_once(client: TestClient, store: Store, ann, bob) -> None:
    ids = things(client, store, ann)
    for role in ("viewer", "labeller", "owner"):
        give(client, ids, ann, role)
        give(client, ids, ann, None)
        for method, template in sorted(all_routes(client) - {*PREDICTING}):
            answer = ask(client, bob, method, template, ids)
            assert answer.status_code == 404, (role, method, template, answer.text)


def test_an_owner_does_all_and_shares_on(client: TestClient, store: Store, ann, bob) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, "owner")
    here = HERE.format(**ids)
    assert ask(client, bob, "POST", f"{HERE}/pin", ids).status_code == 200
    assert ask(client, bob, "POST", "/api/v1/jobs/{job_id}/stop", ids).status_code == 200
    listed = client.get("/api/v1/shared", headers=bob.headers).json()["items"]
    assert [(one["application_id"], one["role"]) for one in listed] == [
        (ids["application_id"], "owner")
    ]
    renamed = client.post(f"{here}/rename", json={"name": "ours"}, headers=bob.headers)
    assert renamed.status_code == 200
    assert client.get(here, headers=ann.headers).json()["name"] == "ours"
    assert client.get("/api/v1/applications", headers=bob.headers).json()["items"] == []


def test_a_share_opens_one_application_and_no_other(
    client: TestClient, store: Store, ann, bob
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, "owner")
    other = furnish(store, ann.caller.tenant_id)
    for address in (
        f"/api/v1/applications/{other.application_id}",
        f"/api/v1/jobs/{other.job_id}",
        f"/api/v1/tasks/{other.task_id}",
        f"/api/v1/models/{other.model_id}/files",
    ):
        assert client.get(address, headers=bob.headers).status_code == 404, address
    seen = client.get("/api/v1/tasks", params={"job_id": ids["job_id"]}, headers=bob.headers)
    assert seen.json()["items"] == []


@pytest.mark.parametrize("role", ["viewer", "owner"])
def test_pages_that_a_role_may_see_can_be_seen(
    client: TestClient, store: Store, ann, bob, role: str
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": bob.key})
    here = f"/applications/{ids['application_id']}"
    for part in ("", "/data", "/try", "/endpoint", "/tasks", "/models", "/history"):
        page = browser.get(here + part)
        assert page.status_code == 200, (part, page.text[-2000:])
    assert ids["task_id"] in browser.get(f"{here}/tasks").text


def test_a_version_is_open_to_those_with_whom_an_application_of_its_data_is_shared(
    client: TestClient, store: Store, ann, bob
) -> None:
    ids = things(client, store, ann)
    other = furnish(store, ann.caller.tenant_id)
    give(client, ids, ann, "viewer")
    version = f"/api/v1/versions/{ids['version_id']}"
    assert client.get(version, headers=bob.headers).status_code == 200
    unshared = client.get(f"/api/v1/versions/{other.version_id}", headers=bob.headers)
    assert unshared.status_code == 404
    give(client, ids, ann, "labeller")
    assert client.get(version, headers=bob.headers).status_code == 403


def test_predictions_of_a_viewer_are_the_owners(
    client: TestClient, store: Store, predictor, ann, bob
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, "viewer")
    answer = client.post(f"{HERE.format(**ids)}/predict", json=[{}], headers=bob.headers)
    assert answer.status_code == 200
    assert predictor.seen[-1][:2] == (ann.caller.tenant_id, ids["application_id"])


def test_a_provider_is_no_provider_in_what_is_shared(
    client: TestClient, store: Store, provider, ann
) -> None:
    ids = things(client, store, ann)
    here = HERE.format(**ids)
    wish = {"user": provider.name, "role": "viewer"}
    assert client.post(f"{here}/share", json=wish, headers=ann.headers).status_code == 200
    assert client.get(here, headers=provider.headers).status_code == 200
    refused = client.post(f"{here}/rename", json={"name": "x"}, headers=provider.headers)
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        ({"user": "nobody", "role": "viewer"}, 404),
        ({"user": "ann", "role": "viewer"}, 422),
        ({"user": "bob", "role": "king"}, 422),
    ],
)
def test_who_cannot_be_given_it(
    client: TestClient, store: Store, ann, bob, wish: dict, status: int
) -> None:
    ids = things(client, store, ann)
    answer = client.post(f"{HERE.format(**ids)}/share", json=wish, headers=ann.headers)
    assert answer.status_code == status, answer.text


def test_the_settings_page_renames_shares_deletes_and_restores(
    client: TestClient, store: Store, ann, bob
) -> None:
    ids = things(client, store, ann)
    page = f"/applications/{ids['application_id']}"
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    token = {"csrf": session.csrf_token(ann.key)}
    for part, sent in (
        ("rename", {"name": "flowers"}),
        ("objective", {"objective": "f1-macro"}),
        ("share", {"user": "bob", "role": "viewer"}),
        ("delete", {}),
        ("restore", {}),
    ):
        assert browser.post(f"{page}/{part}", data=sent).status_code == 403, part
        done = browser.post(f"{page}/{part}", data={**token, **sent})
        assert done.status_code == 200, part
    shown = browser.get(f"{page}/settings").text
    assert "flowers" in shown
    assert '<option value="f1-macro" selected>' in shown
    assert "<strong>bob</strong>" in shown
    other = TestClient(create_pages(client.app), cookies={"easeml_session": bob.key})
    assert "Shared with you" in other.get("/others").text
    assert other.get(page).status_code == 200
    assert other.get(f"{page}/settings").status_code == 403
    browser.post(f"{page}/delete", data=token)
    assert "Restore" in browser.get("/others").text
    assert other.get(page).status_code == 404


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("labeller", 403), ("owner", 200)])
def test_the_task_that_looks_for_work_has_all_items_and_is_the_owners(
    client: TestClient, store: Store, ann, bob, role: str, status: int
) -> None:
    ids = things(client, store, ann)
    give(client, ids, ann, role)
    with store.write() as tx:
        application_id = ids["application_id"]
        task = requests.request(
            tx,
            ann.caller.tenant_id,
            "find-work",
            ids["version_id"],
            application_id=application_id,
        )
    assert client.get(f"/api/v1/tasks/{task.id}", headers=bob.headers).status_code == status


@pytest.mark.parametrize("role", ["guest", "labeller", "viewer"])
def test_every_route_is_closed_to_a_member_whose_role_does_not_name_it(
    client: TestClient, store: Store, ann, role: str
) -> None:
    ids = things(client, store, ann)
    headers = member_of(client, ann, role)
    named = {name: f"{name}-x" for name in ("name", "tenant_id", "action", "device_id")}
    closed = sorted(every_route(client) - OF_MEMBER[role])
    assert len(closed) > 70
    for method, template in closed:
        path = re.sub(
            r"{(\w+)(:\w+)?}", lambda found: {**named, **ids}.get(found[1], "x"), template
        )
        sent = {"params": QUERIES.get(template), "json": BODIES.get(template, {})}
        answer = client.request(method, path, **sent, headers=headers)
        assert answer.status_code in (403, 404), (method, template, answer.text)
        if answer.status_code == 404:  # of a guest, to whom nothing was shared
            assert role == "guest", (method, template)


@pytest.mark.parametrize("role", ["guest", "labeller", "viewer"])
def test_what_a_role_in_the_tenant_names_is_open(
    client: TestClient, store: Store, ann, role: str
) -> None:
    ids = things(client, store, ann)
    headers = member_of(client, ann, role)
    last = {
        ("POST", "/api/v1/logout"),
        ("GET", "/api/v1/events"),
        STREAM,
    }  # ends the key; do not end
    own = {"user_id": client.get("/api/v1/me", headers=headers).json()["id"]}
    key = client.post("/api/v1/keys", json={"name": "mine"}, headers=headers).json()
    own["key_id"] = key["id"]
    for method, template in sorted(OF_MEMBER[role] - last):
        sent = {"json": {"tenant_id": ann.caller.tenant_id}} if "/me/" in template else {}
        sent = sent or {"json": BODIES.get(template, {})}
        asking = key["secret"] if "/me/" in template else headers["Authorization"][7:]
        sent["headers"] = {"Authorization": f"Bearer {asking}"}
        if "{key_id}" in template or "/password" in template:
            continue  # these end what the next ones need
        answer = client.request(method, template.format(**{**ids, **own}), **sent)
        assert answer.status_code not in (401, 403, 404, 500), (method, template, answer.text)
