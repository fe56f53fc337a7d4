"""Reading the JSON of a configuration space.

A mapping with ``.choice`` (a list), ``.int`` or ``.float`` (a pair of inclusive bounds) is a
parameter, perhaps with ``.scale`` (``linear`` or ``log``) and ``.default``, and ``.resource`` (true)
where more of a number above 0 costs more and seldom harms, such as trees; another mapping is a group
of named spaces; anything else is a constant. Options of a choice may be spaces themselves:
conditional parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from easeml.errors import InvalidInput
from easeml.search.checks import require
from easeml.search.numbers import is_number
from easeml.search.spaces.nodes import MISSING, Choice, Constant, Group, Node, Number, check_allowed

_ALLOWED = {  # kind of parameter -> the keys that it may have
    ".choice": [".choice", ".default"],
    ".int": [".default", ".int", ".resource", ".scale"],
    ".float": [".default", ".float", ".resource", ".scale"],
}


def _parse(space: Any, path: str) -> Node:
    if not isinstance(space, Mapping):
        return Constant(space)
    if any(str(key).startswith(".") for key in space):
        return _parse_parameter(space, path)
    return _parse_group(space, path)


@dataclass(frozen=True)
class _Written:
    """A space, told from others by its text."""

    space: Any = field(compare=False)
    text: str


def parse(space: Any, path: str = "space") -> Group:
    """Return the parts of a space.

    Raises ``InvalidInput`` with the path where it is not of the language.
    """
    return _remembered(_Written(space, repr(space)), path)


@lru_cache(maxsize=1024)
def _remembered(written: _Written, path: str) -> Group:
    """Return the parts of a space: each is asked for with every configuration of its model."""
    return _parse_group(written.space, path)


def _parse_group(space: Any, path: str) -> Group:
    require(
        isinstance(space, Mapping),
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

    return Group({str(name): _parse(item, f"{path}.{name}") for name, item in space.items()})


def _parse_parameter(space: Mapping[str, Any], path: str) -> Node:
    kinds = _ALLOWED.keys() & space.keys()
    require(
        len(kinds) == 1,
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
        check_allowed(node, space[".default"], f"{path}.default")
    return node


def _parse_choice(space: Mapping[str, Any], path: str) -> Choice:
    options = space[".choice"]
    require(
        isinstance(options, list | tuple) and options,
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
    require(
        not is_whole or low % 1 == high % 1 == 0,
        "Bounds of .int are whole numbers.",
        where=f"{path}{kind}",
    )
    scale = space.get(".scale", "linear")
    require(
        scale in ("linear", "log"),
        f"{scale!r} is not a scale.",
        where=f"{path}.scale",
        remedy="Use linear or log.",
    )
    is_log = scale == "log"
    require(
        not is_log or low > 0,
        "A log scale needs bounds above 0.",
        where=f"{path}{kind}",
    )

    is_resource = space.get(".resource", False)
    require(
        isinstance(is_resource, bool) and not (is_resource and low <= 0),
        "A resource is true or false, and a number above 0.",
        where=f"{path}.resource",
    )

    return Number(
        low,
        high,
        whole=is_whole,
        log=is_log,
        given=space.get(".default"),
        is_resource=is_resource,
    )


def _bounds(value: Any, path: str) -> tuple[float, float]:
    """Return the lower and the upper bound of a number."""
    require(
        isinstance(value, list | tuple) and list(map(is_number, value)) == [True, True],
        "Bounds are two finite numbers.",
        where=path,
    )
    low, high = value
    require(low <= high, f"The lower bound {low} is above {high}.", where=path)
    return low, high
