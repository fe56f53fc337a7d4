"""What to do next, answered at once from what was kept."""

from collections.abc import Sequence
from dataclasses import asdict

from easeml.contract import applications as contract
from easeml.contract.journey import Action, GoalPart, Journey, JourneyQuestion, Station
from easeml.contract.reports import Report
from easeml.lifecycle import journey
from easeml.service.access.caller import Caller
from easeml.service.advice import tools
from easeml.service.applications import application_views
from easeml.service.journey import application_facts, goals, suggested
from easeml.service.models import adapting, watching
from easeml.store import Store, Tables
from easeml.store.records import Application, Json

_TOOLS = {
    "ask-feasibility": goals.TOOL,
    "ask-label-errors": "label-errors",
    "ask-meter": "meter",
    "debug": "debug",
}


def get(store: Store, caller: Caller, application_id: str) -> Journey:
    """Return where an application stands and at most three actions, the first one first.

    It is told from what was kept: reports, the search, the data's counts. What lacks is an action
    that asks for it. Raises ``NotFound``.
    """
    return told(store, caller, application_id)[1]


def told(store: Store, caller: Caller, application_id: str) -> tuple[contract.Application, Journey]:
    """Return the resource of an application and its journey; what is suggested first is recorded.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        shown = application_views.show(tx, caller, application)
        reports = tools.newest_of_each_tool(tables, application.id)
        answers = tools.show_all(store, reports)
        journey = of(store, tables, application, shown, answers)
        new = suggested.not_recorded(tables, application, journey.actions)
    if new and shown.job is not None:
        with store.write() as tx:
            suggested.record(tx, application, shown.job, new)
    return shown, journey


def of(
    store: Store,
    tables: Tables,
    application: Application,
    shown: contract.Application,
    reports: Sequence[Report],
) -> Journey:
    """Return the journey of an application whose resource and newest reports are at hand."""
    goal = goals.newest(tables, application.id)
    moved = watching.what_moved(store, tables, application)
    if moved and not adapting.has_rows(tables, application):
        moved = ""
    facts = application_facts.facts_of(tables, application, shown, reports, goal, moved)
    actions = journey.next_actions(facts)
    return Journey(
        application_id=application.id,
        goal=goals.show(goal, application).model_copy(update={"parts": _parts(facts)}),
        reached=facts.is_reached,
        proven=facts.is_proven,
        actions=[_action(one, goals.asked(goal, application)) for one in actions],
        stations=[Station(**asdict(one)) for one in journey.rail(facts, actions)],
        questions=[JourneyQuestion(**asdict(one)) for one in journey.questions(facts, actions)],
    )


def _parts(facts: journey.Facts) -> list[GoalPart]:
    found = []
    for part in facts.parts:
        asked = part.condition
        found.append(
            GoalPart(text=asked.text, measure=asked.measure, now=part.value, holds=part.holds)
        )
    return found


def _action(action: journey.Action, asked: Json) -> Action:
    """Return the resource of an action. ``asked``: what feasibility is asked about the goal."""
    gain = action.gain
    tool = _TOOLS.get(action.kind, "")
    value, interval = (None, None) if gain is None else (gain.value, [gain.low, gain.high])
    reckoned = action.reckoned
    return Action(
        kind=action.kind,
        title=action.title,
        reason=action.reason,
        gain=value,
        interval=interval,
        reckoned=None if reckoned is None else [reckoned.value, reckoned.low, reckoned.high],
        human_minutes=action.human_minutes,
        device_seconds=action.device_seconds,
        evidence=list(action.evidence),
        tool=tool,
        parameters=asked if tool == goals.TOOL else {},
    )
