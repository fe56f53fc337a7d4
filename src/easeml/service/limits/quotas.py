"""What a tenant may use.

The provider sets it, the store keeps it, and it is enforced here and by the scheduler.
"""

from easeml.contract.administration import TenantLimits
from easeml.contract.states import SEARCHED_JOBS, JobState
from easeml.errors import OverQuota
from easeml.search import Terms
from easeml.service.access.caller import Caller
from easeml.store import Store, Transaction, shapes
from easeml.store.records import Tenant

_OPEN = (JobState.PREPARING, *SEARCHED_JOBS)
_ASK = "Ask the one who runs this easeml for more."


def get(store: Store, caller: Caller, tenant_id: str) -> TenantLimits:
    """Return what a tenant may use (providers only); raises ``NotAllowed``, ``NotFound``."""
    caller.require_provider()
    with store.read() as tx:
        return TenantLimits(**tx.tenants.get(tenant_id).limits.to_json())


def set_limits(store: Store, caller: Caller, tenant_id: str, wish: TenantLimits) -> TenantLimits:
    """Set all that a tenant may use (providers only); the scheduler follows at once.

    What is left out, or None, has no limit. Raises ``NotAllowed``, ``NotFound``.
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


def terms(tenant: Tenant) -> Terms:
    """Return a tenant's share of the devices."""
    limits = tenant.limits
    priority = 1.0 if limits.priority is None else limits.priority
    return Terms(priority=priority, devices=limits.devices, seconds=limits.seconds)


def storage_left(tx: Transaction, tenant_id: str) -> int | None:
    """Return how many bytes a tenant may still store, None for no limit.

    Raises ``OverQuota`` where nothing is left.
    """
    most = tx.tenants.get(tenant_id).limits.storage
    if most is None:
        return None
    used = sum(size for (size,) in tx.scoped(tenant_id).artefacts.pick("size"))
    if used >= most:
        raise over_storage(used, most)
    return most - used


def over_storage(used: int, most: int) -> OverQuota:
    """Return the error for storing more than is allowed."""
    text = f"Your data and models take {used:,} of the {most:,} bytes that you may store."
    return OverQuota(text, remedy=_ASK, where="storage")


def check_applications(tx: Transaction, tenant_id: str) -> None:
    """Raise ``OverQuota`` if a tenant may declare no further application."""
    most = tx.tenants.get(tenant_id).limits.applications
    if most is not None and tx.scoped(tenant_id).applications.count(deleted=None) >= most:
        raise OverQuota(
            f"You may have {most} applications, and have them.", remedy=_ASK, where="applications"
        )
