"""Which row next: beside enumeration; answers; batches; the end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds_by_hand import bits, gain, random_rows, shares

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import CleaningSession, Incomplete, plan_cleaning


def five_rows() -> Incomplete:
    """The worked example as points in two dimensions: validation point v sees candidates at
    distance 1 - similarity.

    Distances to two points fix a position in the plane: points (0, 0) and (1, 0).
    """
    first = [[0.9, 0.2], [0.8, 0.35, 0.1], [0.7], [0.6, 0.5], [0.4, 0.95]]
    second = [[0.55, 0.85], [0.15, 0.65, 0.75], [0.45], [0.3, 0.99], [0.1, 0.2]]
    rows = []
    for ours, theirs in zip(first, second, strict=True):
        places = []
        for a, b in zip(ours, theirs, strict=True):
            near, far = 2 - a, 2 - b  # any decreasing map of similarity; these always meet
            x = (near**2 - far**2 + 1) / 2
            places.append([x, np.sqrt(near**2 - x**2)])
        rows.append(places)
    return Incomplete.of(rows, [0, 1, 0, 1, 1])


def test_the_worked_example() -> None:
    session = CleaningSession(five_rows(), [[0.0, 0.0], [1.0, 0.0]], k=3)
    before = [bits(p) for p in session.probabilities]
    assert before == pytest.approx([0.979868756651, 0.918295834054], abs=1e-9)
    expected = dict(zip(session.dirty.tolist(), session.expected_entropy().tolist(), strict=True))
    after = {0: 0.621653522439, 1: 0.80187968741, 3: 0.719508336839, 4: 0.938721875541}
    assert expected == pytest.approx(after, abs=1e-9)
    assert session.next()[0][0] == 0


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_gains_equal_enumeration(seed: int, k: int) -> None:
    rows, x = random_rows(np.random.default_rng(seed), most_rows=5)
    session = CleaningSession(rows, [x], k)
    wanted = [gain(rows, x.tolist(), k, row) for row in session.dirty.tolist()]
    np.testing.assert_allclose(session.gains[0], wanted, atol=1e-9)
    assert session.entropy == pytest.approx(bits(shares(rows, x.tolist(), k)), abs=1e-9)


def random_session(seed: int, classes: int = 3) -> tuple[CleaningSession, np.ndarray]:
    generator = np.random.default_rng(seed)
    candidates = [generator.random((int(generator.integers(1, 5)), 2)) for _ in range(40)]
    rows = Incomplete.of(candidates, generator.integers(0, classes, 40))
    return CleaningSession(rows, generator.random((15, 2)), 3), generator.random(40)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_step_equals_starting_again(seed: int) -> None:
    session, chances = random_session(seed)
    rows = session.rows
    while not session.finished:
        row = session.next()[0][0]
        candidate = int(chances[row] * rows.sizes[row])
        value = session.rows.candidates_of(row)[candidate]
        rows = rows.with_row(row, value)
        session.clean(row, candidate=candidate)
        # A fresh start lacks a column for each cleaned row, whose gain is zero.
        again = CleaningSession(rows, session._X, 3)
        assert session.certain.tolist() == again.certain.tolist()
        np.testing.assert_allclose(session.probabilities, again.probabilities, atol=1e-12)
        np.testing.assert_allclose(
            session.gains.sum(axis=0)[np.isin(session.dirty, again.dirty)],
            again.gains.sum(axis=0),
            atol=1e-5,
        )
        rows = again.rows
        if len(session.cleaned) > 6:
            break
    assert session.cleaned


def test_cleaning_ends_with_certainty_and_never_loses_it() -> None:
    session, chances = random_session(5)
    start, before = session.rows, session.certain.copy()
    while not session.finished:
        for row, _ in session.next(4):
            session.clean(row, candidate=int(chances[row] * start.sizes[row]))
        assert (session.certain | ~before).all()
        before = session.certain.copy()
    assert session.entropy == 0.0
    assert session.next(5) == []
    assert len(session.cleaned) <= len(session.dirty)


def test_a_value_that_was_no_candidate_is_taken_in() -> None:
    session = CleaningSession(Incomplete.of([[[0.0], [3.0]], [[2.0]]], ["a", "b"]), [[0.0]], 1)
    assert not session.finished
    session.clean(0, value=[2.5])
    assert session.finished
    assert session.probabilities.tolist() == [[0.0, 1.0]]


def test_a_value_that_is_a_candidate_is_that_candidate() -> None:
    session = CleaningSession(Incomplete.of([[[0.0], [3.0]], [[2.0]]], ["a", "b"]), [[0.0]], 1)
    session.clean(0, value=[0.0])
    assert session.probabilities.tolist() == [[1.0, 0.0]]


def test_a_batch_brings_at_least_what_it_says() -> None:
    rows = five_rows()
    session = CleaningSession(rows, [[0.0, 0.0], [1.0, 0.0]], k=3)
    (first, a), (second, b) = session.next(2)
    left = 0.0
    for i, p in enumerate(rows.weights_of(first)):
        for j, q in enumerate(rows.weights_of(second)):
            known = CleaningSession(rows, session._X, 3)
            known.clean(first, candidate=i)
            known.clean(second, candidate=j)
            left += float(p * q) * known.entropy
    assert left <= session.entropy - a - b + 1e-6


def test_rows_that_tell_nothing_alone_are_still_offered() -> None:
    # The label is the parity of two fair rows around a fixed one: neither alone says anything.
    rows = Incomplete.of([[[1.0], [4.0]], [[2.0], [5.0]], [[3.0]]], ["a", "a", "b"])
    session = CleaningSession(rows, [[0.0]], 1)
    assert {row for row, _ in session.next(5)} == {0, 1}


def test_only_rows_among_those_named() -> None:
    session = CleaningSession(five_rows(), [[0.0, 0.0]], k=3)
    assert [row for row, _ in session.next(1, among=[4])] == [4]


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        (2, {"candidate": 0}),
        (0, {"candidate": 9}),
        (0, {}),
        (0, {"value": [1.0]}),
        (0, {"value": [np.nan, 0.0]}),
        (99, {"candidate": 0}),
    ],
)
def test_wrong_answers_are_refused(row: int, answer: dict[str, object]) -> None:
    session = CleaningSession(five_rows(), [[0.0, 0.0]], k=3)
    with pytest.raises(InvalidInput):
        session.clean(row, **answer)  # pyright: ignore[reportArgumentType]


def test_a_row_is_cleaned_once() -> None:
    session = CleaningSession(five_rows(), [[0.0, 0.0]], k=3)
    session.clean(0, candidate=0)
    with pytest.raises(InvalidInput):
        session.clean(0, candidate=1)


def test_one_class_is_always_certain() -> None:
    session = CleaningSession(Incomplete.of([[[0.0], [1.0]]] * 4, [7] * 4), [[0.0]], 3)
    assert session.finished


def test_doubt_is_the_share_of_worlds_that_say_otherwise() -> None:
    session = CleaningSession(five_rows(), [[0.0, 0.0], [1.0, 0.0]], k=3)
    others = [1 - max(shares(five_rows(), x, 3)) for x in ([0.0, 0.0], [1.0, 0.0])]
    assert session.doubt == pytest.approx(sum(others) / 2)


def test_the_plan_says_when_the_rest_hardly_matters() -> None:
    # One point in 100 depends on a row, in one world of 300.
    likely = Incomplete.of(
        [[[0.0], [9.0]], [[2.0]], [[8.0]]], ["a", "b", "b"], [[299, 1], [1], [1]]
    )
    points = [[0.0]] + [[8.0]] * 99
    plan = plan_cleaning(likely, points, k=1)
    assert plan.may_stop
    assert not plan.finished
    assert plan.advice.startswith(
        "You may stop: 99.0% of the 100 validation predictions are certain"
    )
    assert plan.planned[0].row == 0
    few = plan_cleaning(likely, points[:1], k=1)
    assert few.may_stop
    fair = plan_cleaning(
        Incomplete.of([[[0.0], [9.0]], [[2.0]], [[8.0]]], ["a", "b", "b"]), points, k=1
    )
    assert not fair.may_stop


def test_no_validation_points_are_refused() -> None:
    with pytest.raises(InvalidInput):
        CleaningSession(five_rows(), np.zeros((0, 2)), k=3)


def test_the_plan_says_what_to_do() -> None:
    told: list[float] = []
    plan = plan_cleaning(
        five_rows(), [[0.0, 0.0], [1.0, 0.0]], [0, 1], k=3, n=3, progress=told.append
    )
    assert told[-1] == 1.0
    assert plan.planned[0].row == 0
    assert plan.entropy_after[0] == pytest.approx(0.949082295353)
    assert list(plan.entropy_after) == sorted(plan.entropy_after, reverse=True)
    assert (plan.accuracy_worst, plan.accuracy_best) == (0.0, 1.0)
    assert "Clean row 0" in plan.advice
    assert len(plan.to_frame()) == 3
    assert plan.figure().series
    assert plan.to_json()["planned"][0]["row"] == 0


def test_the_plan_of_clean_rows_is_empty() -> None:
    plan = plan_cleaning(Incomplete.of([[[0.0]], [[1.0]]], [0, 1]), [[0.0]], k=1)
    assert plan.finished
    assert plan.planned == ()
    assert "nothing to clean" in plan.advice
    assert plan.figure().series


def test_the_plan_stops_when_all_is_certain() -> None:
    plan = plan_cleaning(Incomplete.of([[[0.0], [0.1]], [[1.0]]], [0, 1]), [[0.0]], k=1)
    assert plan.finished
    assert plan.advice.startswith("Stop cleaning")
    with pytest.raises(InvalidInput):
        plan_cleaning(five_rows(), [[0.0, 0.0]], k=3, n=0)
    with pytest.raises(InvalidInput):
        plan_cleaning(five_rows(), [[0.0, 0.0]], [0, 1], k=3)
