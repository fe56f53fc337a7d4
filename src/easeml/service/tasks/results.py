"""Work: what an attempt is told to do, and what becomes of what it brings back."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter

from easeml.contract.tasks import Body, TaskResult, TaskSpec
from easeml.errors import EasemlError
from easeml.ids import new_id
from easeml.service.advice import importance, rescoring, suspicious_rows, test_quality
from easeml.service.modules import adding
from easeml.service.search import jobs
from easeml.service.storage import artefact_references
from easeml.service.tasks import task_views
from easeml.service.versions import changes
from easeml.store import Tables, Transaction
from easeml.store.records import Attempt, Task, TrainedModel

LOG = ".log"  # no output has this name
_BODY: TypeAdapter[Body] = TypeAdapter(Body)


def task_spec(tx: Transaction, task: Task) -> TaskSpec:
    """Return a task's instruction with the digests of its inputs; raises ``NotFound`` if one is
    gone.
    """
    body = _BODY.validate_python(task.payload)
    seconds = adding.SECONDS if body.kind == adding.KIND else None
    return TaskSpec(
        body=body, seconds=seconds, inputs=_INPUTS[body.kind](tx.scoped(task.tenant_id), task)
    )


def accept(
    tx: Transaction,
    attempt: Attempt,
    result: TaskResult,
    digests: Mapping[str, str],
    sizes: Mapping[str, int] | None = None,
) -> Task:
    """Take what an attempt brought: its task's end, the records its kind makes, and events, all in
    ``tx``.

    ``digests`` and ``sizes`` (bytes): of its outputs by name, already in the artefact store;
    ``LOG`` names what it printed. A result that fails puts the task back while it may be retried.
    Returns the task as it is now. Raises ``Fenced`` (then let the transaction end without a commit)
    if the attempt is not the current one.
    """
    task = tx.unscoped().tasks.get(attempt.task_id)
    sizes = sizes or {}
    if LOG in digests:
        artefact_references.keep(tx, task.tenant_id, digests[LOG], sizes.get(LOG, 0))
        tx.unscoped().attempts.update(attempt.id, log=digests[LOG])
    problem = "" if not result.ok else _what_lacks(task, result, digests)
    if problem or not result.ok:
        error = problem or result.error or "The attempt failed without saying why."
        failed = tx.queue.fail(
            attempt, error=error, retry=result.retry and not problem, cost=result.cost
        )
        if failed.state == "failed":
            after_failure(tx, failed)
        return failed
    quality = float(result.value["quality"]) if task.kind == "train" else None
    done = tx.queue.complete(attempt, result=_kept(result), quality=quality, cost=result.cost)
    for name, digest in digests.items():
        artefact_references.keep(tx, task.tenant_id, digest, sizes.get(name, 0))
    _RECORD[task.payload["kind"]](tx, done, result, digests)
    _tell(tx, "task.done", done)
    return done


def after_failure(tx: Transaction, task: Task) -> None:
    """Carry the failure of ``task`` (state failed) to what it was for: a version, its applications
    and jobs.

    ``accept`` does so itself; call it for tasks that failed because their attempts were lost.
    """
    if task.kind == "ingest":
        _fail_version(tx, task)
    if task.payload["kind"] == rescoring.KIND:
        rescoring.record(tx, task, None)
    if task.payload["kind"] == adding.KIND:
        adding.record_failure(tx, task)
    _tell(tx, "task.failed", task)


def _kept(result: TaskResult) -> dict[str, Any]:
    """Return what a task shows as its result: what the body found, its notes, and when the body
    ran.
    """
    extra = {"notes": result.notes, "began": result.began, "ended": result.ended}
    return {**result.value, **{name: value for name, value in extra.items() if value}}


def _what_lacks(task: Task, result: TaskResult, digests: Mapping[str, str]) -> str:
    kind = task.payload["kind"]
    outputs, values = _PROMISED[kind]
    missing = [f"output {name}" for name in outputs if name not in digests]
    missing += [f"value {name}" for name in values if name not in result.value]
    if missing:
        return f"The {kind} task did not bring: {', '.join(missing)}."
    if kind == "train" and not math.isfinite(result.value["quality"]):
        return f"The training task's quality is not a number: {result.value['quality']}."
    return ""


def _accept_upload(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    value = dict(result.value)
    changes = {"columns": value.pop("columns"), "summary": value, "artefact": digests["table"]}
    tx.scoped(task.tenant_id).versions.update(task.subject, state="ready", **changes)
    tx.events.append("dataset.ready", task.subject, {}, task.tenant_id)


def _accept_declared(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    names = ("columns", "schema_in", "schema_out", "summary")
    changes = {name: result.value[name] for name in names}
    versions = tx.scoped(task.tenant_id).versions
    versions.update(task.subject, state="ready", artefact=digests["version"], **changes)
    tx.events.append("dataset.ready", task.subject, {}, task.tenant_id)


def _accept_changed(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    _accept_declared(tx, task, result, digests)
    changes.take_over(tx, tx.scoped(task.tenant_id).versions.get(task.subject))


def _accept_trained(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
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
            name=tables.candidates.get(task.candidate_id).name,
            artefact=digests["model"],
            predictions=digests["predictions"],
            evaluation=digests.get("evaluation", ""),
            quality=float(result.value["quality"]),
            metrics=result.value.get("metrics", {}),
            notes=list(result.notes),
        )
    )


def _accept_reading(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    test_quality.record(tx, task, result)


def _accept_rescored(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    rescoring.record(tx, task, float(result.value["quality"]))


def _accept_suspicion(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    suspicious_rows.record(tx, task, digests["suspicion"])


def _accept_importance(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    importance.record(tx, task, result)


def _accept_checks(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    adding.record(tx, task, result)


def _fail_version(tx: Transaction, task: Task) -> None:
    tables = tx.scoped(task.tenant_id)
    tables.versions.update(task.subject, state="failed", error=task.error)
    data = {"error": task.error}
    tx.events.append("dataset.failed", task.subject, data, task.tenant_id)
    for application in tables.applications.list(version_id=task.subject, limit=None):
        tables.applications.update(application.id, state="failed")
        tx.events.append("application.failed", application.id, data, task.tenant_id)
    for job in tables.jobs.list(version_id=task.subject, state="preparing", limit=None):
        jobs.set_state(tx, job, "failed", "job.failed", error=task.error)


def _tell(tx: Transaction, kind: str, task: Task) -> None:
    name = task_views.names(tx.scoped(task.tenant_id), [task])[task.id]
    data = {"job_id": task.job_id, "name": name, "quality": task.quality, "cost": task.cost}
    tx.events.append(kind, task.id, data, task.tenant_id)


def _upload_inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {"source": tables.versions.get(task.subject).source_artefact}


def _declare_inputs(tables: Tables, task: Task) -> dict[str, str]:
    parent = tables.versions.get(tables.versions.get(task.subject).parents[0])
    return {"table": parent.artefact}


def _feed_inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {
        **_parent_inputs(tables, task),
        "source": tables.versions.get(task.subject).source_artefact,
    }


def _parent_inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {"version": tables.versions.get(tables.versions.get(task.subject).parents[0]).artefact}


def _train_inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {"version": _version_of_job(tables, task.job_id)}


def _reading_inputs(tables: Tables, task: Task) -> dict[str, str]:
    model = tables.models.get(task.subject)
    return {"version": _version_of_job(tables, model.job_id), "predictions": model.predictions}


def _rescore_inputs(tables: Tables, task: Task) -> dict[str, str]:
    version = tables.versions.get(task.payload["version_id"])
    return {"model": tables.models.get(task.subject).artefact, "version": version.artefact}


def _suspicion_inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {"version": tables.versions.get(task.subject).artefact}


def _importance_inputs(tables: Tables, task: Task) -> dict[str, str]:
    trained = tables.tasks.get(task.subject)
    model = tables.models.find(task_id=trained.id)
    if model is None:
        raise EasemlError("This task has trained no model.", where=trained.id)
    return {"version": _version_of_job(tables, model.job_id), "model": model.artefact}


def _no_inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {}


def _version_of_job(tables: Tables, job_id: str) -> str:
    version = tables.versions.get(tables.jobs.get(job_id).version_id)
    if not version.artefact:
        raise EasemlError("The version of this job has no tables.", where=version.id)
    return version.artefact


_Recorder = Callable[[Transaction, Task, TaskResult, Mapping[str, str]], None]

_INPUTS: dict[str, Callable[[Tables, Task], dict[str, str]]] = {
    "ingest-upload": _upload_inputs,
    "ingest-declare": _declare_inputs,
    "ingest-feed": _feed_inputs,
    "ingest-refine": _parent_inputs,
    "train": _train_inputs,
    "test-quality": _reading_inputs,
    "rescore": _rescore_inputs,
    "suspicion": _suspicion_inputs,
    "importance": _importance_inputs,
    "check-module": _no_inputs,
}
_RECORD: dict[str, _Recorder] = {
    "ingest-upload": _accept_upload,
    "ingest-declare": _accept_declared,
    "ingest-feed": _accept_changed,
    "ingest-refine": _accept_changed,
    "train": _accept_trained,
    "test-quality": _accept_reading,
    "rescore": _accept_rescored,
    "suspicion": _accept_suspicion,
    "importance": _accept_importance,
    "check-module": _accept_checks,
}
_VERSION = (("version",), ("columns", "schema_in", "schema_out", "summary"))
_PROMISED = {  # kind -> outputs, values
    "ingest-upload": (("table",), ("columns",)),
    "ingest-declare": _VERSION,
    "ingest-feed": _VERSION,
    "ingest-refine": _VERSION,
    "train": (("model", "predictions"), ("quality",)),
    "test-quality": ((), ("value", "low", "high", "rows")),
    "rescore": ((), ("quality",)),
    "suspicion": (("suspicion",), ()),
    "importance": ((), ("importance",)),
    "check-module": ((), ("checks",)),
}
