"""Truth that comes after a look at production reaches the next look, once, whatever happens between."""

from pathlib import Path

from fastapi.testclient import TestClient
from inline_worker import claim, work_off
from test_gated_applications import application  # noqa: F401 a fixture
from test_reports import APPLICATIONS
from test_watching import a_day_goes_by, missed_rows, seen, watch

from easeml.contract.tasks import TaskResult
from easeml.service.models import watching
from easeml.service.tasks import results
from easeml.store import Store
from easeml.store.records import Feedback, Task


def look(client: TestClient, store: Store, person, app_id: str, folder: Path) -> Task:
    """Ask for a look at production, and have it done."""
    place = f"{APPLICATIONS}/{app_id}/watch"
    client.post(place, headers=person.headers).raise_for_status()
    (task,) = work_off(store, folder)
    assert task.error == ""
    return task


def tell(client: TestClient, person, app_id: str, truths: list[dict]) -> None:
    place = f"{APPLICATIONS}/{app_id}/feedback"
    client.post(place, json=truths, headers=person.headers).raise_for_status()


def next_actions(client: TestClient, person, app_id: str) -> list[dict]:
    place = f"{APPLICATIONS}/{app_id}/next"
    return client.get(place, headers=person.headers).json()["actions"]


def moved_away(store: Store, person, rows: list[dict]) -> None:
    """Let rows of production have inputs that no model has learned from."""
    with store.write() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        for one in rows:
            id = f"{one['request_id']}.{one['row']:06}"
            size = float(tables.production_rows.get(id).inputs["size"])
            tables.production_rows.update(id, inputs={"size": size + 1000.0})


def number(found: dict, name: str) -> float:
    return next(one["value"] for one in found["numbers"] if one["name"] == name)


def newest_answer(client: TestClient, person, app_id: str) -> dict:
    place = f"{APPLICATIONS}/{app_id}/reports"
    found = client.get(place, headers=person.headers).json()["items"]
    return next(one for one in found if one["tool"] == "monitor")


def test_truth_that_comes_after_a_look_names_concept_drift(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = missed_rows(store, ann, application, first=1000)
    look(client, store, ann, application, tmp_path)
    before = watch(client, ann, application)
    assert before["tests"]["concept"]["p_value"] is None
    assert (before["waiting"], before["late"]) == (0, 0)

    tell(client, ann, application, truths)
    assert watch(client, ann, application)["late"] == 200
    look(client, store, ann, application, tmp_path)
    found = watch(client, ann, application)
    assert found["status"] == "alert"
    assert "concept drift" in found["reason"]
    assert found["tests"]["concept"]["alarm"] is True
    assert (found["waiting"], found["late"]) == (0, 0)
    # what the look at the rows said of their inputs stands, and they are not tested again
    assert found["drift"] == before["drift"]
    assert found["tests"]["covariate"] == before["tests"]["covariate"]
    assert found["rows"] == 200
    answer = newest_answer(client, ann, application)
    assert (number(answer, "batch"), number(answer, "late"), number(answer, "rows")) == (1, 200, 0)
    place = f"{APPLICATIONS}/{application}/watch"
    refused = client.post(place, headers=ann.headers)
    assert refused.status_code == 409
    assert "no truth of earlier ones" in refused.text


def test_a_look_at_new_rows_learns_from_truths_of_several_looks_before(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    first = missed_rows(store, ann, application, first=1000)
    look(client, store, ann, application, tmp_path)
    second = missed_rows(store, ann, application, first=2000)
    tell(client, ann, application, second[:50])  # before these rows are looked at
    look(client, store, ann, application, tmp_path)
    seen(store, ann, application, 120, first=3000)
    tell(client, ann, application, [*first[:100], *second[50:]])
    task = look(client, store, ann, application, tmp_path)
    assert task.payload["late_looks"] == {"1": 100, "2": 150}
    answer = newest_answer(client, ann, application)
    assert (number(answer, "batch"), number(answer, "late")) == (3, 250)
    found = watch(client, ann, application)
    assert found["tests"]["concept"]["alarm"] is True
    assert (found["rows"], found["waiting"], found["late"]) == (120, 0, 0)


def test_a_look_that_failed_loses_no_truth_and_a_changed_truth_counts_once(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = missed_rows(store, ann, application, first=1000)
    look(client, store, ann, application, tmp_path)
    tell(client, ann, application, truths)
    client.post(f"{APPLICATIONS}/{application}/watch", headers=ann.headers).raise_for_status()
    claimed = claim(store)
    assert claimed is not None
    with store.write() as tx:
        failed = TaskResult(ok=False, error="The memory of this machine is used up.")
        results.accept(tx, claimed[1], failed, {})
    assert watch(client, ann, application)["late"] == 200

    look(client, store, ann, application, tmp_path)
    assert watch(client, ann, application)["tests"]["concept"]["alarm"] is True
    other = {"big": "small", "small": "big"}
    changed = [{**one, "value": other[one["value"]]} for one in truths[:30]]
    tell(client, ann, application, changed)
    assert watch(client, ann, application)["late"] == 0
    seen(store, ann, application, 100, first=2000)
    look(client, store, ann, application, tmp_path)
    found = watch(client, ann, application)
    (note,) = [one for one in found["notes"] if "changed" in one]
    assert "after they were counted: 30." in note
    assert found["labelled"]["quality"] == 30 / 200  # which has the newest word


def test_truths_of_half_of_the_rows_are_no_proof_of_how_right_all_are(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = missed_rows(store, ann, application, first=1000)
    look(client, store, ann, application, tmp_path)
    tell(client, ann, application, truths[:16])  # mistakes alone are reported
    look(client, store, ann, application, tmp_path)
    found = watch(client, ann, application)
    assert found["status"] == "cannot tell"
    assert (
        "truth came for 8% of the newest rows with any, and the others may be right"
        in found["reason"]
    )
    assert found["tests"]["concept"]["alarm"] is False


def test_rows_that_were_forgotten_or_chosen_teach_nothing(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = missed_rows(store, ann, application, first=1000)
    look(client, store, ann, application, tmp_path)
    tenant_id = ann.caller.tenant_id
    with store.write() as tx:
        tables = tx.scoped(tenant_id)
        old = [f"req_1000.{row:06}" for row in range(50)]
        tables.production_rows.forget(tx.now() + 1, id=old)
        word = Feedback("told_1", tenant_id, application, "req_1000", 60, "", {"value": "big"})
        chosen = Feedback(
            "told_0", tenant_id, application, "req_1000", 61, "", {"value": "big"}, chosen=True
        )
        tables.feedback.add_all([word, chosen])
    tell(client, ann, application, truths[:50])
    assert watch(client, ann, application)["late"] == 1
    task = look(client, store, ann, application, tmp_path)
    assert task.payload["late_looks"] == {"1": 1}


def test_truths_that_came_late_are_looked_at_without_waiting_for_rows(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    log = {"share": 1.0, "days": 30.0}
    place = f"{APPLICATIONS}/{application}/requests"
    client.put(place, json=log, headers=ann.headers).raise_for_status()
    truths = missed_rows(store, ann, application, first=1000)
    watching.look_daily(store)
    work_off(store, tmp_path)
    a_day_goes_by(store)
    seen(store, ann, application, 20, first=2000)
    tell(client, ann, application, truths[:99])
    watching.look_daily(store)
    assert work_off(store, tmp_path) == []  # neither is enough
    tell(client, ann, application, truths[99:])
    watching.look_daily(store)
    (task,) = work_off(store, tmp_path)
    assert task.error == ""
    found = watch(client, ann, application)
    assert found["tests"]["concept"]["alarm"] is True
    assert (found["waiting"], found["late"]) == (20, 0)  # few rows wait for more


def test_what_moved_is_still_said_after_a_look_at_late_truths_alone(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = missed_rows(store, ann, application, first=1000)
    moved_away(store, ann, truths)
    look(client, store, ann, application, tmp_path)
    assert "adapt" in [one["kind"] for one in next_actions(client, ann, application)]
    tell(client, ann, application, truths[:10])
    look(client, store, ann, application, tmp_path)
    (adapt,) = [one for one in next_actions(client, ann, application) if one["kind"] == "adapt"]
    assert "The inputs moved in size." in adapt["reason"]


def test_few_rows_that_moved_are_not_to_be_adapted_to(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    kinds = seen(store, ann, application, 60, 1000)
    rows = [{"request_id": "req_1000", "row": row} for row in range(len(kinds))]
    moved_away(store, ann, rows)
    look(client, store, ann, application, tmp_path)
    assert watch(client, ann, application)["drift"]["size"]["alarm"] is True
    assert "adapt" not in [one["kind"] for one in next_actions(client, ann, application)]


def test_what_another_tool_was_asked_of_production_is_no_look(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    client.put(
        f"{APPLICATIONS}/{application}/requests", json={"share": 1.0}, headers=ann.headers
    ).raise_for_status()
    truths = missed_rows(store, ann, application, first=1000)
    tell(client, ann, application, truths)
    asked = {"tool": "debug", "parameters": {}}
    place = f"{APPLICATIONS}/{application}/reports"
    client.post(place, json=asked, headers=ann.headers).raise_for_status()
    (task,) = work_off(store, tmp_path)
    assert task.payload["newer_artefact"]
    assert watch(client, ann, application)["waiting"] == 200
