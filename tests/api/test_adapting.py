"""What serves is adapted to production without labels, and few labels prove that it is better."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_asking_tools import toys, upload
from test_gated_applications import job_of, promotions, put, rest
from test_pickings import asked
from test_reports import APPLICATIONS
from test_work import give

from easeml.service.models import pickings
from easeml.service.models.running_pickings import RunningPickings
from easeml.service.tasks import requests
from easeml.store import Store
from easeml.store.records import ProductionRow
from easeml.web import create_pages, session

INCH = 25.4  # what production measures in, by mistake or not
ROWS = 300


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application that serves a model of sizes in millimetres, and keeps its requests."""
    dataset = upload(client, store, ann, tmp_path, toys(200))
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    train(store, tmp_path, job_of(client, ann, declared), arm=1)
    work_off(store, tmp_path)
    keep = {"share": 1.0}
    client.put(f"{APPLICATIONS}/{declared}/requests", json=keep, headers=ann.headers)
    return declared


def asked_in_inches(store: Store, person, app_id: str, factor: float = INCH) -> None:
    """Let the endpoint have been asked about rows whose sizes are in another unit."""
    with store.write() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        live = tables.applications.get(app_id).live_model_id
        kept = []
        for number, line in enumerate(toys(ROWS, 5000).splitlines()[1:]):
            size, _ = line.split(",")
            kept.append(
                ProductionRow(
                    id=f"req_{factor}.{number:06}",
                    tenant_id=person.caller.tenant_id,
                    application_id=app_id,
                    request_id=f"req_{factor}",
                    row=number,
                    key="",
                    model_id=live,
                    inputs={"size": float(size) / factor},
                    answer={"prediction": "small", "probabilities": None},
                )
            )
        tables.production_rows.add_all(kept)


def adaptation(client: TestClient, person, app_id: str) -> dict:
    return client.get(f"{APPLICATIONS}/{app_id}/adaptation", headers=person.headers).json()


def adapt(client: TestClient, person, app_id: str, **wish):
    return client.post(f"{APPLICATIONS}/{app_id}/adaptation", json=wish, headers=person.headers)


def finish(client: TestClient, store: Store, person, app_id: str, folder: Path) -> dict:
    """Do the tasks, and answer what people are asked, until it ends."""
    while adaptation(client, person, app_id)["running"]:
        work_off(store, folder, "search")
        work_off(store, folder)
        RunningPickings(store).move_on()
        for item in asked(client, person, app_id):
            value = "big" if INCH * float(item["values"]["size"]) > 50 else "small"
            give(client, person, item, value=value).raise_for_status()
    return adaptation(client, person, app_id)


def test_models_learn_from_older_rows_and_are_compared_on_the_newest_quarter(
    client: TestClient, store: Store, ann, application: str
) -> None:
    asked_in_inches(store, ann, application)
    adapt(client, ann, application, ways=["scale"]).raise_for_status()
    with store.read() as tx:
        tables = tx.unscoped()
        picking = pickings.picking_of(tables, tables.applications.get(application))
        (task,) = requests.of_kind(tables, "adapt", subject=application)
        place = store.artefacts.path(task.tenant_id, task.payload["source"])
    assert picking is not None
    newest = [f"req_{INCH}.{number:06}" for number in range(ROWS - ROWS // 4, ROWS)]
    assert picking.rows == newest
    learned = [line.split(",")[0] for line in place.read_text().splitlines()[1:]]
    older = [line.split(",")[0] for line in toys(ROWS, 5000).splitlines()[1:]][: -(ROWS // 4)]
    assert [float(size) * INCH for size in learned] == pytest.approx(list(map(float, older)))


def test_another_unit_is_found_and_the_model_that_reads_it_is_proven(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    early = adapt(client, ann, application)
    assert early.status_code == 409
    assert "0 rows of production are kept" in early.text
    asked_in_inches(store, ann, application)
    began = adapt(client, ann, application, ways=["scale", "prior"], labels=100)
    began.raise_for_status()
    assert began.json()["running"]
    assert began.json()["rows"] == ROWS // 4
    assert adapt(client, ann, application).status_code == 409  # one at a time

    found = finish(client, store, ann, application, tmp_path)
    by_way = {one["way"]: one for one in found["ways"]}
    assert by_way["scale"]["applies"], by_way
    assert "Columns are read otherwise: size (median" in by_way["scale"]["says"]
    assert 0 < found["asked"] <= 100
    last = promotions(client, ann, application)[-1]
    assert last["model_id"] == by_way["scale"]["model_id"], found["says"]
    assert last["kind"] == "picked"
    assert "is better than what serves, at 95% reliability" in last["reason"]
    models = client.get(f"{APPLICATIONS}/{application}/models", headers=ann.headers).json()["items"]
    (made,) = [one for one in models if one["id"] == last["model_id"]]
    assert made["name"] == "adapted-scale-1"
    assert made["measure"]["objective"] == "accuracy"
    work_off(store, tmp_path)
    shown = client.get(f"{APPLICATIONS}/{application}", headers=ann.headers).json()
    assert shown["test_quality"]["adapted"]  # its test rows are in the unit of before
    page = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    assert (
        "older than the rows that the model was adapted to"
        in page.get(f"/applications/{application}").text
    )

    adapt(client, ann, application, ways=["weights"]).raise_for_status()  # of its origin, again
    assert work_off(store, tmp_path, "search")[0].error == ""


def test_the_gate_tests_what_was_adapted_and_the_page_tells_what_was_found(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    asked_in_inches(store, ann, application, factor=1.0)
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    form = {"csrf": session.csrf_token(ann.key), "way": "", "labels": "30", "rows": "300"}
    browser.post(f"/applications/{application}/adapt", data=form).raise_for_status()
    found = finish(client, store, ann, application, tmp_path)
    assert {one["way"] for one in found["ways"]} == {"weights", "prior", "scale", "pseudo-labels"}
    shown = browser.get(f"/applications/{application}/history").text
    assert "The inputs are as before" in shown
    assert found["says"] in shown
    before = promotions(client, ann, application)
    assert len(before) == 1  # nothing else serves

    put(client, ann, application, "n - o > 0.02 +/- 0.02", steps=4).raise_for_status()
    several = adapt(client, ann, application)
    assert several.status_code == 409
    assert "tests one model at a time" in several.text
    asked_in_inches(store, ann, application)
    adapt(client, ann, application, ways=["scale"], rows=ROWS).raise_for_status()
    rest(store, job_of(client, ann, application))
    found = finish(client, store, ann, application, tmp_path)
    assert found["says"] == "The gate of the application tests adapted-scale-2."
    work_off(store, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (found["ways"][0]["model_id"], "refused")
