"""Goals of applications: set and changed at any time; feasibility is asked about them by itself."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from easeml.contract.journey import Goal, asked_of_goal
from easeml.contract.states import VersionState
from easeml.ids import new_id
from easeml.lifecycle import journey
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models, tools
from easeml.service.applications import further_measures
from easeml.service.journey import feasible
from easeml.service.journey.feasible import TOOL
from easeml.service.knowledge import knowledge_base
from easeml.store import Store, Tables, Transaction, records
from easeml.store.records import Application, DatasetVersion, Json

Text = Annotated[
    str,
    Field(max_length=200, description='such as "balanced-accuracy >= 0.9"; empty takes it back'),
]


def get(store: Store, caller: Caller, application_id: str) -> Goal:
    """Return the goal of an application; its text is empty where none is set. Raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        return show(newest(tables, application.id), application)


def set_goal(store: Store, caller: Caller, application_id: str, goal: Text) -> Goal:
    """Set what an application is to reach, and ask whether it can be reached.

    Raises ``NotFound``, and ``InvalidInput`` for a text that is no goal or an objective that does
    not fit the target. The same goal again changes nothing.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        version = tables.versions.get(application.version_id)
        before = show(newest(tables, application.id), application)
        if goal.strip() == before.text:
            return before
        record = _record(caller, application, version, goal.strip())
        measures = _measures(tx, application, record.text)
        record = tables.goals.add(record)
        if measures:
            further_measures.add(tx, application, measures)
        tx.events.append(
            "application.goal", application.id, {"goal": record.text}, caller.tenant_id
        )
        if version.state == VersionState.READY:
            ask_feasibility(tx, application, version)
        return show(record, application)


def newest(tables: Tables, application_id: str) -> records.Goal | None:
    """Return the goal that counts; None where none was set, or the last was taken back."""
    last = tables.goals.newest(application_id=application_id)
    if last is None or not last.text:
        return None
    return last


def show(goal: records.Goal | None, application: Application) -> Goal:
    """Return the resource of a goal."""
    if goal is None or not goal.text:
        return Goal()
    return Goal(
        text=goal.text,
        objective=goal.objective or application.objective,
        value=goal.value,
        set_by=goal.user_id,
        created=goal.created,
    )


def data_is_ready(tx: Transaction, version: DatasetVersion) -> None:
    """Ask about the goals of the applications whose data has just become ready."""
    tables = tx.scoped(version.tenant_id)
    for application in tables.applications.list(version_id=version.id, limit=None):
        ask_feasibility(tx, application, version)


def ask_feasibility(tx: Transaction, application: Application, version: DatasetVersion) -> None:
    """Write the task that asks whether the goal can be reached; nothing where there is no goal.

    The tool sees train and validation rows, never test rows. A goal that it cannot judge is left
    out of the question: it then says what the best accuracy or R2 is. After few answers of people
    what was found holds, and nothing is asked. Nor is it asked of a forecast or of rows that
    have several answers, which it cannot judge.
    """
    tables = tx.scoped(application.tenant_id)
    goal = newest(tables, application.id)
    has_several = version.target_type in asked_models.SEVERAL
    if goal is None or has_several or application.rules.forecast:
        return
    parameters = asked(goal, application)
    is_known = _is_answered(tables, application, parameters)
    if not is_known and not feasible.is_followed(tables, application, parameters):
        tools.request(tx, application, version, tools.Question(TOOL, parameters))


def asked(goal: records.Goal | None, application: Application) -> Json:
    """Return what feasibility is asked about a goal; nothing of one that it cannot judge."""
    if goal is None:
        return {}
    return asked_of_goal(goal.objective or application.objective, goal.value)


def _is_answered(tables: Tables, application: Application, parameters: Json) -> bool:
    """Was the same asked about the data as it is now?"""
    found = tables.reports.list(
        kind=TOOL, subject=application.id, version_id=application.version_id, limit=None
    )
    return parameters in [tools.Answered.from_json(report.value).parameters for report in found]


def _record(
    caller: Caller, application: Application, version: DatasetVersion, text: str
) -> records.Goal:
    record = records.Goal(
        id=new_id("goal"),
        tenant_id=application.tenant_id,
        application_id=application.id,
        user_id=caller.user_id,
        text=text,
    )
    if not text:
        return record
    read = journey.read_goal(text)
    is_family = application.objective.startswith(f"{read.objective}(")
    if is_family:  # such as a goal of cost, where the table of costs is the objective's
        read = replace(read, objective="")
    unit = read.objective or application.objective
    if unit != application.objective:
        _check_objective(unit, version)
    read.of(unit)  # or it is refused
    return replace(record, objective=read.objective, value=read.value, wants_less=read.wants_less)


def _measures(tx: Transaction, application: Application, text: str) -> list[str]:
    """Return what models have to be measured by for the further parts of a goal.

    Raises ``InvalidInput`` for a measure that there is not.
    """
    if not text:
        return []
    taken = (journey.LATENCY, journey.SIZE)
    parts = journey.read_further(text)
    asked = [part.measure for part in parts if part.measure not in taken]
    return [further_measures.checked(tx, application, name) for name in asked]


def _check_objective(name: str, version: DatasetVersion) -> None:
    names = [one.name for one in load_registry().objectives_for(version.schema_out)]
    message = f"The objective {name!r} does not fit this target."
    knowledge_base.check_known(name, names, message, "goal")
