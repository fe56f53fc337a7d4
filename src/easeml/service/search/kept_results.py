"""Results that a search has from the one before, whose models are judged by another objective.

Nothing is trained again: a task judges what the models predicted of validation rows, and the search
gets a result for each, which cost nothing. Such a result is a training task that is done and had no
attempt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from easeml.contract.states import TaskGroup, TaskState
from easeml.ids import new_id
from easeml.modules.target import CHOSEN_FOR
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction, id_of
from easeml.store.records import Application, Candidate, Job, Task, TrainedModel
from easeml.store.shapes import Shape

KIND = "judge-again"
_IMPORT = "import-model"  # the kind of task that takes in what was trained elsewhere


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: the objective's text, where it is not installed."""

    objective_source: str = ""


def request(tx: Transaction, application: Application, job: Job) -> Task | None:
    """Have the models that were trained on a search's data judged by its application's objective.

    None where there are none.
    """
    tables = tx.scoped(application.tenant_id)
    models = kept_models(tables, application)
    if not models:
        return None
    version = tables.versions.get(job.version_id)
    return requests.request(
        tx,
        application.tenant_id,
        KIND,
        job.id,
        job_id=job.id,
        objective=application.objective,
        schema_out=version.schema_out,
        models=[model.id for model in models],
        measures=application.rules.measures,
    )


def is_under_way(tables: Tables, job: Job) -> bool:
    """Tell whether models are being judged for a search, which waits for that."""
    return bool(requests.under_way(tables, KIND, job.id))


def count(tables: Tables, job_id: str) -> int:
    """Return how many results a search has that it did not train."""
    return tables.tasks.count(job_id=job_id, kind=TaskGroup.TRAIN, state=TaskState.DONE, attempts=0)


def kept_models(tables: Tables, application: Application) -> list[TrainedModel]:
    """Return the models whose predictions another objective can judge, in the order of training.

    They have their files, and are of candidates of the newest search on the application's version,
    or imported. Of the same candidate the newest is taken; ensembles are put together anew.
    """
    here: dict[str, Any] = {
        "application_id": application.id,
        "version_id": application.version_id,
    }
    searches = tables.jobs.column("id", **here)
    before = _candidates_before(tables, application)
    models = tables.models.list(job_id=searches, error="", limit=None)
    candidates = tables.candidates.by_id(id=[model.candidate_id for model in models])
    newest: dict[str, TrainedModel] = {}
    for model in models:
        candidate = candidates.get(model.candidate_id)
        known = _what(candidate) if candidate else model.artefact
        is_known = known in before or _is_imported(tables, model)
        if is_known and model.artefact and model.predictions:
            newest[known] = model
    return sorted(newest.values(), key=lambda model: model.id)


def _is_imported(tables: Tables, model: TrainedModel) -> bool:
    """Tell whether a model was trained elsewhere."""
    return not model.candidate_id and tables.tasks.get(model.task_id).spec_kind == _IMPORT


def _candidates_before(tables: Tables, application: Application) -> dict[str, Candidate]:
    """Return the candidates that a search on the application's version has, the newest with any.

    By what they are, in the order of its arms.
    """
    here: dict[str, Any] = {
        "application_id": application.id,
        "version_id": application.version_id,
    }
    for job in tables.jobs.list(newest_first=True, limit=None, **here):
        found = tables.candidates.list(job_id=job.id, limit=None)
        if found:
            found.sort(key=lambda candidate: candidate.arm)
            return {_what(candidate): candidate for candidate in found}
    return {}


def record(
    tx: Transaction,
    task: Task,
    judged: Mapping[str, dict[str, Any]],
    files: Mapping[str, Mapping[str, str]],
) -> None:
    """Give the search of ``task`` the arms of the one before, and a result for each model.

    ``judged``: what was found, by model; ``files``: digests of what says other labels now.
    """
    tables = tx.scoped(task.tenant_id)
    job = tables.jobs.get(task.job_id)
    application = tables.applications.get(job.application_id)
    models = tables.models.by_id(id=list(judged))
    trained = tables.tasks.by_id(id=[model.task_id for model in models.values()])
    arms = _add_arms(tables, application, job)
    of_models = tables.candidates.by_id(id=[model.candidate_id for model in models.values()])
    for model in models.values():
        candidate = of_models.get(model.candidate_id)
        arm = arms[_what(candidate)] if candidate else None
        found = judged[model.id]
        done = trained[model.task_id]
        result = tables.tasks.add(_result(tx, job, done, id_of(arm), found, task))
        tables.models.add(_judged(model, job, result, found, files.get(model.id, {})))
    told = {"kept": len(models)}
    tables.tasks.update(task.id, result=told)  # each result has its own part
    data = {"application_id": job.application_id, **told}
    tx.events.append("job.results-kept", job.id, data, job.tenant_id)


def _add_arms(tables: Tables, application: Application, job: Job) -> dict[str, Candidate]:
    """Give a search the candidates of the one before it; return them by what they are."""
    arms = {}
    for what, candidate in _candidates_before(tables, application).items():
        again = replace(candidate, id=new_id("cand"), job_id=job.id, arm=len(arms), created=0.0)
        arms[what] = again
    tables.candidates.add_all(list(arms.values()))
    return arms


def _result(
    tx: Transaction, job: Job, done: Task, candidate_id: str, found: dict[str, Any], task: Task
) -> Task:
    """Return a training task that is done, with what was found of its model."""
    source = Asked.from_json(task.payload).objective_source
    told = {"objective": task.objective, "objective_source": source}
    now = tx.now()
    return replace(
        done,
        id=new_id("task"),
        job_id=job.id,
        candidate_id=candidate_id,
        payload={**done.payload, **told},
        result={**done.result, **found, "kept_from": done.id},
        quality=float(found["quality"]),
        measure=found["measures"].get(task.objective, {}),
        attempts=0,
        cost=0.0,
        lost=0.0,
        suspensions=0,
        created=now,
        started=now,
        finished=now,
    )


def _judged(
    model: TrainedModel,
    job: Job,
    result: Task,
    found: dict[str, Any],
    written: Mapping[str, str],
) -> TrainedModel:
    """Return a model as it is judged now.

    Where it says other labels it is ``written`` anew, and what was fitted on all rows is not it.
    """
    kept = [note for note in model.notes if not note.startswith(CHOSEN_FOR)]
    judged = replace(
        model,
        id=new_id("mod"),
        job_id=job.id,
        task_id=result.id,
        candidate_id=result.candidate_id,
        quality=float(found["quality"]),
        metrics=found["metrics"],
        held_out=found.get("held_out"),
        measures={},
        notes=[*found["notes"], *kept],
        created=0.0,
    )
    if not written:
        return judged
    return replace(
        judged,
        artefact=written["model"],
        predictions=written["predictions"],
        evaluation=written["evaluation"],
        refitted="",
        refitted_predictions="",
    )


def _what(candidate: Candidate) -> str:
    """Return transforms, model and configuration as text: what is trained alike has the same."""
    return f"{candidate.variant} {candidate.pipeline}"
