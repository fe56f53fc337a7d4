"""Applications over the years: renamed, deleted, restored, erased."""

import os
from pathlib import Path

from fastapi.testclient import TestClient
from furnish import furnish
from test_isolation import routes_with_ids, things

from easeml.service.applications import deleting
from easeml.service.retention import looks
from easeml.service.storage import artefact_references
from easeml.settings import Settings
from easeml.store import Store


def test_a_new_name_changes_no_address(client: TestClient, store: Store, ann) -> None:
    here = f"/api/v1/applications/{furnish(store, ann.caller.tenant_id).application_id}"
    before = client.get(here, headers=ann.headers).json()
    answer = client.post(f"{here}/rename", json={"name": "flowers"}, headers=ann.headers)
    assert answer.status_code == 200, answer.text
    after = client.get(here, headers=ann.headers).json()
    assert after == {**before, "name": "flowers"}
    assert after["endpoint"] == before["endpoint"]
    assert client.post(f"{here}/predict", json=[{}], headers=ann.headers).status_code == 200
    for name in ("", " ", "two\nlines", "x" * 201):
        refused = client.post(f"{here}/rename", json={"name": name}, headers=ann.headers)
        assert refused.status_code == 422, name


def test_a_deleted_application_answers_nothing_until_it_is_restored(
    client: TestClient, store: Store, ann
) -> None:
    ids = things(client, store, ann)
    here = f"/api/v1/applications/{ids['application_id']}"
    before = client.get(here, headers=ann.headers).json()
    with store.write() as tx:
        schedules = tx.scoped(ann.caller.tenant_id).schedules
        schedules.update(ids["schedule_id"], application_id=ids["application_id"])
    hangs = client.get(f"{here}/dependents", headers=ann.headers).json()
    assert (hangs["models"], hangs["work_items"], hangs["searches"]) == (2, 1, 1)
    assert hangs["schedules"] == 1
    assert hangs["endpoint"] == before["endpoint"]
    done = client.delete(here, headers=ann.headers)
    assert done.status_code == 200, done.text
    assert done.json()["until"] == done.json()["deleted"] + 24 * 3600
    assert client.delete(here, headers=ann.headers).json() == done.json()
    for method, template in routes_with_ids(client.app):
        if "application_id" in template and not template.endswith(("/restore", "application_id}")):
            answer = client.request(method, template.format(**ids), headers=ann.headers)
            assert answer.status_code == 404, (method, template, answer.text)
    for address in (here, f"/api/v1/jobs/{ids['job_id']}", f"/v2/models/{ids['application_id']}"):
        assert client.get(address, headers=ann.headers).status_code == 404, address
    assert client.post(f"{here}/predict", json=[{}], headers=ann.headers).status_code == 404
    assert client.get("/api/v1/applications", headers=ann.headers).json()["items"] == []
    listed = client.get("/api/v1/deleted", headers=ann.headers).json()["items"]
    assert [one["name"] for one in listed] == ["irises"]
    assert client.post(f"{here}/restore", headers=ann.headers).status_code == 200
    after = client.get(here, headers=ann.headers).json()
    assert after["job"]["state"] == "paused"
    assert {**after, "job": None} == {**before, "job": None}
    assert client.post(f"{here}/predict", json=[{}], headers=ann.headers).status_code == 200
    assert client.post(f"{here}/restore", headers=ann.headers).status_code == 409


def test_lists_and_pages_do_without_a_deleted_application(
    client: TestClient, store: Store, ann
) -> None:
    ids = things(client, store, ann)
    client.delete(f"/api/v1/applications/{ids['application_id']}", headers=ann.headers)
    for name in ("jobs", "tasks", "decisions", "datasets", "datasets/unused", "notifications"):
        assert client.get(f"/api/v1/{name}", headers=ann.headers).status_code == 200, name
    assert client.get("/api/v1/status", headers=ann.headers).json()["applications"] == 0


def test_after_a_day_the_space_is_given_back(
    client: TestClient, store: Store, settings: Settings, ann
) -> None:
    """And no file of the database has what the rows said."""
    tenant = ann.caller.tenant_id
    ids, other = things(client, store, ann), furnish(store, tenant)
    with store.write() as tx:
        tables = tx.scoped(tenant)
        model = tables.models.get(ids["model_id"])
        mine, _ = store.artefacts.put_stream(tenant, [b"mine alone"], 100)
        artefact_references.keep(tx, tenant, mine, 10)
        artefact_references.keep(tx, tenant, model.artefact, 6)
        tables.models.update(model.id, predictions=mine, name="said of this one alone")
        tables.artefacts.set_each("created", {f"{tenant}:{mine}": 1.0})
    client.delete(f"/api/v1/applications/{ids['application_id']}", headers=ann.headers)
    for path in store.artefacts.path(tenant, mine), store.artefacts.path(tenant, model.artefact):
        os.utime(path, (0, 0))
    assert deleting.erase_old(store) == 0
    with store.write() as tx:
        tx.scoped(tenant).applications.update(ids["application_id"], deleted=tx.now() - 86401)
    looks.look(store, Settings())
    assert deleting.erase_old(store) == 0
    for path in filter(Path.is_file, settings.home.glob("*easeml.db*")):
        assert b"said of this one alone" not in path.read_bytes(), path
    assert not store.artefacts.exists(tenant, mine)
    assert store.artefacts.exists(tenant, model.artefact)  # the other application's model is it
    with store.read() as tx:
        tables = tx.scoped(tenant)
        assert tables.models.count(application_id=ids["application_id"]) == 0
        assert tables.models.count(application_id=other.application_id) == 2
        assert tables.work_items.count() == 0
        assert [digest for (digest,) in tables.artefacts.pick("digest")] == [model.artefact]
    here = f"/api/v1/applications/{ids['application_id']}"
    assert client.post(f"{here}/restore", headers=ann.headers).status_code == 409
    for name in ("jobs", "tasks", "decisions", "applications", "scheduler/decisions"):
        assert client.get(f"/api/v1/{name}", headers=ann.headers).status_code < 500, name
