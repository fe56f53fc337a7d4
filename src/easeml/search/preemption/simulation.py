"""Replaying tasks on a cluster under a rule, on a simulated clock."""

import heapq
from collections import deque
from dataclasses import dataclass

import numpy as np

from easeml.search.preemption.rules import Rule, Running
from easeml.search.preemption.traces import Cluster, Tasks

_END, _FREE, _SUBMIT = (
    0,
    1,
    2,
)  # at one moment, tasks end before others are suspended, and those before new ones come
_ROOM = 1e-9


@dataclass(frozen=True, eq=False)
class Outcome:
    """``slowdown`` (n,): 1 + time spent waiting / time spent running; ``suspensions`` (n,).

    ``back`` (k,): seconds from each suspension until its task ran again. ``submit`` (n,): when
    tasks came.
    """

    slowdown: np.ndarray
    suspensions: np.ndarray
    back: np.ndarray
    submit: np.ndarray


def replay(
    tasks: Tasks, cluster: Cluster, rule: Rule, *, load: float | None = None, seed: int = 0
) -> Outcome:
    """Run all tasks to their end.

    Tasks start on the first node with room. A rule that does not preempt has one queue, whose head
    blocks those behind it. Else interactive tasks have a queue of their own, which comes first; one
    that fits nowhere has tasks suspended as the rule says. These hold their place for their grace
    period (or until they end) while room is kept for it, and then wait at the head of the queue
    with the rest of their work; if the rule names none, it waits. ``load``: instead of at its own
    times a task is submitted as soon as what runs and waits asks for less than ``load`` times the
    cluster (of any one resource).
    """
    return _Replay(tasks, cluster, rule, load, seed).run()


class _Replay:
    def __init__(self, tasks: Tasks, cluster: Cluster, rule: Rule, load: float | None, seed: int):
        count = len(tasks.submit)
        self._tasks = tasks
        self._rule = rule
        self._load = load
        self._generator = np.random.default_rng(seed)
        self._free = np.ones((cluster.nodes, tasks.demand.shape[1]))
        self._asked = np.zeros(tasks.demand.shape[1])
        self._node = np.full(count, -1)
        self._left = tasks.seconds.astype(float).copy()
        self._began = np.zeros(count)
        self._ended = np.zeros(count)
        self._submit = tasks.submit.astype(float).copy()
        self._suspended_at = np.full(count, np.nan)
        self._suspensions = np.zeros(count, dtype=int)
        # Tells an end that is still to come from one that was overtaken.
        self._turn = np.zeros(count, dtype=int)

        self._running: dict[int, None] = {}  # best-effort tasks, in the order of their starts
        self._urgent: deque[int] = deque()
        self._queue: deque[int] = deque()
        # Interactive task -> tasks that are being suspended for it, and the node kept for it.
        self._waits_for: dict[int, set[int]] = {}
        self._kept: dict[int, int] = {}
        self._back: list[float] = []
        self._events: list[tuple[float, int, int, int]] = []
        self._next = 0
        self._now = 0.0

    def run(self) -> Outcome:
        count = len(self._submit)
        if self._load is None:
            for task in range(count):
                self._events.append((float(self._submit[task]), _SUBMIT, task, 0))
            heapq.heapify(self._events)
        else:
            self._feed()
            self._start_waiting()

        while self._events:
            self._now = self._events[0][0]
            while self._events and self._events[0][0] == self._now:
                _, kind, task, turn = heapq.heappop(self._events)
                if kind == _SUBMIT:
                    self._come(task)
                elif self._turn[task] == turn:
                    self._stop(task, ended=kind == _END)

            self._start_waiting()
            if self._load is not None:
                self._feed()
                self._start_waiting()

        waited = np.maximum(self._ended - self._submit - self._tasks.seconds, 0.0)
        slowdown = 1 + waited / self._tasks.seconds
        return Outcome(slowdown, self._suspensions, np.array(self._back), self._submit)

    def _feed(self) -> None:
        """Submit tasks until what runs and waits asks for ``load`` times the cluster."""
        assert self._load is not None
        wanted = self._load * len(self._free)
        while self._next < len(self._submit) and self._asked.max() < wanted:
            self._submit[self._next] = self._now
            self._come(self._next)
            self._next += 1

    def _come(self, task: int) -> None:
        self._asked += self._tasks.demand[task]
        comes_first = self._rule.preempts and self._tasks.interactive[task]
        if comes_first:
            self._urgent.append(task)
        else:
            self._queue.append(task)

    def _start_waiting(self) -> None:
        """Start from both queues until the first of one does not fit: it blocks those behind it."""
        while self._urgent:
            first = self._urgent[0]
            if not self._start(first) and not self._make_room(first):
                break
            self._urgent.popleft()

        while self._queue and not self._urgent and self._start(self._queue[0]):
            self._queue.popleft()

    def _start(self, task: int, node: int | None = None) -> bool:
        """Start a task on a node that is kept for it, or on the first with room; whether it was."""
        if node is None:
            room = (self._free >= self._tasks.demand[task] - _ROOM).all(axis=1)
            node = int(np.argmax(room))
            if not room[node]:
                return False
            self._free[node] -= self._tasks.demand[task]

        self._node[task] = node
        self._began[task] = self._now
        if not self._tasks.interactive[task]:
            self._running[task] = None

        was_suspended = not np.isnan(self._suspended_at[task])
        if was_suspended:
            self._back.append(self._now - self._suspended_at[task])
            self._suspended_at[task] = np.nan

        self._plan(self._now + float(self._left[task]), _END, task)
        return True

    def _plan(self, moment: float, kind: int, task: int) -> None:
        """Plan what happens to a task next; what was planned before is overtaken."""
        self._turn[task] += 1
        heapq.heappush(self._events, (moment, kind, task, int(self._turn[task])))

    def _make_room(self, task: int) -> bool:
        """Suspend what the rule says; the node's room is kept for the task from now on."""
        running = self._picture()
        if not len(running.node):
            return False

        wanted = self._tasks.demand[task]
        chosen = self._rule.choose(wanted, running, self._generator)
        if not chosen:
            return False

        ids = list(self._running)
        victims = [ids[place] for place in chosen]
        nodes = [int(self._node[victim]) for victim in victims]

        # The last node on which the victims leave enough room is kept.
        room = {node: self._free[node].copy() for node in nodes}
        for victim, node in zip(victims, nodes, strict=True):
            room[node] += self._tasks.demand[victim]
        enough = [node for node in nodes if (room[node] >= wanted - _ROOM).all()]
        kept = enough[-1]
        self._kept[task] = kept
        # Below 0 until the victims are gone, so that nothing else is put there.
        self._free[kept] -= wanted

        pairs = zip(victims, nodes, strict=True)
        self._waits_for[task] = {victim for victim, node in pairs if node == kept}
        for victim in victims:
            self._suspend(victim)
        return True

    def _picture(self) -> Running:
        """Return what the rule may choose from."""
        ids = np.fromiter(self._running, dtype=int, count=len(self._running))
        nodes = self._node[ids]
        ran = self._now - self._began[ids]
        return Running(
            self._tasks.demand[ids],
            self._free[nodes],
            self._tasks.grace[ids],
            self._left[ids] - ran,
            self._suspensions[ids],
            nodes,
        )

    def _suspend(self, task: int) -> None:
        """Let a task be gone after its grace period; if it ends before, it just ends."""
        del self._running[task]
        grace = self._tasks.grace[task]
        if self._began[task] + self._left[task] <= self._now + grace:
            return

        self._left[task] -= self._now - self._began[task]
        self._suspensions[task] += 1
        self._plan(self._now + float(grace), _FREE, task)

    def _stop(self, task: int, *, ended: bool) -> None:
        """Free the room of a task that has ended or is suspended now."""
        self._free[self._node[task]] += self._tasks.demand[task]
        self._running.pop(task, None)
        self._node[task] = -1
        if ended:
            self._ended[task] = self._now
            self._asked -= self._tasks.demand[task]
        else:
            self._suspended_at[task] = self._now
            self._queue.appendleft(task)

        for urgent, victims in list(self._waits_for.items()):
            victims.discard(task)
            if not victims:
                del self._waits_for[urgent]
                self._start(urgent, self._kept.pop(urgent))
