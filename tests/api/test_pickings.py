"""The models that may serve are compared on production, by few labels, and the best serves."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_bought_labels import application  # noqa: F401 a fixture
from test_gated_applications import job_of, promotions
from test_reports import APPLICATIONS
from test_watching import seen
from test_work import give

from easeml.contract.picking import NewPicking
from easeml.contract.states import PickingWay
from easeml.lifecycle import picking
from easeml.service.models import pickings
from easeml.service.models.running_pickings import RunningPickings
from easeml.store import Store
from easeml.web import create_pages, session

PLACE = f"{APPLICATIONS}/{{}}/picking"


def asked(client: TestClient, person, app_id: str) -> list[dict]:
    found = client.get(f"{APPLICATIONS}/{app_id}/work", headers=person.headers).json()["items"]
    return [item for item in found if item["kind"] == "pick-label"]


def told(client: TestClient, person, app_id: str) -> dict:
    return client.get(PLACE.format(app_id), headers=person.headers).json()


def answered(
    client: TestClient, store: Store, person, app_id: str, folder: Path, large: str = "big"
) -> dict:
    """Answer what a picking asks until it ends; return what came of it. ``large``: rows are that."""
    small = "small" if large == "big" else "big"
    running = RunningPickings(store)
    while told(client, person, app_id)["running"]:
        work_off(store, folder)
        running.move_on()
        for item in asked(client, person, app_id):
            value = large if float(item["values"]["size"]) > 50 else small
            give(client, person, item, value=value).raise_for_status()
    return told(client, person, app_id)


def days_go_by(store: Store, app_id: str) -> None:
    with store.write() as tx:
        tables = tx.unscoped()
        for row in tables.production_rows.list(limit=None):
            tables.production_rows.update(row.id, created=row.created - 200_000.0)
        log = tables.request_logs.get(app_id)
        assert log.picking is not None
        earlier = replace(log.picking, began=log.picking.began - 100_000.0)
        tables.request_logs.update(app_id, picking=earlier)


def test_the_model_that_is_right_by_now_serves_and_last_decembers_again(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    place = PLACE.format(application)
    refused = client.put(place, json={"way": "daily"}, headers=ann.headers)
    assert refused.status_code == 409
    assert "kept with all their columns" in refused.text
    requests = f"{APPLICATIONS}/{application}/requests"
    client.put(requests, json={"share": 1.0}, headers=ann.headers).raise_for_status()
    wish = {"way": "daily", "labels": 80}
    client.put(place, json=wish, headers=ann.headers).raise_for_status()
    train(store, tmp_path, job_of(client, ann, application), arm=1)
    work_off(store, tmp_path)
    changes = promotions(client, ann, application)
    guessing, december = changes[0]["model_id"], changes[-1]["model_id"]
    assert guessing != december

    pickings.start_due(store)  # nothing came
    seen(store, ann, application, 200, first=1000)
    pickings.start_due(store)
    begun = told(client, ann, application)
    assert (begun["running"], begun["models"], begun["rows"]) == (True, 2, 200)
    found = answered(client, store, ann, application, tmp_path, large="small")
    assert found["began"] > 0
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["kind"], last["state"]) == (guessing, "picked", "live")
    assert "at 90% confidence" in last["reason"]
    truths = client.get(requests, headers=ann.headers).json()["told"]
    assert 0 < truths <= 80  # watching learns from the labels, too

    days_go_by(store, application)
    seen(store, ann, application, 200, first=3000)
    pickings.start_due(store)
    answered(client, store, ann, application, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["kind"]) == (december, "picked")
    pickings.start_due(store)
    assert not told(client, ann, application)["running"]  # a day has to go by


def test_few_labels_change_nothing_and_the_page_tells(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    requests = f"{APPLICATIONS}/{application}/requests"
    client.put(requests, json={"share": 1.0}, headers=ann.headers).raise_for_status()
    train(store, tmp_path, job_of(client, ann, application), arm=1)
    work_off(store, tmp_path)
    before = promotions(client, ann, application)
    seen(store, ann, application, 60, first=1000)
    strange = [{"request_id": "req_1000", "row": row, "value": "Large"} for row in range(60)]
    place = f"{APPLICATIONS}/{application}/feedback"
    client.post(place, json=strange, headers=ann.headers).raise_for_status()
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    form = {"csrf": session.csrf_token(ann.key), "way": "alert", "labels": "12"}
    # What stands in the form holds, also where it was not kept before.
    shown = browser.post(f"/applications/{application}/picking", data={**form, "action": "now"})
    assert "2 models are compared on 60 rows" in shown.text, shown.text
    assert "of at most 12 labels" in shown.text
    found = answered(client, store, ann, application, tmp_path)
    assert (found["way"], found["running"]) == ("alert", False)
    assert "labels did not tell which is best" in found["says"]
    assert promotions(client, ann, application) == before
    pickings.start_due(store)
    assert not told(client, ann, application)["running"]  # no alert was told


def test_who_does_not_know_holds_nothing_up_and_what_runs_can_be_ended(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    requests, place = f"{APPLICATIONS}/{application}/requests", PLACE.format(application)
    client.put(requests, json={"share": 1.0}, headers=ann.headers).raise_for_status()
    train(store, tmp_path, job_of(client, ann, application), arm=1)
    work_off(store, tmp_path)
    seen(store, ann, application, 60, first=1000)
    client.post(f"{place}/now", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    RunningPickings(store).move_on()
    first = asked(client, ann, application)
    for item in first:
        give(client, ann, item, way="unknown").raise_for_status()
    RunningPickings(store).move_on()
    work_off(store, tmp_path)  # compared without these rows
    RunningPickings(store).move_on()
    second = asked(client, ann, application)
    assert second
    assert {item["row"] for item in first}.isdisjoint(item["row"] for item in second)
    sizes = [item["values"]["size"] for item in second]
    rows = {f"req_1000.{item['row']:06}" for item in second}
    with store.read() as tx:
        kept = tx.unscoped().production_rows.by_id(id=list(rows))
    assert sorted(sizes) == sorted(f"{row.inputs['size']:g}" for row in kept.values())
    assert not [size for size in sizes if size.endswith(".0")]

    give(client, ann, second[0], value="big").raise_for_status()
    todo = client.get(f"{APPLICATIONS}/{application}/next", headers=ann.headers).json()
    # an answer about a row of production makes no version of the data
    assert "use-answers" not in [action["kind"] for action in todo["actions"]]
    wish = {"way": "off", "labels": 60}
    assert client.put(place, json=wish, headers=ann.headers).json()["running"]
    ended = client.put(place, json={**wish, "end": True}, headers=ann.headers).json()
    assert (ended["running"], ended["says"]) == (
        False,
        "What serves stays: the comparison was ended.",
    )
    RunningPickings(store).move_on()
    assert asked(client, ann, application) == []
    assert client.get(requests, headers=ann.headers).json()["told"] == 1


def test_rows_of_a_picking_that_bought_no_label_can_be_compared_again(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    requests, place = f"{APPLICATIONS}/{application}/requests", PLACE.format(application)
    client.put(requests, json={"share": 1.0}, headers=ann.headers).raise_for_status()
    train(store, tmp_path, job_of(client, ann, application), arm=1)
    work_off(store, tmp_path)
    seen(store, ann, application, 60, first=1000)
    stop = {"way": "off", "labels": 60, "end": True}
    for _ in range(2):
        client.post(f"{place}/now", headers=ann.headers).raise_for_status()
        client.put(place, json=stop, headers=ann.headers).raise_for_status()
    client.post(f"{place}/now", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    RunningPickings(store).move_on()
    give(client, ann, asked(client, ann, application)[0], value="big").raise_for_status()
    client.put(place, json=stop, headers=ann.headers).raise_for_status()
    refused = client.post(f"{place}/now", headers=ann.headers)
    assert refused.status_code == 409  # a label chose among these rows
    assert "0 rows of production came since the last time" in refused.text


def test_as_many_labels_as_are_asked_for_by_default_show_a_far_better_model() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=500)
    right = {"serves": 0.7, "best": 0.9, "third": 0.7, "fourth": 0.7}
    models = {}
    for name, share in right.items():
        models[name] = np.where(rng.random(500) < share, truth, 1 - truth)
    certain = picking.Config(tolerance=pickings.TOLERANCE, confidence=pickings.CONFIDENCE)
    state = picking.open_picking(pd.DataFrame(models).astype(str), certain)
    for _ in range(NewPicking(way=PickingWay.DAILY).labels // 10):
        rows, asked = picking.ask(state, 10)
        state = picking.tell(asked, {row: str(truth[row]) for row in rows})
        if state.certified:
            break
    assert state.certified
    assert picking.result_of(state, "certified").model == "best"
