"""A search goes on where another program's ended."""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.search.decision_log import Seen, applied
from easeml.service.search import log
from easeml.settings import Settings
from easeml.store import Store
from service_process import LOOK_EVERY, EasemlProcess

pytestmark = pytest.mark.service


def test_what_was_best_elsewhere_is_believed_to_be_best_here(
    easeml: EasemlProcess, tmp_path: Path
) -> None:
    random = np.random.default_rng(5)
    frame = pd.DataFrame(random.normal(size=(120, 3)), columns=["a", "b", "c"])
    frame["answer"] = np.where(frame["a"] + random.normal(size=120) > 0, "yes", "no")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    options = ["--target", "answer", "--yes", "--json", "--models", "logistic", "--max-tasks", "1"]
    made = easeml.command("app", "create", str(tmp_path / "rows.csv"), *options)
    application = json.loads(made)["id"]
    easeml.wait(application, "converged", 120)

    told = [(0.002, 0.55), (0.02, 0.56), (0.3, 0.6), (33.0, 0.97), (1e9, 0.98)]
    lines = [f"{rate},{score},l2" for rate, score in told]
    (tmp_path / "log.csv").write_text("\n".join(["clf__C,score,penalty", *lines]))
    learn = ["app", "learn", application, str(tmp_path / "log.csv")]
    refused = easeml.command(*learn, expect=1)
    assert "names no model" in refused
    said = easeml.command(*learn, "--model", "logistic")
    assert "4 trials taken, 1 left out" in said
    assert "Trial 4: " in said
    assert "'penalty' (4 trials)" in said

    [job] = [
        one
        for one in easeml.call("GET", "/api/v1/jobs?limit=200")["items"]
        if one["application_id"] == application
    ]

    store = Store.of(Settings(home=easeml.home))
    try:
        seen = told_to(store, job["id"])
        with store.read() as tx:
            candidates = tx.unscoped().candidates.list(job_id=job["id"], limit=None)
            replayed = log.replayed(tx)
    finally:
        store.close()
    assert sorted(run[3] for run in seen.histories[job["id"]]) == [0.55, 0.56, 0.6, 0.97]
    best = {"C": 33.0, "class_weight": "none"}
    [arm] = [one.arm for one in candidates if one.pipeline.model.config == best]
    believed = seen.state.job(job["id"]).posterior.prior.mean
    assert believed.argmax() == arm
    assert replayed.identical == replayed.decisions


def told_to(store: Store, job: str) -> Seen:
    """Return what the scheduler saw when a search was told of a history; waits until it was."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with store.read() as tx:
            for epoch in log.epochs(tx):
                seen = Seen()
                for change in log.changes_of(tx, epoch):
                    seen = applied(seen, change)
                    # A search that had come to rest is opened again with it.
                    is_told = change.kind in ("set_history", "add_job")
                    if is_told and change.values["job"] == job and change.values.get("history"):
                        return seen
        time.sleep(LOOK_EVERY)
    raise TimeoutError("the search was told of no history")
