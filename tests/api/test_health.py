"""``/healthz`` says in words what is wrong with the storage, and hides where it lies."""

import shutil
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from easeml.contract.states import ProcessKind
from easeml.engine.membership import register
from easeml.service.administration.health import LEAST_FREE, HealthCheck
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.faults import database_is_away


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(home=tmp_path)


@pytest.fixture
def store(settings: Settings):
    opened = Store.open(settings.database, settings.artefacts)
    yield opened
    opened.close()


def test_a_service_that_is_well_says_so(client: TestClient):
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "problems": []}


def test_a_missing_folder_fails_with_words_and_without_paths(client: TestClient, app):
    artefacts = app.state.context.settings.artefacts
    shutil.rmtree(artefacts)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    (problem,) = answer.json()["problems"]
    assert "folder of data and models cannot be written" in problem
    assert str(artefacts) not in answer.text


def test_a_nearly_full_disk_is_told_before_it_is_full(store, settings, monkeypatch):
    free = SimpleNamespace(free=LEAST_FREE - 1)
    monkeypatch.setattr("shutil.disk_usage", lambda _: free)
    (problem,) = HealthCheck(store, settings).ask().problems
    assert problem.startswith("The disk is nearly full: 64 MiB are free.")


def test_a_problem_that_is_over_is_forgotten(store, settings):
    clock = Clock()
    check = HealthCheck(store, settings, clock)
    incoming = settings.artefacts / ".incoming"
    incoming.rmdir()
    assert check.ask().status == "failing"
    incoming.mkdir()
    clock.now += 6
    assert check.ask().status == "ok"


def test_a_database_that_is_away_is_told_with_when_to_try_again(client: TestClient, monkeypatch):
    def away(_: Store) -> None:
        raise database_is_away()

    monkeypatch.setattr(Store, "read", away)
    headers = {"Authorization": "Bearer eml_any"}
    answer = client.get("/api/v1/applications", headers=headers)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json()["detail"] == "The database does not answer."
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert "does not answer" in ready.json()["checks"]["storage"]
    assert client.get("/livez").status_code == 200


def test_a_predictor_of_another_machine_makes_this_one_not_ready(client: TestClient, app):
    store = app.state.context.store
    for kind in (ProcessKind.SCHEDULER, ProcessKind.WORKER, ProcessKind.PREDICTOR):
        there = register(store, kind)
        with store.write() as tx:
            tx.processes.update(there.id, host="elsewhere")
    checks = client.get("/readyz").json()["checks"]
    assert checks["predictor"] == "No predictor gave a sign of life."
    assert checks["worker"] == ""
    register(store, ProcessKind.PREDICTOR)
    assert client.get("/readyz").json()["checks"]["predictor"] == ""
