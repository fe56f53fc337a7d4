"""Names that are calls: ``recall(bad)``, ``cost(bad as good=5, good as bad=1)``, ``gap(sex)``.

Such a name says all that an objective or a measure needs to know, so that it means the same in an
application, a task, a process that serves and a model that was taken elsewhere (decision 0047).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from easeml.errors import InvalidInput

_CALL = re.compile(r"\s*([A-Za-z][A-Za-z0-9_.-]*)\s*\((.*)\)\s*", re.DOTALL)
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PART = re.compile(rf"{_QUOTED}|[(),]|[^\"(),]+")
_PLAIN = re.compile(r"[^\s\"(),=]+(?: [^\s\"(),=]+)*")
_COST = re.compile(
    rf"(?P<true>{_QUOTED}|[^\"=]+?) as (?P<said>{_QUOTED}|[^\"=]+?)\s*=\s*(?P<cost>\S+)"
)
_UNIT = re.compile(rf"unit\s*=\s*(?P<unit>{_QUOTED}|[^\"=]+)")
_LONGEST = 20_000  # characters
_DEEPEST = 4
_DEEPER = {"(": 1, ")": -1}
UNIT = "unit"


@dataclass(frozen=True, slots=True)
class Call:
    """A name and what stands in its brackets, as written."""

    family: str
    arguments: tuple[str, ...]


def read_call(text: str) -> Call | None:
    """Return the call that a name is; None for a name without brackets.

    Raises ``InvalidInput`` where brackets or quotation marks are not closed.
    """
    found = _CALL.fullmatch(text)
    if found is None:
        return None
    if len(text) > _LONGEST:
        raise InvalidInput(f"A name has at most {_LONGEST:,} characters.", where="objective")
    return Call(found[1].lower(), _arguments(found[2], text))


def _arguments(inside: str, text: str) -> tuple[str, ...]:
    """Return what commas divide, where these are not in brackets or quotation marks."""
    if not inside.strip():
        return ()
    parts = _PART.findall(inside)
    if "".join(parts) != inside:
        raise _not_closed(text)
    arguments = [""]
    depth = 0
    for part in parts:
        depth += _DEEPER.get(part, 0)
        if not 0 <= depth < _DEEPEST:
            raise _not_closed(text)
        if part == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += part
    if depth != 0:
        raise _not_closed(text)
    return tuple(argument.strip() for argument in arguments)


def _not_closed(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text[:80]!r} has a bracket or a quotation mark that is not closed.",
        where="objective",
        remedy='Write, say, recall(bad); other names in quotation marks: recall("a, b").',
    )


def written(family: str, arguments: Sequence[str]) -> str:
    """Return the name that a call is known by."""
    return f"{family}({', '.join(arguments)})"


def quoted(text: str) -> str:
    """Return a label or a column as it is written in a call: in quotation marks where needed."""
    is_plain = _PLAIN.fullmatch(text) and "as" not in text.split()  # it stands between two labels
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def unquoted(text: str) -> str:
    """Return the label or column that an argument names. Raises ``InvalidInput``."""
    if not text.startswith('"'):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, str):
        raise InvalidInput(f"{text[:80]} is not a text in quotation marks.", where="objective")
    return found


def cost_arguments(costs: Mapping[str, Mapping[str, float]], unit: str = "") -> list[str]:
    """Return the arguments that say a table of costs: true label -> said label -> cost.

    What costs nothing is left out.
    """
    found = []
    for true, row in costs.items():
        costly = filter(row.get, row)
        found += [f"{quoted(true)} as {quoted(said)}={row[said]:.15g}" for said in costly]
    if unit:
        found.append(f"{UNIT}={quoted(unit)}")
    return found


def read_costs(arguments: Sequence[str]) -> dict[str, Any]:
    """Return ``costs``, a list of true label, said label and cost, and ``unit`` of arguments.

    Raises ``InvalidInput`` for another form, and for a cost that is named twice.
    """
    costs: dict[tuple[str, str], float] = {}
    unit = ""
    for argument in arguments:
        of_unit = _UNIT.fullmatch(argument)
        if of_unit is not None:
            unit = unquoted(of_unit["unit"].strip())
            continue
        true, said, cost = _read_cost(argument)
        if (true, said) in costs:
            raise InvalidInput(
                f"The cost of saying {said!r} of {true!r} is named twice.", where="objective"
            )
        costs[true, said] = cost
    told = [[true, said, cost] for (true, said), cost in costs.items()]
    return {"costs": told, "unit": unit}


def _read_cost(argument: str) -> tuple[str, str, float]:
    """Return true label, said label and what that costs."""
    found = _COST.fullmatch(argument)
    if found is None:
        raise InvalidInput(
            f"{argument[:80]!r} is not a cost.",
            where="objective",
            remedy="Write TRUE as SAID=COST, such as cost(bad as good=5, good as bad=1).",
        )
    true, said = unquoted(found["true"].strip()), unquoted(found["said"].strip())
    return true, said, number(found["cost"])


def number(text: str) -> float:
    """Return a finite number. Raises ``InvalidInput``."""
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if not abs(found) <= 1e15:  # NaN is no such number either
        raise InvalidInput(f"{text[:80]!r} is not a number up to 1e15.", where="objective")
    return found
