"""How a search went: its finished training tasks in order, thinned to what a picture can show."""

import math
from dataclasses import dataclass

from easeml.contract.progress import Progress, ProgressPoint
from easeml.service.access.caller import Caller
from easeml.service.tasks import task_views
from easeml.store import Store, Tables


@dataclass(frozen=True, slots=True)
class Result:
    """A training task that is done. ``spent``: device seconds of the job until it had ended."""

    task_id: str
    quality: float
    cost: float
    spent: float
    is_better: bool  # than all before it


def results(tables: Tables, job_id: str) -> list[Result]:
    """Return the results of a job in the order in which its tasks ended."""
    found = tables.tasks.pick(
        "finished", "id", "quality", "cost", job_id=job_id, kind="train", state="done"
    )
    spent, best, ordered = 0.0, -math.inf, []
    for _, task_id, quality, cost in sorted(found, key=lambda row: (row[0] or 0.0, row[1])):
        spent += cost
        value = -math.inf if quality is None else quality
        ordered.append(Result(task_id, value, cost, spent, value > best))
        best = max(best, value)
    return ordered


def get(store: Store, caller: Caller, job_id: str, points: int) -> Progress:
    """Return the results of a job: all that were better than those before or went live, and about
    ``points`` others.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = tables.jobs.get(job_id)
        found = results(tables, job.id)
        live = _promoted(tables, job.application_id)
        every = math.ceil(len(found) / points)
        shown = [
            result
            for number, result in enumerate(found)
            if result.is_better
            or result.task_id in live
            or (number % every == 0 and math.isfinite(result.quality))
        ]
        known = tables.tasks.list(id=[result.task_id for result in shown], limit=None)
        name = task_views.names(tables, known)
    return Progress(
        points=[
            ProgressPoint(
                task_id=one.task_id,
                name=name[one.task_id],
                quality=one.quality,
                cost=one.cost,
                spent=one.spent,
                better=one.is_better,
                promoted=one.task_id in live,
            )
            for one in shown
        ],
        tasks=len(found),
        cost=found[-1].spent if found else 0.0,
    )


def _promoted(tables: Tables, application_id: str) -> set[str]:
    """Return the ids of the tasks whose models went live."""
    models = [
        id
        for (id,) in tables.promotions.pick("model_id", application_id=application_id, state="live")
    ]
    return {task_id for (task_id,) in tables.models.pick("task_id", id=models)} if models else set()
