"""What a tenant may use.

The provider sets it, the store keeps it, and it is enforced here and by the scheduler.
"""

import json
from collections.abc import Sequence
from typing import Any

from easeml.contract.administration import TenantLimits
from easeml.contract.states import SEARCHED_JOBS, JobState
from easeml.errors import OverQuota, OverStorage, TooMany
from easeml.search import Terms
from easeml.service.access.caller import Caller
from easeml.service.limits import used
from easeml.store import Store, Transaction, shapes
from easeml.store.records import KeptSetting, Tenant

_OPEN = (JobState.PREPARING, *SEARCHED_JOBS)
ASK = "Ask the one who runs this easeml for more."
_DEFAULTS = "tenant-limits"  # the kept setting: JSON
BUILT_IN = shapes.TenantLimits(
    storage=50 * 10**9,
    uploads=20,
    requests=500.0,
    devices=16,
    month_seconds=1_000_000.0,  # 278 hours of one device
)
"""What new tenants may use until a provider says otherwise: enough that nobody who works meets it,
little enough that a program that has gone wrong does not take the disk and the devices of all.
"""


def get(store: Store, caller: Caller, tenant_id: str) -> TenantLimits:
    """Return what a tenant may use (providers only); raises ``NotAllowed``, ``NotFound``."""
    caller.require_provider()
    with store.read() as tx:
        return shown(tx.tenants.get(tenant_id).limits)


def set_limits(store: Store, caller: Caller, tenant_id: str, wish: TenantLimits) -> TenantLimits:
    """Set all that a tenant may use (providers only); the scheduler follows at once.

    What is left out, or None, has no limit. A limit may be below what is used: nothing is taken
    away, and nothing more is given. Raises ``NotAllowed``, ``NotFound``.
    """
    caller.require_provider()
    limits = shapes.TenantLimits(**wish.model_dump())
    with store.write() as tx:
        if tx.tenants.get(tenant_id).limits != limits:
            tx.tenants.update(tenant_id, limits=limits)
            tx.events.append(
                "tenant.limited", tenant_id, {"by": caller.user_id, **limits.to_json()}, tenant_id
            )
            for job in tx.scoped(tenant_id).jobs.list(state=_OPEN, limit=None):
                data = {
                    "application_id": job.application_id,
                    "state": job.state,
                    "limits": job.limits.to_json(),
                }
                tx.events.append(
                    "job.limited", job.id, data, tenant_id
                )  # the scheduler looks at each again
    return wish


def get_defaults(store: Store, caller: Caller) -> TenantLimits:
    """Return what new tenants may use (providers only); raises ``NotAllowed``."""
    caller.require_provider()
    with store.read() as tx:
        return shown(of_new_tenants(tx))


def set_defaults(store: Store, caller: Caller, wish: TenantLimits) -> TenantLimits:
    """Set what tenants that are made from now on may use (providers only); others keep theirs.

    What is left out, or None, has no limit. Raises ``NotAllowed``.
    """
    caller.require_provider()
    limits = shapes.TenantLimits(**wish.model_dump()).to_json()
    with store.write() as tx:
        tx.kept_settings.ensure(KeptSetting(_DEFAULTS, ""))
        tx.kept_settings.update(_DEFAULTS, value=json.dumps(limits))
        data = {"by": caller.user_id, **limits}
        tx.events.append("tenant.defaults-changed", _DEFAULTS, data, caller.tenant_id)
    return wish


def of_new_tenants(tx: Transaction) -> shapes.TenantLimits:
    """Return what a tenant that is made now may use."""
    found = tx.kept_settings.find(id=_DEFAULTS)
    if found is None:
        return BUILT_IN
    return shapes.TenantLimits.from_json(json.loads(found.value))


def shown(limits: shapes.TenantLimits) -> TenantLimits:
    """Return limits as REST shows them."""
    return TenantLimits(**limits.to_json())


def terms(tx: Transaction, tenants: Sequence[Tenant]) -> dict[str, Terms]:
    """Return the shares of tenants of the devices, by id: none of them where a quota is used up."""
    exhausted = used.exhausted(tx, {tenant.id: tenant.limits for tenant in tenants})
    found = {}
    for tenant in tenants:
        limits = tenant.limits
        priority = 1.0 if limits.priority is None else limits.priority
        devices = 0 if tenant.id in exhausted else limits.devices
        found[tenant.id] = Terms(priority=priority, devices=devices, seconds=limits.seconds)
    return found


def check_computing(tx: Transaction, tenant_id: str) -> None:
    """Raise where nothing more is computed for a tenant.

    ``TooMany``: the device seconds of this month are used up. ``OverStorage``: there is no room for
    what would be computed.
    """
    limits = tx.tenants.get(tenant_id).limits
    found = used.exhausted(tx, {tenant_id: limits}).get(tenant_id)
    if found is None:
        return
    if found.until is None:
        raise OverStorage(found.text, where="storage", remedy=f"Delete what is not needed. {ASK}")
    raise TooMany(found.text, where="month_seconds", remedy=ASK, seconds=found.until - tx.now())


def storage_left(tx: Transaction, tenant_id: str) -> int | None:
    """Return how many bytes a tenant may still store, None for no limit.

    Raises ``OverStorage`` where nothing is left.
    """
    most = tx.tenants.get(tenant_id).limits.storage
    if most is None:
        return None
    stored = used.stored(tx, [tenant_id])[tenant_id]
    if stored >= most:
        text = used.full(stored, most)
        raise OverStorage(text, remedy=f"Delete what is not needed. {ASK}", where="storage")
    return most - stored


def check_room(tx: Transaction, tenant_id: str, size: int) -> None:
    """Raise ``OverStorage`` if a tenant may not keep ``size`` more bytes.

    Until the transaction ends, nothing else that is checked is added to the tenant's.
    """
    tx.tenants.hold(tenant_id)
    left = storage_left(tx, tenant_id)
    if left is not None and size > left:
        raise too_long(left)


def too_long(left: int) -> OverStorage:
    """Return the error for a file that is longer than what a tenant may still store."""
    text = f"The file has more than the {left:,} bytes that you may still store."
    return OverStorage(text, where="storage", remedy=f"Delete what is not needed. {ASK}")


def check_applications(tx: Transaction, tenant_id: str) -> None:
    """Raise ``OverQuota`` if a tenant may declare no further application."""
    most = tx.tenants.hold(tenant_id).limits.applications
    declared = tx.scoped(tenant_id).applications.count(deleted=None)
    if declared >= shapes.or_endless(most):
        allowed = used.counted(shapes.or_endless(most), "application")
        text = f"Your limit of {allowed} is reached."
        raise OverQuota(text, remedy=ASK, where="applications")


def request_rates(store: Store) -> dict[str, float]:
    """Return how many requests for predictions a second tenants may make, where that is limited."""
    with store.read() as tx:
        found: list[tuple[str, Any]] = tx.tenants.pick("id", "limits")
    return {id: limits.requests for id, limits in found if limits.requests is not None}
