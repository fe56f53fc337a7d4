"""Doing what was asked for: plan, then work, node after node."""

from __future__ import annotations

import functools
from collections.abc import Callable

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
    work = needed(planned, known)
    if told is None and _WATCHERS and work:
        told = _WATCHERS[0]()
    work_done = _Work(cache, follow)
    _ = planned.key  # makes those of all nodes, each once
    for number, node in enumerate(work):
        work_done.compute(node)
        if told is not None:
            told(node, (number + 1) / len(work))
    value = _value(planned, cache)
    if cache is not None and planned.key not in work_done.followed and not cache.has(root.key):
        cache.put(root.key, value)
    root.kept[:] = [value]
    return value


class _Work:
    """What was computed in one evaluation. ``followed``: keys of answers that were only updated."""

    def __init__(self, cache: Cache | None, follow: bool):
        self.followed: set[str] = set()
        self._values: dict[str, Value] = {}
        self._cache, self._follow = cache, follow

    def compute(self, node: Node) -> None:
        """Compute a node unless one with the same key was; keep what comes out."""
        inputs = [_value(each, self._cache) for each in node.inputs]
        if node.key not in self._values:
            self._values[node.key] = self._applied(node, inputs)
            may_keep = node.operator is not SOURCE and node.key not in self.followed
            if self._cache is not None and may_keep:
                self._cache.put(node.key, self._values[node.key])
        node.kept[:] = [self._values[node.key]]

    def _applied(self, node: Node, inputs: list[Value]) -> Value:
        try:
            if node.operator.begin is None or not self._follow:
                return node.operator.function(*inputs, **node.parameters)
            begin = functools.partial(node.operator.begin, **node.parameters)
            answer, anew = FOLLOWING.answer(node.question, begin, *inputs)
        except EasemlError as error:
            raise NodeFailed(
                f"{error.where}: {error.message}" if error.where else error.message,
                where=node.title,
                remedy=error.remedy,
            ) from error
        except Exception as error:
            raise NodeFailed(f"{type(error).__name__}: {error}", where=node.title) from error
        if not anew:
            self.followed.add(node.key)
        return answer


def _value(node: Node, cache: Cache | None) -> Value:
    """Return a value that was computed; one that another process threw away is computed again."""
    if not node.kept:
        found = None if cache is None else cache.get(node.key)
        if found is None:
            return evaluate(node, cache=None)
        node.kept[:] = [found]
    return node.kept[0]
