"""A tenant's things do not exist for another tenant, whatever route asks for them."""

from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from furnish import Furniture, furnish

from easeml.contract.states import SourceAction, WorkKind
from easeml.ids import new_id
from easeml.service.sources import retrievals
from easeml.store import Store
from easeml.store.records import Schedule, WorkItem

# What may stand in a path -> the id of ann's thing. A new placeholder must be added here.
PLACEHOLDERS = (
    "dataset_id",
    "version_id",
    "model_id",
    "application_id",
    "job_id",
    "task_id",
    "key_id",
    "user_id",
    "upload_id",
    "item_id",
    "invitation_id",
    "subscription_id",
    "report_id",
    "retrieval_id",
    "schedule_id",
    "number",
)
BODIES = {
    "/api/v1/applications/{application_id}/measures": {"measure": "noisy(0.1)"},
    "/api/v1/applications/{application_id}/measures/remove": {"measure": "noisy(0.1)"},
    "/api/v1/applications/{application_id}/work/import": {"filename": "a.csv", "text": ""},
    "/api/v1/models/{model_id}/signatures": {"manifest": "{}"},
    "/api/v1/users/{user_id}/password": {"new": "stolen password"},
    "/api/v1/users/{user_id}/role": {"role": "provider"},
    "/api/v1/users/{user_id}/access": {"disabled": True},
    "/api/v1/users/{user_id}/remove": {"data": "keep"},
    "/api/v1/members/{user_id}": {"role": "viewer"},
    "/api/v1/applications/{application_id}/invitations": {"role": "viewer"},
    "/api/v1/applications/{application_id}/include": {"model": "logistic"},
    "/api/v1/applications/{application_id}/rename": {"name": "mine"},
    "/api/v1/applications/{application_id}/share": {"user": "bob", "role": "owner"},
    "/api/v1/applications/{application_id}/follows": {"follows": False},
    "/api/v1/applications/{application_id}/goal": {"goal": "0.9"},
    "/api/v1/applications/{application_id}/tryouts": {"model": "logistic"},
    "/api/v1/applications/{application_id}/requests": {"share": 1.0},
    "/api/v1/applications/{application_id}/feedback": [{"key": "7", "value": 1}],
    "/api/v1/applications/{application_id}/flow": {
        "upload_id": "upl_x",
        "digest": "0",
        "title": "clean",
        "version_id": "ver_x",
    },
    "/api/v1/applications/{application_id}/gates": {"condition": "n > 0.5 +/- 0.1"},
    "/api/v1/applications/{application_id}/rollouts/rule": {"way": "shadow"},
    "/api/v1/applications/{application_id}/picking": {"way": "off"},
    "/api/v1/applications/{application_id}/rollouts": {"model_id": "mod_x"},
    "/api/v1/applications/{application_id}/rollouts/end": {"end": "stop"},
    "/api/v1/subscriptions/{subscription_id}/confirm": {"code": "1"},
    "/api/v1/work/{item_id}/answer": {"value": "setosa"},
    "/api/v1/tasks/{task_id}/tracing": {"on": True},
    "/api/v1/datasets/{dataset_id}/table": {"table": 2},
    "/api/v1/datasets/{dataset_id}/erasures": {"where": {"size": "1"}},
    "/api/v1/applications/{application_id}/reports": {"tool": "feasibility"},
    "/api/v1/versions/{version_id}/reports": {
        "tool": "feasibility",
        "declaration": {"dataset_id": "dat_x"},
    },
}
QUERIES = {
    "/api/v1/applications/{application_id}/feed": {"filename": "more.csv"},
    "/api/v1/applications/{application_id}/replace": {"filename": "other.csv"},
    "/api/v1/applications/{application_id}/predictions": {"filename": "rows.csv"},
    "/api/v1/applications/{application_id}/imports": {"filename": "model.onnx"},
    "/api/v1/applications/{application_id}/histories": {"filename": "study.db"},
}
OF_OTHER_TASKS = "/api/v1/tasks/{task_id}/predictions"  # the task that is asked about trains
NOT_TRACED = "/api/v1/tasks/{task_id}/trace"
NOT_LOOKED_FOR = "/api/v1/applications/{application_id}/doubts/export"  # there are none yet
HEADERS = {
    "/api/v1/uploads/{upload_id}": {
        "Tus-Resumable": "1.0.0",
        "Upload-Offset": "0",
        "Content-Type": "application/offset+octet-stream",
    }
}
# What these name belongs to no tenant.
PREDICTING = ("/predict", "/infer", "/invocations")  # these ask the predictor, a stand-in here
SHARED = (
    "/api/v1/tenants/",
    "/api/v1/modules/",
    "/api/v1/settings/",
    "/api/v1/scheduler/",
    "/api/v1/devices/",
)
LISTS = ("datasets", "applications", "jobs", "tasks", "decisions", "keys", "events/list")


def routes_with_ids(app: FastAPI) -> Iterator[tuple[str, str]]:
    for context in iter_route_contexts(app.routes):
        for method in set(context.methods or ()) - {"HEAD"}:
            path = str(context.path)
            if "{" in path and not path.endswith(PREDICTING) and not path.startswith(SHARED):
                yield method, path


def made_item(store: Store, person, made: Furniture) -> str:
    item = WorkItem(
        id=new_id("item"),
        tenant_id=person.caller.tenant_id,
        application_id=made.application_id,
        version_id=made.version_id,
        kind=WorkKind.CHECK_LABEL,
        row=0,
        column="kind",
        information=0.5,
    )
    with store.write() as tx:
        return tx.scoped(person.caller.tenant_id).work_items.add(item).id


def things(client: TestClient, store: Store, person) -> dict[str, str]:
    made: Furniture = furnish(store, person.caller.tenant_id)
    key = client.post("/api/v1/keys", json={"name": "mine"}, headers=person.headers).json()
    ids = {name: getattr(made, name) for name in PLACEHOLDERS if hasattr(made, name)}
    decision = client.get("/api/v1/decisions", headers=person.headers).json()["items"][0]
    others = {
        "key_id": key["id"],
        "user_id": person.caller.user_id,
        "decision_id": decision["id"],
    }
    others["item_id"] = made_item(store, person, made)
    invited = client.post(
        f"/api/v1/applications/{made.application_id}/invitations",
        json={"role": "labeller"},
        headers=person.headers,
    )
    others["invitation_id"] = invited.json()["id"]
    wish = {"way": "webhook", "address": "https://chat.lab.org/hook"}
    subscribed = client.post("/api/v1/subscriptions", json=wish, headers=person.headers)
    others["subscription_id"] = subscribed.json()["id"]
    retrieval = retrievals.new_retrieval(
        person.caller.tenant_id, SourceAction.REFRESH, made.dataset_id
    )
    with store.write() as tx:
        others["retrieval_id"] = tx.scoped(person.caller.tenant_id).retrievals.add(retrieval).id
    schedule = Schedule(
        new_id("sched"),
        person.caller.tenant_id,
        person.caller.user_id,
        SourceAction.REFRESH,
        made.dataset_id,
        application_id="",
        every="day",
        at="03:00",
        zone="UTC",
        next_time=4e9,
    )
    with store.write() as tx:
        others["schedule_id"] = tx.scoped(person.caller.tenant_id).schedules.add(schedule).id
    others["report_id"] = new_id("rep")
    others["number"] = "1"
    others["upload_id"] = store.uploads.begin(person.caller.tenant_id, 2).id
    return {**ids, **others}


def test_every_route_with_an_id_hides_other_tenants(
    client: TestClient, store: Store, ann, bob
) -> None:
    ids = things(client, store, ann)
    routes = list(routes_with_ids(client.app))  # type: ignore[arg-type]
    assert len(routes) >= 12
    for method, template in routes:
        sent = {"params": QUERIES.get(template), "json": BODIES.get(template, {})}
        answer = client.request(
            method,
            template.format(**ids),
            **sent,
            headers={**HEADERS.get(template, {}), **bob.headers},
        )
        assert answer.status_code == 404, (method, template, answer.text)
        if not template.startswith("/v2"):
            assert answer.json()["code"] == "not-found"


def test_the_owner_reaches_them_on_the_same_routes(client: TestClient, store: Store, ann) -> None:
    ids = things(client, store, ann)
    for method, template in sorted(routes_with_ids(client.app)):  # type: ignore[arg-type]
        if template.endswith("/live"):
            continue  # it does not end
        if method == "GET" or template.endswith(("/rollback", "/unpin", "/pin", "/stop")):
            answer = client.request(method, template.format(**ids), headers=ann.headers)
            expected = 409 if template in (OF_OTHER_TASKS, NOT_LOOKED_FOR) else 200
            expected = 404 if template == NOT_TRACED else expected
            assert answer.status_code == expected, (method, template, answer.text)


def test_only_providers_limit_tenants_and_archive_modules(
    client: TestClient, provider, ann
) -> None:
    limits = f"/api/v1/tenants/{ann.caller.tenant_id}/limits"
    module = "/api/v1/modules/logistic/archive"
    for person, status in ((ann, 403), (provider, 200)):
        assert client.get(limits, headers=person.headers).status_code == status
        assert (
            client.put(limits, json={"applications": 5}, headers=person.headers).status_code
            == status
        )
        assert client.post(module, headers=person.headers).status_code == status
    shown = client.get("/api/v1/modules", headers=ann.headers).json()["modules"]
    assert [one["name"] for one in shown if one["archived"]] == ["logistic"]
    assert (
        client.post("/api/v1/modules/logistic/restore", headers=provider.headers).status_code == 200
    )
    assert (
        client.post("/api/v1/modules/nothing/archive", headers=provider.headers).status_code == 404
    )
    assert (
        client.post("/api/v1/modules/accuracy/archive", headers=provider.headers).status_code == 422
    )
    assert client.put(limits, json={"priority": 0}, headers=provider.headers).status_code == 422


def test_only_providers_change_settings(client: TestClient, provider, ann) -> None:
    body = {"value": "round-robin"}
    for person, status in ((ann, 403), (provider, 200)):
        answer = client.post("/api/v1/settings/policy", json=body, headers=person.headers)
        assert answer.status_code == status, answer.text


def test_lists_hold_the_callers_things_only(client: TestClient, store: Store, ann, bob) -> None:
    things(client, store, ann)
    for name in LISTS:
        mine = client.get(f"/api/v1/{name}", headers=ann.headers).json()["items"]
        theirs = client.get(f"/api/v1/{name}", headers=bob.headers).json()["items"]
        assert mine, name
        if name not in ("keys", "events/list"):  # bob was added, and has signed in
            assert theirs == [], name
        ids = {item.get("id", item.get("seq")) for item in mine}
        assert ids.isdisjoint(item.get("id", item.get("seq")) for item in theirs), name


def test_ids_in_bodies_and_queries(client: TestClient, store: Store, ann, bob) -> None:
    ids = things(client, store, ann)
    for path in ("applications", "applications/propose"):
        body = {"dataset_id": ids["dataset_id"], "version_id": ids["version_id"]}
        answer = client.post(f"/api/v1/{path}", json=body, headers=bob.headers)
        assert answer.status_code == 404, answer.text
    for name in ("tasks", "decisions"):
        found = client.get(f"/api/v1/{name}", params={"job_id": ids["job_id"]}, headers=bob.headers)
        assert found.json()["items"] == []
    own = furnish(store, bob.caller.tenant_id)
    answer = client.post(
        f"/api/v1/applications/{own.application_id}/rollback",
        json={"model_id": furnish(store, ann.caller.tenant_id).model_ids[0]},
        headers=bob.headers,
    )
    assert answer.status_code in {404, 409}


def test_status_counts_the_own_tenant(client: TestClient, store: Store, ann, bob) -> None:
    furnish(store, ann.caller.tenant_id)
    assert client.get("/api/v1/status", headers=ann.headers).json()["applications"] == 1
    assert client.get("/api/v1/status", headers=bob.headers).json()["applications"] == 0
