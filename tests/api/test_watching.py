"""What production sees is looked at batch by batch, and what cannot be told is said so."""

from pathlib import Path

from fastapi.testclient import TestClient
from inline_worker import claim, work_off
from test_asking_tools import toys
from test_gated_applications import application  # noqa: F401 a fixture
from test_reports import APPLICATIONS

from easeml.contract.tasks import TaskResult
from easeml.service.models import alerts, watching
from easeml.service.tasks import results
from easeml.store import Store
from easeml.store.records import ProductionRow


def seen(store: Store, person, app_id: str, rows: int, first: int) -> list[str]:
    """Let an endpoint have been asked about rows, and have answered each rightly; the answers."""
    lines = toys(rows, first).splitlines()[1:]
    with store.write() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        live = tables.applications.get(app_id).live_model_id
        kept, kinds = [], []
        for number, line in enumerate(lines):
            size, kind = line.split(",")
            kinds.append(kind)
            kept.append(
                ProductionRow(
                    id=f"req_{first}.{number:06}",
                    tenant_id=person.caller.tenant_id,
                    application_id=app_id,
                    request_id=f"req_{first}",
                    row=number,
                    key="",
                    model_id=live,
                    inputs={"size": float(size)},
                    answer={"prediction": kind, "probabilities": None},
                )
            )
        tables.production_rows.add_all(kept)
    return kinds


def watch(client: TestClient, person, app_id: str) -> dict:
    return client.get(f"{APPLICATIONS}/{app_id}/watch", headers=person.headers).json()


def test_production_is_watched_without_labels_and_with_those_that_come(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    place = f"{APPLICATIONS}/{application}"
    nothing = watch(client, ann, application)
    assert nothing["status"] == "cannot tell"
    assert nothing["estimate"] is None
    assert client.post(f"{place}/watch", headers=ann.headers).status_code == 409

    kinds = seen(store, ann, application, 200, first=1000)
    told = []
    for number, kind in enumerate(kinds[:100]):
        wrong = "small" if kind == "big" else "big"
        value = wrong if number < 12 else kind
        told.append({"request_id": "req_1000", "row": number, "value": value})
    client.post(f"{place}/feedback", json=told, headers=ann.headers).raise_for_status()
    strange = [{"request_id": "req_1000", "row": 199, "value": "Large"}]  # no class
    client.post(f"{place}/feedback", json=strange, headers=ann.headers).raise_for_status()
    assert watch(client, ann, application)["waiting"] == 200
    client.post(f"{place}/watch", headers=ann.headers).raise_for_status()
    (task,) = work_off(store, tmp_path)
    assert task.error == ""
    found = watch(client, ann, application)
    assert found["status"] in ("ok", "inputs as before", "watch", "alert", "cannot tell")
    assert (found["rows"], found["waiting"]) == (200, 0)
    assert found["labelled"]["quality"] == 88 / 101
    assert found["labelled"]["low"] < 0.88 < found["labelled"]["high"]
    assert found["tests"]["covariate"]["alarm"] is False, found["tests"]
    assert list(found["drift"]) == ["size"]
    assert found["drift"]["size"]["alarm"] is False
    low, high = found["interval"]
    assert low <= found["estimate"] <= high
    shown = client.get(f"{place}/history", headers=ann.headers).json()
    assert shown["watch"] == found
    (look,) = shown["looks"]
    assert (look["status"], look["estimate"]) == (found["status"], found["estimate"])
    assert (look["rows"], look["interval"]) == (200, [low, high])


def test_a_look_that_failed_says_so_and_its_rows_wait(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    place = f"{APPLICATIONS}/{application}"
    seen(store, ann, application, 200, first=1000)
    client.post(f"{place}/watch", headers=ann.headers).raise_for_status()
    claimed = claim(store)
    assert claimed is not None
    _, attempt = claimed
    with store.write() as tx:
        failed = TaskResult(ok=False, error="The memory of this machine is used up.")
        results.accept(tx, attempt, failed, {})
    found = watch(client, ann, application)
    assert found["status"] == "cannot tell"
    assert "failed: The memory of this machine is used up." in found["reason"]
    assert found["waiting"] == 200  # none was tested

    client.post(f"{place}/watch", headers=ann.headers).raise_for_status()
    (task,) = work_off(store, tmp_path)
    assert task.error == ""
    found = watch(client, ann, application)
    assert "failed" not in found["reason"]
    assert (found["rows"], found["waiting"]) == (200, 0)


def test_rows_that_were_answered_with_a_gap_are_looked_at(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    place = f"{APPLICATIONS}/{application}"
    seen(store, ann, application, 200, first=1000)
    with store.write() as tx:
        tables = tx.scoped(ann.caller.tenant_id)
        tables.production_rows.update("req_1000.000007", inputs={"size": None})  # fill_empty=true
    client.post(f"{place}/watch", headers=ann.headers).raise_for_status()
    (task,) = work_off(store, tmp_path)
    assert task.error == ""
    found = watch(client, ann, application)
    assert (found["rows"], found["waiting"]) == (200, 0)


def test_a_bad_month_is_not_hidden_behind_the_rows_before_it(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
) -> None:
    place = f"{APPLICATIONS}/{application}"
    told = []
    for first, is_right in ((1000, True), (2000, False)):
        for number, kind in enumerate(seen(store, ann, application, 520, first=first)):
            wrong = "small" if kind == "big" else "big"
            value = kind if is_right else wrong
            told.append({"request_id": f"req_{first}", "row": number, "value": value})
    client.post(f"{place}/feedback", json=told, headers=ann.headers).raise_for_status()
    labelled = watch(client, ann, application)["labelled"]
    assert (labelled["rows"], labelled["quality"]) == (500, 0.0)


def test_truths_that_look_otherwise_name_the_same_class(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
) -> None:
    """pandas writes 1 as 1.0 where a column has gaps, and a program says true."""
    place = f"{APPLICATIONS}/{application}"
    tenant_id = ann.caller.tenant_id
    with store.write() as tx:
        tables = tx.scoped(tenant_id)
        live = tables.applications.get(application).live_model_id
        for row in range(3):
            kept = ProductionRow(
                f"req_1.{row:06}",
                tenant_id,
                application,
                "req_1",
                row,
                "",
                live,
                {},
                {"prediction": "1", "probabilities": None},
            )
            tables.production_rows.add(kept)
    told = [
        {"request_id": "req_1", "row": row, "value": value}
        for row, value in enumerate((1.0, "1", True))
    ]
    client.post(f"{place}/feedback", json=told, headers=ann.headers).raise_for_status()
    assert watch(client, ann, application)["labelled"]["quality"] == 1.0


def test_rows_are_looked_at_once_though_the_data_changes(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    place = f"{APPLICATIONS}/{application}"
    seen(store, ann, application, 200, first=1000)
    client.post(f"{place}/watch", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    asked = {"filename": "more.csv", "role": "train"}
    more = toys(40, first=5000)
    fed = client.post(f"{place}/feed", params=asked, content=more, headers=ann.headers)
    fed.raise_for_status()
    work_off(store, tmp_path)
    assert watch(client, ann, application)["waiting"] == 0
    assert client.post(f"{place}/watch", headers=ann.headers).status_code == 409
    seen(store, ann, application, 100, first=2000)
    assert watch(client, ann, application)["waiting"] == 100


def test_an_alert_is_told_once_and_so_is_its_end_by_looks_that_nobody_asked_for(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    place = f"{APPLICATIONS}/{application}"
    log = {"share": 1.0, "days": 30.0}
    client.put(f"{place}/requests", json=log, headers=ann.headers).raise_for_status()
    watching.look_daily(store)
    assert work_off(store, tmp_path) == []  # no rows came
    for first in (1000, 2000):
        truths = missed_rows(store, ann, application, first)
        client.post(f"{place}/feedback", json=truths, headers=ann.headers).raise_for_status()
        watching.look_daily(store)
        (task,) = work_off(store, tmp_path)
        assert task.error == ""
        assert watch(client, ann, application)["status"] == "alert"
        seen(store, ann, application, 120, first + 500)
        watching.look_daily(store)
        assert work_off(store, tmp_path) == []  # once a day
        a_day_goes_by(store)
    assert told_of_watching(client, ann) == ["watch.alert"]
    for verdict in ("cannot tell", "ok", "ok", "alert"):
        with store.write() as tx:
            alerts.note(tx, task, {"verdict": verdict, "advice": "Why."})
    assert told_of_watching(client, ann) == ["watch.alert", "watch.over", "watch.alert"]


def missed_rows(store: Store, person, app_id: str, first: int) -> list[dict]:
    """Let an endpoint have been asked about rows, and have missed each; their truths."""
    other = {"big": "small", "small": "big"}
    return [
        {"request_id": f"req_{first}", "row": row, "value": other[kind]}
        for row, kind in enumerate(seen(store, person, app_id, 200, first))
    ]


def a_day_goes_by(store: Store) -> None:
    with store.write() as tx:
        tasks = tx.unscoped().tasks
        for one in tasks.list(kind="advise", limit=None):
            tasks.update(one.id, created=one.created - 86_401.0)


def told_of_watching(client: TestClient, person) -> list[str]:
    told = client.get("/api/v1/notifications", headers=person.headers).json()["items"]
    return [one["kind"] for one in reversed(told) if one["kind"].startswith("watch.")]
