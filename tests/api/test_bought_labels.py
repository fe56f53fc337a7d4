"""A gate that may buy labels: people are asked as few as the test needs, and the model waits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from inline_worker import claim, do, train, work_off
from test_asking_tools import rows_of, toys, upload
from test_erasing import Desk
from test_gated_applications import better_model, gates, job_of, promotions, put, rest
from test_reports import APPLICATIONS
from test_work import give, take

from easeml.data import is_reserved
from easeml.service.gates import bought_labels
from easeml.service.work import answers, queue
from easeml.store import Store

LABELLED, POOL = 60, 800
CONDITION = "n - o > 0.1 +/- 0.05"


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application with 12 test rows and 800 rows without a label that serves its first model."""
    sizes = [(37 * row) % 1000 / 10 for row in range(LABELLED, LABELLED + POOL)]
    unlabelled = rows_of(sizes, [""] * POOL).partition("\n")[2]
    dataset = upload(client, store, ann, tmp_path, toys(LABELLED) + unlabelled)
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    train(store, tmp_path, job_of(client, ann, declared), arm=4)  # hardly better than guessing
    work_off(store, tmp_path)
    return declared


def right(item: dict) -> str:
    """Return the answer of a row: as the size says, but for one row in ten."""
    is_big = (float(item["values"]["size"]) > 50) != (item["row"] % 10 == 3)
    return "big" if is_big else "small"


def labels(client: TestClient, person, application: str) -> dict:
    return gates(client, person, application)["gates"][0]["labels"]


def wait_for_labels(
    client: TestClient, store: Store, person, application: str, folder: Path, budget: int = 300
) -> str:
    """Set a gate, bring a better model that it cannot prove by test rows, and return its id."""
    job = job_of(client, person, application)
    put(client, person, application, CONDITION, steps=4, labels=budget).raise_for_status()
    model = better_model(store, folder, job, arm=1)
    rest(store, job)
    assert [task.error for task in work_off(store, folder)] == ["", ""]
    return model


def answer_all(client: TestClient, store: Store, person, application: str, folder: Path) -> int:
    """Answer what the queue asks until it asks nothing; return how many labels that took."""
    given = 0
    while labels(client, person, application)["waiting"] is not None:
        for item in asked(client, person, application):
            give(client, person, item, value=right(item)).raise_for_status()
            given += 1
        work_off(store, folder)
    return given


def asked(client: TestClient, person, application: str) -> list[dict]:
    """Return the labels of test rows that the queue asks for."""
    place = f"{APPLICATIONS}/{application}/work"
    items = client.get(place, headers=person.headers).json()["items"]
    return [item for item in items if item["kind"] == "test-label"]


def test_a_model_waits_for_labels_and_the_last_one_decides(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    model = wait_for_labels(client, store, ann, application, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "waits")
    assert "at most" in last["reason"]
    found = labels(client, ann, application)
    assert (found["budget"], found["bought"], found["waiting"]["model_id"]) == (300, 0, model)
    assert 0 < found["waiting"]["about"] <= found["waiting"]["most"] <= 300
    assert found["rows"] == is_reserved(np.arange(LABELLED, LABELLED + POOL)).sum()
    item = take(client, ann, application)["item"]
    assert item["kind"] == "test-label"
    assert item["options"] == []  # nothing says what the models think
    assert item["choices"] == ["big", "small"]

    given = answer_all(client, store, ann, application, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "live")
    assert f"proven by {given} labels" in last["reason"]
    found = labels(client, ann, application)
    assert (found["bought"], found["waiting"], found["steps_spent"]) == (given, None, 1)
    assert found["rows_left"] < found["rows"]
    assert asked(client, ann, application) == []


def test_answers_in_any_order_corrected_unknown_and_by_two_people_give_the_same_answer(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    model = wait_for_labels(client, store, ann, application, tmp_path)
    item = take(client, ann, application)["item"]
    wrong = "small" if right(item) == "big" else "big"
    give(client, ann, item, value=wrong).raise_for_status()
    claimed = claim(store)  # the test with the wrong answer is under way
    assert claimed is not None
    give(client, ann, item, way="undo").raise_for_status()
    other = replace(ann.caller, user_id="usr_other")
    theirs = queue.take_next(store, other, application).item
    assert theirs is not None
    answers.give(store, other, theirs.id, value=wrong)
    give(client, ann, theirs.model_dump(), value=right(theirs.model_dump())).raise_for_status()
    do(store, tmp_path, *claimed)
    work_off(store, tmp_path)
    with store.write() as tx:  # whoever dies in the middle of a test: it is made again
        application_row = tx.unscoped().applications.get(application)
        bought_labels.go_on(tx, application_row)
    dying = claim(store)
    assert dying is not None
    with store.write() as tx:
        tx.queue.fail(dying[1], error="the worker died", retry=True, cost=0.0)
    work_off(store, tmp_path)
    lost = asked(client, ann, application)[-1]  # nobody knows: the test goes on without
    give(client, ann, lost, way="unknown").raise_for_status()
    work_off(store, tmp_path)
    assert lost["row"] not in [one["row"] for one in asked(client, ann, application)]
    given = answer_all(client, store, ann, application, tmp_path)
    assert given > 5
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "live")
    assert "people do not know count against it: 1." in last["reason"]
    late = give(client, ann, item, way="undo")
    assert late.status_code == 409
    assert "tested with this answer" in late.text


def test_no_label_is_asked_for_that_proves_nothing_and_a_larger_budget_goes_on(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    model = wait_for_labels(client, store, ann, application, tmp_path, budget=4)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "refused")
    assert "the 4 that may still be bought could not prove" in last["reason"]
    assert asked(client, ann, application) == []
    put(client, ann, application, CONDITION, steps=4, labels=200).raise_for_status()
    work_off(store, tmp_path)
    found = labels(client, ann, application)
    assert (found["bought"], found["steps_spent"]) == (0, 1)
    waiting = found["waiting"]
    assert waiting["low"] <= waiting["about"] <= waiting["high"]
    assert "more labels as a rule, at most" in waiting["says"]
    answer_all(client, store, ann, application, tmp_path)
    assert promotions(client, ann, application)[-1]["state"] == "live"
    assert labels(client, ann, application)["steps_spent"] == 1


def test_a_pin_or_another_gate_ends_the_asking(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    wait_for_labels(client, store, ann, application, tmp_path)
    place = f"{APPLICATIONS}/{application}"
    client.post(f"{place}/pin", headers=ann.headers).raise_for_status()
    assert labels(client, ann, application)["waiting"] is None
    assert asked(client, ann, application) == []
    client.post(f"{place}/unpin", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    waiting = labels(client, ann, application)["waiting"]
    assert waiting is not None
    client.post(f"{place}/gates/remove", headers=ann.headers).raise_for_status()
    assert asked(client, ann, application) == []


@pytest.fixture
def desk(client: TestClient, store: Store, ann, tmp_path: Path) -> Desk:
    """Such an application whose rows are people, and a better model that waits for labels."""
    desk = Desk(client, store, ann, tmp_path)
    lines = ["who,size,kind\n"]
    for row in range(LABELLED + POOL):
        size = (37 * row) % 1000 / 10
        kind = "big" if size > 50 else "small"
        lines.append(f"p{row},{size},{kind if row < LABELLED else ''}\n")
    desk.bring("".join(lines).encode(), models=None, max_tasks=None)
    train(store, tmp_path, job_of(client, ann, desk.id), arm=4)
    work_off(store, tmp_path)
    wait_for_labels(client, store, ann, desk.id, tmp_path)
    return desk


def forget(desk: Desk, row: int) -> None:
    """Erase a person; what learnt from them serves no more at once."""
    body = {"where": {"who": f"p{row}"}, "models": "retire", "plan_only": False}
    desk.post(f"/datasets/{desk.dataset_id}/erasures", json=body)
    work_off(desk.store, desk.folder)


def test_nobody_waits_for_a_label_of_an_erased_row(client: TestClient, ann, desk: Desk) -> None:
    spent = gates(client, ann, desk.id)["gates"][0]["steps_spent"]
    forget(desk, asked(client, ann, desk.id)[0]["row"])
    assert labels(client, ann, desk.id)["waiting"] is None
    assert asked(client, ann, desk.id) == []
    last = promotions(client, ann, desk.id)[-1]
    assert last["state"] == "refused"
    assert "Set the gate again" in last["reason"]
    assert gates(client, ann, desk.id)["gates"][0]["steps_spent"] == spent

    put(client, ann, desk.id, CONDITION, steps=4, labels=300).raise_for_status()
    rest(desk.store, job_of(client, ann, desk.id))
    work_off(desk.store, desk.folder)
    assert promotions(client, ann, desk.id)[-1]["state"] == "waits"
    answer_all(client, desk.store, ann, desk.id, desk.folder)
    assert promotions(client, ann, desk.id)[-1]["state"] == "live"


def test_nobody_is_asked_for_a_model_that_is_erased(client: TestClient, ann, desk: Desk) -> None:
    forget(desk, 0)  # all models were trained or measured on them
    assert labels(client, ann, desk.id)["waiting"] is None
    assert asked(client, ann, desk.id) == []
