"""How the objects of an easeml behave that clients look at and change: specifications for a checker.

The name of an object begins with its kind, as in ``live app_…``; :func:`specified` knows all kinds.
"""

from collections.abc import Iterable
from typing import Any

from easeml.contract.states import PromotionKind, TaskState
from linearizability import Operation, Specification

_ANYTHING = "anything"
_UNDER_WAY = "under way"


def register(state: Any, operation: Operation) -> Iterable[Any]:
    """A value that is set and read, such as a limit. What stood there at first, nobody knows."""
    if operation.kind == "set":
        return [operation.value]
    is_explained = state in (_ANYTHING, operation.answer)
    return [operation.answer] if is_explained else []


def live(state: tuple[str, bool], operation: Operation) -> Iterable[tuple[str, bool]]:
    """What an endpoint serves, and whether that is pinned; at first nothing.

    A better model may serve only where the endpoint served what it was compared with, and was not
    pinned. ``roll back`` pins; ``predict`` tells which model answered. That a model is given up
    because it cannot be loaded is refused: none is damaged here.
    """
    model, pinned = state
    kind = operation.kind
    if kind == "get":
        return [state] if operation.answer == state else []
    if kind == "predict":
        return [state] if operation.answer == model else []
    if kind == "pin":
        return [(model, True)] if operation.answer in (None, (model, True)) else []
    if kind == "unpin":
        return [(model, False)]  # a better one may serve at once
    if kind == "roll back":
        return [(operation.value, True)]
    before, after, why = operation.value
    is_free = why == PromotionKind.REFIT or (why == PromotionKind.BETTER and not pinned)
    return [(after, pinned)] if model == before and is_free else []


def named(state: tuple[str, ...], operation: Operation) -> Iterable[tuple[str, ...]]:
    """The things that have one name: made once each, deleted, restored, and listed."""
    one = operation.value
    if operation.kind == "make":
        return [] if one in state else [tuple(sorted([*state, one]))]
    if operation.kind == "delete":
        return [tuple(other for other in state if other != one)]
    if operation.kind == "restore":
        return [tuple(sorted({*state, one}))]
    return [state] if operation.answer == state else []


def task(state: str, operation: Operation) -> Iterable[str]:
    """A task: under way until it ends, once. ``accept``: a result of it was taken.

    How it fails is easeml's own matter, so that this may have happened before any look.
    """
    ended = {TaskState.FAILED, TaskState.CANCELLED}
    if operation.kind == "accept":
        return [TaskState.DONE] if state == _UNDER_WAY else []
    if operation.kind == "cancel" and state == _UNDER_WAY and not operation.is_answered:
        return [TaskState.CANCELLED]
    if not operation.is_answered:
        return [state]
    if state != _UNDER_WAY:
        return [state] if operation.answer == state else []
    if operation.answer in ended:
        return [operation.answer]
    is_under_way = operation.answer in (TaskState.WAITING, TaskState.RUNNING)
    return [state] if is_under_way and operation.kind == "get" else []


_LOOKS = frozenset({"get", "predict", "list"})
_KINDS = {
    "live": Specification(("", False), live, _LOOKS),
    "task": Specification(_UNDER_WAY, task, _LOOKS),
    "named": Specification((), named, _LOOKS),
    "register": Specification(_ANYTHING, register, _LOOKS),
}


def specified(name: str) -> Specification:
    """Return how the object of this name behaves."""
    return _KINDS[name.partition(" ")[0]]
