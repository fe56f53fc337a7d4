"""The REST types of the journey: the goal of an application, where it stands, what to do next."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer
from easeml.contract.times import Moment

_JUDGED: dict[str, dict[str, Any]] = {
    "accuracy": {},
    "r2": {},
    "balanced-accuracy": {"of": "balanced-accuracy"},
    "rmse": {"of": "rmse"},
}
"""Objectives whose goals feasibility can judge, with what it is told beside the goal."""


def is_judged(objective: str) -> bool:
    """Can feasibility tell whether a goal of this objective can be reached?"""
    return objective in _JUDGED


FORECAST_IS_NOT_JUDGED = (
    "feasibility looks at each row alone, and a forecast knows the rows before it."
)


def asked_of_goal(objective: str, goal: float | None) -> dict[str, Any]:
    """Return what feasibility is asked about a goal: nothing of one that it cannot judge."""
    if not is_judged(objective):
        return {}
    return {"goal": goal, **_JUDGED[objective]}


class GoalPart(Answer):
    """A further condition of a goal. ``now``: what serves has, on validation rows; null: not known."""

    text: str
    measure: str
    now: float | None = None
    holds: bool = False


class Goal(Answer):
    """What an application is to reach. ``text``: as it was written; empty: there is no goal.

    ``objective``: what it is measured by. ``value``: in the unit of that. ``parts``: what has to hold as
    well; the journey says whether it does.
    """

    text: str = ""
    objective: str = ""
    value: float | None = None
    set_by: str = ""  # id of the user
    created: Moment | None = None
    parts: list[GoalPart] = Field(default_factory=list)


class Action(Answer):
    """Something to do next. ``reason``: why, in words and numbers; ``evidence``: what it rests on.

    ``gain``: of the score (1 is best), with its ``interval``; null where nothing was measured that
    would tell. ``reckoned``: gain, low and high end before they were corrected by what such actions
    brought earlier; null: they were not. ``human_minutes``: a person's time; ``device_seconds``: a
    machine's. ``tool``: the lifecycle tool to ask, with these ``parameters``; empty where the action
    asks none.
    """

    kind: str
    title: str
    reason: str
    gain: float | None = None
    interval: list[float] | None = None
    reckoned: list[float] | None = None
    human_minutes: float = 0.0
    device_seconds: float = 0.0
    evidence: list[str] = Field(default_factory=list)
    tool: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class Station(Answer):
    """A station of the journey.

    ``state``: done, next (the first action is here), open, skipped (nothing can be known there),
    trouble.
    """

    name: str
    state: str
    said: str


class JourneyQuestion(Answer):
    """A question of somebody who knows the data; ``known``: the answer is one, and not what lacks.

    ``tool``: the lifecycle tool that answers in full; empty for none.
    """

    question: str
    answer: str
    known: bool
    tool: str = ""


class Suggestion(Answer):
    """An action that was suggested, what it was reckoned to gain of score, and what came.

    What it was reckoned to gain, before experience with such actions corrected it, and its interval.

    ``came``: null as long as it was not done, or cannot be told. ``within``: whether that lies in
    the interval that was told.
    """

    id: str
    version_id: str
    kind: str
    gain: float | None = None
    interval: list[float] | None = None
    human_minutes: float = 0.0
    device_seconds: float = 0.0
    came: float | None = None
    within: bool | None = None
    created: Moment


class Journey(Answer):
    """Where an application stands: at most three ``actions``, the first one first."""

    application_id: str
    goal: Goal
    reached: bool = False  # on validation rows
    proven: bool = False  # on test rows, with the worse end of the interval
    actions: list[Action]
    stations: list[Station]
    questions: list[JourneyQuestion]
