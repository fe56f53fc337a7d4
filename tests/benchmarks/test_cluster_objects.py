"""Histories of an easeml that are right, and those that must be refused."""

import sys
from math import inf
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from cluster_objects import specified
from linearizability import NotLinearizable, Operation, check

Told = tuple[Any, ...]


def told(of: str, *operations: Told) -> list[Operation]:
    """Operations one after the other: kind, value, answer, and whether it came."""
    history = []
    for moment, (kind, value, answer, *rest) in enumerate(operations):
        answered = inf if rest else moment + 0.5
        history.append(Operation(of, kind, value, answer, moment, answered))
    return history


RIGHT = {
    "a register": told(
        "register policy",
        ("get", None, "default"),
        ("set", "fifo", None),
        ("get", None, "fifo"),
        ("set", "random", None, "no answer"),
        ("get", None, "fifo"),
        ("get", None, "random"),
    ),
    "a better model": told(
        "live a",
        ("get", None, ("", False)),
        ("promote", ("", "m1", "better"), None),
        ("get", None, ("m1", False)),
        ("promote", ("m1", "m2", "better"), None),
        ("predict", None, "m2"),
        ("pin", None, ("m2", True)),
        ("roll back", "m1", None),
        ("get", None, ("m1", True)),
        ("unpin", None, None),
        ("promote", ("m1", "m3", "better"), None),
        ("get", None, ("m3", False)),
    ),
    "a fit on more rows": told(
        "live a",
        ("roll back", "m1", None),
        ("promote", ("m1", "m1", "refit"), None),
        ("get", None, ("m1", True)),
    ),
    "things with names": told(
        "named wine",
        ("list", None, ()),
        ("make", "a", None),
        ("list", None, ("a",)),
        ("delete", "a", None),
        ("list", None, ()),
        ("restore", "a", None),
        ("list", None, ("a",)),
    ),
    "a task": told(
        "task t",
        ("get", None, "waiting"),
        ("get", None, "running"),
        ("get", None, "waiting"),
        ("accept", "att_1", None),
        ("cancel", None, "done"),
        ("get", None, "done"),
    ),
    "a task that is cancelled, though nobody was told": told(
        "task t", ("cancel", None, None, "no answer"), ("get", None, "cancelled")
    ),
}

WRONG = {
    "what was set is lost": told(
        "register policy", ("set", "fifo", None), ("get", None, "default")
    ),
    "an older value comes back": told(
        "register policy",
        ("set", "fifo", None),
        ("set", "random", None),
        ("get", None, "random"),
        ("get", None, "fifo"),
    ),
    "a better model in the place of a pinned one": told(
        "live a",
        ("promote", ("", "m1", "better"), None),
        ("pin", None, ("m1", True)),
        ("promote", ("m1", "m2", "better"), None),
    ),
    "two better models in the place of the same": told(
        "live a",
        ("promote", ("", "m1", "better"), None),
        ("promote", ("m1", "m2", "better"), None),
        ("promote", ("m1", "m3", "better"), None),
    ),
    "a model answers that serves no more": told(
        "live a",
        ("promote", ("", "m1", "better"), None),
        ("roll back", "m2", None),
        ("predict", None, "m1"),
    ),
    "a roll-back is lost": told(
        "live a",
        ("promote", ("", "m1", "better"), None),
        ("roll back", "m2", None),
        ("get", None, ("m1", False)),
    ),
    "a good model is given up": told(
        "live a",
        ("promote", ("", "m1", "better"), None),
        ("promote", ("m1", "m2", "fallback"), None),
    ),
    "what was acknowledged is not there": told(
        "named wine", ("make", "a", None), ("list", None, ())
    ),
    "what was asked for once is there twice": told(
        "named wine", ("make", "a", None), ("list", None, ("a", "b"))
    ),
    "what was deleted is there": told(
        "named wine", ("make", "a", None), ("delete", "a", None), ("list", None, ("a",))
    ),
    "two results of a task": told("task t", ("accept", "att_1", None), ("accept", "att_2", None)),
    "a result of a task that was cancelled": told(
        "task t", ("cancel", None, "cancelled"), ("accept", "att_1", None)
    ),
    "a task that ended runs again": told(
        "task t", ("get", None, "failed"), ("get", None, "running")
    ),
    "a task is done without a result": told("task t", ("get", None, "done")),
    "a task that was cancelled goes on": told(
        "task t", ("cancel", None, "cancelled"), ("get", None, "running")
    ),
}


@pytest.mark.parametrize("history", RIGHT.values(), ids=RIGHT)
def test_what_easeml_may_do_is_accepted(history: list[Operation]) -> None:
    check(history, specified)


@pytest.mark.parametrize("history", WRONG.values(), ids=WRONG)
def test_what_easeml_may_not_do_is_refused(history: list[Operation]) -> None:
    with pytest.raises(NotLinearizable):
        check(history, specified)
