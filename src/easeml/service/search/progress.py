"""How a search went: its finished training tasks in order, thinned to what a picture can show."""

import math
from typing import Annotated

from pydantic import Field

from easeml.contract import measures
from easeml.contract.progress import Progress, ProgressPoint
from easeml.contract.states import PromotionState
from easeml.service.access.caller import Caller
from easeml.service.search import summaries
from easeml.store import Store, Tables

Points = Annotated[
    int, Field(ge=1, le=10_000, description="about how many tasks that changed nothing")
]


def get(store: Store, caller: Caller, job_id: str, points: Points = 1000) -> Progress:
    """Return the results of a job: all that were better than those before or went live, and about
    ``points`` others.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = tables.jobs.get(job_id)
        found = summaries.results(summaries.training_tasks(tables, [job.id]))
        live = _promoted(tables, job.application_id)
        every = math.ceil(len(found) / points)
        shown = [
            result
            for number, result in enumerate(found)
            if result.is_better
            or result.task.id in live
            or (number % every == 0 and math.isfinite(result.quality))
        ]
        names = summaries.candidate_names(tables, {one.task.candidate_id for one in shown})
    return Progress(
        points=[
            ProgressPoint(
                task_id=one.task.id,
                name=names[one.task.candidate_id],
                quality=one.quality,
                measure=measures.kept(one.task.measure),
                cost=one.task.cost,
                spent=one.spent,
                better=one.is_better,
                promoted=one.task.id in live,
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
        for (id,) in tables.promotions.pick(
            "model_id", application_id=application_id, state=PromotionState.LIVE
        )
    ]
    return {task_id for (task_id,) in tables.models.pick("task_id", id=models)} if models else set()
