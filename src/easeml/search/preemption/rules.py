"""Rules: which best-effort tasks are suspended for an interactive one that fits nowhere."""

from typing import NamedTuple, Protocol

import numpy as np

from easeml.search.checks import require


class Running(NamedTuple):
    """The m best-effort tasks that run.

    ``demand`` (m, R) and ``free`` (m, R): of the task and what is free on its node, as shares of
    the node; ``grace`` (m,) seconds until it is suspended once told so, ``remaining`` (m,) seconds
    that it still has to run, ``suspensions`` (m,) so far, ``node`` (m,) its node's index.
    """

    demand: np.ndarray
    free: np.ndarray
    grace: np.ndarray
    remaining: np.ndarray
    suspensions: np.ndarray
    node: np.ndarray


class Rule(Protocol):
    """Pure: the same arguments and generator give the same tasks."""

    @property
    def name(self) -> str:
        """The name that it is chosen by."""
        ...

    @property
    def preempts(self) -> bool:
        """May interactive work go before best-effort work at all? If not, all wait in one queue."""
        ...

    def choose(
        self, wanted: np.ndarray, running: Running, generator: np.random.Generator
    ) -> list[int]:
        """Return the tasks to suspend, all on one node if enough, so that a demand (R,) fits.

        There are none if none will do.
        """
        ...


class Fifo:
    """First in, first out: nothing is suspended, nothing goes before anything else."""

    name, preempts = "fifo", False

    def choose(
        self, wanted: np.ndarray, running: Running, generator: np.random.Generator
    ) -> list[int]:
        """See ``Rule``."""
        return []


class FitGpp:
    """The task of least demand plus weighted grace period, of those whose node then has room.

    Source: Yabuuchi, Taniwaki, Omura, Low-latency job scheduling with preemption for the
    development of deep learning (USENIX OpML 2019): score = |D| / max |D| + s GP / max GP over the
    running best-effort tasks, s = 4; a task is suspended at most P = 1 times.
    """

    name, preempts = "fitgpp", True

    def __init__(self, weight: float = 4.0, most: int = 1):
        """``weight``: s of the paper; ``most``: P, suspensions of one task."""
        self._weight = weight
        self._most = most

    def choose(
        self, wanted: np.ndarray, running: Running, generator: np.random.Generator
    ) -> list[int]:
        """See ``Rule``. Ties go to the task that started first."""
        fits = _makes_room(wanted, running) & (running.suspensions < self._most)
        if not fits.any():
            return []
        size = np.linalg.norm(running.demand, axis=1)
        score = _of_most(size) + self._weight * _of_most(running.grace)
        return [int(np.argmin(np.where(fits, score, np.inf)))]


class LeastDelay:
    """easeml's own: the task that frees its node soonest.

    Of several, it is the one whose suspension moves least work.

    A task that ends by itself within its grace period costs nobody anything, so what counts is the
    shorter of the two; it weighs four times the work that is put off, demand x remaining time.
    Where no single task makes room, the fewest of one node that do. At most P = 2 suspensions of a
    task.
    """

    name, preempts = "least-delay", True

    def __init__(self, weight: float = 4.0, most: int = 2):
        """``weight``: of the delay against the work put off; ``most``: suspensions of one task."""
        self._weight = weight
        self._most = most

    def choose(
        self, wanted: np.ndarray, running: Running, generator: np.random.Generator
    ) -> list[int]:
        """See ``Rule``. Ties go to the task that started first."""
        allowed = running.suspensions < self._most
        delay = np.minimum(running.grace, running.remaining)
        work = np.linalg.norm(running.demand, axis=1) * running.remaining
        score = self._weight * _of_most(delay) + _of_most(work)
        fits = _makes_room(wanted, running) & allowed
        if fits.any():
            return [int(np.argmin(np.where(fits, score, np.inf)))]
        sets = [
            _fewest_of(node, wanted, running, allowed, score)
            for node in np.unique(running.node[allowed]).tolist()
        ]
        return min(
            filter(None, sets),
            key=lambda some: (len(some), score[some].sum()),
            default=[],
        )


class LongestRemaining:
    """Tasks of the longest remaining time, one after the other, until a node has room.

    Source: LRTP, as the comparison of Yabuuchi et al. (2019) has it after Big-C (Chen et al.,
    USENIX ATC 2017).
    """

    name, preempts = "longest-remaining", True

    def choose(
        self, wanted: np.ndarray, running: Running, generator: np.random.Generator
    ) -> list[int]:
        """See ``Rule``."""
        return _until_room(np.argsort(-running.remaining, kind="stable"), wanted, running)


class RandomVictim:
    """Tasks at random, one after the other, until a node has room.

    Source: RAND of Yabuuchi et al. (2019).
    """

    name, preempts = "random", True

    def choose(
        self, wanted: np.ndarray, running: Running, generator: np.random.Generator
    ) -> list[int]:
        """See ``Rule``."""
        return _until_room(generator.permutation(len(running.node)), wanted, running)


RULES: dict[str, Rule] = {
    rule.name: rule for rule in (LeastDelay(), FitGpp(), LongestRemaining(), RandomVictim(), Fifo())
}


def rule_named(name: str) -> Rule:
    """Return the rule called ``name``; raises ``InvalidInput``."""
    require(
        name in RULES,
        f"There is no rule {name!r}.",
        where="policy",
        remedy=f"Use one of: {', '.join(RULES)}.",
    )
    return RULES[name]


def _makes_room(wanted: np.ndarray, running: Running) -> np.ndarray:
    return np.all(running.demand + running.free >= wanted - 1e-9, axis=1)


def _of_most(values: np.ndarray) -> np.ndarray:
    """Return values as shares of the largest; 0 where all are 0."""
    most = float(values.max(initial=0.0))
    return values / most if most > 0 else np.zeros_like(values)


def _fewest_of(
    node: int, wanted: np.ndarray, running: Running, allowed: np.ndarray, score: np.ndarray
) -> list[int]:
    """Return tasks of a node, the largest first, until there is room; none where there never is."""
    own = np.flatnonzero((running.node == node) & allowed)
    order = own[np.lexsort((score[own], -running.demand[own].max(axis=1)))]
    room = running.free[order[0]] + np.cumsum(running.demand[order], axis=0)
    enough = (room >= wanted - 1e-9).all(axis=1)
    return order[: int(np.argmax(enough)) + 1].tolist() if enough.any() else []


def _until_room(order: np.ndarray, wanted: np.ndarray, running: Running) -> list[int]:
    room: dict[int, np.ndarray] = {}
    for place, task in enumerate(order.tolist()):
        node = int(running.node[task])
        room[node] = room.get(node, running.free[task]) + running.demand[task]
        if (room[node] >= wanted - 1e-9).all():
            return order[: place + 1].tolist()
    return []
