"""A lifecycle tool is asked about a live application: REST, a task, a report."""

from pathlib import Path

from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_versions import table

from easeml.contract.states import JobState
from easeml.service.models import promotion
from easeml.service.views import model_files
from easeml.store import Store

APPLICATIONS = "/api/v1/applications"


def uploaded(client: TestClient, store: Store, person, folder: Path) -> dict:
    """Return a dataset that is read."""
    client.post(
        "/api/v1/datasets",
        params={"filename": "toys.csv"},
        content=table(range(80)),
        headers=person.headers,
    ).raise_for_status()
    work_off(store, folder)
    return client.get("/api/v1/datasets", headers=person.headers).json()["items"][0]


def declare(client: TestClient, person, dataset: dict, **wishes) -> str:
    """Return the id of an application of that dataset."""
    wish = {"dataset_id": dataset["id"], "target": "kind", **wishes}
    declared = client.post(APPLICATIONS, json=wish, headers=person.headers)
    assert declared.status_code == 201, declared.text
    return declared.json()["id"]


def prepared(client: TestClient, store: Store, person, folder: Path) -> str:
    """Return the id of an application whose data is ready."""
    application = declare(client, person, uploaded(client, store, person, folder))
    work_off(store, folder)
    return application


def ask_before_start(client: TestClient, person, dataset: dict, **wishes):
    """Ask whether 90 % can be reached with an upload, declared with ``wishes``."""
    declaration = {"dataset_id": dataset["id"], "target": "kind", **wishes}
    wish = {"tool": "feasibility", "parameters": {"goal": 0.9}, "declaration": declaration}
    return client.post(reports_of(dataset), json=wish, headers=person.headers)


def reports_of(dataset: dict) -> str:
    return f"/api/v1/versions/{dataset['version']['id']}/reports"


def ask(client: TestClient, person, application: str, tool: str = "feasibility", **parameters):
    wish = {"tool": tool, "parameters": parameters}
    place = f"{APPLICATIONS}/{application}/reports"
    return client.post(place, json=wish, headers=person.headers)


def test_feasibility_is_asked_and_its_answer_kept(
    client: TestClient, store: Store, ann, bob, tmp_path: Path
) -> None:
    application = prepared(client, store, ann, tmp_path)
    place = f"{APPLICATIONS}/{application}/reports"
    asked = ask(client, ann, application, goal=0.9)
    assert asked.status_code == 201, asked.text
    (task,) = work_off(store, tmp_path)
    assert (task.id, task.state, task.error) == (asked.json()["id"], "done", "")
    (report,) = client.get(place, headers=ann.headers).json()["items"]
    assert (report["tool"], report["parameters"]) == ("feasibility", {"goal": 0.9})
    assert report["verdict"] in ("realistic", "unrealistic", "cannot tell")
    best = report["numbers"][0]
    assert best["low"] <= best["value"] <= best["high"]
    assert best["value"] > 0.9  # the kind follows from the size
    assert report["advice"]
    assert report["assumes"]
    assert report["figures"][0]["x"]["title"]
    assert client.get(place, headers=bob.headers).status_code == 404


def test_what_no_tool_is_told_is_refused(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    application = prepared(client, store, ann, tmp_path)
    unknown = ask(client, ann, application, "oracle")
    assert unknown.status_code == 422
    assert "feasibility" in unknown.text
    misspelt = ask(client, ann, application, gaol=0.9)
    assert misspelt.status_code == 422
    assert "gaol" in misspelt.text
    too_much = ask(client, ann, application, goal=1.5)
    assert too_much.status_code == 422
    assert "parameters.goal" in too_much.text


def test_an_answer_before_start_moves_to_the_application(
    client: TestClient, store: Store, ann, bob, tmp_path: Path
) -> None:
    dataset = uploaded(client, store, ann, tmp_path)
    asked = ask_before_start(client, ann, dataset)
    assert asked.status_code == 201, asked.text
    (task,) = work_off(store, tmp_path)
    assert (task.id, task.state, task.error) == (asked.json()["id"], "done", "")
    (report,) = client.get(reports_of(dataset), headers=ann.headers).json()["items"]
    assert (report["task_id"], report["application_id"]) == (task.id, "")
    assert report["verdict"] in ("realistic", "unrealistic", "cannot tell")
    assert client.get(reports_of(dataset), headers=bob.headers).status_code == 404

    otherwise = declare(client, ann, dataset, drop=["size"])
    assert reports(client, ann, otherwise) == []  # it was not asked about these columns
    application = declare(client, ann, dataset)
    (moved,) = reports(client, ann, application)
    assert (moved["id"], moved["application_id"]) == (report["id"], application)
    assert client.get(reports_of(dataset), headers=ann.headers).json()["items"] == []


def test_an_answer_after_start_finds_the_application(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    dataset = uploaded(client, store, ann, tmp_path)
    asked = ask_before_start(client, ann, dataset).json()["id"]
    application = declare(client, ann, dataset)
    work_off(store, tmp_path)
    (report,) = reports(client, ann, application)
    assert report["task_id"] == asked


def test_a_tool_that_mixes_rows_says_so_where_the_latest_test(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    dataset = uploaded(client, store, ann, tmp_path)
    for split in ("random", "time:size"):
        ask_before_start(client, ann, dataset, split=split).raise_for_status()
        work_off(store, tmp_path)
    by_time, at_random = client.get(reports_of(dataset), headers=ann.headers).json()["items"]
    said = "but test rows are the latest by 'size': models may reach less there."
    assert any(said in note for note in by_time["notes"])
    assert not any("test rows are" in note for note in at_random["notes"])


def test_test_rows_are_not_shown_to_a_tool_before_start(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    dataset = uploaded(client, store, ann, tmp_path)
    ask_before_start(client, ann, dataset)
    work_off(store, tmp_path)
    (report,) = client.get(reports_of(dataset), headers=ann.headers).json()["items"]
    application = declare(client, ann, dataset)
    work_off(store, tmp_path)
    version = client.get(f"{APPLICATIONS}/{application}", headers=ann.headers).json()["version_id"]
    summary = client.get(f"/api/v1/versions/{version}", headers=ann.headers).json()["summary"]
    assert summary["test"] > 0
    ask(client, ann, application, goal=0.9).raise_for_status()
    work_off(store, tmp_path)
    after = reports(client, ann, application)[0]
    assert after["id"] != report["id"]
    assert after["numbers"] == report["numbers"]  # of the same rows


def reports(client: TestClient, person, application: str) -> list[dict]:
    place = f"{APPLICATIONS}/{application}/reports"
    return client.get(place, headers=person.headers).json()["items"]


def end_search(store: Store, job_id: str) -> None:
    """Let a search rest, and what serves be looked at, as the scheduler does."""
    with store.write() as tx:
        job = tx.unscoped().jobs.update(job_id, state=JobState.RESTING)
        promotion.look_at_the_end(tx, job)


def test_a_model_that_goes_live_is_asked_what_it_looks_at(
    client: TestClient, store: Store, ann, bob, tmp_path: Path
) -> None:
    application = prepared(client, store, ann, tmp_path)
    too_early = ask(client, ann, application, "importance")
    assert too_early.status_code == 409
    assert "none does yet" in too_early.text
    place = f"{APPLICATIONS}/{application}"
    job = client.get(place, headers=ann.headers).json()["job"]["id"]
    trained = train(store, tmp_path, job)
    end_search(store, job)
    work_off(store, tmp_path)

    (report,) = reports(client, ann, application)
    live = client.get(place, headers=ann.headers).json()["live_model"]["id"]
    assert (report["tool"], report["model_id"]) == ("importance", live)
    assert report["tables"][0]["rows"][0][0] == "size"
    of_task = f"/api/v1/tasks/{trained.id}/reports"
    assert client.get(of_task, headers=ann.headers).json()["items"] == [report]
    assert client.get(of_task, headers=bob.headers).status_code == 404

    (dominates,) = report["notes"]
    assert dominates.startswith("Nearly all that the model knows comes from 'size': shuffled, ")
    assert dominates in client.get(place, headers=ann.headers).json()["notes"]
    with store.read() as tx:
        facts = model_files.facts_of(tx, ann.caller, live)
    assert dominates in facts["notes"]  # of the model card

    asked = ask(client, ann, application, "importance", rounds=2)
    assert asked.status_code == 201, asked.text
    work_off(store, tmp_path)
    notes = client.get(place, headers=ann.headers).json()["notes"]
    assert sum(note.startswith("Nearly all") for note in notes) == 1
    newest = reports(client, ann, application)[0]
    assert newest["parameters"] == {"rounds": 2}
    assert (newest["task_id"], newest["model_id"]) == (asked.json()["id"], live)


def test_what_is_no_answer_of_a_tool_has_no_remedies(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    application = prepared(client, store, ann, tmp_path)
    place = f"{APPLICATIONS}/{application}"
    job = client.get(place, headers=ann.headers).json()["job"]["id"]
    train(store, tmp_path, job)
    end_search(store, job)
    work_off(store, tmp_path)
    with store.read() as tx:
        known = tx.scoped(ann.caller.tenant_id).reports.list(subject=application, limit=None)
    kinds = {report.kind: report.id for report in known}
    assert {"test-quality", "importance"} <= kinds.keys()
    for id in kinds.values():
        for number in (0, 1):
            refused = client.post(f"{place}/reports/{id}/remedies/{number}", headers=ann.headers)
            assert (refused.status_code, refused.json()["where"]) == (422, "number")


def test_two_clicks_ask_once(client: TestClient, store: Store, ann, tmp_path: Path) -> None:
    application = prepared(client, store, ann, tmp_path)
    first = ask(client, ann, application, goal=0.9).json()["id"]
    assert ask(client, ann, application, goal=0.9).json()["id"] == first
    other = ask(client, ann, application, goal=0.8).json()["id"]
    assert other != first
    work_off(store, tmp_path)
    assert ask(client, ann, application, goal=0.9).json()["id"] not in (first, other)

    dataset = uploaded(client, store, ann, tmp_path)
    before = ask_before_start(client, ann, dataset).json()["id"]
    assert ask_before_start(client, ann, dataset).json()["id"] == before
    assert ask_before_start(client, ann, dataset, drop=["size"]).json()["id"] != before
