"""Rows of production whose truth came join the data, each once."""

from pathlib import Path

from fastapi.testclient import TestClient
from inline_worker import work_off
from test_gated_applications import application  # noqa: F401 a fixture
from test_reports import APPLICATIONS
from test_truths_after_a_look import tell
from test_watching import seen

from easeml.store import Store


def feed(client: TestClient, person, app_id: str):
    return client.post(f"{APPLICATIONS}/{app_id}/feed-told", headers=person.headers)


def data_of(client: TestClient, person, app_id: str) -> dict:
    shown = client.get(f"{APPLICATIONS}/{app_id}", headers=person.headers).json()
    place = f"/api/v1/versions/{shown['version_id']}"
    return client.get(place, headers=person.headers).json()


def test_rows_whose_truth_came_join_the_train_rows_once(
    client: TestClient,
    store: Store,
    ann,
    bob,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    before = data_of(client, ann, application)["summary"]
    refused = feed(client, ann, application)
    assert refused.status_code == 409
    assert "no row of production whose truth came" in refused.json()["detail"]
    kinds = seen(store, ann, application, 50, first=1000)
    truths = [
        {"request_id": "req_1000", "row": row, "value": kind} for row, kind in enumerate(kinds)
    ]
    foreign = {"request_id": "req_1000", "row": 29, "value": "Large"}  # no class
    tell(client, ann, application, [*truths[:29], foreign])
    assert feed(client, bob, application).status_code == 404

    assert feed(client, ann, application).status_code == 201
    assert feed(client, ann, application).status_code == 503  # it is being changed
    work_off(store, tmp_path)
    made = data_of(client, ann, application)
    assert made["summary"]["added"] == {"train": 29}
    assert made["summary"]["test"] == before["test"]
    assert feed(client, ann, application).status_code == 409  # the data has them

    tell(client, ann, application, [{**truths[0], "value": kinds[49]}, *truths[29:40]])
    assert feed(client, ann, application).status_code == 201
    work_off(store, tmp_path)
    assert data_of(client, ann, application)["summary"]["added"] == {"train": 11}

    back = f"{APPLICATIONS}/{application}/versions/{made['id']}/use"
    client.post(back, headers=ann.headers).raise_for_status()
    assert feed(client, ann, application).status_code == 201  # what was gone comes again
    work_off(store, tmp_path)
    assert data_of(client, ann, application)["summary"]["added"] == {"train": 11}


def test_rows_without_all_their_columns_are_no_data(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
) -> None:
    log = {"share": 1.0, "days": 30.0, "mask": ["size"]}
    place = f"{APPLICATIONS}/{application}/requests"
    client.put(place, json=log, headers=ann.headers).raise_for_status()
    (kind,) = seen(store, ann, application, 1, first=1000)
    tell(client, ann, application, [{"request_id": "req_1000", "row": 0, "value": kind}])
    refused = feed(client, ann, application)
    assert refused.status_code == 409
    assert "Values of 'size' are not kept" in refused.json()["detail"]
