"""Whether what clients were told can be explained by operations that happened one after the other.

Clients ask a service at the same time. Their history is linearizable if each operation can be given
one moment between its question and its answer, so that in the order of these moments every answer
is what the specification allows (Herlihy and Wing, 1990). Deciding that is hard in general, so it
is searched: Wing and Gong (1993) try what may come next and go back where nothing fits; Lowe (2017)
remembers which operations had been placed in which state, and never tries that again; histories of
different objects are checked apart, since linearizability is a property of each (Horn and Kroening,
2015). Go has this as Porcupine, Clojure as Knossos; no kept library of Python does it.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MOST_STATES = 2_000_000
"""Partial orders that are looked at before it is said that nobody knows."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What a client asked of an object, and what it was told; times are seconds of one clock.

    Without an answer (``answered`` is infinite) it happened at some moment after it was asked, or
    never.
    """

    of: str
    kind: str
    value: Any
    answer: Any
    asked: float
    answered: float = math.inf

    @property
    def is_answered(self) -> bool:
        """Did the client get an answer?"""
        return self.answered < math.inf


Step = Callable[[Any, Operation], Iterable[Hashable]]


@dataclass(frozen=True)
class Specification:
    """How an object behaves where one operation follows the other.

    ``step`` returns the states in which an operation may leave the object that is in a given state,
    and none where it could not have been answered so. An operation without an answer has no
    ``answer`` to be looked at. ``looks``: kinds of operations that never change what they find.
    """

    first: Hashable
    step: Step
    looks: frozenset[str] = frozenset()


class NotLinearizable(Exception):
    """No order explains a history. ``placed``: the longest that does, ``left``: what did not fit."""

    def __init__(self, placed: Sequence[Operation], left: Sequence[Operation]):
        lines = [f"No order explains {len(placed) + len(left)} operations."]
        lines += ["These can be ordered, the last of them:", *map(_line, placed[-8:])]
        lines += ["None of these can come next:", *map(_line, left[:8])]
        super().__init__("\n  ".join(lines))
        self.placed = placed
        self.left = left


class Undecided(Exception):
    """The search was given up: too many orders would have to be tried."""


@dataclass(frozen=True)
class Checked:
    """What a check found: the orders, by object, and how many partial orders were looked at."""

    orders: dict[str, list[Operation]]
    looks: int


def check(history: Iterable[Operation], specified: Callable[[str], Specification]) -> Checked:
    """Check the history of many objects; ``specified``: the specification of one, by its name.

    Raises ``NotLinearizable`` for the first object whose history cannot be explained, and
    ``Undecided``.
    """
    apart: defaultdict[str, list[Operation]] = defaultdict(list)
    for operation in history:
        apart[operation.of].append(operation)
    orders = {}
    looks = 0
    for name, operations in apart.items():
        search = Search(operations, specified(name))
        orders[name] = search.order()
        looks += search.looks
    return Checked(orders, looks)


class Search:
    """The search for an order of the operations of one object. ``looks``: at partial orders."""

    def __init__(self, operations: Iterable[Operation], specified: Specification):
        self._operations = sorted(operations, key=lambda one: (one.asked, one.answered))
        self._step = specified.step
        self._first = specified.first
        self._looks = specified.looks
        numbered = enumerate(self._operations)
        # Sets of operations are whole numbers, with a bit for each.
        self._answered = sum(1 << number for number, one in numbered if one.is_answered)
        self.looks = 0

    def order(self) -> list[Operation]:
        """Return an order that explains all answers. Raises ``NotLinearizable``, ``Undecided``."""
        placed: list[int] = []
        longest: list[int] = []
        seen = {(0, self._first)}
        paths = [(0, self._moves(0, self._first))]
        while paths:
            done, moves = paths[-1]
            if done & self._answered == self._answered:
                return [self._operations[number] for number in placed]
            move = next(moves, None)
            if move is None:
                paths.pop()
                del placed[-1:]
                continue
            number, state = move
            reached = done | 1 << number
            if (reached, state) in seen:
                continue
            seen.add((reached, state))
            self._count()
            placed.append(number)
            paths.append((reached, self._moves(reached, state)))
            if len(placed) > len(longest):
                longest = placed.copy()
        raise self._refusal(longest)

    def _count(self) -> None:
        self.looks += 1
        if self.looks > MOST_STATES:
            raise Undecided(f"Nothing was found among {MOST_STATES} partial orders.")

    def _moves(self, done: int, state: Hashable) -> Iterator[tuple[int, Hashable]]:
        """Give what may come next, and the state after it: what was answered first comes first."""
        moves = []
        for number in self._next(done):
            operation = self._operations[number]
            states = set(self._step(state, operation))
            is_look = operation.kind in self._looks and operation.is_answered
            if is_look and states == {state}:
                # It fits, and may as well come now: no other order need be tried. One that changes
                # nothing here, but might elsewhere, may be needed there.
                yield number, state
                return
            moves += [(number, after) for after in states]
        yield from moves

    def _next(self, done: int) -> list[int]:
        """Return the operations that may come next, by when they were answered.

        Those are all that were asked before any of the others that are left was answered.
        """
        found = []
        latest = math.inf
        number = _lowest_missing(done)
        while number < len(self._operations):
            operation = self._operations[number]
            if operation.asked > latest:
                break
            if not done >> number & 1:
                found.append(number)
                latest = min(latest, operation.answered)
            number += 1
        return sorted(found, key=lambda number: self._operations[number].answered)

    def _refusal(self, longest: list[int]) -> NotLinearizable:
        done = sum(1 << number for number in longest)
        placed = [self._operations[number] for number in longest]
        return NotLinearizable(placed, [self._operations[number] for number in self._next(done)])


def _lowest_missing(done: int) -> int:
    """Return the place of the lowest bit that is not set."""
    return (~done & (done + 1)).bit_length() - 1


def _line(operation: Operation) -> str:
    when = f"{operation.asked:.3f} to {operation.answered:.3f}"
    return f"{operation.of}: {operation.kind} {operation.value!r} -> {operation.answer!r}, {when}"
