"""Doing what was asked for: plan, then work, node after node."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from easeml.errors import EasemlError
from easeml.lineage.cache import Cache
from easeml.lineage.deltas import FOLLOWING
from easeml.lineage.nodes import Node, Value
from easeml.lineage.plan import needed, optimised

Told = Callable[[Node, float], None]
"""Called with each node that was computed, and the share of the work that is done."""


def _tell_nobody(node: Node, share: float) -> None:
    pass


def _nobody() -> Told:
    return _tell_nobody


_WATCHERS: list[Callable[[], Told]] = [_nobody]  # always one: what makes whom evaluations tell


def watched_by(made: Callable[[], Told] | None) -> None:
    """Have every evaluation that tells nobody tell what ``made()`` gives; None: nobody again."""
    _WATCHERS[:] = [made or _nobody]


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

    values = _Values() if cache is None else _CachedValues(cache)
    planned = optimised(root, values.has) if plan else root
    _ = planned.key  # makes those of all nodes, each once
    work = _Work(values, follow)
    _compute_all(needed(planned, values.has), work, told)

    value = values.of(planned)
    # A planned graph has another key, by which nobody asks.
    if planned.key not in work.followed:
        values.put(root, value)
    root.kept[:] = [value]
    return value


def _compute_all(nodes: Sequence[Node], work: _Work, told: Told | None) -> None:
    """Compute nodes, inputs first; tell of each one, by default whoever watches evaluations."""
    if not nodes:
        return
    (watcher,) = _WATCHERS
    tell = told or watcher()
    for number, node in enumerate(nodes, 1):
        work.compute(node)
        tell(node, number / len(nodes))


class _Values:
    """Values that are kept with their nodes."""

    def has(self, node: Node) -> bool:
        """Tell whether a node's value is there."""
        return bool(node.kept)

    def of(self, node: Node) -> Value:
        """Return a value that is there."""
        return node.kept[0]

    def put(self, node: Node, value: Value) -> None:
        """Keep a node's value elsewhere, too."""


class _CachedValues(_Values):
    """Values that are kept with their nodes, and by their keys in a cache."""

    def __init__(self, cache: Cache):
        self._cache = cache

    def has(self, node: Node) -> bool:
        """Tell whether a node's value is there."""
        return bool(node.kept) or self._cache.has(node.key)

    def of(self, node: Node) -> Value:
        """Return a value that is there; one that another process threw away is computed again."""
        if node.kept:
            return node.kept[0]
        found = self._cache.get(node.key)
        if found is None:
            return evaluate(node)
        node.kept[:] = [found]
        return found

    def put(self, node: Node, value: Value) -> None:
        """Put a node's value into the cache unless it is there."""
        if not self._cache.has(node.key):
            self._cache.put(node.key, value)


class _Work:
    """What was computed in one evaluation. ``followed``: keys of answers that were only updated."""

    def __init__(self, values: _Values, follow: bool):
        self.followed: set[str] = set()
        self._computed: dict[str, Value] = {}
        self._values = values
        self._follow = follow

    def compute(self, node: Node) -> None:
        """Compute a node unless one with the same key was; keep what comes out."""
        inputs = list(map(self._values.of, node.inputs))
        if node.key not in self._computed:
            value = self._applied(node, inputs)
            self._computed[node.key] = value
            if node.key not in self.followed:
                self._values.put(node, value)
        node.kept[:] = [self._computed[node.key]]

    def _applied(self, node: Node, inputs: list[Value]) -> Value:
        """Apply a node's operator. Raises NodeFailed, whatever goes wrong in it."""
        try:
            return self._answer(node, inputs)
        except EasemlError as error:
            message = ": ".join(filter(None, (error.where, error.message)))
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
