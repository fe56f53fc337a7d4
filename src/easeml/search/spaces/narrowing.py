"""Narrowing a configuration space to what somebody wants to be tried of it."""

from collections.abc import Mapping
from typing import Any

from easeml.errors import InvalidInput
from easeml.search.spaces.nodes import Node, Number
from easeml.search.spaces.parse import parse

_RANGE = ("low", "high")


def narrow(space: Mapping[str, Any], wishes: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return ``space`` with some of its parameters narrowed; every configuration of it is one of
    ``space``.

    ``wishes`` tells by parameter a value, which fixes it, a list of values to choose among, or a
    range: a mapping with ``low``, ``high`` or both. The default stays where it is allowed. Raises
    ``InvalidInput`` with the path, beginning with ``where``, of what ``space`` does not have or
    hold.
    """
    nodes = parse(space).items
    narrowed = dict(space)
    for name, wish in wishes.items():
        path = f"{where}.{name}"
        if name not in nodes:
            remedy = f"There are: {', '.join(nodes)}." if nodes else "It has nothing to tune."
            raise InvalidInput(f"There is no parameter {name!r}.", where=path, remedy=remedy)
        is_range = isinstance(wish, Mapping) and bool(wish) and set(wish) <= set(_RANGE)
        narrowed[name] = (
            _range(space[name], nodes[name], wish, path)
            if is_range
            else _values(nodes[name], wish, path)
        )
    return narrowed


def _range(part: Any, node: Node, wish: Mapping[str, Any], path: str) -> dict[str, Any]:
    if not isinstance(node, Number):
        raise InvalidInput(
            "Only a number has a range.", where=path, remedy="Name the values that it may have."
        )
    low, high = (wish.get(name) for name in _RANGE)
    bounds = [node.low if low is None else low, node.high if high is None else high]
    for bound in bounds:
        _check(node, bound, path)
    if bounds[0] > bounds[1]:
        raise InvalidInput(f"The lower bound {bounds[0]} is above {bounds[1]}.", where=path)
    default = min(max(node.default(), bounds[0]), bounds[1])
    return {**part, ".int" if node.whole else ".float": bounds, ".default": default}


def _values(node: Node, wish: Any, path: str) -> Any:
    values = wish if isinstance(wish, list | tuple) else [wish]
    if not values:
        raise InvalidInput("No value is left to try.", where=path, remedy="Name at least one.")
    for value in values:
        _check(node, value, path)
    if len(values) == 1:
        return values[0]
    default = node.default()
    return {".choice": list(values), ".default": default if default in values else values[0]}


def _check(node: Node, value: Any, path: str) -> None:
    problem = node.why_not(value, path)
    if problem:
        raise InvalidInput(problem[1], where=problem[0])
