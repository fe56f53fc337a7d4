"""A better model replaces the one that serves while people use the endpoint: nobody notices but by
the version.
"""

import json
import threading
import time
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

from service_process import EasemlProcess

pytestmark = pytest.mark.service
CALLERS, PAUSE = (
    4,
    0.01,
)  # seconds between the requests of each: what trains needs the processor too


def test_no_request_fails_or_mixes_models_while_they_are_swapped(
    easeml: EasemlProcess, tmp_path: Path
):
    frame = load_breast_cancer(as_frame=True).frame
    table = tmp_path / "cancer.csv"
    frame.to_csv(table, index=False)
    models = "baseline-classifier,decision-tree-classifier,logistic,lightgbm-classifier"
    rules = ("--target", "target", "--models", models, "--max-tasks", "6", "--name", "swapped")
    created = easeml.command("app", "create", str(table), *rules, "--yes", "--json")
    application = json.loads(created)["id"]
    easeml.wait(application, "first-model", 60)
    rows = frame.drop(columns="target").iloc[:5].to_dict("records")
    over = threading.Event()
    seen: list[list[str]] = [[] for _ in range(CALLERS)]
    failures: list[Exception] = []

    def call_until_over(mine: list[str]) -> None:
        while not over.wait(PAUSE):
            try:
                answer = easeml.call(
                    "POST", f"/api/v1/applications/{application}/predict", {"rows": rows}
                )
            except OSError as error:
                failures.append(error)
                return
            assert len(answer["predictions"]) == len(rows)
            if not mine or mine[-1] != answer["model_id"]:
                mine.append(answer["model_id"])

    callers = [threading.Thread(target=call_until_over, args=(mine,)) for mine in seen]
    for caller in callers:
        caller.start()
    easeml.wait(application, "converged", 120)
    serving = easeml.call("GET", f"/api/v1/applications/{application}")["live_model"]["id"]
    models = easeml.call("GET", f"/api/v1/applications/{application}/models")["items"]
    for model in [one for one in models if one["id"] != serving]:
        easeml.call(
            "POST", f"/api/v1/applications/{application}/rollback", {"model_id": model["id"]}
        )
        wait_until_answers(model["id"], seen, callers)
    over.set()
    for caller in callers:
        caller.join()

    assert not failures
    promotions = easeml.call("GET", f"/api/v1/applications/{application}/promotions")["items"]
    live = [
        p["model_id"]
        for p in sorted(promotions, key=lambda p: p["created"])
        if p["state"] == "live"
    ]
    assert len(live) > 1
    for mine in seen:
        later = iter(live)
        assert all(
            model in later for model in mine
        )  # once a newer model has answered, no older one does


def wait_until_answers(model: str, seen: list[list[str]], callers: list[threading.Thread]) -> None:
    """Return when all callers were answered by a model."""
    deadline = time.monotonic() + 60
    while not all(mine and mine[-1] == model for mine in seen):
        assert time.monotonic() < deadline, seen
        assert all(caller.is_alive() for caller in callers)
        time.sleep(PAUSE)
