"""A goal as people write it: ``0.9``, ``AUC 0.9``, ``error below 5 %``, ``error under 5 minutes``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from easeml.errors import InvalidInput
from easeml.objective_names import is_known, meant

from .conditions import Condition, parts_of, read_further
from .statements import LESS, MORE, Statement, read_statement

_ERROR = "error"  # the share of rows that are predicted wrong: 1 - accuracy
_AMOUNT = "rmse"  # what an error is that has a unit or is more than 1, as of numbers
_REMEDY = 'Write a number, or, say, "balanced-accuracy >= 0.9" or "error below 5 minutes".'
_ERRORS = frozenset({_ERROR, _AMOUNT, "mean-absolute-error"})  # less is meant where no side is told
_AT_MOST_ONE = frozenset({"accuracy", "balanced-accuracy", "r2"})


@dataclass(frozen=True)
class Goal:
    """What is to be reached.

    ``objective``: its name; empty where the default of the target is meant. ``value``: in the
    objective's own unit. ``text``: as it was written. ``wants_less``: less is better; None where
    the text does not say. ``parts``: what has to hold as well.
    """

    objective: str
    value: float
    text: str
    wants_less: bool | None = None
    parts: tuple[Condition, ...] = ()

    def of(self, objective: str) -> Goal:
        """Return the goal with its objective: ``objective`` where it names none.

        Raises InvalidInput where it is beyond the best there is, or asks for the wrong side.
        """
        named = replace(self, objective=self.objective or objective)
        _check_its_side(named)
        if named.objective in _AT_MOST_ONE and named.value > 1:
            raise InvalidInput(
                f"{self.text!r} is beyond the best there is.",
                where="goal",
                remedy=f"The best {named.objective} is 1: write 0.9 or 90 %.",
            )
        return named


def read_goal(text: str) -> Goal:
    """Return the goal that ``text`` states: a number, and an objective's name and a side if told.

    What follows ``and`` are further conditions (``conditions``).

    Raises InvalidInput where it states none, or wants a low accuracy or a high error.
    """
    first = parts_of(text)[0]
    return replace(_read_first(first), text=text, parts=read_further(text))


def _read_first(text: str) -> Goal:
    stated = read_statement(text)
    if stated is None or not _may_be_named(stated.name):
        raise InvalidInput(f"{text!r} is not a goal.", where="goal", remedy=_REMEDY)
    objective = meant(stated.name)
    says_more = stated.side in MORE
    wants_less = stated.side in LESS or (objective in _ERRORS and not says_more)
    if stated.unit and not wants_less:
        message = f"{text!r} has a unit, which only errors have."
        raise InvalidInput(message, where="goal", remedy=_REMEDY)
    if objective == _ERROR:
        _check_side(wants_less, text, "An error is to be small", "error <= 0.05")
        return _of_error(stated, text)
    goal = Goal(objective, stated.value, text, wants_less=True)
    if not wants_less:
        goal = replace(goal, wants_less=False if says_more else None)
    _check_its_side(goal)
    return goal


def _of_error(stated: Statement, text: str) -> Goal:
    """Return a goal of an error: of numbers where it has a unit or is more than 1, else a share."""
    if stated.unit or stated.value > 1:
        return Goal(_AMOUNT, stated.value, text, wants_less=True)
    return Goal("accuracy", 1 - stated.value, text, wants_less=False)


def _may_be_named(name: str) -> bool:
    """Whether an objective may be called so; of what holds a class or a column, one of easeml's."""
    first, bracket, _ = name.partition("(")
    if bracket:
        return is_known(first)
    return not name or name[0].isalpha()


def _check_its_side(goal: Goal) -> None:
    name = goal.objective
    if name in _AT_MOST_ONE:
        example = f"{name} >= 0.9"
        _check_side(goal.wants_less is not True, goal.text, f"More {name} is better", example)
    if name in _ERRORS:
        is_right = goal.wants_less is not False
        _check_side(is_right, goal.text, "An error is to be small", f"{name} <= 5")


def _check_side(is_right: bool, text: str, reason: str, example: str) -> None:
    if not is_right:
        message = f"{text!r} asks for the wrong side. {reason}."
        raise InvalidInput(message, where="goal", remedy=f'Write, say, "{example}".')
