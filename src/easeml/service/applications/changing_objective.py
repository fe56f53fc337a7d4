"""Another objective for an application: a new search, which begins with what was trained before.

Every model keeps what it predicted of validation rows, so all of them are judged by the other
objective at once, and none is trained again (``search.kept_results``). What serves goes on until one
that is as good by the new objective takes its place.
"""

from dataclasses import replace

from easeml.contract.applications import Declaration
from easeml.contract.objectives import NewObjective, ObjectiveChoice
from easeml.contract.states import ApplicationState, RolloutState, TaskGroup, VersionState
from easeml.errors import Conflict, InvalidInput
from easeml.ids import new_id
from easeml.modules import Module, Registry, labels_of
from easeml.modules.calls import read_call
from easeml.schema import Schema
from easeml.service.access.caller import Caller
from easeml.service.advice import rescoring
from easeml.service.applications import objectives
from easeml.service.gates import kept as kept_gates
from easeml.service.knowledge import knowledge_base
from easeml.service.rollouts import after_release
from easeml.service.rollouts import kept as kept_rollouts
from easeml.service.search import jobs, kept_results
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Goal

EVENT = "application.objective"
_MOST_MEASURES = 12  # of an application
_CANCELLED = "The application has another objective now."


def get(store: Store, caller: Caller, application_id: str) -> ObjectiveChoice:
    """Return what the models of an application are judged by, and what a change would mean.

    Raises ``NotFound``, and ``Conflict`` before the data is ready.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return _show(tx, tables, tables.applications.get(application_id))


def change(
    store: Store, caller: Caller, application_id: str, wish: NewObjective
) -> ObjectiveChoice:
    """Judge the models of an application by another objective, and search on by it.

    What was trained is judged at once by what it predicted; nothing is trained again, and what runs
    is cancelled. The endpoint goes on answering. The same objective again changes nothing.

    Raises ``NotFound``; ``InvalidInput`` for an objective that there is not or that does not fit
    the target; ``Conflict`` before the data is ready, and where the application has failed.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.hold(application_id)
        version = _ready_version(tables, application)
        registry = knowledge_base.of_tenant(tx, caller.tenant_id)
        objective = _chosen(registry, version, wish, application.rules.weight)
        if objective.name != application.objective:
            application = _change(tx, tables, application, objective.name)
        return _show(tx, tables, application)


def _change(
    tx: Transaction, tables: Tables, application: Application, objective: str
) -> Application:
    """Write that another objective counts, and begin a search by it."""
    before = application.objective
    for job in tables.jobs.list(application_id=application.id, objective="", limit=None):
        tables.jobs.update(job.id, objective=before)
    measures = _bind_goal(tables, application)
    rules = replace(application.rules, measures=measures)
    application = tables.applications.update(application.id, objective=objective, rules=rules)
    data = {"objective": objective, "before": before}
    tx.events.append(EVENT, application.id, data, application.tenant_id)
    _stop_rollout(tx, tables, application)
    last = jobs.current(tables, application.id)
    if last is not None:
        requests.cancel(tx, tables, _CANCELLED, job_id=last.id, kind=TaskGroup.TRAIN)
        job = jobs.begin_again(tx, last, application.version_id)
        kept_results.request(tx, application, job)
    rescoring.request(tx, application)
    return application


def _bind_goal(tables: Tables, application: Application) -> list[str]:
    """Let a goal that was about the objective stay so; return what models are measured by for it."""
    goal = _goal(tables, application)
    measures = application.rules.measures
    if goal is None or goal.objective not in ("", application.objective):
        return measures
    if not goal.objective:
        tables.goals.add(replace(goal, id=new_id("goal"), objective=application.objective))
    is_of_family = read_call(application.objective) is not None
    if not is_of_family or len(measures) >= _MOST_MEASURES:
        return measures  # models are measured by all other objectives in any case
    return list(dict.fromkeys([*measures, application.objective]))


def _stop_rollout(tx: Transaction, tables: Tables, application: Application) -> None:
    """End a comparison of two models of which the former objective held one to be better."""
    rollout = kept_rollouts.running(tables, application.id)
    if rollout is not None:
        kept_rollouts.end(tx, rollout, RolloutState.STOPPED, _CANCELLED)
    after_release.stop(tx, application, _CANCELLED)


def _ready_version(tables: Tables, application: Application) -> DatasetVersion:
    """Return the version in use. Raises ``Conflict`` where nothing can be judged on it."""
    version = tables.versions.get(application.version_id)
    if version.state == VersionState.READY and application.state != ApplicationState.FAILED:
        return version
    if application.state == ApplicationState.FAILED or version.state == VersionState.FAILED:
        raise Conflict(
            "This application has failed.", where=application.id, remedy="Declare it again."
        )
    raise Conflict("The data is being prepared.", remedy="Try again in a moment.")


def _chosen(registry: Registry, version: DatasetVersion, wish: NewObjective, weight: str) -> Module:
    if wish.objective is None and wish.costs is None:
        raise InvalidInput("Name the objective, or give costs.", where="objective")
    target = Schema.from_json(version.schema_out)
    told = {"dataset_id": version.dataset_id, "weight": weight, **wish.model_dump()}
    declaration = Declaration.model_validate(told)
    fitting = registry.objectives_for(target, weighted=bool(weight))
    return objectives.chosen(declaration, fitting, registry, target)


def _show(tx: Transaction, tables: Tables, application: Application) -> ObjectiveChoice:
    version = _ready_version(tables, application)
    registry = knowledge_base.of_tenant(tx, application.tenant_id)
    target = Schema.from_json(version.schema_out)
    chosen = registry.get(application.objective)
    fitting = registry.objectives_for(target, weighted=bool(application.rules.weight))
    job = jobs.current(tables, application.id)
    return ObjectiveChoice(
        application_id=application.id,
        objective=chosen.name,
        title=chosen.title,
        options=objectives.options(fitting, chosen),
        families=objectives.families(registry, target),
        labels=labels_of(version.schema_out) or [],
        kept=len(kept_results.kept_models(tables, application)),
        judging=job is not None and kept_results.is_under_way(tables, job),
        remarks=_remarks(tables, application),
    )


def _remarks(tables: Tables, application: Application) -> list[str]:
    """Return what a change of the objective leaves as it is."""
    remarks = []
    goal = _goal(tables, application)
    if goal is not None:
        remarks.append(_goal_stays(goal, application))
    if kept_gates.active(tables, application.id) is not None:
        remarks.append("The gate stays: what it proves does not follow the objective.")
    if application.pinned:
        remarks.append("What serves is pinned: it goes on serving until it is unpinned.")
    return remarks


def _goal(tables: Tables, application: Application) -> Goal | None:
    """Return the goal that counts; None where there is none, or it was taken back."""
    last = tables.goals.newest(application_id=application.id)
    if last is None or not last.text:
        return None
    return last


def _goal_stays(goal: Goal, application: Application) -> str:
    objective = goal.objective or application.objective
    if objective == application.objective:
        return f"The goal {goal.text!r} is by {objective}, and stays so with another objective."
    return f"The goal {goal.text!r} is by {objective}, not by {application.objective}."
