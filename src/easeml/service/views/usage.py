"""What tenants use of what they may, and what they used day by day."""

from collections import defaultdict
from typing import Annotated

from pydantic import Field

from easeml.contract.administration import TenantUsage, Usage
from easeml.contract.states import SEARCHED_JOBS, JobState, Lane, TaskState
from easeml.service.access.caller import Caller
from easeml.service.limits import quotas, used
from easeml.service.search import waiting
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Tenant
from easeml.store.shapes import given

_OPEN = (JobState.PREPARING, *SEARCHED_JOBS)
Days = Annotated[int, Field(ge=1, le=366, description="how many days, up to today")]


def get(store: Store, caller: Caller, *, days: Days = 30) -> Usage:
    """Return what tenants use of what they may, and their device seconds by day.

    A provider sees all tenants, the oldest first; others see their own.
    """
    with store.read() as tx:
        whose = None if caller.is_provider else caller.tenant_id
        tenants = tx.tenants.list(limit=None, **given(id=whose))
        shown_days = used.days_until(tx.now(), days)
        found = _read(tx, tenants, shown_days)
    for one in found:
        one.uploads = len(store.uploads.open_ones(one.tenant_id))
    return Usage(days=shown_days, tenants=found)


def _read(tx: Transaction, tenants: list[Tenant], days: list[str]) -> list[TenantUsage]:
    ids = [tenant.id for tenant in tenants]
    tables = tx.unscoped()
    by_day = _by_day(tables, ids, days)
    of_month = used.month_seconds(tx, ids)
    stored = used.stored(tx, ids)
    applications = tables.applications.count_by("tenant_id", tenant_id=ids, deleted=None)
    running = {"lane": Lane.SEARCH, "state": TaskState.RUNNING}
    training = tables.tasks.count_by("tenant_id", tenant_id=ids, **running)
    open_seconds = used.totals(tables.jobs.pick("tenant_id", "cost", tenant_id=ids, state=_OPEN))
    waits = _waits(tx, ids)
    found = []
    for tenant in tenants:
        seconds = [by_day.get((tenant.id, day), 0.0) for day in days]
        usage = TenantUsage(
            tenant_id=tenant.id,
            name=tenant.name,
            limits=quotas.shown(tenant.limits),
            seconds=seconds,
            month_seconds=of_month[tenant.id],
            open_seconds=open_seconds[tenant.id],
            stored=stored[tenant.id],
            uploads=0,
            applications=applications[tenant.id],
            training=training[tenant.id],
            waits=waits[tenant.id],
        )
        found.append(usage)
    return found


def _by_day(tables: Tables, ids: list[str], days: list[str]) -> dict[tuple[str, str], float]:
    rows = tables.usage.pick("tenant_id", "day", "seconds", tenant_id=ids, day=days)
    return {(tenant_id, day): seconds for tenant_id, day, seconds in rows}


def _waits(tx: Transaction, ids: list[str]) -> defaultdict[str, list[str]]:
    """Return what the searches of tenants wait for, by tenant: the same words are said once."""
    tables = tx.unscoped()
    # What rests has found what there was to find; it waits for nothing.
    jobs = tables.jobs.list(tenant_id=ids, state=[JobState.PREPARING, JobState.RUNNING], limit=None)
    reasons = waiting.reasons(tx, jobs)
    application_ids = [job.application_id for job in jobs]
    names = dict(tables.applications.pick("id", "name", id=application_ids))
    waiting_for: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for job in jobs:
        if job.id in reasons:
            waiting_for[job.tenant_id, reasons[job.id].text].append(names[job.application_id])
    found: defaultdict[str, list[str]] = defaultdict(list)
    for (tenant_id, text), waiters in waiting_for.items():
        found[tenant_id].append(f"{', '.join(waiters)}: {text}")
    return found
