"""What monitoring systems ask: is it alive, is it ready, and the service in numbers."""

from pathlib import Path

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from easeml.contract.states import ProcessKind
from easeml.service.administration.readiness import SCHEDULER_LEASE
from easeml.settings import Settings
from easeml.store import Process, Store


def sample(text: str, name: str, **labels: str) -> float | None:
    """Return the value of one metric, as Prometheus reads it."""
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            if one.name == name and labels.items() <= one.labels.items():
                return one.value
    return None


def bring_up(store: Store, *kinds: ProcessKind) -> None:
    with store.write() as tx:
        for kind in kinds:
            tx.processes.add(Process(f"proc_{kind}", kind, 1, "here", heartbeat=tx.now()))
        if ProcessKind.SCHEDULER in kinds:
            tx.leases.acquire(SCHEDULER_LEASE, "me", 60.0)


def test_it_is_alive_without_a_key(client: TestClient):
    assert client.get("/livez").json()["status"] == "ok"


def test_it_is_ready_when_all_parts_are_there(client: TestClient, store: Store):
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["worker"] == "No worker gave a sign of life."
    bring_up(store, ProcessKind.SCHEDULER, ProcessKind.WORKER, ProcessKind.PREDICTOR)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"]


def test_a_silent_scheduler_is_not_ready(client: TestClient, store: Store):
    bring_up(store, ProcessKind.SCHEDULER, ProcessKind.WORKER, ProcessKind.PREDICTOR)
    with store.write() as tx:
        tx.leases.release(SCHEDULER_LEASE, "me")
    assert client.get("/readyz").json()["checks"]["scheduler"] == "No scheduler leads."
    with store.write() as tx:
        tx.processes.update("proc_scheduler", heartbeat=tx.now() - 3600)
    assert "No scheduler" in client.get("/readyz").json()["checks"]["scheduler"]


def test_a_storage_that_fails_is_not_ready(client: TestClient, settings: Settings, tmp_path: Path):
    settings.artefacts.rename(tmp_path / "gone")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "folder of data and models" in answer.json()["checks"]["storage"]


def test_metrics_are_for_providers(client: TestClient, ann, provider):
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers=ann.headers).status_code == 403
    answer = client.get("/metrics", headers=provider.headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")


def test_metrics_count_what_is_there_and_how_requests_were_answered(
    client: TestClient, store: Store, ann, provider
):
    bring_up(store, ProcessKind.WORKER)
    for _ in range(3):
        client.get("/api/v1/applications/nothing", headers=ann.headers)
    client.get("/no/such/path", headers=ann.headers)
    text = client.get("/metrics", headers=provider.headers).text
    assert sample(text, "easeml_processes", kind="worker") == 1
    assert sample(text, "easeml_tenants") == 3
    assert sample(text, "easeml_decisions_total") == 0
    count = "easeml_http_request_duration_seconds_count"
    route = "/applications/{application_id}"
    assert sample(text, count, route=route, method="GET", status="404") == 3
    assert sample(text, count, route="none", status="404") == 1


def test_paths_that_strangers_choose_make_no_new_series(client: TestClient, ann, provider):
    for number in range(20):
        client.get(f"/api/v1/made-up/{number}", headers=ann.headers)
    text = client.get("/metrics", headers=provider.headers).text
    assert "made-up" not in text
