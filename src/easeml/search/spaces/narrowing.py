"""Narrowing a configuration space to what somebody wants to be tried of it."""

from collections.abc import Mapping
from typing import Any

from easeml.errors import InvalidInput
from easeml.search.checks import require
from easeml.search.spaces.nodes import Node, Number, check_allowed
from easeml.search.spaces.parse import parse


def narrow(space: Mapping[str, Any], wishes: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return ``space`` with some parameters narrowed; its configurations are some of ``space``.

    ``wishes`` tells by parameter a value, which fixes it, a list of values to choose among, or a
    range: a mapping with ``low``, ``high`` or both. The default stays where it is allowed. Raises
    ``InvalidInput`` with the path, beginning with ``where``, of what ``space`` does not have or
    hold.
    """
    nodes = parse(space).items
    narrowed = dict(space)
    for name, wish in wishes.items():
        path = f"{where}.{name}"
        require(
            name in nodes,
            f"There is no parameter {name!r}.",
            where=path,
            remedy=f"There are: {', '.join(nodes)}." if nodes else "It has nothing to tune.",
        )
        if _is_range(wish):
            narrowed[name] = _range(space[name], nodes[name], wish, path)
        else:
            narrowed[name] = _values(nodes[name], wish, path)
    return narrowed


def _is_range(wish: Any) -> bool:
    """Whether somebody has given bounds, and not a value that is a mapping."""
    if not isinstance(wish, Mapping):
        return False
    return bool(wish) and set(wish) <= {"low", "high"}


def _range(part: Any, node: Node, wish: Mapping[str, Any], path: str) -> dict[str, Any]:
    if not isinstance(node, Number):
        raise InvalidInput(
            "Only a number has a range.",
            where=path,
            remedy="Name the values that it may have.",
        )

    said = {end: bound for end, bound in wish.items() if bound is not None}
    low = said.get("low", node.low)
    high = said.get("high", node.high)
    check_allowed(node, low, path)
    check_allowed(node, high, path)
    require(low <= high, f"The lower bound {low} is above {high}.", where=path)
    kind = ".int" if node.whole else ".float"
    default = min(max(node.default(), low), high)
    return {**part, kind: [low, high], ".default": default}


def _values(node: Node, wish: Any, path: str) -> Any:
    values = wish if isinstance(wish, list | tuple) else [wish]
    require(
        values,
        "No value is left to try.",
        where=path,
        remedy="Name at least one.",
    )
    for value in values:
        check_allowed(node, value, path)

    first = values[0]
    if len(values) == 1:
        return first
    default = node.default()
    if default not in values:
        default = first
    return {".choice": list(values), ".default": default}
