"""What the values of an objective mean: the table ``[measure]`` of its description.

Of a folder of programs it is believed; of a class it is for people to read, and the conformance suite
compares it with the class.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easeml.search.numbers import is_number


@dataclass(frozen=True, slots=True)
class Scale:
    """The values from ``worst`` to ``best`` that a measure has, and what it is given.

    ``needs_probabilities``: labels alone are not enough; ``in_unit_of_target``: as an error may be.
    """

    worst: float
    best: float
    needs_probabilities: bool = False
    in_unit_of_target: bool = False


def scale_of(measure: Mapping[str, Any]) -> Scale:
    """Return what ``[measure]`` of a description says, in which ``why_no_measure`` finds nothing."""
    return Scale(**measure)


def why_no_measure(measure: Mapping[str, Any], *, unbounded: bool = False) -> str:
    """Return what is wrong with the table ``[measure]`` of a description; empty: nothing.

    ``unbounded``: whether an end may be infinite.
    """
    unknown = sorted(set(measure) - set(Scale.__slots__))
    if unknown:
        return f"Unknown key 'measure.{unknown[0]}'."
    for key in ("worst", "best"):
        if not _is_end(measure.get(key), unbounded):
            return f"measure.{key} is not a number."
    if measure["worst"] == measure["best"]:
        return "measure.worst and measure.best are the same."
    for key in ("needs_probabilities", "in_unit_of_target"):
        if not isinstance(measure.get(key, False), bool):
            return f"measure.{key} is not true or false."
    return ""


def _is_end(value: Any, unbounded: bool) -> bool:
    if unbounded and value in (-math.inf, math.inf):
        return True
    return is_number(value)
