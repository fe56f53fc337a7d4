"""A gate whose condition is about groups of rows: fairness, and no group that gets worse."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_asking_tools import upload
from test_gated_applications import better_model, gates, job_of, promotions, put, rest
from test_reports import APPLICATIONS

from easeml.store import Store
from easeml.web import create_pages

# Models are right about the north, and about the south no more than a coin.
ROWS = "".join(
    f"{'north' if row % 4 else 'south'},{row % 7},"
    f"{'yes' if (row % 7 > 3) == bool(row % 4 or row % 3) else 'no'}\n"
    for row in range(1200)
)


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    dataset = upload(client, store, ann, tmp_path, f"region,size,kind\n{ROWS}")
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    train(store, tmp_path, job_of(client, ann, declared))
    work_off(store, tmp_path)
    return declared


def test_a_gate_tells_how_many_test_rows_each_group_has(
    client: TestClient, ann, application: str
) -> None:
    told = put(client, ann, application, "n[region = south] - n[region=north] > -0.2 +/- 0.2")
    assert told.status_code == 200, told.text
    (gate,) = told.json()["gates"]
    assert gate["condition"] == "n[region = south] - n[region = north] > -0.2 +/- 0.2"
    sizes = {one["group"]: one["rows"] for one in gate["groups"]}
    assert sum(sizes.values()) == gate["rows"]
    assert sizes["region = south"] < sizes["region = north"]
    assert gate["rows_needed"] > gate["rows"]
    assert "few for this condition" in gate["too_few"]
    again = put(client, ann, application, gate["condition"]).json()["gates"]
    assert again[0]["id"] == gate["id"]


def test_a_model_that_is_unfair_to_a_group_does_not_serve(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    job = job_of(client, ann, application)
    fair = "n[region = south] - n[region = north] > -0.1 +/- 0.1"
    put(client, ann, application, fair, steps=2, adaptivity="none").raise_for_status()
    model = better_model(store, tmp_path, job, arm=1)
    rest(store, job)
    (task,) = work_off(store, tmp_path)
    assert task.error == ""
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "refused")
    assert "n[region = south]" in last["reason"]

    alone = "n[region = north] > 0.6 +/- 0.1"
    put(client, ann, application, alone, steps=2, adaptivity="none").raise_for_status()
    work_off(store, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "live")
    assert "is proven on 240 test rows" in last["reason"]


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("n[region = souht] > 0.6 +/- 0.1", "north, south"),
        ("n[regoin = south] > 0.6 +/- 0.1", "region"),
        ("n[size > 100] > 0.6 +/- 0.1", "size"),
    ],
)
def test_a_group_that_the_test_rows_lack_is_refused_with_those_that_there_are(
    client: TestClient, ann, application: str, condition: str, says: str
) -> None:
    refused = put(client, ann, application, condition)
    assert refused.status_code in (400, 422), refused.text
    assert says in refused.json()["remedy"]
    assert gates(client, ann, application)["gates"] == []


def test_no_labels_are_bought_for_a_gap_between_groups(
    client: TestClient, ann, application: str
) -> None:
    gap = "n[region = south] - n[region = north] > -0.2 +/- 0.2"
    refused = put(client, ann, application, gap, labels=50)
    assert refused.status_code == 422
    assert "compares groups" in refused.text


def test_the_page_shows_how_many_rows_tell_of_a_group(
    client: TestClient, ann, application: str
) -> None:
    told = put(client, ann, application, "n[region = south] > 0.6 +/- 0.1").json()
    (group,) = told["gates"][0]["groups"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    shown = browser.get(f"/applications/{application}/history").text
    assert f"<code>region = south</code>: {group['rows']} rows" in shown


def test_a_condition_on_rows_of_one_class_is_about_its_recall(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    recall = "n[kind = yes] > 0.5 +/- 0.1"
    refused = put(client, ann, application, recall, labels=50)
    assert "only their labels would tell" in refused.text
    put(client, ann, application, recall, steps=2, adaptivity="none").raise_for_status()
    model = better_model(store, tmp_path, job_of(client, ann, application), arm=1)
    rest(store, job_of(client, ann, application))
    work_off(store, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "live"), last


def test_no_group_may_get_worse(client: TestClient, ann, application: str) -> None:
    wish = {"condition": "n[region = *] - o[region = *] > -0.2 +/- 0.2"}
    told = put(client, ann, application, **wish).json()
    (gate,) = told["gates"]
    assert gate["condition"] == (
        "n[region = north] - o[region = north] > -0.2 +/- 0.2 /\\ "
        "n[region = south] - o[region = south] > -0.2 +/- 0.2"
    )
    assert put(client, ann, application, **wish).json()["gates"][0]["id"] == gate["id"]
    refused = put(client, ann, application, "n[no such column = *] > 0.1 +/- 0.1")
    assert "region" in refused.json()["remedy"]
