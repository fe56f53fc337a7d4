"""Processes are killed at random moments; afterwards the books must balance, and what a client was
told meanwhile must be explained by one order of what happened.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from cluster_history import check_history, crowd_of, kept_by
from easeml.settings import Settings
from easeml.store import Store
from killing import check_books, declare, kill_at_random
from service_process import EasemlProcess

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600), pytest.mark.xdist_group("faults")]
SEEDS = 8  # benchmarks/kill_processes.py kills a thousand times


def test_killed_at_random_moments_nothing_is_lost(easeml: EasemlProcess, tmp_path: Path):
    applications = [declare(easeml, tmp_path, f"wine-{number}") for number in range(2)]
    for application in applications:
        easeml.wait(application, "first-model", 60)
    crowd = crowd_of([easeml], list(applications), seed=0)
    with crowd.of(1):
        for kill in kill_at_random(easeml, list(applications), range(SEEDS)):
            if kill.seed == SEEDS // 4:
                easeml.kill("prefork")
                easeml.wait_until_answering()  # the controller ended with it
            if kill.seed == SEEDS // 2:
                applications.append(declare(easeml, tmp_path, "wine-late"))
    crowd.drain_none()
    for application in applications:
        easeml.wait(application, "first-model", 60)
        easeml.command("job", "stop", application)
    crowd.look_at_all()
    store = Store.of(Settings(home=easeml.home))
    verdict = check_history([*crowd.history.operations, *kept_by(store, crowd.applications)])
    store.close()
    assert verdict.operations > SEEDS
    ended = check_books(easeml)
    assert ended["done"] > len(applications)
    assert not ended["failed"]
    easeml.call("POST", "/api/v1/settings/policy", {"value": "default"})
    easeml.call("PUT", f"/api/v1/tenants/{crowd.tenant}/limits", {})
