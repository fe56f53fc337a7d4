"""The further parts of a goal: ``gap(sex) <= 0.05 and latency <= 20 ms``."""

import re
from dataclasses import dataclass

from easeml.errors import InvalidInput

from .statements import LESS, read_statement

LATENCY, SIZE = "latency", "size"
_SHARES = {"": 1.0, "%": 1.0}  # of a percentage the share is read
_UNITS = {
    LATENCY: {"s": 1.0, "ms": 0.001},
    SIZE: {"bytes": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9},
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a goal. ``value``: in the measure's own unit (seconds, bytes); ``text``: as written.

    ``measure``: as written: an objective, one of further measures, ``latency`` or ``size``.
    """

    measure: str
    value: float
    wants_less: bool
    text: str

    def holds(self, value: float) -> bool:
        """Does a value of the measure meet it?"""
        return value <= self.value if self.wants_less else value >= self.value


def parts_of(text: str) -> list[str]:
    """Return what ``and`` joins in a goal, outside of brackets and quotation marks."""
    parts = [""]
    depth = 0
    is_quoted = False
    for word in re.split(r"(\s+and\s+|[()\"])", text, flags=re.IGNORECASE):
        depth += {"(": 1, ")": -1}.get(word, 0)
        is_quoted ^= word == '"'
        joins = word.strip().lower() == "and" and word != word.strip()
        if joins and depth == 0 and not is_quoted:
            parts.append("")
        else:
            parts[-1] += word
    return [part.strip() for part in parts]


def read_further(text: str) -> tuple[Condition, ...]:
    """Return the conditions behind the first part of a goal, whatever that is.

    Raises ``InvalidInput`` as ``read_condition`` does.
    """
    _, *further = parts_of(text)
    return tuple(map(read_condition, further))


def read_condition(text: str) -> Condition:
    """Return the condition that ``text`` states, with a decimal point or comma.

    Raises ``InvalidInput`` where it states none, or a comma that may be one of thousands.
    """
    stated = read_statement(text)
    if stated is None or not (stated.name and stated.side):
        raise InvalidInput(
            f"{text!r} is not a condition.",
            where="goal",
            remedy='Write, say, "accuracy >= 0.9 and gap(sex) <= 0.05 and latency <= 20 ms".',
        )
    name = stated.name.lower()
    unit = "%" if stated.is_percent else stated.unit.lower()
    factor = _factor(_UNITS.get(name, _SHARES), unit, stated.name, text)
    wants_less = stated.side in LESS
    if name not in _UNITS:
        return Condition(stated.name, stated.value * factor, wants_less, text.strip())
    if not wants_less:
        raise InvalidInput(
            f"{text!r} asks for the wrong side. Less {name} is better.", where="goal"
        )
    return Condition(name, stated.value * factor, wants_less, text.strip())


def _factor(units: dict[str, float], unit: str, measure: str, text: str) -> float:
    """Return how many of a measure's own units a unit is. Raises ``InvalidInput``."""
    if unit in units:
        return units[unit]
    problem = f"{unit!r} is not a unit of {measure}."
    if not unit:
        problem = f"{text!r} has no unit of {measure}."
    known = ", ".join(filter(None, units))
    raise InvalidInput(problem, where="goal", remedy=f"Units: {known}.")
