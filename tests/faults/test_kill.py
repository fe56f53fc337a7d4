"""Processes are killed at random moments; afterwards the books must balance."""

import json
import random
import threading
from collections import Counter
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from service_process import EasemlProcess

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]
SEEDS = 20


def declare(easeml: EasemlProcess, folder: Path, name: str) -> str:
    path = folder / f"{name}.csv"
    load_wine(as_frame=True).frame.to_csv(path, index=False)
    created = easeml.command("app", "create", str(path), "--target", "target", "--yes", "--json", "--name", name)
    return json.loads(created)["id"]


def check_books(easeml: EasemlProcess) -> None:
    """Every finished training has one accepted attempt, one trained model; every live model exists."""
    from easeml.settings import Settings
    from easeml.store import Store

    settings = Settings(home=easeml.home)
    store = Store.open(settings.database, settings.artefacts)
    try:
        with store.read() as tx:
            rooms = tx.unscoped()
            tasks = rooms.tasks.list(limit=None)
            accepted = Counter(a.task_id for a in rooms.attempts.list(limit=None, state="done"))
            models = {m.task_id: m for m in rooms.models.list(limit=None)}
            for task in tasks:
                assert accepted[task.id] == (1 if task.state == "done" else 0), task
                if task.kind == "train" and task.state == "done":
                    assert store.artefacts.exists(task.tenant_id, models[task.id].artefact)
            for application in rooms.applications.list(limit=None):
                if application.live_model_id:
                    assert rooms.models.get(application.live_model_id).application_id == application.id
    finally:
        store.close()


def test_killed_at_random_moments_nothing_is_lost(tmp_path: Path):
    easeml = EasemlProcess(tmp_path / "home")
    easeml.start()
    try:
        applications = [declare(easeml, tmp_path, f"wine-{number}") for number in range(2)]
        for application in applications:
            easeml.command("app", "wait", application, "--until", "first-model", "--timeout", "60")
        for seed in range(SEEDS):
            draw = random.Random(seed)
            threading.Event().wait(draw.uniform(0.0, 1.0))
            easeml.kill(draw.choice(["worker", "scheduler", "predictor", "controller"]))
            easeml.wait_until_answering()
            answer = easeml.call("POST", f"/api/v1/applications/{draw.choice(applications)}/predict", {"rows": [ROW]})
            assert len(answer["predictions"]) == 1
            if seed == SEEDS // 2:
                applications.append(declare(easeml, tmp_path, "wine-late"))
        for application in applications:
            easeml.command("app", "wait", application, "--until", "first-model", "--timeout", "60")
            easeml.command("job", "stop", application)
        check_books(easeml)
    finally:
        easeml.stop()


ROW = {name: float(value) for name, value in load_wine(as_frame=True).frame.iloc[0].items() if name != "target"}
