"""A search of which nothing runs says what it waits for."""

from datetime import UTC, datetime

import pytest

from easeml.contract.administration import TenantLimits
from easeml.contract.applications import Application, Declaration
from easeml.contract.jobs import Job, JobLimits
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.limits import quotas
from easeml.service.scheduling import overview
from easeml.service.search import jobs, waiting
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Process

from .conftest import Clock
from .test_story import decide, searching
from .world import claim, events, ingested


@pytest.fixture(autouse=True)
def processes(store: Store) -> None:
    """A scheduler and a worker that are there."""
    with store.write() as tx:
        for kind in ("scheduler", "worker"):
            tx.processes.add(Process(new_id("proc"), kind, 1, "here", heartbeat=tx.now()))


def search(store: Store, caller: Caller, application: Application) -> Job:
    """The search as the list of applications shows it, which is as it is shown alone."""
    (listed,) = [
        one for one in applications.list_page(store, caller).items if one.id == application.id
    ]
    assert listed.job is not None
    assert listed.job == jobs.get(store, caller, listed.job.id)
    return listed.job


def reason(store: Store, caller: Caller, application: Application) -> str:
    return search(store, caller, application).waiting_reason


def test_a_quota_that_is_used_up_is_named(store: Store, admin: Caller, ann: Caller) -> None:
    application = searching(store, ann)
    assert application.job is not None
    assert "choose" in reason(store, ann, application)
    with store.write() as tx:
        tx.unscoped().jobs.update(application.job.id, cost=120.0)
    quotas.set_limits(store, admin, ann.tenant_id, TenantLimits(seconds=100))
    found = reason(store, ann, application)
    assert "quota of 100 device seconds is used up" in found
    assert "120" in found
    quotas.set_limits(store, admin, ann.tenant_id, TenantLimits(devices=0))
    assert "quota allows no device" in reason(store, ann, application)


def test_what_other_searches_of_the_tenant_use_is_named(
    store: Store, admin: Caller, ann: Caller
) -> None:
    first, second = searching(store, ann), searching(store, ann)
    quotas.set_limits(store, admin, ann.tenant_id, TenantLimits(devices=1))
    decide(store, first, 0)
    claim(store, "search")
    assert reason(store, ann, first) == ""
    assert "quota of 1 device" in reason(store, ann, second)


def test_who_is_away_is_named(store: Store, ann: Caller, clock: Clock) -> None:
    application = searching(store, ann)
    clock.now += 3600
    assert "No worker runs" in reason(store, ann, application)
    with store.write() as tx:
        tx.processes.add(Process(new_id("proc"), "worker", 2, "here", heartbeat=tx.now()))
    assert "No scheduler runs" in reason(store, ann, application)


def test_a_search_waits_for_its_data_a_device_or_its_owner(store: Store, ann: Caller) -> None:
    declared = applications.declare(
        store, ann, Declaration(dataset_id=ingested(store, ann, "a").id)
    )
    assert "data is being prepared" in reason(store, ann, declared)
    assert declared.job is not None
    jobs.stop(store, ann, declared.job.id)
    assert reason(store, ann, declared) == ""
    claim(store)  # what prepared its data


def test_a_device_is_waited_for(store: Store, ann: Caller) -> None:
    application = searching(store, ann)
    decide(store, application, 0)
    assert "waits for a device" in reason(store, ann, application)
    claim(store, "search")
    assert reason(store, ann, application) == ""
    assert application.job is not None
    jobs.pause(store, ann, application.job.id)
    assert reason(store, ann, application) == ""  # what runs may finish


def test_its_own_limits_are_named(store: Store, ann: Caller, clock: Clock) -> None:
    application = searching(store, ann)
    assert application.job is not None
    job_id = application.job.id
    jobs.set_limits(
        store, ann, job_id, JobLimits(deadline=datetime.fromtimestamp(clock.now + 0.001, UTC))
    )
    assert "would end after its deadline" in reason(store, ann, application)
    jobs.set_limits(store, ann, job_id, JobLimits(max_seconds=5))
    with store.write() as tx:
        tx.unscoped().jobs.update(job_id, cost=6.0, state="resting")
    assert "limit of 5 device seconds" in reason(store, ann, application)
    jobs.set_limits(store, ann, job_id, JobLimits())
    assert "Little is left to gain" in reason(store, ann, application)
    jobs.pause(store, ann, job_id)
    assert "paused" in reason(store, ann, application)


def test_the_scheduler_page_names_it_for_those_who_may_know(
    store: Store, admin: Caller, ann: Caller, bob: Caller
) -> None:
    searching(store, ann)
    quotas.set_limits(store, admin, ann.tenant_id, TenantLimits(devices=0))

    def shown(caller: Caller) -> str:
        (share,) = overview.show(store, Settings(), caller).tenants
        return share.waiting_reason

    assert "no device" in shown(ann)
    assert "no device" in shown(admin)
    assert shown(bob) == ""  # another tenant's quota is nobody's business


def test_the_owner_is_told_once_of_what_does_not_pass_by_itself(
    store: Store, admin: Caller, ann: Caller, bob: Caller
) -> None:
    stuck, fine = searching(store, ann), searching(store, bob)
    quotas.set_limits(store, admin, ann.tenant_id, TenantLimits(devices=0))
    with store.write() as tx:
        found = waiting.blocked(tx)
        assert stuck.job is not None
        assert fine.job is not None
        assert list(found) == [stuck.job.id]
        for _ in range(2):
            waiting.tell(tx, stuck.job.id, found[stuck.job.id])
    told = [subject for kind, subject in events(store, ann) if kind == "job.waiting"]
    assert told == [stuck.job.id]
