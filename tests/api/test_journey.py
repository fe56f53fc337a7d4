"""The goal of an application, and what to do next, over REST and on its page."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from furnish import furnish
from inline_worker import claim, work_off
from test_asking_tools import toys, upload
from test_reports import APPLICATIONS

from easeml.contract.states import JobState
from easeml.store import Store
from easeml.store.shapes import VersionSummary
from easeml.web import create_pages, session


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application with 80 rows whose data is ready."""
    dataset = upload(client, store, ann, tmp_path, toys(80))
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers)
    assert declared.status_code == 201, declared.text
    work_off(store, tmp_path)
    return declared.json()["id"]


def set_goal(client: TestClient, person, application: str, text: str):
    place = f"{APPLICATIONS}/{application}/goal"
    return client.post(place, json={"goal": text}, headers=person.headers)


def asked(client: TestClient, person, application: str) -> dict:
    answer = client.get(f"{APPLICATIONS}/{application}/next", headers=person.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def kinds(journey: dict) -> list[str]:
    return [action["kind"] for action in journey["actions"]]


def test_a_goal_is_set_changed_and_taken_back(client: TestClient, ann, application: str) -> None:
    assert kinds(asked(client, ann, application))[0] == "set-goal"
    told = set_goal(client, ann, application, "balanced-accuracy >= 0.9")
    assert told.status_code == 200, told.text
    goal = told.json()
    assert (goal["objective"], goal["value"]) == ("balanced-accuracy", 0.9)
    assert goal["set_by"] == ann.caller.user_id
    assert asked(client, ann, application)["goal"] == goal

    assert set_goal(client, ann, application, "0.8").json()["objective"] == "accuracy"
    assert set_goal(client, ann, application, "").json()["text"] == ""
    assert kinds(asked(client, ann, application))[0] == "set-goal"


@pytest.mark.parametrize(
    ("text", "says"),
    [("good", "is not a goal"), ("rmse below 5", "does not fit"), ("90", "beyond the best")],
)
def test_what_is_no_goal_here_is_refused(
    client: TestClient, ann, application: str, text: str, says: str
) -> None:
    refused = set_goal(client, ann, application, text)
    assert refused.status_code == 422
    assert says in refused.text


def test_a_goal_asks_feasibility_by_itself(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    set_goal(client, ann, application, "accuracy >= 0.85").raise_for_status()
    stations = {one["name"]: one for one in asked(client, ann, application)["stations"]}
    assert stations["Feasible?"]["said"] == "easeml is finding out."
    set_goal(client, ann, application, "accuracy >= 0.85").raise_for_status()
    (task,) = work_off(store, tmp_path)  # the same goal asks once
    assert task.payload["parameters"] == {"goal": 0.85}

    found = asked(client, ann, application)
    reachable = found["questions"][0]
    assert reachable["known"]
    assert "accuracy" in reachable["answer"]
    assert "To test: " in found["questions"][1]["answer"]
    assert kinds(found)[0] == "search"
    assert len(found["actions"]) <= 3
    named = {"kind", "reason", "gain", "interval", "human_minutes", "device_seconds"}
    for action in found["actions"]:
        assert named <= set(action)


def test_a_tool_that_failed_is_said_to_have_and_not_advised_again(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    """What is wrong with its answer would come again; who wants to may ask all the same."""
    set_goal(client, ann, application, "accuracy >= 0.85").raise_for_status()
    claimed = claim(store)
    assert claimed is not None
    with store.write() as tx:
        tx.queue.fail(claimed[1], error="Its memory is used up.", retry=False, cost=0.0)

    found = asked(client, ann, application)
    station = next(one for one in found["stations"] if one["name"] == "Feasible?")
    assert station["state"] == "trouble"
    assert station["said"] == "This was tried and failed: Its memory is used up."
    assert found["questions"][0]["answer"] == station["said"]
    assert "ask-feasibility" not in kinds(found)

    ask = {"tool": "feasibility", "parameters": {"goal": 0.85}}
    place = f"{APPLICATIONS}/{application}/reports"
    client.post(place, json=ask, headers=ann.headers).raise_for_status()
    station = asked(client, ann, application)["stations"][2]
    assert station["said"] == "easeml is finding out."
    work_off(store, tmp_path)
    assert asked(client, ann, application)["questions"][0]["known"]


def test_next_reads_no_rows_however_many_there_are(client: TestClient, store: Store, ann) -> None:
    """The version's rows cannot be opened: it reads what was kept of them."""
    made = furnish(store, ann.caller.tenant_id)
    with store.write() as tx:
        versions = tx.scoped(ann.caller.tenant_id).versions
        summary = versions.get(made.version_id).summary.to_json()
        counts = {"rows": 100_000, "train": 60_000, "validation": 20_000, "test": 20_000}
        versions.update(made.version_id, summary=VersionSummary({**summary, **counts}), artefact="")
    found = asked(client, ann, made.application_id)
    assert "60,000 train" in found["stations"][1]["said"]


def test_a_suggestion_is_recorded_once_and_scored_by_what_came(
    client: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    place = f"{APPLICATIONS}/{made.application_id}/suggestions"
    expected = {"expected_improvement": 0.02, "expected_improvement_error": 0.01}
    with store.write() as tx:
        jobs = tx.scoped(ann.caller.tenant_id).jobs
        jobs.update(made.job_id, state=JobState.RUNNING, best_quality=0.8, **expected)
    for _ in range(2):
        assert "search" in kinds(asked(client, ann, made.application_id))
    (told,) = [one for one in newest(client, ann, place) if one["kind"] == "search"]
    assert (told["gain"], told["came"]) == (0.02, None)

    with store.write() as tx:
        jobs = tx.scoped(ann.caller.tenant_id).jobs
        jobs.update(made.job_id, state=JobState.RESTING, best_quality=0.83)
    (scored,) = [one for one in newest(client, ann, place) if one["kind"] == "search"]
    assert scored["came"] == pytest.approx(0.03)
    assert scored["within"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{made.application_id}/next").text
    assert "+0.0300" in page

    # The next one of this tenant is corrected by it, and recorded as it was reckoned.
    other = furnish(store, ann.caller.tenant_id)
    with store.write() as tx:
        jobs = tx.scoped(ann.caller.tenant_id).jobs
        jobs.update(other.job_id, state=JobState.RUNNING, best_quality=0.8, **expected)
    found = asked(client, ann, other.application_id)["actions"]
    (action,) = [one for one in found if one["kind"] == "search"]
    assert action["reckoned"][0] == 0.02
    assert action["gain"] == pytest.approx(0.02 * (1.5 + 4) / 5)
    assert "After 1 such step, easeml expects 110% of the estimated gain" in action["evidence"][-1]
    place = f"{APPLICATIONS}/{other.application_id}/suggestions"
    (told,) = [one for one in newest(client, ann, place) if one["kind"] == "search"]
    assert told["gain"] == 0.02


def newest(client: TestClient, person, place: str) -> list[dict]:
    return client.get(place, headers=person.headers).json()["items"]


def test_the_page_leads_and_takes_a_goal(client: TestClient, store: Store, ann) -> None:
    made = furnish(store, ann.caller.tenant_id)
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    overview = browser.get(f"/applications/{made.application_id}").text
    assert 'aria-label="Journey"' in overview
    assert "Next: Set a goal." in overview
    page = f"/applications/{made.application_id}/next"
    shown = browser.get(page).text
    for question in ("Can my goal be reached?", "Is last month&#39;s model still right?"):
        assert question in shown
    token = {"csrf": session.csrf_token(ann.key)}
    wrong = browser.post(page, data={**token, "goal": "very good"})
    assert wrong.status_code == 422
    assert 'value="very good"' in wrong.text
    assert "is not a goal" in wrong.text
    kept = browser.post(page, data={**token, "goal": "accuracy >= 0.9"})
    assert kept.url.path == page
    assert "The goal is met on validation rows" not in kept.text
    assert 'value="accuracy &gt;= 0.9"' in kept.text


def test_a_column_that_tells_by_being_there_lacks_nothing(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    """A remark that nine of ten rows do not have is no gap to fill in."""
    lines = toys(80).splitlines()
    marked = [line + (",ok" if place % 8 == 0 else ",") for place, line in enumerate(lines[1:])]
    table = "\n".join([lines[0] + ",remark", *marked])
    dataset = upload(client, store, ann, tmp_path, table)
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    made = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    journey = asked(client, ann, made)
    assert "Cells are missing" not in str(journey)
    with store.read() as tx:
        version = tx.unscoped().versions.get(tx.unscoped().applications.get(made).version_id)
    assert version.columns_by_name["remark"]["missing"] > 0.8
