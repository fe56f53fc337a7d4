"""Reading the JSON of a configuration space.

A mapping with ``.choice`` (a list), ``.int`` or ``.float`` (a pair of inclusive bounds) is a
parameter, perhaps with ``.scale`` (``linear`` or ``log``) and ``.default``; another mapping is a
group of named spaces; anything else is a constant. Options of a choice may be spaces themselves:
conditional parameters.
"""

import math
from collections.abc import Mapping
from typing import Any

from easeml.errors import InvalidInput
from easeml.search.spaces.nodes import MISSING, Choice, Constant, Group, Node, Number

_PARAMETERS = (".choice", ".int", ".float")


def _parse(space: Any, path: str) -> Node:
    if not isinstance(space, Mapping):
        return Constant(space)
    if any(str(key).startswith(".") for key in space):
        return _parse_parameter(space, path)
    return parse(space, path)


def parse(space: Any, path: str = "space") -> Group:
    """Return the parts of a space; raises ``InvalidInput`` with the path where it is not of the
    language.
    """
    if not isinstance(space, Mapping):
        raise InvalidInput("A configuration space is a mapping.", where=path)
    dotted = [key for key in space if str(key).startswith(".")]
    if dotted:
        raise InvalidInput(
            f"{dotted[0]!r} has no name.", where=path, remedy="Put the parameter under a name."
        )
    return Group({str(name): _parse(item, f"{path}.{name}") for name, item in space.items()})


def _parse_parameter(space: Mapping[str, Any], path: str) -> Node:
    kinds = [kind for kind in _PARAMETERS if kind in space]
    if len(kinds) != 1:
        raise InvalidInput("A parameter has one of .choice, .int and .float.", where=path)
    allowed = {kinds[0], ".default"} | (set() if kinds[0] == ".choice" else {".scale"})
    unknown = [key for key in space if key not in allowed]
    if unknown:
        raise InvalidInput(
            f"{unknown[0]!r} has no place here.", where=path, remedy=f"Use {sorted(allowed)}."
        )
    node = (
        _parse_choice(space, path)
        if kinds[0] == ".choice"
        else _parse_number(space, kinds[0], path)
    )
    if ".default" in space:
        problem = node.why_not(space[".default"], f"{path}.default")
        if problem:
            raise InvalidInput(problem[1], where=problem[0])
    return node


def _parse_choice(space: Mapping[str, Any], path: str) -> Choice:
    options = space[".choice"]
    if not isinstance(options, list | tuple) or not options:
        raise InvalidInput("The choices are not a list of at least one.", where=f"{path}.choice")
    nodes = tuple(_parse(option, f"{path}.choice[{place}]") for place, option in enumerate(options))
    return Choice(nodes, space.get(".default", MISSING))


def _parse_number(space: Mapping[str, Any], kind: str, path: str) -> Number:
    bounds, scale = space[kind], space.get(".scale", "linear")
    if (
        not isinstance(bounds, list | tuple)
        or len(bounds) != 2
        or not all(_is_number(b) for b in bounds)
    ):
        raise InvalidInput("Bounds are two finite numbers.", where=f"{path}{kind}")
    if bounds[0] > bounds[1]:
        raise InvalidInput(
            f"The lower bound {bounds[0]} is above {bounds[1]}.", where=f"{path}{kind}"
        )
    if kind == ".int" and any(bound != int(bound) for bound in bounds):
        raise InvalidInput("Bounds of .int are whole numbers.", where=f"{path}{kind}")
    if scale not in ("linear", "log"):
        raise InvalidInput(
            f"{scale!r} is no scale.", where=f"{path}.scale", remedy="Use linear or log."
        )
    if scale == "log" and bounds[0] <= 0:
        raise InvalidInput("A log scale needs bounds above 0.", where=f"{path}{kind}")
    return Number(bounds[0], bounds[1], kind == ".int", scale == "log", space.get(".default"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
