"""The owner of a search that cannot run is told, but not of what passes by itself."""

from pathlib import Path

import pytest
import simulated

from easeml.engine import blocked
from easeml.engine.blocked import PATIENCE, BlockedSearches
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.search import policy_named
from easeml.service.search.waiting import Waiting, WaitsFor
from easeml.store.shapes import TenantLimits

QUOTA = Waiting(WaitsFor.QUOTA, "no device")
WORKER = Waiting(WaitsFor.WORKER, "no worker")


def test_what_is_blocked_for_long_is_given_once() -> None:
    now = 0.0
    searches = BlockedSearches(lambda: now)
    assert searches.overdue({"a": QUOTA}) == {}
    now = PATIENCE
    assert searches.overdue({"a": QUOTA, "b": QUOTA}) == {"a": QUOTA}
    assert searches.overdue({"a": QUOTA, "b": QUOTA}) == {}
    assert searches.overdue({"b": WORKER}) == {}  # another reason is waited for anew
    now = 2 * PATIENCE
    assert searches.overdue({"a": QUOTA, "b": WORKER}) == {"b": WORKER}


def test_the_scheduler_tells_of_a_quota_that_hides_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocked, "PATIENCE", 0.0)
    simulated.make_template(tmp_path / "template")
    store = simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: 1000.0)
    job_id = simulated.add_job(store, tmp_path)
    register(store, "worker")
    register(store, "scheduler")
    with store.write() as tx:
        tenant_id = tx.unscoped().jobs.get(job_id).tenant_id
        tx.tenants.update(tenant_id, limits=TenantLimits(devices=0))
    scheduler = Scheduler(store, simulated.REGISTRY, policy_named(), 10.0)
    scheduler.step()
    for _ in range(3):
        scheduler.keep_house()
    with store.read() as tx:
        assert tx.unscoped().tasks.count() == 0
        told = tx.events.newest(tenant_id, ["job.waiting"])
    assert [(event.subject, event.data["waits_for"]) for event in told] == [(job_id, "quota")]
    store.close()
