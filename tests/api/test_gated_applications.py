"""An application with a gate: what would go live is tested on test rows first, and says so."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import claim, consider, do, train, work_off
from test_asking_tools import ask, toys, upload
from test_reports import APPLICATIONS

from easeml.store import Store
from easeml.web import create_pages, session

EASY = "n - o > -0.9 +/- 0.4"
HARD = "n - o > 0.3 +/- 0.2"


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application with 400 rows, of which 80 are test rows, that serves its first model."""
    dataset = upload(client, store, ann, tmp_path, toys(400))
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    train(store, tmp_path, job_of(client, ann, declared))
    work_off(store, tmp_path)
    return declared


def job_of(client: TestClient, person, application: str) -> str:
    place = f"{APPLICATIONS}/{application}"
    return client.get(place, headers=person.headers).json()["job"]["id"]


def put(client: TestClient, person, application: str, condition: str, **wish):
    place = f"{APPLICATIONS}/{application}/gates"
    return client.post(place, json={"condition": condition, **wish}, headers=person.headers)


def gates(client: TestClient, person, application: str) -> dict:
    return client.get(f"{APPLICATIONS}/{application}/gates", headers=person.headers).json()


def promotions(client: TestClient, person, application: str) -> list[dict]:
    place = f"{APPLICATIONS}/{application}/promotions"
    return client.get(place, headers=person.headers).json()["items"]


def better_model(store: Store, folder: Path, job_id: str, arm: int) -> str:
    """Train a candidate and let it be the best on validation rows; return the model's id."""
    task = train(store, folder, job_id, arm)
    with store.write() as tx:
        models = tx.unscoped().models
        model = models.find(task_id=task.id)
        assert model is not None
        models.update(model.id, quality=0.99 + arm / 1000)
        return model.id


def rest(store: Store, job_id: str) -> None:
    """Let the search come to its end, as the scheduler does."""
    with store.write() as tx:
        tx.unscoped().jobs.update(job_id, state="resting")
    consider(store, job_id)


def test_without_a_gate_nothing_is_promised(client: TestClient, ann, application: str) -> None:
    found = gates(client, ann, application)
    assert found["gates"] == []
    assert "Nothing has to be proven" in found["promise"]
    assert found["rows_left"] == 80


def test_a_gate_says_what_it_promises_and_what_that_needs(
    client: TestClient, ann, application: str
) -> None:
    answer = put(client, ann, application, EASY, reliability=0.9, steps=3)
    assert answer.status_code == 200, answer.text
    (gate,) = answer.json()["gates"]
    assert "90 %" in gate["promise"]
    assert gate["rows"] == gate["rows_left"] == 80
    assert 0 < gate["rows_needed"] < gate["rows_needed_32"]
    assert (gate["steps_spent"], gate["steps_left"]) == (0, 3)
    again = put(client, ann, application, EASY, reliability=0.9, steps=3).json()["gates"]
    assert again[0]["id"] == gate["id"]
    other = put(client, ann, application, HARD).json()["gates"]
    assert other[0]["id"] != gate["id"]


def test_what_is_no_condition_is_refused_with_its_place(
    client: TestClient, ann, application: str
) -> None:
    assert put(client, ann, application, "n - o").status_code == 422
    assert put(client, ann, application, EASY, reliability=1).status_code == 422
    assert put(client, ann, application, EASY, adaptivity="some").status_code == 422


def test_a_model_that_passes_goes_live_and_one_that_is_not_proven_does_not(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    job = job_of(client, ann, application)
    put(client, ann, application, HARD, steps=4).raise_for_status()
    refused = better_model(store, tmp_path, job, arm=1)
    consider(store, job)
    assert claim(store) is None  # a search that goes on spends no step on two models
    rest(store, job)
    (task,) = work_off(store, tmp_path)
    assert task.error == ""
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (refused, "refused")
    assert "Not proven" in last["reason"]
    assert "does not say that the model is worse" in last["reason"]
    assert gates(client, ann, application)["gates"][0]["steps_spent"] == 1
    newer = upload(client, store, ann, tmp_path, toys(60, first=1000))["version"]["id"]
    alone = ask(client, ann, application, "pick", newer_id=newer)
    assert alone.status_code == 409
    assert "models that passed the gate" in alone.text
    consider(store, job)
    assert work_off(store, tmp_path) == []  # what was refused is not tested again

    # Another gate tests what waits by itself, though the search rests.
    put(client, ann, application, EASY, steps=2).raise_for_status()
    work_off(store, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (refused, "live")
    assert "is proven on 80 test rows" in last["reason"]
    picking = ask(client, ann, application, "pick", newer_id=newer)
    assert picking.status_code == 201, picking.text  # both have served by now


def test_a_worker_that_dies_costs_no_second_step(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    job = job_of(client, ann, application)
    put(client, ann, application, EASY, steps=2).raise_for_status()
    model = better_model(store, tmp_path, job, arm=1)
    rest(store, job)
    first = claim(store)
    assert first is not None
    with store.write() as tx:
        tx.queue.fail(first[1], error="the worker died", retry=True, cost=0.0)
    assert gates(client, ann, application)["gates"][0]["steps_spent"] == 0
    second = claim(store)
    assert second is not None
    do(store, tmp_path, *second)
    assert gates(client, ann, application)["gates"][0]["steps_spent"] == 1
    assert promotions(client, ann, application)[-1]["model_id"] == model


def test_worn_out_test_rows_say_so(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    job = job_of(client, ann, application)
    put(client, ann, application, HARD, steps=1).raise_for_status()
    models = [better_model(store, tmp_path, job, arm) for arm in (1, 2)]
    rest(store, job)
    work_off(store, tmp_path)
    with store.write() as tx:
        tx.unscoped().models.update(models[0], quality=1.0)
    consider(store, job)
    assert work_off(store, tmp_path) == []
    last = promotions(client, ann, application)[-1]
    assert last["state"] == "refused"
    assert "worn out" in last["reason"]
    (gate,) = gates(client, ann, application)["gates"]
    assert gate["worn_out"]
    assert gate["rows_left"] == 0
    again = put(client, ann, application, HARD)
    assert again.status_code == 409
    assert "Feed new labelled rows" in again.text


def test_the_test_rows_belong_to_the_gate(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    job = job_of(client, ann, application)
    better_model(store, tmp_path, job, arm=1)
    before = put(client, ann, application, EASY).json()["gates"][0]
    told_nothing = put(client, ann, application, EASY, steps=9).json()["gates"][0]
    assert told_nothing["rows_needed"] > before["rows_needed"]
    refused = ask(client, ann, application, "ci")
    assert refused.status_code == 409
    assert "belong to the gate" in refused.text
    rest(store, job)
    kinds = [task.spec_kind for task in work_off(store, tmp_path)]
    assert "gate" in kinds
    assert "test-quality" not in kinds


def test_only_what_served_before_is_gone_back_to(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    job = job_of(client, ann, application)
    put(client, ann, application, HARD).raise_for_status()
    model = better_model(store, tmp_path, job, arm=1)
    place = f"{APPLICATIONS}/{application}/rollback"
    answer = client.post(place, json={"model_id": model}, headers=ann.headers)
    assert answer.status_code == 409
    assert "what was not proven may not serve" in answer.text
    client.post(
        f"{APPLICATIONS}/{application}/gates/remove", headers=ann.headers
    ).raise_for_status()
    assert promotions(client, ann, application)[-1]["model_id"] == model


def test_a_page_sets_and_shows_the_gate(client: TestClient, ann, application: str) -> None:
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = f"/applications/{application}/history"
    assert "Nothing has to be proven" in browser.get(page).text
    told = {"csrf": session.csrf_token(ann.key), "condition": EASY, "reliability": "0.9"}
    shown = browser.post(
        f"/applications/{application}/gate", data={**told, "steps": "3", "action": "set"}
    )
    assert "none of the 3 models" in shown.text, shown.text
    assert "0 of 3" in shown.text
    wrong = browser.post(
        f"/applications/{application}/gate", data={**told, "steps": "many", "action": "set"}
    )
    assert wrong.status_code == 422
    # A target that is a number has the largest error that counts, in a field of its own.
    errors = {**told, "condition": "o - n > -0.3 +/- 0.2", "steps": "3", "scale": "2,5"}
    browser.post(f"/applications/{application}/gate", data={**errors, "action": "set"})
    kept = client.get(f"{APPLICATIONS}/{application}/gates", headers=ann.headers).json()
    assert kept["gates"][0]["metric"] == "absolute-error"
    removed = browser.post(f"/applications/{application}/gate", data={**told, "action": "remove"})
    assert "Nothing has to be proven" in removed.text
