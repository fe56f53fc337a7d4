"""What tenants may use: set by the provider, told with a clear error where it is used up."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from easeml.contract.administration import TenantLimits
from easeml.contract.applications import Declaration
from easeml.contract.tasks import TaskResult
from easeml.errors import EasemlError, NotAllowed, NotFound, OverQuota, OverStorage, TooMany
from easeml.ids import new_id
from easeml.search import Terms
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, users
from easeml.service.administration import provider_view
from easeml.service.applications import applications
from easeml.service.datasets import datasets
from easeml.service.limits import quotas, used
from easeml.service.search import spending
from easeml.service.storage import uploads
from easeml.service.views import usage
from easeml.store import Store, day_of
from easeml.store.records import Process, Usage
from postgres_cluster import cluster, database

from .conftest import Clock, make_user
from .test_story import decide, searching
from .world import bring, claim, events, ingested, upload


def test_only_the_provider_sets_limits_and_sees_them(
    store: Store, admin: Caller, bob: Caller
) -> None:
    with pytest.raises(NotAllowed):
        quotas.set_limits(store, bob, bob.tenant_id, TenantLimits(storage=1))
    with pytest.raises(NotFound):
        quotas.set_limits(store, admin, "ten_x", TenantLimits())
    wish = TenantLimits(priority=2.0, devices=0, seconds=90.0, storage=10**9, applications=3)
    assert quotas.set_limits(store, admin, bob.tenant_id, wish) == wish
    assert quotas.get(store, admin, bob.tenant_id) == wish
    shown = {one.id: one.limits for one in provider_view.tenants(store, admin)}
    assert shown[bob.tenant_id] == wish
    assert shown[admin.tenant_id] == TenantLimits()


def test_who_has_stored_enough_stores_no_more(store: Store, admin: Caller, bob: Caller) -> None:
    upload(store, bob)
    for most in (0, 500):
        quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(storage=most))
        with pytest.raises(OverQuota, match="store"):
            upload(store, bob, "another")
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(storage=10**6))
    assert upload(store, bob, "another").name == "another"


def test_who_has_enough_applications_declares_no_more(
    store: Store, admin: Caller, bob: Caller
) -> None:
    dataset = ingested(store, bob)
    wish = Declaration(dataset_id=dataset.id)
    first = applications.declare(store, bob, wish, "once")
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(applications=1))
    with pytest.raises(OverQuota, match=r"Your limit of 1 application is reached\."):
        applications.declare(store, bob, wish)
    assert (
        applications.declare(store, bob, wish, "once").id == first.id
    )  # the answer to a repeated request stays


def test_shares_reach_the_scheduler(store: Store, admin: Caller, bob: Caller) -> None:
    def terms() -> Terms:
        with store.read() as tx:
            return quotas.terms(tx, [tx.tenants.get(bob.tenant_id)])[bob.tenant_id]

    assert terms() == Terms(devices=quotas.BUILT_IN.devices)
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(devices=2, storage=1))
    assert terms() == Terms(devices=2)
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(storage=1))
    assert terms() == Terms()


def test_open_searches_are_looked_at_again(store: Store, admin: Caller, bob: Caller) -> None:
    app = applications.declare(store, bob, Declaration(dataset_id=ingested(store, bob).id))
    assert app.job
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(devices=1))
    assert ("job.limited", app.job.id) in events(store, bob)


def month_is(store: Store, caller: Caller, seconds: float, day: str) -> None:
    """Have a tenant use device seconds on a day."""
    with store.write() as tx:
        row = {"id": f"{caller.tenant_id}:{day}", "tenant_id": caller.tenant_id, "day": day}
        tx.unscoped().usage.add(Usage(**row, seconds=seconds))


def there(store: Store) -> None:
    """Let a scheduler and a worker be there."""
    with store.write() as tx:
        for kind in ("scheduler", "worker"):
            tx.processes.add(Process(new_id("proc"), kind, 1, "here", heartbeat=tx.now()))


def test_seconds_count_on_the_day_on_which_they_ended(
    store: Store, admin: Caller, bob: Caller, clock: Clock
) -> None:
    clock.now = datetime(2026, 2, 28, 23, 59, 50, tzinfo=UTC).timestamp()
    ingested(store, bob)
    upload(store, bob, "second")
    _, attempt = claim(store)
    clock.now += 20
    bring(store, attempt, TaskResult(ok=False, error="broken", cost=15.0))
    found = usage.get(store, bob, days=3)
    assert found.days == ["2026-02-27", "2026-02-28", "2026-03-01"]
    (own,) = found.tenants
    assert own.seconds == pytest.approx([0.0, 0.1, 15.0])
    assert own.month_seconds == pytest.approx(15.0)
    everybody = usage.get(store, admin, days=3).tenants
    assert [one.name for one in everybody] == ["admin", "bob"]
    assert everybody[1] == own


def test_a_month_that_is_used_up_is_there_again_when_the_next_begins(
    store: Store, admin: Caller, bob: Caller, clock: Clock
) -> None:
    clock.now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
    month_is(store, bob, 60.0, "2026-12-01")
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(month_seconds=60.0))

    def devices() -> int | None:
        with store.read() as tx:
            return quotas.terms(tx, [tx.tenants.get(bob.tenant_id)])[bob.tenant_id].devices

    assert devices() == 0
    with store.read() as tx, pytest.raises(TooMany, match="1 January") as refused:
        quotas.check_computing(tx, bob.tenant_id)
    assert refused.value.seconds == pytest.approx(1.0)
    clock.now += 1.0
    assert devices() is None
    clock.now -= 1.0  # a clock that is set back finds the month as it was
    assert devices() == 0
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(month_seconds=60.1))
    assert devices() is None


def test_what_runs_ends_when_the_month_is_used_up_and_what_waits_does_not_begin(
    store: Store, admin: Caller, bob: Caller, clock: Clock
) -> None:
    application = searching(store, bob)
    for arm in (0, 1):
        decide(store, application, arm)
    claim(store, "search")
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(month_seconds=30.0))
    clock.now += 29.0
    with store.write() as tx:
        assert spending.stop_what_reached_its_limit(tx) == []
    clock.now += 1.0
    with store.write() as tx:
        stopped = spending.stop_what_reached_its_limit(tx)
    assert len(stopped) == 2
    there(store)
    (own,) = usage.get(store, bob, days=1).tenants
    assert own.month_seconds == pytest.approx(30.3)  # with what its data took
    assert own.training == 0
    (waits,) = own.waits
    assert "month's quota of 30 device seconds is used up" in waits


def test_a_search_without_room_for_its_models_waits_and_says_so(
    store: Store, admin: Caller, bob: Caller
) -> None:
    searching(store, bob)
    there(store)
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(storage=10))  # below what is used
    (own,) = usage.get(store, bob, days=1).tenants
    assert own.stored > 10
    assert "of the 10 bytes" in own.waits[0]
    with store.read() as tx:
        assert quotas.terms(tx, [tx.tenants.get(bob.tenant_id)])[bob.tenant_id].devices == 0


def test_new_tenants_get_what_the_provider_says(store: Store, admin: Caller, bob: Caller) -> None:
    built_in = quotas.get_defaults(store, admin)
    assert quotas.get(store, admin, bob.tenant_id) == built_in
    limited = ("storage", "uploads", "requests", "devices", "month_seconds")
    assert all(getattr(built_in, name) for name in limited)  # what one program could take from all
    with pytest.raises(NotAllowed):
        quotas.get_defaults(store, bob)
    wish = TenantLimits(month_seconds=3600.0, requests=0.5)
    with pytest.raises(NotAllowed):
        quotas.set_defaults(store, bob, wish)
    assert quotas.set_defaults(store, admin, wish) == wish
    dan = make_user(store, admin, "dan")
    assert quotas.get(store, admin, dan.tenant_id) == wish
    assert quotas.get(store, admin, bob.tenant_id) != wish


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def either(request: pytest.FixtureRequest, tmp_path: Path):
    """A store on each kind of database, with its own clock."""
    if request.param == "sqlite":
        store = Store.open(f"sqlite:///{tmp_path / 'either.db'}", tmp_path / "kept")
        yield store
        store.close()
        return
    with cluster() as template, database(template) as url:
        store = Store.open(url, tmp_path / "kept")
        yield store
        store.close()


def test_limits_are_told_as_people_write_numbers(store: Store, admin: Caller, bob: Caller) -> None:
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(uploads=1, month_seconds=1e6))
    uploads.begin(store, bob, 10, 100)
    with pytest.raises(TooMany, match=r"Your limit of 1 unfinished upload is reached\."):
        uploads.begin(store, bob, 10, 100)
    with store.read() as tx:
        today = day_of(tx.now())
    month_is(store, bob, 1e6, today)
    with store.read() as tx, pytest.raises(TooMany, match=r"quota of 1,000,000 device seconds"):
        quotas.check_computing(tx, bob.tenant_id)
    assert used.counted(0.5, "device second") == "0.5 device seconds"
    assert used.counted(1, "device second") == "1 device second"


def test_of_many_at_once_no_more_pass_than_there_is_room_for(either: Store) -> None:
    admin = keys_of(either)
    quotas.set_limits(either, admin, admin.tenant_id, TenantLimits(storage=2000, uploads=3))

    def keep(number: int) -> bool:
        try:  # each is 700 bytes of its own
            content = f"a,b\n{number:04},1\n".encode().ljust(700, b" ")
            datasets.upload(either, admin, f"d{number}", "t.csv", [content], None, 10_000)
        except OverStorage:
            return False
        return True

    def begin(_: int) -> bool:
        try:
            uploads.begin(either, admin, 10, 10_000)
        except EasemlError as error:
            assert isinstance(error, TooMany), error
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(keep, range(8))) == 2
        assert sum(pool.map(begin, range(8))) == 3
    with either.read() as tx:
        assert used.stored(tx, [admin.tenant_id])[admin.tenant_id] == 1400


def keys_of(store: Store) -> Caller:
    first = users.create_first_provider(store)
    assert first is not None
    return keys.authenticate(store, keys.sign_in(store, *first).secret or "")


def test_seconds_of_many_transactions_add_up(either: Store) -> None:
    def spend(_: int) -> None:
        with either.write() as tx:
            for tenant in ("ten_b", "ten_a"):
                tx._used.add(tenant, 0.5)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(spend, range(40)))
    with either.read() as tx:
        today = day_of(tx.now())
        rows = tx.unscoped().usage.pick("tenant_id", "day", "seconds")
    assert rows == [("ten_a", today, 20.0), ("ten_b", today, 20.0)]
