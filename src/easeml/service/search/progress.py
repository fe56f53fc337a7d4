"""How a search went: its finished training tasks in order, thinned to what a picture can show."""

import math
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from easeml.contract import measures
from easeml.contract.progress import Progress, ProgressPoint
from easeml.contract.states import PromotionState
from easeml.service.access.caller import Caller
from easeml.service.search import summaries
from easeml.service.search.summaries import Result, TrainingTask
from easeml.store import Store, Tables

Points = Annotated[
    int, Field(ge=1, le=10_000, description="about how many tasks that changed nothing")
]


def get(store: Store, caller: Caller, job_id: str, points: Points = 1000) -> Progress:
    """Return the results of a job that matter, and about ``points`` of the others.

    All that were better than those before or went live matter.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = tables.jobs.get(job_id)
        tasks = summaries.training_tasks(tables, [job.id])
        return of_tasks(tables, tasks, job.application_id, points)


def of_tasks(
    tables: Tables, tasks: Iterable[TrainingTask], application_id: str, points: int = 1000
) -> Progress:
    """Return the results of a job whose training tasks these are, thinned as ``get`` says."""
    found = summaries.results(tasks)
    live = _promoted(tables, application_id)
    shown = _thinned(found, live, points)
    names = summaries.candidate_names(tables, {one.task.candidate_id for one in shown})
    drawn = []
    for result in shown:
        name = names[result.task.candidate_id]
        drawn.append(_point(result, name, is_promoted=result.task.id in live))
    spent = found[-1].spent if found else 0.0
    return Progress(points=drawn, tasks=len(found), cost=spent)


def _thinned(found: list[Result], live: set[str], points: int) -> list[Result]:
    """Return the results that matter and about ``points`` of the others."""
    every = max(1, math.ceil(len(found) / points))
    sampled = {one.task.id for one in found[::every] if math.isfinite(one.quality)}
    wanted = live | sampled
    return [one for one in found if one.is_better or one.task.id in wanted]


def _point(result: Result, name: str, *, is_promoted: bool) -> ProgressPoint:
    return ProgressPoint(
        task_id=result.task.id,
        name=name,
        quality=result.quality,
        measure=measures.kept(result.task.measure),
        cost=result.task.cost,
        spent=result.spent,
        better=result.is_better,
        promoted=is_promoted,
    )


def _promoted(tables: Tables, application_id: str) -> set[str]:
    """Return the ids of the tasks whose models went live."""
    models = tables.promotions.column(
        "model_id", application_id=application_id, state=PromotionState.LIVE
    )
    return set(tables.models.column("task_id", id=models))
