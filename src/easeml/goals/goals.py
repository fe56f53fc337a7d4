"""A goal as people write it: ``0.9``, ``error below 5 %``, ``error below 5 minutes``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from easeml.decimals import with_point
from easeml.errors import InvalidInput
from easeml.objective_names import meant

from .conditions import Condition, parts_of, read_condition

_GOAL = re.compile(
    r"""
    (?: (?P<name> [a-z] [a-z0-9² _-]*? ) \s*
        (?P<side> >= | <= | > | < | = | at\ least | at\ most | above | below ) \s* )?
    (?P<value> [-+]? (?: \d+ [.,]? \d* | [.,]\d+ ) ) \s*
    (?: (?P<percent> % ) | (?P<unit> [^\s\d%] .* ) )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MOST = frozenset({"<=", "<", "at most", "below"})  # sides on which less is wanted
_ERROR = "error"  # the share of rows that are predicted wrong: 1 - accuracy
_AMOUNT = "rmse"  # what an error is that has a unit or is more than 1, as of numbers
_REMEDY = 'Write a number, or, say, "balanced-accuracy >= 0.9" or "error below 5 minutes".'
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

        Raises InvalidInput where it is beyond the best there is.
        """
        named = replace(self, objective=self.objective or objective)
        if named.objective in _AT_MOST_ONE and named.value > 1:
            raise InvalidInput(
                f"{self.text!r} is beyond the best there is.",
                where="goal",
                remedy=f"The best {named.objective} is 1: write 0.9 or 90 %.",
            )
        return named


def read_goal(text: str) -> Goal:
    """Return the goal that ``text`` states: a number, or an objective's name, a side and a number.

    What follows ``and`` are further conditions (``conditions``).

    Raises InvalidInput where it states none, or wants a low accuracy or R2.
    """
    first, *others = parts_of(text)
    parts = tuple(map(read_condition, others))
    return replace(_read_first(first), text=text, parts=parts)


def _read_first(text: str) -> Goal:
    matched = _GOAL.fullmatch(text.strip())
    if matched is None:
        raise InvalidInput(f"{text!r} is not a goal.", where="goal", remedy=_REMEDY)
    found = matched.groupdict("")
    value = float(with_point(found["value"], "goal"))
    if found["percent"]:
        value /= 100

    objective = meant(re.sub(r"[ _-]+", "-", found["name"].strip().lower()))
    side = found["side"].lower()
    wants_less = side in _MOST
    if found["unit"] and not wants_less:
        message = f"{text!r} has a unit, which only errors have."
        raise InvalidInput(message, where="goal", remedy=_REMEDY)
    if objective == _ERROR:
        _check_side(wants_less, text, "An error is to be small", "error <= 0.05")
        if found["unit"] or value > 1:
            return Goal(_AMOUNT, value, text, wants_less=True)
        return Goal("accuracy", 1 - value, text, wants_less=False)
    if objective in _AT_MOST_ONE:
        _check_side(not wants_less, text, f"More {objective} is better", f"{objective} >= 0.9")
    return Goal(objective, value, text, wants_less if side else None)


def _check_side(is_right: bool, text: str, reason: str, example: str) -> None:
    if not is_right:
        message = f"{text!r} asks for the wrong side. {reason}."
        raise InvalidInput(message, where="goal", remedy=f'Write, say, "{example}".')
