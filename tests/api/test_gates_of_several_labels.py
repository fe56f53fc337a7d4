"""A gate of rows that may have several labels: F1 of each row is what is tested."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_asking_tools import upload
from test_gated_applications import better_model, gates, job_of, promotions, put, rest
from test_reports import APPLICATIONS

from easeml.store import Store

TAGS = {0: "red", 1: "green", 2: "red;round", 3: "green;round"}
ROWS = "".join(
    f"{row % 2},{row // 2 % 2},{row % 5},{TAGS[(row + (row % 7 < 2)) % 4]}\n" for row in range(400)
)  # two in seven have the labels of another row, so that no model is right about all


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    dataset = upload(client, store, ann, tmp_path, f"hue,shape,size,tags\n{ROWS}")
    wish = {"dataset_id": dataset["id"], "target": "tags"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    train(store, tmp_path, job_of(client, ann, declared))
    work_off(store, tmp_path)
    return declared


def test_a_model_of_several_labels_serves_once_it_is_proven(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    told = put(client, ann, application, "n - o > -0.3 +/- 0.2", steps=2, adaptivity="none")
    assert told.status_code == 200, told.text
    (gate,) = told.json()["gates"]
    assert gate["metric"] == "row-f1"
    assert "means of F1 by row" in gate["promise"]
    model = better_model(store, tmp_path, job_of(client, ann, application), arm=1)
    rest(store, job_of(client, ann, application))
    (task,) = work_off(store, tmp_path)[:1]
    assert task.error == ""
    last = promotions(client, ann, application)[-1]
    assert last["model_id"] == model
    assert last["state"] in ("live", "refused")
    assert gates(client, ann, application)["gates"][0]["steps_spent"] == 1


def test_a_condition_that_no_model_meets_is_refused(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    put(client, ann, application, "n - o > 0.9 +/- 0.05", steps=2, adaptivity="none")
    model = better_model(store, tmp_path, job_of(client, ann, application), arm=1)
    rest(store, job_of(client, ann, application))
    work_off(store, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "refused")
    assert "does not hold on 80 test rows" in last["reason"]


@pytest.mark.parametrize("wish", [{"metric": "f1"}, {"metric": "accuracy"}, {"labels": 20}])
def test_what_does_not_fit_several_labels_is_refused(
    client: TestClient, ann, application: str, wish: dict
) -> None:
    refused = put(client, ann, application, "n - o > -0.3 +/- 0.2", **wish)
    assert refused.status_code == 422
    assert "row-f1" in refused.json()["remedy"]


def test_groups_are_of_columns_with_one_value(client: TestClient, ann, application: str) -> None:
    fine = put(client, ann, application, "n[hue = 1] > 0.1 +/- 0.1")
    assert fine.status_code == 200, fine.text
    refused = put(client, ann, application, "n[tags = red] > 0.1 +/- 0.1")
    assert refused.status_code == 422
    assert "several values a row" in refused.text
