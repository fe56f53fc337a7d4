"""The journey of an application: where it stands, what is known, and what to do next (pure)."""

from easeml.goals import LATENCY, SIZE, Condition, Goal, read_further, read_goal
from easeml.lifecycle.journey.actions import (
    FEASIBILITY_SECONDS,
    QUESTION_SECONDS,
    Action,
    check_labels,
    next_actions,
)
from easeml.lifecycle.journey.agreement import Agreement, agreement, settled
from easeml.lifecycle.journey.effort import in_order, learned_seconds
from easeml.lifecycle.journey.experience import Experience, Outcome, experiences
from easeml.lifecycle.journey.facts import (
    Estimate,
    Facts,
    Feasible,
    Part,
    Proposed,
    Searched,
    Suspects,
    WorkLeft,
)
from easeml.lifecycle.journey.questions import Question, questions
from easeml.lifecycle.journey.stations import Station, rail

__all__ = [
    "FEASIBILITY_SECONDS",
    "LATENCY",
    "QUESTION_SECONDS",
    "SIZE",
    "Action",
    "Agreement",
    "Condition",
    "Estimate",
    "Experience",
    "Facts",
    "Feasible",
    "Goal",
    "Outcome",
    "Part",
    "Proposed",
    "Question",
    "Searched",
    "Station",
    "Suspects",
    "WorkLeft",
    "agreement",
    "check_labels",
    "experiences",
    "in_order",
    "learned_seconds",
    "next_actions",
    "questions",
    "rail",
    "read_further",
    "read_goal",
    "settled",
]
