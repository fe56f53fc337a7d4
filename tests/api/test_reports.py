"""A lifecycle tool is asked about a live application: REST, a task, a report."""

from pathlib import Path

from fastapi.testclient import TestClient
from inline_worker import work_off
from test_versions import table

from easeml.store import Store

APPLICATIONS = "/api/v1/applications"


def prepared(client: TestClient, store: Store, person, folder: Path) -> str:
    """Return the id of an application whose data is ready."""
    client.post(
        "/api/v1/datasets",
        params={"filename": "toys.csv"},
        content=table(range(80)),
        headers=person.headers,
    ).raise_for_status()
    work_off(store, folder)
    dataset = client.get("/api/v1/datasets", headers=person.headers).json()["items"][0]
    declared = client.post(
        APPLICATIONS, json={"dataset_id": dataset["id"], "target": "kind"}, headers=person.headers
    )
    assert declared.status_code == 201, declared.text
    work_off(store, folder)
    return declared.json()["id"]


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
    assert report["figure"]["x"]["title"]
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
