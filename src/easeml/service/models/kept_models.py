"""What a task has trained, kept as a model of the search that it belongs to."""

from collections.abc import Mapping

from easeml.contract.tasks import TaskResult
from easeml.ids import new_id
from easeml.service.models import measuring
from easeml.store import Transaction
from easeml.store.records import Task, TrainedModel


def keep(
    tx: Transaction,
    task: Task,
    result: TaskResult,
    digests: Mapping[str, str],
    name: str,
    *,
    compared_by: float | None = None,
) -> None:
    """Keep the model, and have it measured by what others were measured by since the task began.

    Args:
        tx: A write transaction.
        task: What has trained it.
        result: Its value tells the ``quality`` (a score, 1 is best), and the ``metrics``;
            ``held_out`` as ``TrainedModel`` has it, where folds have judged it.
        digests: Of its outputs: ``model``, ``predictions``; ``evaluation``, ``refitted`` and
            ``refitted-predictions`` where they were written.
        name: What the model is called.
        compared_by: The quality in whose place it is ranked; None: its own.
    """
    tables = tx.scoped(task.tenant_id)
    job = tables.jobs.get(task.job_id)
    tables.models.add(
        TrainedModel(
            id=new_id("mod"),
            tenant_id=task.tenant_id,
            application_id=job.application_id,
            job_id=job.id,
            task_id=task.id,
            candidate_id=task.candidate_id,
            name=name,
            artefact=digests["model"],
            predictions=digests["predictions"],
            evaluation=digests.get("evaluation", ""),
            quality=float(result.value["quality"]),
            compared_by=compared_by,
            held_out=result.value.get("held_out"),
            metrics=result.value.get("metrics", {}),
            notes=list(result.notes),
            refitted=digests.get("refitted", ""),
            refitted_predictions=digests.get("refitted-predictions", ""),
        )
    )
    measuring.catch_up(tx, task)
