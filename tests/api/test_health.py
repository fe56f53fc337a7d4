"""``/healthz`` says in words what is wrong with the storage, and hides where it lies."""

import shutil
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from easeml.service.administration.health import LEAST_FREE, HealthCheck
from easeml.settings import Settings
from easeml.store import Store


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
