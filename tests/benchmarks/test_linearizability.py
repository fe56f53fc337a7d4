"""The checker of histories beside brute force over all orders, and histories that are wrong."""

import sys
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import linearizability
from linearizability import NotLinearizable, Operation, Search, Specification, Undecided, check


def register_step(state: int, operation: Operation) -> Iterable[int]:
    """A register: ``set``, ``get``, and ``swap`` (old, new), which tells whether it did."""
    if operation.kind == "set":
        return [operation.value]
    if operation.kind == "get":
        return [state] if operation.answer in (None, state) else []
    old, new = operation.value
    swapped = state == old
    if operation.answer not in (None, swapped):
        return []
    return [new if swapped else state]


REGISTER = Specification(0, register_step, frozenset({"get"}))


def lucky_step(state: int, operation: Operation) -> Iterable[int]:
    """A register that forgets what was set, or does not: one question, several states after it."""
    if operation.kind == "set":
        return [operation.value, 0]
    return register_step(state, operation)


LUCKY = Specification(0, lucky_step, frozenset({"get"}))


def is_linearizable(history: Sequence[Operation], specified: Specification) -> bool:
    try:
        Search(history, specified).order()
    except NotLinearizable:
        return False
    return True


def by_brute_force(history: Sequence[Operation], specified: Specification) -> bool:
    """Try all orders of what was answered and of any part of what was not."""
    answered = [one for one in history if one.is_answered]
    others = [one for one in history if not one.is_answered]
    for count in range(len(others) + 1):
        for chosen in combinations(others, count):
            for order in permutations([*answered, *chosen]):
                if keeps_time(order) and explains(order, specified):
                    return True
    return False


def keeps_time(order: Sequence[Operation]) -> bool:
    return all(before.asked <= after.answered for before, after in combinations(order, 2))


def explains(order: Sequence[Operation], specified: Specification) -> bool:
    states = {specified.first}
    for operation in order:
        states = {after for state in states for after in specified.step(state, operation)}
    return bool(states)


VALUES = st.integers(0, 2)
TIMES = st.integers(0, 8)
QUESTIONS = st.one_of(
    st.tuples(st.just("set"), VALUES, st.none()),
    st.tuples(st.just("get"), st.none(), VALUES),
    st.tuples(st.just("swap"), st.tuples(VALUES, VALUES), st.booleans()),
)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    kind, value, answer = draw(QUESTIONS)
    asked = draw(TIMES)
    if draw(st.integers(0, 4)) == 0:
        return Operation("x", kind, value, None, asked)
    return Operation("x", kind, value, answer, asked, asked + draw(TIMES))


@pytest.mark.parametrize("specified", [REGISTER, LUCKY])
@given(history=st.lists(operations(), max_size=6))
def test_it_says_what_all_orders_say(specified: Specification, history: list[Operation]) -> None:
    assert is_linearizable(history, specified) == by_brute_force(history, specified)


@st.composite
def real_histories(draw: st.DrawFn) -> list[Operation]:
    """What clients of a real register are told: each operation happens at one moment."""
    state = 0
    history = []
    for moment in range(draw(st.integers(0, 40))):
        kind, value, _ = draw(QUESTIONS)
        before = state
        (state,) = register_step(before, Operation("x", kind, value, None, 0))
        answer: Any = before if kind == "get" else None
        if kind == "swap":
            answer = before == value[0]
        asked = moment - draw(TIMES)
        if draw(st.integers(0, 9)) == 0:
            history.append(Operation("x", kind, value, None, asked))
        else:
            history.append(Operation("x", kind, value, answer, asked, moment + draw(TIMES)))
    return draw(st.permutations(history))


@given(history=real_histories())
def test_what_a_register_answers_is_accepted(history: list[Operation]) -> None:
    order = Search(history, REGISTER).order()
    assert keeps_time(order)
    assert explains(order, REGISTER)
    assert {id(one) for one in history if one.is_answered} <= {id(one) for one in order}


def test_a_stale_read_is_refused() -> None:
    """A value is read again after another was."""
    history = [
        Operation("x", "set", 1, None, 0, 9),
        Operation("x", "get", None, 1, 1, 2),
        Operation("x", "get", None, 0, 3, 4),
    ]
    assert not is_linearizable(history, REGISTER)
    assert is_linearizable(history[:2], REGISTER)


def test_a_lost_update_is_refused() -> None:
    """Two clients change the same value, and both are told that they did."""
    both = [Operation("x", "swap", (0, new), True, 0, 5) for new in (1, 2)]
    assert not is_linearizable(both, REGISTER)
    one = [both[0], Operation("x", "swap", (0, 2), False, 0, 5)]
    assert is_linearizable(one, REGISTER)


def test_what_is_taken_twice_is_refused() -> None:
    def take(state: bool, operation: Operation) -> Iterable[bool]:
        return [] if state else [True]

    taken = [Operation("task", "take", client, True, 0, 1) for client in "ab"]
    assert is_linearizable(taken[:1], Specification(False, take))
    with pytest.raises(NotLinearizable, match="None of these can come next") as refusal:
        Search(taken, Specification(False, take)).order()
    assert len(refusal.value.placed) == len(refusal.value.left) == 1


def test_an_acknowledged_write_that_is_lost_is_refused() -> None:
    read = Operation("x", "get", None, 0, 2, 3)
    assert not is_linearizable([Operation("x", "set", 1, None, 0, 1), read], REGISTER)
    # Nobody was told that it was written: it may come later, or never.
    assert is_linearizable([Operation("x", "set", 1, None, 0), read], REGISTER)


def test_what_changes_nothing_now_may_be_needed_later() -> None:
    history = [Operation("x", "set", value, None, 0, 1) for value in (0, 1)]
    assert is_linearizable([*history, Operation("x", "get", None, 0, 2, 3)], REGISTER)


def test_what_nobody_asked_for_is_refused() -> None:
    assert not is_linearizable([Operation("x", "get", None, 7, 0, 1)], REGISTER)


def test_objects_are_checked_apart() -> None:
    """A hundred objects with writes at the same time: together they would have no end of orders."""
    history = []
    for number in range(100):
        history += [Operation(f"x{number}", "set", value, None, 0, 9) for value in range(8)]
        history.append(Operation(f"x{number}", "get", None, 7, 10, 11))
    checked = check(history, lambda _: REGISTER)
    assert len(checked.orders) == 100
    history.append(Operation("x50", "get", None, 3, 12, 13))
    with pytest.raises(NotLinearizable, match="x50"):
        check(history, lambda _: REGISTER)


def test_long_histories_are_checked_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four clients, and a write without an answer now and then."""
    history: list[Operation] = []
    for moment in range(2000):
        kind: Any = "set" if moment % 4 == 0 else "get"
        answer = None if kind == "set" else moment // 4 * 4
        ends = inf if moment % 100 == 48 else moment + 3
        history.append(Operation("x", kind, moment, answer, moment - 0.5, ends))
    monkeypatch.setattr(linearizability, "MOST_STATES", 50_000)
    Search(history, REGISTER).order()


def test_what_is_too_much_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linearizability, "MOST_STATES", 100)
    history = [Operation("x", "set", value, None, 0, 9) for value in range(20)]
    with pytest.raises(Undecided):
        Search([*history, Operation("x", "get", None, 99, 0, 9)], REGISTER).order()
