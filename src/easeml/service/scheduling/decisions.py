"""The scheduler's decisions one by one, each with the scores behind it; other tenants by number."""

from collections.abc import Mapping
from typing import Any

from easeml.contract.resources import Page
from easeml.contract.scheduling import Rival, Scored, Step
from easeml.service.access.caller import Caller
from easeml.service.access.tenant_view import TenantView
from easeml.store import Store
from easeml.store.records import Decision, Task


def page(store: Store, caller: Caller, *, after: int = 0, limit: int = 50) -> Page[Step]:
    """Return the decisions of all tenants that follow number ``after``, at most ``limit``, in
    order.
    """
    with store.read() as tx:
        tables = tx.unscoped()
        found = tables.decisions.list(skip=after, limit=limit + 1)
        shown = found[:limit]
        tasks = {
            task.id: task for task in tables.tasks.list(id=[d.task_id for d in shown], limit=None)
        }
        view = TenantView.of(tx, caller)
        items = [
            _of_decision(d, after + place, tasks.get(d.task_id), view)
            for place, d in enumerate(shown, 1)
        ]
    return Page(items=items, next=str(after + limit) if len(found) > limit else None)


def _of_decision(decision: Decision, number: int, task: Task | None, view: TenantView) -> Step:
    step = explained(decision.explanation, decision.tenant_id, view)
    changes: dict[str, Any] = {
        "number": number,
        "moment": decision.created,
        "policy": decision.policy,
    }
    if task is not None:
        changes |= {"state": task.state, "quality": task.quality, "seconds": task.cost or None}
        changes["task_id"] = task.id if view.is_own(task.tenant_id) else ""
    return step.model_copy(update=changes)


def explained(explanation: Mapping[str, Any], tenant_id: str, view: TenantView) -> Step:
    """Return what an explanation of a policy tells ``view``; the candidates of other tenants have
    no names.
    """
    turn, top = explanation.get("turn", {}), explanation.get("top", [])
    sees = view.sees(tenant_id)
    names = [entry["name"] if sees else f"candidate {place}" for place, entry in enumerate(top, 1)]
    last = turn.get("last_served_at_step")
    return Step(
        number=0,
        moment=0.0,
        policy="",
        rule=explanation.get("rule", ""),
        tenant=view.name(tenant_id),
        own=view.is_own(tenant_id),
        candidate=names[0] if names else "",
        waiting=turn.get("tenants_waiting", 0),
        waited=None if last is None else explanation["step"] - last,
        best_so_far=explanation.get("best_so_far"),
        compared=explanation.get("arms_compared", 0),
        rivals=[
            Rival(
                tenant=view.name(entry["tenant"]),
                own=view.is_own(entry["tenant"]),
                rate=entry["rate"],
                chosen=entry["tenant"] == tenant_id,
            )
            for entry in explanation.get("tenants", [])
        ],
        candidates=[
            Scored(
                name=name,
                score=entry["score"],
                mean=entry["mean"],
                sd=entry["sd"],
                cost=entry["cost"],
                chosen=place == 0,
            )
            for place, (name, entry) in enumerate(zip(names, top, strict=True))
        ],
    )
