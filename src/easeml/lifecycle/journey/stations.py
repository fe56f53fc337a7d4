"""The rail: the stations of an application's journey, and what is known at each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Literal

from easeml.lifecycle.journey.actions import Action
from easeml.lifecycle.journey.facts import Facts, Part
from easeml.lifecycle.journey.phrases import best_of, between, checked_so_far, counted, what_failed
from easeml.objective_names import in_words

State = Literal["done", "next", "open", "skipped", "trouble"]

_OF_KIND = {  # where an action belongs
    "wait": "Data",
    "set-goal": "Goal",
    "lower-goal": "Goal",
    "collect": "Data",
    "feed-told": "Data",
    "ask-feasibility": "Feasible?",
    "clean": "Clean",
    "check-labels": "Clean",
    "ask-label-errors": "Clean",
    "use-answers": "Label",
    "label": "Label",
    "search": "Search",
    "ask-meter": "Check",
    "test-rows": "Check",
    "retire-test-rows": "Check",
    "pick": "Pick",
    "watch": "Watch",
    "adapt": "Watch",
    "debug": "Debug",
}
_TOOL_OF = {
    "Feasible?": "feasibility",
    "Clean": "label-errors",
    "Pick": "pick",
    "Watch": "monitor",
    "Debug": "debug",
}
_UNTOLD = "Its tool does not support this kind of target."
_UNTOLD_OF = {
    "Watch": "For this kind of target, newer rows need their answers. Release and watch shows "
    "how right labels are on rows whose truth came.",
}
_MOST_NAMES = 5  # of columns, in one sentence
_NOTHING = Action("", "", "", None)
_WITH_FIRST_ACTION: dict[State, State] = {
    "done": "next",
    "open": "next",
    "skipped": "next",
    "trouble": "trouble",
}
_OF_SEARCH: dict[str, State] = {"failed": "trouble", "resting": "done", "stopped": "done"}
_OF_METER: dict[str, State] = {"worn out": "trouble"}
_OF_WATCHING: dict[str, State] = {"alert": "trouble", "cannot tell": "open"}


@dataclass(frozen=True, slots=True)
class Station:
    """A station.

    ``said``: what is known there. ``state``: ``done``, ``next`` (the first action is here),
    ``open``, ``skipped`` (nothing can be known there), or ``trouble``.
    """

    name: str
    state: State
    said: str


def rail(facts: Facts, actions: Collection[Action]) -> list[Station]:
    """Return the stations in their order."""
    here = _OF_KIND.get(next(iter(actions), _NOTHING).kind)
    known = (
        _goal(facts),
        _data(facts),
        _feasible(facts),
        _clean(facts),
        _label(facts),
        _search(facts),
        _check(facts),
        _release(facts),
        _pick(facts),
        _watch(facts),
        _debug(facts),
    )
    stations = []
    for name, state, said in map(partial(_if_told, facts), known):
        shown = _WITH_FIRST_ACTION[state] if name == here else state
        stations.append(Station(name, shown, said))
    return stations


Known = tuple[str, State, str]


def _if_told(facts: Facts, known: Known) -> Known:
    """Return what is known of a station; of one whose tool failed, or tells nothing, that."""
    name, state, _ = known
    tool = _TOOL_OF.get(name, "")
    if tool in facts.failed and tool not in facts.asked:
        return name, "trouble", what_failed(facts, tool)
    is_untold = state == "open" and tool in facts.untold
    return (name, "skipped", _UNTOLD_OF.get(name, _UNTOLD)) if is_untold else known


def _goal(facts: Facts) -> Known:
    if facts.goal is None:
        return "Goal", "open", "No goal is set."
    return "Goal", "done", f"{facts.goal.text}: {_how_far(facts)}."


def _how_far(facts: Facts) -> str:
    if facts.is_proven and facts.parts:
        return "the first part is met on test rows, the others on validation rows"
    if facts.is_proven:
        return "met on test rows"
    if facts.is_reached:
        return "met on validation rows"
    missed = "; ".join(map(_missed, facts.failing))
    where = "on test rows" if facts.is_disproven else "yet"
    return f"not met {where}. {missed}".removesuffix(". ")


def _missed(part: Part) -> str:
    if part.value is None:
        return f"{part.condition.measure} is not measured yet"
    return f"{part.condition.measure} is {part.value:.4g}, but the goal is {part.condition.text}"


def _data(facts: Facts) -> Known:
    if not facts.is_ready:
        return "Data", "open", "The data is being prepared."
    parts = [f"{count:,} {role}" for role, count in facts.rows.items() if count]
    rows = f"Rows: {', '.join(parts)}."
    if not facts.leaks:
        return "Data", "done", rows
    shown = ", ".join(map(repr, facts.leaks[:_MOST_NAMES]))
    more = ", ..." if len(facts.leaks) > _MOST_NAMES else ""
    columns = counted(len(facts.leaks), "column")
    said = f"{rows} {columns} may know the answer: {shown}{more}. Are they known when you predict?"
    return "Data", "open", said


def _feasible(facts: Facts) -> Known:
    feasible = facts.feasible
    if "feasibility" in facts.asked:
        return "Feasible?", "open", "easeml is finding out."
    if feasible is None:
        return "Feasible?", "open", "Not studied yet."
    said = best_of(feasible)
    if feasible.verdict:
        said = f"{feasible.verdict.capitalize()}. {said}"
    if feasible.verdict == "unrealistic":
        return "Feasible?", "trouble", said
    state: State = "open" if "feasibility" in facts.stale else "done"
    return "Feasible?", state, said


def _clean(facts: Facts) -> Known:
    holes = ""
    if facts.holes:
        holes = f"Cells are missing in {counted(len(facts.holes), 'column')}."
    suspects = facts.suspects
    if suspects is None:
        looked = "easeml has not looked for wrong labels."
        return "Clean", "open", f"{holes} {looked}".lstrip()
    labels = f"{suspects.listed:,} of {suspects.rows:,} labels look wrong."
    if suspects.checked:
        labels = f"{labels} {checked_so_far(suspects)}."
    is_clean = suspects.listed + len(facts.holes) == 0
    return "Clean", "done" if is_clean else "open", f"{labels} {holes}".rstrip()


def _label(facts: Facts) -> Known:
    pool = facts.count("pool")
    if not pool:
        return "Label", "done", "Every row has an answer."
    return "Label", "open", f"{counted(pool, 'row')} without an answer."


def _search(facts: Facts) -> Known:
    search = facts.search
    if search is None:
        return "Search", "open", "No search has begun."
    said = f"{search.tried} of {search.candidates} candidates tried; {search.state}."
    return "Search", _OF_SEARCH.get(search.state, "open"), said


def _check(facts: Facts) -> Known:
    if facts.tested is None:
        said = "No model was measured on test rows."
        if facts.tested_by:
            by, wanted = in_words(facts.tested_by), in_words(facts.unit)
            said = f"Test rows measured {by}, not {wanted}."
        return "Check", "open", said
    said = f"On test rows: {between(facts.tested, facts.unit)}."
    if facts.meter:
        said += f" Validation rows: {facts.meter}."
    return "Check", _OF_METER.get(facts.meter, "done"), said


def _release(facts: Facts) -> Known:
    if not facts.serves:
        return "Release", "open", "No model serves yet."
    return "Release", "done", "A model serves."


def _pick(facts: Facts) -> Known:
    if facts.picked:
        return "Pick", "done", "You picked the best model on newer rows."
    return "Pick", "open", f"{counted(facts.models, 'model')} could be compared on newer rows."


def _watch(facts: Facts) -> Known:
    if not facts.watched:
        return "Watch", "open", "No newer rows were checked."
    return "Watch", _OF_WATCHING.get(facts.watched, "done"), f"Newer rows: {facts.watched}."


def _debug(facts: Facts) -> Known:
    if facts.watched == "alert":
        return "Debug", "open", "Newer rows differ: find out how."
    if facts.leaks:
        return "Debug", "open", "Columns may know the answer: see Data."
    if not facts.debugged:
        return "Debug", "open", "easeml has not looked for what the mistakes have in common."
    return "Debug", "done", "easeml has looked for what the mistakes have in common."
