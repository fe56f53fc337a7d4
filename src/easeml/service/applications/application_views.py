"""Applications, to look at: what a page of them needs is read in a few statements for all."""

from dataclasses import dataclass

from easeml.contract.applications import AfterRelease, Live, TestQuality
from easeml.contract.applications import Application as ApplicationAnswer
from easeml.contract.models import TrainedModel
from easeml.contract.permissions import in_order
from easeml.contract.states import TaskState
from easeml.service.access.caller import Caller
from easeml.service.advice import test_quality
from easeml.service.applications import forecasts
from easeml.service.gates import kept
from easeml.service.knowledge import knowledge_base
from easeml.service.models.trained_models import show_models
from easeml.service.rollouts import after_release
from easeml.service.search import jobs, summaries, waiting
from easeml.service.search.summaries import Summary
from easeml.service.search.waiting import Waiting
from easeml.store import Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Job, Json


def show(tx: Transaction, caller: Caller, application: Application) -> ApplicationAnswer:
    """Return the resource of an application, as the caller may see it.

    It has the live model, the honest quality, and the newest job with what that does.
    """
    return show_all(tx, caller, [application])[0]


def show_all(
    tx: Transaction, caller: Caller, applications: list[Application]
) -> list[ApplicationAnswer]:
    """Return the resources of applications of one tenant, in their order."""
    if not applications:
        return []
    loaded = _load(tx, applications)
    seen = {"may": in_order(caller.may), "shared": caller.granted is not None}
    return [loaded.show(one).model_copy(update=seen) for one in applications]


@dataclass(frozen=True, slots=True)
class _Search:
    """The newest job of an application, and what it does."""

    job: Job
    summary: Summary
    waits: Waiting | None

    def shown(self) -> Json:
        """Return the fields of an application's resource that are of its search."""
        return {
            "job": jobs.show_summary(self.job, self.summary, self.waits),
            "running": self.summary.names_in_state(TaskState.RUNNING),
            "next": self.summary.names_in_state(TaskState.WAITING),
        }


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What resources of applications show beside their records.

    ``searches``, ``tested``: by application; the others by their own ids and names.
    """

    versions: dict[str, DatasetVersion]
    searches: dict[str, _Search]
    live: dict[str, TrainedModel]
    tested: dict[str, TestQuality]
    gated: set[str]
    titles: dict[str, tuple[str, str]]
    released: dict[str, list[AfterRelease]]

    def show(self, application: Application) -> ApplicationAnswer:
        version = self.versions[application.version_id]
        live = self.live.get(application.live_model_id)
        title, about = self.titles[application.objective]
        shown = ApplicationAnswer(
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
            weight=application.rules.weight,
            forecast=forecasts.shown(application.rules),
            endpoint=f"/api/v1/applications/{application.id}/predict",
            live_model=live,
            released=self.released.get(application.id, []),
            pinned=application.pinned,
            follows=application.follows,
            gated=application.id in self.gated,
            test_quality=self.tested.get(application.id),
            schema_in=forecasts.asked_schema(version.schema_in, application.rules),
            schema_out=version.schema_out,
            notes=version.summary.notes,
            leaks=_leaks(version, application.target),
            error=version.error,
            created=application.created,
        )
        update: Json = {}
        if live is not None:
            update = {"live": _serving(live), "notes": [*version.summary.notes, *live.notes]}
        search = self.searches.get(application.id)
        if search is not None:
            update |= {**search.shown(), "error": version.error or search.job.error}
        return shown.model_copy(update=update)


def _load(tx: Transaction, applications: list[Application]) -> _Loaded:
    """Read what is shown of applications of one tenant, in a few statements for all of them."""
    tables = tx.scoped(applications[0].tenant_id)
    ids = [application.id for application in applications]
    version_ids = [application.version_id for application in applications]
    return _Loaded(
        tables.versions.by_id(id=version_ids),
        _searches(tx, tables, ids),
        _live_models(tables, applications),
        test_quality.readings(tables, applications),
        kept.gated(tables, ids),
        knowledge_base.objectives(tx, [application.objective for application in applications]),
        after_release.shown(tables, ids),
    )


def _searches(tx: Transaction, tables: Tables, application_ids: list[str]) -> dict[str, _Search]:
    """Return the newest search of each application that has one, by the application."""
    newest = jobs.newest_by_application(tables, application_ids)
    loaded = summaries.load(tables, [job.id for job in newest.values()])
    reasons = waiting.reasons(tx, list(newest.values()))
    found = {}
    for application_id, job in newest.items():
        found[application_id] = _Search(job, loaded[job.id], reasons.get(job.id))
    return found


def _live_models(tables: Tables, applications: list[Application]) -> dict[str, TrainedModel]:
    """Return the models that serve, by id."""
    ids = [application.live_model_id for application in applications]
    shown = show_models(tables, tables.models.list(id=ids, limit=None))
    return {model.id: model for model in shown}


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
