"""A released model that the truth shows to be worse than the one before it is returned from."""

import re
from pathlib import Path

from fastapi.testclient import TestClient
from inline_worker import consider, train, work_off
from test_bought_labels import application  # noqa: F401 a fixture
from test_gated_applications import job_of, promotions
from test_reports import APPLICATIONS
from test_watching import seen

from easeml.contract.states import RolloutWay
from easeml.service.models import comparing
from easeml.store import Store
from easeml.web import create_pages

ROWS = 400


def released(client: TestClient, store: Store, person, app_id: str, folder: Path) -> list[str]:
    """Let a model that is right replace one that guesses, and requests come; return the answers."""
    requests = f"{APPLICATIONS}/{app_id}/requests"
    client.put(requests, json={"share": 1.0}, headers=person.headers).raise_for_status()
    train(store, folder, job_of(client, person, app_id), arm=1)
    work_off(store, folder)
    return seen(store, person, app_id, ROWS, first=1000)


def tell(client: TestClient, person, app_id: str, truths: dict[int, str]) -> None:
    told = [{"request_id": "req_1000", "row": row, "value": value} for row, value in truths.items()]
    place = f"{APPLICATIONS}/{app_id}/feedback"
    client.post(place, json=told, headers=person.headers).raise_for_status()


def look(store: Store, folder: Path) -> None:
    comparing.move_on(store, [RolloutWay.AFTER])
    work_off(store, folder)
    comparing.move_on(store, [RolloutWay.AFTER])


def compared(client: TestClient, person, app_id: str) -> dict:
    place = f"{APPLICATIONS}/{app_id}/rollouts"
    return client.get(place, headers=person.headers).json()["released"][0]


def states_of(client: TestClient, person, app_id: str) -> list[tuple[str, str]]:
    """Return what ``app show`` is told of releases: the state of each, and what rows say."""
    found = client.get(f"{APPLICATIONS}/{app_id}", headers=person.headers).json()
    return [(one["state"], one["says"]) for one in found["released"]]


def task_of(store: Store, model_id: str) -> str:
    with store.read() as tx:
        return tx.unscoped().models.get(model_id).task_id


def turned(answers: list[str]) -> dict[int, str]:
    """Return what is true by now, by row: the other class, so that who guesses is right on half."""
    return {row: "small" if one == "big" else "big" for row, one in enumerate(answers)}


def test_a_world_that_turns_brings_the_model_before_back_and_says_by_what_rows(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    answers = released(client, store, ann, application, tmp_path)
    guessing, better = (one["model_id"] for one in promotions(client, ann, application)[-2:])
    running = compared(client, ann, application)
    assert (running["model_id"], running["against_id"]) == (better, guessing)
    assert running["state"] == "running"
    assert states_of(client, ann, application) == [("running", "No row counts yet.")]
    tell(client, ann, application, turned(answers))
    look(store, tmp_path)

    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["kind"], last["state"]) == (guessing, "returned", "live")
    found = compared(client, ann, application)
    assert found["state"] == "taken-back"
    low, high = found["interval"]
    assert found["quality"] == 0.0
    assert low < found["quality"] - found["quality_before"] < high < 0
    assert found["better"] == 0
    assert f"{found['worse'] + found['alike']} rows" in found["says"] == last["reason"]
    told = client.get("/api/v1/notifications", headers=ann.headers).json()["items"]
    (news,) = [one for one in told if one["kind"] == "release.returned"]
    assert "was worse in production" in news["text"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{application}/history")
    assert "After a release" in page.text
    assert states_of(client, ann, application) == [("taken-back", last["reason"])]
    assert page.text.count(f'<a href="/tasks/{task_of(store, better)}">') >= 2
    assert "returned" in page.text

    consider(store, job_of(client, ann, application))  # it is better on validation rows still
    assert promotions(client, ann, application)[-1] == last
    place = f"{APPLICATIONS}/{application}/rollback"
    client.post(place, json={"model_id": better}, headers=ann.headers).raise_for_status()
    tell(client, ann, application, turned(answers))  # the same rows once more
    look(store, tmp_path)
    assert promotions(client, ann, application)[-1]["model_id"] == better
    assert compared(client, ann, application)["state"] == "running"


def test_complaints_alone_return_to_nothing(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Each fifth answer is wrong, and people tell of these alone: the model before guesses, and was
    right on half of them."""
    answers = released(client, store, ann, application, tmp_path)
    better = promotions(client, ann, application)[-1]["model_id"]
    wrong = {row: value for row, value in turned(answers).items() if row % 5 == 0}
    tell(client, ann, application, wrong)
    look(store, tmp_path)
    assert compared(client, ann, application)["worse"] == 0
    assert promotions(client, ann, application)[-1]["model_id"] == better

    truths = dict(enumerate(answers)) | wrong  # by and by, the other truths come
    tell(client, ann, application, truths)
    look(store, tmp_path)
    found = compared(client, ann, application)
    assert found["better"] > found["worse"] > 0
    assert found["state"] == "running"


def test_an_owner_who_does_not_want_it_is_not_returned(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    answers = released(client, store, ann, application, tmp_path)
    rule = f"{APPLICATIONS}/{application}/rollouts/rule"
    wish = {"way": "at-once", "days": 0}
    found = client.put(rule, json=wish, headers=ann.headers).json()
    assert found["days"] == 0
    assert "stays" in found["watches"]
    assert f"easeml app rollout {application} --days 30" in found["watches"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{application}/history").text
    form = page[page.index("Compare for 30 days after a release") - 1500 :]
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[:1500]))
    assert fields["days"] == "30"
    sent = browser.post(f"/applications/{application}/rollout", data={**fields, "action": "set"})
    assert sent.status_code == 200
    assert client.get(rule[:-5], headers=ann.headers).json()["days"] == 30
    client.put(rule, json=wish, headers=ann.headers).raise_for_status()
    tell(client, ann, application, turned(answers))
    look(store, tmp_path)
    assert compared(client, ann, application)["state"] == "stopped"
    assert promotions(client, ann, application)[-1]["kind"] == "better"
    refused = client.put(rule, json={"way": "after"}, headers=ann.headers)
    assert refused.status_code == 422
