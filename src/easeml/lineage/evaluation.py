"""Doing what was asked for: plan, then work, node after node."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from easeml.errors import EasemlError
from easeml.lineage.cache import Cache
from easeml.lineage.deltas import FOLLOWING
from easeml.lineage.nodes import SOURCE, Node, Value
from easeml.lineage.plan import needed, optimised

Told = Callable[[Node, float], None]
"""Called with each node that was computed, and the share of the work that is done."""


_WATCHERS: list[Callable[[], Told]] = []


def watched_by(made: Callable[[], Told] | None) -> None:
    """Have every evaluation that tells nobody tell what ``made()`` gives; None: nobody again."""
    _WATCHERS[:] = [] if made is None else [made]


class NodeFailed(EasemlError):
    """An operator failed. What comes before it is kept, so that the next evaluation goes on there."""

    code = "node-failed"


def evaluate(
    root: Node,
    *,
    cache: Cache | None = None,
    told: Told | None = None,
    plan: bool = True,
    follow: bool = True,
) -> Value:
    """Return the value of a node.

    Every value is kept with its node, and in the cache by its key. Nodes with equal keys are
    computed once. ``plan``: whether the graph may be replaced by one that costs less. ``follow``:
    whether an analysis may take in what changed since it was last asked (``lineage.deltas``).

    Raises:
        NodeFailed: naming the node, where an operator fails.
    """
    if root.kept:
        return root.kept[0]

    def known(node: Node) -> bool:
        return bool(node.kept) or (cache is not None and cache.has(node.key))

    planned = optimised(root, known) if plan else root
    _ = planned.key  # makes those of all nodes, each once
    work = _Work(cache, follow)
    _compute_all(needed(planned, known), work, told)

    value = _value(planned, cache)
    is_exact = planned.key not in work.followed
    if cache is not None and is_exact and not cache.has(root.key):
        cache.put(root.key, value)
    root.kept[:] = [value]
    return value


def _compute_all(nodes: Sequence[Node], work: _Work, told: Told | None) -> None:
    """Compute nodes, inputs first; tell of each one, by default whoever watches evaluations."""
    if not nodes:
        return
    if told is None and _WATCHERS:
        told = _WATCHERS[0]()
    for number, node in enumerate(nodes, 1):
        work.compute(node)
        if told is not None:
            told(node, number / len(nodes))


class _Work:
    """What was computed in one evaluation. ``followed``: keys of answers that were only updated."""

    def __init__(self, cache: Cache | None, follow: bool):
        self.followed: set[str] = set()
        self._values: dict[str, Value] = {}
        self._cache = cache
        self._follow = follow

    def compute(self, node: Node) -> None:
        """Compute a node unless one with the same key was; keep what comes out."""
        inputs = [_value(each, self._cache) for each in node.inputs]
        if node.key not in self._values:
            self._values[node.key] = self._applied(node, inputs)
            self._keep(node)
        node.kept[:] = [self._values[node.key]]

    def _keep(self, node: Node) -> None:
        """Put a node's value into the cache, unless it is a source or was only updated."""
        if self._cache is None or node.operator is SOURCE:
            return
        if node.key not in self.followed:
            self._cache.put(node.key, self._values[node.key])

    def _applied(self, node: Node, inputs: list[Value]) -> Value:
        """Apply a node's operator. Raises NodeFailed, whatever goes wrong in it."""
        try:
            return self._answer(node, inputs)
        except EasemlError as error:
            message = f"{error.where}: {error.message}" if error.where else error.message
            raise NodeFailed(message, where=node.title, remedy=error.remedy) from error
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            raise NodeFailed(message, where=node.title) from error

    def _answer(self, node: Node, inputs: list[Value]) -> Value:
        """Return what an operator gives; an analysis may go on from what it was asked before."""
        operator = node.operator
        if operator.begin is None or not self._follow:
            return operator.function(*inputs, **node.parameters)
        begin = functools.partial(operator.begin, **node.parameters)
        answer, anew = FOLLOWING.answer(node.question, begin, *inputs)
        if not anew:
            self.followed.add(node.key)
        return answer


def _value(node: Node, cache: Cache | None) -> Value:
    """Return a value that was computed; one that another process threw away is computed again."""
    if node.kept:
        return node.kept[0]
    found = None if cache is None else cache.get(node.key)
    if found is None:
        return evaluate(node, cache=None)
    node.kept[:] = [found]
    return found
