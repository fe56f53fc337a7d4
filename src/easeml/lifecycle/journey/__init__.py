"""The journey of an application: where it stands, what is known, and what to do next (pure)."""

from easeml.lifecycle.journey.actions import Action, next_actions
from easeml.lifecycle.journey.facts import (
    Estimate,
    Facts,
    Feasible,
    Searched,
    Suspects,
    WorkLeft,
)
from easeml.lifecycle.journey.goals import Goal, read_goal
from easeml.lifecycle.journey.questions import Question, questions
from easeml.lifecycle.journey.stations import Station, rail

__all__ = [
    "Action",
    "Estimate",
    "Facts",
    "Feasible",
    "Goal",
    "Question",
    "Searched",
    "Station",
    "Suspects",
    "WorkLeft",
    "next_actions",
    "questions",
    "rail",
    "read_goal",
]
