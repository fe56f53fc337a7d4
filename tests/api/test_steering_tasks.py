"""Tasks are cancelled and asked for again by their owners."""

import pytest
from fastapi.testclient import TestClient
from furnish import furnish

from easeml.contract.states import TaskState
from easeml.service.models import predicted_files
from easeml.service.tasks import requests
from easeml.store import Store


@pytest.fixture
def asked(client: TestClient, store: Store, ann) -> str:
    """A task that looks for work, and waits."""
    made = furnish(store, ann.caller.tenant_id)
    with store.write() as tx:
        return requests.request(
            tx,
            ann.caller.tenant_id,
            "find-work",
            made.version_id,
            application_id=made.application_id,
        ).id


def test_a_cancelled_task_is_asked_for_again_as_it_was(
    client: TestClient, store: Store, ann, asked: str
) -> None:
    here = f"/api/v1/tasks/{asked}"
    assert client.post(f"{here}/retry", headers=ann.headers).status_code == 409
    cancelled = client.post(f"{here}/cancel", headers=ann.headers)
    assert cancelled.status_code == 200, cancelled.text
    assert cancelled.json()["state"] == TaskState.CANCELLED
    assert client.post(f"{here}/cancel", headers=ann.headers).json() == cancelled.json()
    again = client.post(f"{here}/retry", headers=ann.headers)
    assert again.status_code == 200, again.text
    assert again.json()["id"] != asked
    with store.read() as tx:
        tasks = tx.scoped(ann.caller.tenant_id).tasks
        before, after = tasks.get(asked), tasks.get(again.json()["id"])
    assert (after.payload, after.subject, after.kind) == (
        before.payload,
        before.subject,
        before.kind,
    )
    assert after.state == TaskState.WAITING


def test_a_file_whose_prediction_was_cancelled_is_predicted_again_while_it_is_kept(
    client: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    address = f"/api/v1/applications/{made.application_id}/predictions?filename=rows.csv"
    asked = client.post(address, content=b"size\n1.5\n", headers=ann.headers).json()
    here = f"/api/v1/tasks/{asked['id']}"
    client.post(f"{here}/cancel", headers=ann.headers)
    again = client.post(f"{here}/retry", headers=ann.headers)
    assert again.status_code == 200, again.text
    with store.write() as tx:
        tables = tx.scoped(ann.caller.tenant_id)
        assert tables.tasks.get(again.json()["id"]).payload == tables.tasks.get(asked["id"]).payload
        predicted_files.forget(tx, tables, made.application_id, asked["id"])
    refused = client.post(f"{here}/retry", headers=ann.headers)
    assert refused.status_code == 409
    assert "not kept any more" in refused.json()["detail"]


def test_what_a_search_trains_and_what_reads_data_is_left_alone(
    client: TestClient, store: Store, ann, upload
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    here = f"/api/v1/tasks/{made.task_id}"
    done = client.post(f"{here}/cancel", headers=ann.headers).json()
    assert done["state"] == TaskState.DONE
    assert client.post(f"{here}/retry", headers=ann.headers).status_code == 409
    upload(ann)
    reading = client.get("/api/v1/tasks", params={"kind": "ingest"}, headers=ann.headers)
    (task,) = reading.json()["items"]
    refused = client.post(f"/api/v1/tasks/{task['id']}/cancel", headers=ann.headers)
    assert refused.status_code == 409
    assert "unfinished" in refused.json()["detail"]
