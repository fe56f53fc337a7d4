"""Doing what was asked for: plan, then work, node after node."""

from __future__ import annotations

from collections.abc import Callable

from easeml.errors import EasemlError
from easeml.lineage.cache import Cache
from easeml.lineage.nodes import SOURCE, Node, Value
from easeml.lineage.plan import needed, optimised

Told = Callable[[Node, float], None]
"""Called with each node that was computed, and the share of the work that is done."""


class NodeFailed(EasemlError):
    """An operator failed. What comes before it is kept, so that the next evaluation goes on there."""

    code = "node-failed"


def evaluate(
    root: Node, *, cache: Cache | None = None, told: Told | None = None, plan: bool = True
) -> Value:
    """Return the value of a node.

    Every value is kept with its node, and in the cache by its key. Nodes with equal keys are
    computed once. ``plan``: whether the graph may be replaced by one that costs less.

    Raises:
        NodeFailed: naming the node, where an operator fails.
    """
    if root.kept:
        return root.kept[0]

    def known(node: Node) -> bool:
        return bool(node.kept) or (cache is not None and cache.has(node.key))

    planned = optimised(root, known) if plan else root
    work = needed(planned, known)
    values: dict[str, Value] = {}
    _ = planned.key  # makes those of all nodes, each once
    for number, node in enumerate(work):
        _compute(node, values, cache)
        if told is not None:
            told(node, (number + 1) / len(work))
    value = _value(planned, cache)
    if cache is not None and not cache.has(root.key):
        cache.put(root.key, value)
    root.kept[:] = [value]
    return value


def _compute(node: Node, values: dict[str, Value], cache: Cache | None) -> None:
    """Compute a node unless one with the same key was computed; keep what comes out."""
    inputs = [_value(each, cache) for each in node.inputs]
    if node.key not in values:
        values[node.key] = _applied(node, inputs)
        if cache is not None and node.operator is not SOURCE:
            cache.put(node.key, values[node.key])
    node.kept[:] = [values[node.key]]


def _value(node: Node, cache: Cache | None) -> Value:
    """Return a value that was computed; one that another process threw away is computed again."""
    if not node.kept:
        found = None if cache is None else cache.get(node.key)
        if found is None:
            return evaluate(node, cache=None)
        node.kept[:] = [found]
    return node.kept[0]


def _applied(node: Node, inputs: list[Value]) -> Value:
    try:
        return node.operator.function(*inputs, **node.parameters)
    except EasemlError as error:
        raise NodeFailed(
            f"{error.where}: {error.message}" if error.where else error.message,
            where=node.title,
            remedy=error.remedy,
        ) from error
    except Exception as error:
        raise NodeFailed(f"{type(error).__name__}: {error}", where=node.title) from error
