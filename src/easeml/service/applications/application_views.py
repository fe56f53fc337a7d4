"""Applications, to look at: what a page of them needs is read in a few statements for all."""

from easeml.contract.applications import Application as ApplicationAnswer
from easeml.contract.applications import Live, TestQuality
from easeml.contract.models import TrainedModel
from easeml.contract.states import TaskState
from easeml.service.advice import test_quality
from easeml.service.gates import kept
from easeml.service.knowledge import knowledge_base
from easeml.service.models.trained_models import show_models
from easeml.service.search import jobs, summaries, waiting
from easeml.service.search.summaries import Summary
from easeml.service.search.waiting import Waiting
from easeml.store import Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Job


def show(tx: Transaction, application: Application) -> ApplicationAnswer:
    """Return the resource of an application.

    It has the live model, the honest quality, and the newest job with what that does.
    """
    return show_all(tx, [application])[0]


def show_all(tx: Transaction, applications: list[Application]) -> list[ApplicationAnswer]:
    """Return the resources of applications of one tenant, in their order."""
    if not applications:
        return []
    tables = tx.scoped(applications[0].tenant_id)
    version_ids = [application.version_id for application in applications]
    found = tables.versions.list(id=version_ids, limit=None)
    versions = {version.id: version for version in found}
    newest = jobs.newest_by_application(tables, [application.id for application in applications])
    searches = summaries.load(tables, [job.id for job in newest.values()])
    reasons = waiting.reasons(tx, list(newest.values()))
    live = _live_models(tables, applications)
    qualities = test_quality.readings(tables, applications)
    gated = kept.gated(tables, [application.id for application in applications])
    titles = knowledge_base.objectives(tx, [one.objective for one in applications])
    shown = []
    for application in applications:
        job = newest.get(application.id)
        shown.append(
            _show(
                application,
                versions[application.version_id],
                live.get(application.live_model_id),
                qualities.get(application.id),
                application.id in gated,
                job,
                searches[job.id] if job else None,
                reasons.get(job.id) if job else None,
                titles[application.objective],
            )
        )
    return shown


def _live_models(tables: Tables, applications: list[Application]) -> dict[str, TrainedModel]:
    """Return the models that serve, by id."""
    ids = [application.live_model_id for application in applications if application.live_model_id]
    found = tables.models.list(id=ids, limit=None)
    shown = show_models(tables, found)
    return {model.id: model for model in shown}


def _show(
    application: Application,
    version: DatasetVersion,
    live: TrainedModel | None,
    quality: TestQuality | None,
    is_gated: bool,
    job: Job | None,
    search: Summary | None,
    waits: Waiting | None,
    told: tuple[str, str],
) -> ApplicationAnswer:
    title, about = told
    live_notes = live.notes if live else []
    return ApplicationAnswer(
        id=application.id,
        name=application.name,
        state=application.state,
        dataset_id=application.dataset_id,
        version_id=application.version_id,
        target=application.target,
        objective=application.objective,
        objective_title=title,
        objective_about=about,
        left_out=application.rules.exclude,
        constrained=application.rules.constrain,
        endpoint=f"/api/v1/applications/{application.id}/predict",
        live_model=live,
        live=_serving(live) if live else None,
        pinned=application.pinned,
        follows=application.follows,
        gated=is_gated,
        test_quality=quality,
        job=jobs.show_summary(job, search, waits) if job and search else None,
        running=search.names_in_state(TaskState.RUNNING) if search else [],
        next=search.names_in_state(TaskState.WAITING) if search else [],
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        notes=[*version.summary.notes, *live_notes],
        leaks=_leaks(version, application.target),
        error=version.error or (job.error if job else ""),
        created=application.created,
    )


def _leaks(version: DatasetVersion, target: str) -> dict[str, str]:
    """Return the columns in use that may know the target, each with what shows it."""
    found = {}
    for column in version.columns:
        why = column.get("leaks", {}).get(target)
        if why and column["role"] == "input":
            found[column["name"]] = why
    return found


def _serving(model: TrainedModel) -> Live:
    return Live(
        model=model.name,
        model_id=model.id,
        refitted=model.refitted,
        ensemble=model.members,
    )
