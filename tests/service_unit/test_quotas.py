"""What tenants may use: set by the provider, told with a clear error where it is used up."""

import pytest

from easeml.contract.administration import TenantLimits
from easeml.contract.applications import Declaration
from easeml.errors import NotAllowed, NotFound, OverQuota
from easeml.search import Terms
from easeml.service.access.caller import Caller
from easeml.service.administration import provider_view
from easeml.service.applications import applications
from easeml.service.limits import quotas
from easeml.store import Store

from .world import events, ingested, upload


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
    with pytest.raises(OverQuota, match="applications"):
        applications.declare(store, bob, wish)
    assert (
        applications.declare(store, bob, wish, "once").id == first.id
    )  # the answer to a repeated request stays


def test_shares_reach_the_scheduler(store: Store, admin: Caller, bob: Caller) -> None:
    def terms() -> Terms:
        with store.read() as tx:
            return quotas.terms(tx.tenants.get(bob.tenant_id))

    assert terms() == Terms()
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(devices=2, storage=1))
    assert terms() == Terms(devices=2)
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(storage=1))
    assert terms() == Terms()


def test_open_searches_are_looked_at_again(store: Store, admin: Caller, bob: Caller) -> None:
    app = applications.declare(store, bob, Declaration(dataset_id=ingested(store, bob).id))
    assert app.job
    quotas.set_limits(store, admin, bob.tenant_id, TenantLimits(devices=1))
    assert ("job.limited", app.job.id) in events(store, bob)
