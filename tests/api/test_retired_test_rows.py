"""Worn-out test rows: the owner lets models learn from them, and the gate goes on with others."""

from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from inline_worker import claim, consider, train, work_off
from test_asking_tools import ask, rows_of, toys, upload
from test_bought_labels import CONDITION, answer_all
from test_gated_applications import EASY, better_model, gates, job_of, promotions, put, rest
from test_reports import APPLICATIONS

from easeml.data import row_ids
from easeml.service.views import model_files
from easeml.store import Store
from easeml.web import create_pages, session

POOL = 800


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application with 12 test rows and 800 rows without a label; its gate is worn out."""
    sizes = [(37 * row) % 1000 / 10 for row in range(60, 60 + POOL)]
    unlabelled = rows_of(sizes, [""] * POOL).partition("\n")[2]
    dataset = upload(client, store, ann, tmp_path, toys(60) + unlabelled)
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    train(store, tmp_path, job_of(client, ann, declared), arm=4)  # hardly better than guessing
    work_off(store, tmp_path)
    put(client, ann, declared, CONDITION, steps=1).raise_for_status()
    better_model(store, tmp_path, job_of(client, ann, declared), arm=5)
    rest(store, job_of(client, ann, declared))
    work_off(store, tmp_path)
    return declared


def retire(client: TestClient, person, application: str, **wish):
    place = f"{APPLICATIONS}/{application}/gates/retire"
    return client.post(place, json=wish, headers=person.headers)


def rows(client: TestClient, store: Store, person, application: str, role: str) -> list[int]:
    with store.read() as tx:
        found = tx.unscoped()
        version = found.versions.get(found.applications.get(application).version_id)
        files = store.artefacts.members(version.tenant_id, version.artefact)
    return row_ids(files).get(role, np.array([], dtype=int)).tolist()


def test_worn_out_rows_learn_and_the_gate_buys_labels_of_others(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    worn = rows(client, store, ann, application, "test")
    assert len(worn) == 12
    found = gates(client, ann, application)
    assert (found["gates"][0]["worn_out"], found["retirable"]) == (True, 12)
    before = job_of(client, ann, application)
    place = f"{APPLICATIONS}/{application}/next"
    actions = client.get(place, headers=ann.headers).json()["actions"]
    assert "retire-test-rows" in [one["kind"] for one in actions]

    answer = retire(client, ann, application, labels=300)
    assert answer.status_code == 200, answer.text
    assert [task.error for task in work_off(store, tmp_path)] == [""]
    assert rows(client, store, ann, application, "test") == []
    assert set(worn) <= set(rows(client, store, ann, application, "train"))
    found = gates(client, ann, application)
    (gate,) = found["gates"]
    assert (gate["worn_out"], gate["rows"], found["retirable"]) == (False, 0, 0)
    assert gate["labels"]["budget"] == 300
    assert gate["lasts"].startswith("1 more model can be tested, by labels of people alone")
    job = job_of(client, ann, application)
    assert job != before  # the search starts anew with these rows

    model = better_model(store, tmp_path, job, arm=1)
    rest(store, job)
    assert [task.error for task in work_off(store, tmp_path)] == [""]
    last = promotions(client, ann, application)[-1]
    assert last["state"] == "waits", last
    lasts = gates(client, ann, application)["gates"][0]["lasts"]
    assert lasts.startswith("The last model that can be tested waits for labels")
    refused = retire(client, ann, application)
    assert refused.status_code == 409
    assert "being tested" in refused.text
    given = answer_all(client, store, ann, application, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "live"), last
    assert f"proven by {given} labels" in last["reason"]

    with store.read() as tx:
        told = model_files.facts_of(tx, ann.caller, model)
    assert told["retired"] == 12
    versions = client.get(f"{APPLICATIONS}/{application}/versions", headers=ann.headers).json()[
        "items"
    ]
    assert versions[0]["operation"]["name"] == "retire"
    assert versions[0]["operation"]["rows"] == 12


def test_a_gate_that_still_buys_labels_keeps_the_rows_that_it_asks_about(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    put(client, ann, application, CONDITION, steps=3, labels=300).raise_for_status()
    work_off(store, tmp_path)  # what the gate before refused is tested at once
    job = job_of(client, ann, application)
    with store.write() as tx:
        tx.unscoped().jobs.update(job, state="running")
    model = better_model(store, tmp_path, job, arm=1)
    with store.write() as tx:
        tx.unscoped().models.update(model, quality=1.0, held_out=1.0)
    rest(store, job)
    work_off(store, tmp_path)
    assert answer_all(client, store, ann, application, tmp_path)
    pool = rows(client, store, ann, application, "pool")
    (before,) = retire(client, ann, application).json()["gates"]
    work_off(store, tmp_path)
    assert rows(client, store, ann, application, "pool") == pool
    (gate,) = gates(client, ann, application)["gates"]
    assert gate["id"] == before["id"]

    job = job_of(client, ann, application)
    model = better_model(store, tmp_path, job, arm=2)
    with store.write() as tx:
        tx.unscoped().models.update(model, quality=1.1, held_out=1.1)
    rest(store, job)
    assert [task.error for task in work_off(store, tmp_path)] == [""]
    assert "could not be tested" not in promotions(client, ann, application)[-1]["reason"]


def test_retired_rows_are_test_rows_of_nothing_in_the_version_before_either(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    place = f"{APPLICATIONS}/{application}/versions"
    before = client.get(place, headers=ann.headers).json()["items"][0]["id"]
    retire(client, ann, application).raise_for_status()
    work_off(store, tmp_path)
    client.post(f"{place}/{before}/use", headers=ann.headers).raise_for_status()
    assert len(rows(client, store, ann, application, "test")) == 12
    again = put(client, ann, application, EASY)
    assert again.status_code == 409
    assert "worn out" in again.text
    client.post(f"{APPLICATIONS}/{application}/gates/remove", headers=ann.headers)
    asked = ask(client, ann, application, "ci")
    assert asked.status_code == 409
    assert "models have learned from these" in asked.text


def test_new_test_rows_are_the_gates_after_others_retired(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    place = f"{APPLICATIONS}/{application}/feed?filename=more.csv"
    fed = client.post(place, content=toys(100, first=2000), headers=ann.headers)
    assert fed.status_code == 201, fed.text
    work_off(store, tmp_path)
    worn, new = set(range(60)), 20
    assert len(rows(client, store, ann, application, "test")) == 12 + new
    retire(client, ann, application).raise_for_status()
    work_off(store, tmp_path)
    left = rows(client, store, ann, application, "test")
    assert len(left) == new
    assert not worn & set(left)
    (gate,) = gates(client, ann, application)["gates"]
    assert (gate["condition"], gate["rows"], gate["labels"]) == (CONDITION, new, None)

    put(client, ann, application, EASY, steps=2).raise_for_status()
    job = job_of(client, ann, application)
    better_model(store, tmp_path, job, arm=1)
    rest(store, job)
    claimed = claim(store)
    assert claimed is not None
    assert claimed[0].payload["first"] == 0  # the first of those that are left
    consider(store, job)
    assert len(rows(client, store, ann, application, "test")) == new


def test_rows_that_are_not_worn_out_stay_test_rows(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    dataset = upload(client, store, ann, tmp_path, toys(60))
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    refused = retire(client, ann, declared)
    assert refused.status_code == 409
    assert "No test rows are worn out" in refused.text


def test_the_page_offers_it_once_and_does_it(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = f"/applications/{application}/history"
    assert "12 test rows are worn out" in " ".join(browser.get(page).text.split())
    told = {"csrf": session.csrf_token(ann.key), "action": "retire", "labels": "50"}
    shown = browser.post(f"/applications/{application}/gate", data=told)
    assert shown.status_code == 200, shown.text
    assert "are worn out" not in shown.text
    work_off(store, tmp_path)
    assert "are worn out" not in browser.get(page).text
    assert "the one model that can be tested" in shown.text  # a gate of one step
    data = browser.get(f"/applications/{application}/data").text
    assert "12 worn-out test rows became train rows" in " ".join(data.split())


def test_a_gate_whose_last_test_rows_learn_does_not_offer_it_again(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    (gate,) = gates(client, ann, application)["gates"]
    assert "Retire them" in gate["lasts"]
    retire(client, ann, application).raise_for_status()
    work_off(store, tmp_path)
    found = gates(client, ann, application)
    (gate,) = found["gates"]
    assert (found["retirable"], gate["worn_out"]) == (0, True)
    assert "are train rows now. Feed new labelled rows" in gate["lasts"]
    assert "Retire" not in gate["lasts"]
