"""Which running tasks end so that urgent ones get a device: the rules, on devices that are alike."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from easeml.search.preemption.rules import Rule, Running

GRACE = 1.5
"""Seconds that a task has to end with what it has, once it was asked to."""

_OVERDUE = 0.25  # of what an overdue run has had: so much more it is believed to need


class OnDevice(NamedTuple):
    """A task that may be suspended. ``ran`` and ``cost``: seconds it has had and was to take."""

    task: str
    ran: float
    cost: float
    suspensions: int

    @property
    def remaining(self) -> float:
        """Seconds that it is believed to run on."""
        return max(self.cost - self.ran, _OVERDUE * self.ran)


def to_suspend(rule: Rule, wanted: int, running: Sequence[OnDevice]) -> list[str]:
    """Return the tasks to ask to end so that ``wanted`` urgent ones get a device each.

    Fewer where the rule names no more. Tasks that are believed to end by themselves within the
    grace period make room, and are left alone.
    """
    left = [one for one in running if one.remaining > GRACE]
    wanted -= len(running) - len(left)
    chosen: list[str] = []
    while left and len(chosen) < wanted:
        generator = np.random.default_rng(len(chosen))
        places = rule.choose(np.ones(1), _picture(left), generator)
        if not places:
            break
        chosen.append(left.pop(places[0]).task)
    return chosen


def _picture(running: Sequence[OnDevice]) -> Running:
    """Return devices that are alike, each with one task that fills it."""
    count = len(running)
    return Running(
        demand=np.ones((count, 1)),
        free=np.zeros((count, 1)),
        grace=np.full(count, GRACE),
        remaining=np.array([one.remaining for one in running]),
        suspensions=np.array([one.suspensions for one in running]),
        node=np.arange(count),
    )
