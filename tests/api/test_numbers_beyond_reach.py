"""Numbers that overflow when they are squared: in an answer of a person, and in a report."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import work_off
from test_asking_tools import upload
from test_journey import asked as next_steps
from test_reports import APPLICATIONS, ask
from test_work import give, take

from easeml.service.storage import artefact_references
from easeml.store import Store

ROWS = 100


def prices() -> str:
    """Return a table of sizes with their prices, none in the last thirty rows."""
    lines = ["size,price"]
    for row in range(ROWS):
        size = (37 * row) % 1000 / 10
        price = f"{3 * size + row % 7:.1f}" if row < ROWS - 30 else ""
        lines.append(f"{size},{price}")
    return "\n".join([*lines, ""])


def declared(client: TestClient, store: Store, person, folder: Path, content: str) -> str:
    """Return an application that predicts prices, with items found."""
    dataset = upload(client, store, person, folder, content)
    wish = {"dataset_id": dataset["id"], "target": "price"}
    made = client.post(APPLICATIONS, json=wish, headers=person.headers)
    assert made.status_code == 201, made.text
    prepared = work_off(store, folder)
    take(client, person, made.json()["id"])
    found = work_off(store, folder)
    assert [task.error for task in (*prepared, *found)] == ["", ""]
    return made.json()["id"]


@pytest.mark.parametrize("value", ["1e300", "-1e39", "9" * 40])
def test_an_answer_that_cannot_be_reckoned_with_is_refused(
    client: TestClient, store: Store, ann, tmp_path: Path, value: str
) -> None:
    application = declared(client, store, ann, tmp_path, prices())
    item = take(client, ann, application)["item"]
    refused = give(client, ann, item, value=value)
    assert refused.status_code == 422
    assert "too large" in refused.text
    assert take(client, ann, application)["item"]["id"] == item["id"]


def test_the_queue_goes_on_after_a_very_large_answer(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    application = declared(client, store, ann, tmp_path, prices())
    item = take(client, ann, application)["item"]
    assert give(client, ann, item, value="3e38").status_code == 200
    turn = take(client, ann, application)
    assert turn["item"]["id"] != item["id"]
    assert turn["promise"] >= 0.0  # a number, not null
    assert give(client, ann, item, way="undo").status_code == 200


def test_a_number_of_a_report_that_overflowed_is_left_out_and_pages_open(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    application = declared(client, store, ann, tmp_path, prices())
    assert ask(client, ann, application, goal=0.9).status_code == 201
    (task,) = work_off(store, tmp_path)
    assert task.error == ""
    lost = overflow(store, ann, application)
    shown = client.get(f"{APPLICATIONS}/{application}/reports", headers=ann.headers)
    assert shown.status_code == 200, shown.text
    names = [one["name"] for one in shown.json()["items"][0]["numbers"]]
    assert names
    assert lost not in names
    assert client.get(f"{APPLICATIONS}/{application}", headers=ann.headers).status_code == 200
    assert next_steps(client, ann, application)["actions"]


def overflow(store: Store, person, application: str) -> str:
    """Let a number of the newest answer of feasibility be one that overflowed; return its name."""
    with store.write() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        report = tables.reports.newest(kind="feasibility", subject=application)
        assert report is not None
        path = store.artefacts.path(report.tenant_id, report.value["artefact"])
        answer = json.loads(path.read_text("utf-8"))
        lost = answer["numbers"][3]
        lost["value"] = None
        content = json.dumps(answer).encode()
        digest, size = store.artefacts.put_stream(report.tenant_id, [content], len(content))
        artefact_references.keep(tx, report.tenant_id, digest, size)
        tables.reports.update(report.id, value={**report.value, "artefact": digest})
    return lost["name"]
