"""Reading the JSON of a configuration space.

A mapping with ``.choice`` (a list), ``.int`` or ``.float`` (a pair of inclusive bounds) is a
parameter, perhaps with ``.scale`` (``linear`` or ``log``) and ``.default``; another mapping is a
group of named spaces; anything else is a constant. Options of a choice may be spaces themselves:
conditional parameters.
"""

from collections.abc import Mapping
from typing import Any

from easeml.errors import InvalidInput
from easeml.search.numbers import is_number
from easeml.search.spaces.nodes import MISSING, Choice, Constant, Group, Node, Number

_ALLOWED = {  # kind of parameter -> the keys that it may have
    ".choice": [".choice", ".default"],
    ".int": [".default", ".int", ".scale"],
    ".float": [".default", ".float", ".scale"],
}


def _parse(space: Any, path: str) -> Node:
    if not isinstance(space, Mapping):
        return Constant(space)
    if any(str(key).startswith(".") for key in space):
        return _parse_parameter(space, path)
    return parse(space, path)


def parse(space: Any, path: str = "space") -> Group:
    """Return the parts of a space.

    Raises ``InvalidInput`` with the path where it is not of the language.
    """
    if not isinstance(space, Mapping):
        raise InvalidInput(
            "A configuration space is a mapping.",
            where=path,
        )
    dotted = [key for key in space if str(key).startswith(".")]
    if dotted:
        raise InvalidInput(
            f"{dotted[0]!r} has no name.",
            where=path,
            remedy="Put the parameter under a name.",
        )

    items = {}
    for name, item in space.items():
        items[str(name)] = _parse(item, f"{path}.{name}")
    return Group(items)


def _parse_parameter(space: Mapping[str, Any], path: str) -> Node:
    kinds = _ALLOWED.keys() & space.keys()
    if len(kinds) != 1:
        raise InvalidInput(
            "A parameter has one of .choice, .int and .float.",
            where=path,
        )

    kind = kinds.pop()
    allowed = _ALLOWED[kind]
    unknown = [key for key in space if key not in allowed]
    if unknown:
        raise InvalidInput(
            f"{unknown[0]!r} has no place here.",
            where=path,
            remedy=f"Use {allowed}.",
        )

    node: Node
    if kind == ".choice":
        node = _parse_choice(space, path)
    else:
        node = _parse_number(space, kind, path)

    if ".default" in space:
        _check_default(node, space[".default"], path)
    return node


def _check_default(node: Node, default: Any, path: str) -> None:
    problem = node.why_not(default, f"{path}.default")
    if problem:
        place, fault = problem
        raise InvalidInput(fault, where=place)


def _parse_choice(space: Mapping[str, Any], path: str) -> Choice:
    options = space[".choice"]
    if not isinstance(options, list | tuple) or not options:
        raise InvalidInput(
            "The choices are not a list of at least one.",
            where=f"{path}.choice",
        )

    nodes = []
    for place, option in enumerate(options):
        nodes.append(_parse(option, f"{path}.choice[{place}]"))
    return Choice(tuple(nodes), space.get(".default", MISSING))


def _parse_number(space: Mapping[str, Any], kind: str, path: str) -> Number:
    low, high = _bounds(space[kind], f"{path}{kind}")
    is_whole = kind == ".int"
    if is_whole and (low != int(low) or high != int(high)):
        raise InvalidInput(
            "Bounds of .int are whole numbers.",
            where=f"{path}{kind}",
        )

    scale = space.get(".scale", "linear")
    if scale not in ("linear", "log"):
        raise InvalidInput(
            f"{scale!r} is no scale.",
            where=f"{path}.scale",
            remedy="Use linear or log.",
        )
    is_log = scale == "log"
    if is_log and low <= 0:
        raise InvalidInput(
            "A log scale needs bounds above 0.",
            where=f"{path}{kind}",
        )

    return Number(
        low,
        high,
        whole=is_whole,
        log=is_log,
        given=space.get(".default"),
    )


def _bounds(value: Any, path: str) -> tuple[float, float]:
    """Return the lower and the upper bound of a number."""
    if not isinstance(value, list | tuple) or list(map(is_number, value)) != [True, True]:
        raise InvalidInput(
            "Bounds are two finite numbers.",
            where=path,
        )

    low, high = value
    if low > high:
        raise InvalidInput(
            f"The lower bound {low} is above {high}.",
            where=path,
        )
    return low, high
