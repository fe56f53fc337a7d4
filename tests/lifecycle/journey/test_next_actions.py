"""What is advised, from facts alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.lifecycle.journey import (
    Estimate,
    Facts,
    Feasible,
    Goal,
    Outcome,
    Searched,
    Suspects,
    WorkLeft,
    experiences,
    next_actions,
    questions,
    rail,
)

GOAL = Goal("accuracy", 0.9, "accuracy >= 0.9", wants_less=False)
ROWS = {"train": 600, "validation": 200, "test": 200, "pool": 0}
UNDECIDED = Feasible(
    verdict="cannot tell",
    unit="accuracy",
    goal=0.9,
    best=Estimate(0.89, 0.85, 0.93),
    reached=0.84,
    rows=800,
    more_rows=1500,
    doubled=Estimate(0.86, 0.85, 0.87),
)
KNOWN = Facts(
    target="kind",
    goal=GOAL,
    rows=ROWS,
    quality=Estimate(0.85, 0.8, 0.9),
    feasible=UNDECIDED,
    suspects=Suspects(0, 0.0, 600),
    search=Searched("resting", 20, 20, mean_cost=2.0, expected=0.001, error=0.001),
    models=20,
    serves=True,
)


def kinds(facts: Facts) -> list[str]:
    return [action.kind for action in next_actions(facts)]


@given(
    more=st.integers(1, 100_000),
    best=st.floats(0.86, 0.97),
    serves=st.floats(0.5, 1.0),
    twice=st.floats(0.84, 0.97),
)
def test_more_rows_never_promise_more_than_any_model_can_reach(
    more: int, best: float, serves: float, twice: float
):
    feasible = replace(
        UNDECIDED,
        more_rows=more,
        best=Estimate(best, best - 0.05, best + 0.02),
        doubled=Estimate(twice, twice - 0.01, twice + 0.01),
    )
    facts = replace(KNOWN, feasible=feasible, quality=Estimate(serves, serves, serves))
    for action in next_actions(facts):  # a goal that is reached needs no rows
        if action.kind == "collect":
            assert action.gain is not None
            assert 0 <= action.gain.low <= action.gain.value <= action.gain.high
            assert serves + action.gain.high <= max(serves, best + 0.02) + 1e-9


def test_more_rows_bring_nothing_surely_where_little_may_be_left_to_reach():
    feasible = replace(
        UNDECIDED,
        best=Estimate(0.975, 0.945, 1.0),
        reached=0.963,
        rows=646,
        more_rows=2200,
        doubled=Estimate(0.9715, 0.9698, 0.9731),
    )
    facts = replace(KNOWN, goal=replace(GOAL, value=0.97), feasible=feasible)
    gains = [action.gain for action in next_actions(facts) if action.kind == "collect"]
    assert len(gains) == 1
    assert gains[0] is not None
    assert gains[0].low == 0 < gains[0].value < gains[0].high


def test_without_a_goal_one_is_asked_for_first():
    assert kinds(Facts("kind", goal=None, rows=ROWS))[:2] == ["set-goal", "ask-feasibility"]


def test_while_the_data_is_prepared_one_waits():
    assert kinds(replace(KNOWN, is_ready=False)) == ["wait"]


def test_what_is_asked_already_is_not_advised_again():
    unasked = replace(KNOWN, feasible=None)
    assert kinds(unasked)[0] == "ask-feasibility"
    assert "ask-feasibility" not in kinds(replace(unasked, asked=frozenset({"feasibility"})))
    assert kinds(replace(KNOWN, stale=frozenset({"feasibility"})))[0] == "ask-feasibility"


def test_a_search_that_goes_on_for_nothing_comes_before_a_persons_hour():
    search = Searched("running", 5, 20, mean_cost=2.0, expected=0.03, error=0.01)
    found = next_actions(replace(KNOWN, search=search))
    assert found[0].kind == "search"
    assert found[0].device_seconds == 30.0
    assert found[0].gain is not None
    assert found[0].gain.low <= 0.03 <= found[0].gain.high
    assert [one.kind for one in found[1:]] == ["collect"]


def test_wrong_labels_are_checked_before_new_ones_are_bought():
    """Sixty wrong labels of 600 cost up to a tenth; 20 more labels bring a 40th of a doubling."""
    rows = {**ROWS, "pool": 400}
    found = next_actions(replace(KNOWN, rows=rows, suspects=Suspects(80, 60.0, 600)))
    assert [one.kind for one in found][:2] == ["check-labels", "label"]
    first, second = found[0].gain, found[1].gain
    assert first is not None and second is not None
    assert first.high == 60 / 600 * 20 / 80
    assert 0 < second.value < first.value
    assert found[0].reason.startswith("80 of 600 answers in column ")
    assert "look wrong" in found[0].reason


def test_what_people_found_of_labels_that_looked_wrong_is_said():
    before = replace(KNOWN, suspects=Suspects(80, 60.0, 600))
    facts = replace(before, suspects=Suspects(80, 60.0, 600, checked=1_014, wrong=1))
    for known, is_said in ((before, False), (facts, True)):
        actions = next_actions(known)
        (clean,) = (one.said for one in rail(known, actions) if one.name == "Clean")
        check = next(one for one in actions if one.kind == "check-labels")
        for text in (clean, " ".join(check.evidence)):
            assert ("People checked 1,014 such labels so far" in text) == is_said
            assert ("; 1 was wrong" in text) == is_said


def test_an_unrealistic_goal_is_said_so():
    feasible = replace(UNDECIDED, verdict="unrealistic", more_rows=None)
    facts = replace(KNOWN, feasible=feasible)
    (action,) = next_actions(facts)
    assert action.kind == "lower-goal"
    assert "89.0% (between 85.0% and 93.0%)" in action.reason
    stations = {one.name: one.state for one in rail(facts, [action])}
    assert stations["Feasible?"] == "trouble"
    least = Estimate(8.15, 4.0, 9.2)
    numbers = replace(facts, feasible=replace(feasible, unit="r2", least=least))
    assert "the least rmse that any model can reach is 8.15 (between 4 and 9.2)" in (
        next_actions(numbers)[0].reason  # as the goal is told
    )


def test_worn_out_test_rows_are_a_question_to_the_owner():
    found = next_actions(replace(KNOWN, worn=80))
    assert found[0].kind == "retire-test-rows"
    assert "80 test rows are worn out" in found[0].reason
    assert "retire-test-rows" not in kinds(KNOWN)


def test_what_moved_in_production_is_said_also_where_watching_cannot_tell():
    seen = replace(KNOWN, watched="cannot tell", moved="The inputs moved in size.")
    first = next_actions(seen)[0]
    assert first.kind == "adapt"
    assert first.reason.startswith("The inputs moved in size. easeml can adapt the model")
    assert "adapt" not in kinds(replace(seen, watched="alert"))  # that says what to do first
    assert "adapt" not in kinds(replace(seen, serves=False))


def test_rows_whose_truth_came_are_to_be_learned_where_production_moved():
    seen = replace(KNOWN, moved="The inputs moved in size.", told=20)
    assert kinds(seen)[:2] == ["feed-told", "adapt"]
    assert "the truth of 20 of its rows came" in next_actions(seen)[0].reason
    assert "feed-told" not in kinds(replace(seen, told=19))
    assert "feed-told" not in kinds(replace(seen, moved=""))
    forecast = replace(KNOWN, forecasts=True, told=1)
    assert kinds(forecast)[0] == "feed-told"
    assert "1 value has come that the forecast does not know." in next_actions(forecast)[0].reason


def test_a_goal_that_is_met_has_to_be_proven():
    met = replace(KNOWN, quality=Estimate(0.93, 0.9, 0.96), tested=Estimate(0.91, 0.87, 0.94))
    assert kinds(met) == ["test-rows", "pick", "ask-meter"]
    proven = replace(met, tested=Estimate(0.95, 0.91, 0.98), meter="fresh", picked=True)
    assert kinds(proven) == ["watch"]
    assert proven.is_proven and not met.is_proven


def test_a_goal_that_may_be_met_by_test_rows_is_said_to_be():
    tested = Estimate(0.91, 0.88, 0.94)
    found = next_actions(replace(KNOWN, tested=tested, tested_by="accuracy"))
    (said,) = [action for action in found if action.kind == "test-rows"]
    assert "may be met already: on test rows the quality is 91.0%" in said.reason


def test_a_goal_that_test_rows_prove_is_reached_whatever_validation_rows_say():
    proven = replace(KNOWN, tested=Estimate(0.93, 0.91, 0.95), tested_by="accuracy")
    assert proven.is_reached
    assert "collect" not in kinds(proven)


def test_what_takes_a_person_weeks_comes_after_a_question_that_takes_seconds():
    far = replace(KNOWN, feasible=replace(UNDECIDED, more_rows=120_364), suspects=None)
    found = next_actions(far)
    assert [action.kind for action in found] == ["ask-label-errors", "collect"]
    assert "About 130,000 more labelled rows" in found[1].reason
    near = replace(far, feasible=replace(UNDECIDED, more_rows=1500))
    assert kinds(near)[0] == "collect"


def test_how_many_test_rows_would_prove_a_goal_is_said():
    met = replace(KNOWN, quality=Estimate(0.93, 0.9, 0.96), rows={"test": 1000})
    asked = next_actions(replace(met, tested=Estimate(0.92, 0.89, 0.95)))[0]
    # An interval as wide as .02 needs 1.5 * 1.5 times the rows of one as wide as .03.
    assert asked.reason.endswith("about 1,300 more test rows would, if the quality stays the same.")
    missed = next_actions(replace(met, tested=Estimate(0.89, 0.86, 0.92)))[0]
    assert missed.reason.endswith("more test rows would decide.")


def test_test_rows_that_were_read_by_another_objective_prove_nothing():
    facts = replace(KNOWN, unit="balanced-accuracy", tested_by="accuracy")
    stations = {one.name: one for one in rail(facts, [])}
    assert stations["Check"].said == "Test rows measured accuracy, not balanced accuracy."
    assert not facts.is_proven


def test_a_station_whose_tool_tells_nothing_of_the_target_is_skipped_and_not_done() -> None:
    facts = replace(KNOWN, untold=frozenset({"debug", "monitor"}))
    stations = {one.name: one for one in rail(facts, [])}
    assert stations["Debug"].state == stations["Watch"].state == "skipped"
    assert "does not support" in stations["Debug"].said
    assert stations["Pick"].state == "open"


def test_twenty_labels_of_very_many_are_not_advised() -> None:
    many = {"train": 6_000_000, "validation": 200_000}
    facts = replace(KNOWN, rows=many, suspects=Suspects(1_000_000, 600_000.0, 6_000_000))
    assert "check-labels" not in kinds(facts)
    few = replace(KNOWN, suspects=Suspects(100, 60.0, 600))
    assert "check-labels" in kinds(few)


def test_nothing_is_said_to_be_known_of_mistakes_before_anybody_looked():
    stations = {one.name: one for one in rail(KNOWN, [])}
    assert stations["Debug"].state == "open"
    stations = {one.name: one for one in rail(replace(KNOWN, debugged=True), [])}
    assert stations["Debug"].state == "done"


@pytest.mark.parametrize(
    ("watched", "state"),
    [("ok", "done"), ("watch", "done"), ("cannot tell", "open"), ("alert", "trouble")],
)
def test_what_watching_cannot_tell_is_not_known(watched: str, state: str):
    stations = {one.name: one for one in rail(replace(KNOWN, watched=watched), [])}
    assert stations["Watch"].state == state


def test_columns_that_may_know_the_answer_are_a_question_about_the_data():
    stations = {one.name: one for one in rail(replace(KNOWN, leaks=("tax", "total")), [])}
    assert stations["Data"].state == "open"
    assert "2 columns may know the answer: 'tax', 'total'." in stations["Data"].said
    assert (stations["Debug"].state, stations["Debug"].said) == (
        "open",
        "Columns may know the answer: see Data.",
    )
    many = tuple(f"n{number}" for number in range(9))
    stations = {one.name: one for one in rail(replace(KNOWN, leaks=many), [])}
    assert "9 columns may know the answer: 'n0', 'n1', 'n2', 'n3', 'n4', ..." in (
        stations["Data"].said
    )


def test_less_is_better_where_the_unit_is_an_error():
    goal = Goal("rmse", 5.0, "rmse below 5", wants_less=True)
    facts = replace(KNOWN, goal=goal, unit="rmse", lower_is_better=True)
    assert replace(facts, quality=Estimate(4.0, 3.5, 4.5)).is_reached
    assert not replace(facts, quality=Estimate(6.0, 5.5, 6.5)).is_reached
    assert not replace(facts, tested=Estimate(4.9, 4.5, 5.2)).is_proven


def test_a_goal_that_test_rows_disprove_is_not_taken_for_reached():
    met = replace(KNOWN, quality=Estimate(0.93, 0.9, 0.95))
    missed = replace(met, tested=Estimate(0.85, 0.8, 0.89))
    open_yet = replace(met, tested=Estimate(0.88, 0.84, 0.92))
    assert missed.is_disproven
    assert not missed.is_reached
    assert "test-rows" not in kinds(missed)
    assert rail(missed, [])[0].said == "accuracy >= 0.9: not met on test rows."
    assert open_yet.is_reached
    assert kinds(open_yet)[0] == "test-rows"
    assert next_actions(open_yet)[0].reason.endswith("more test rows would decide.")


def test_what_serves_is_told_by_test_rows_where_these_were_read():
    facts = replace(KNOWN, goal=None, quality=Estimate(0.93, 0.9, 0.95))
    tested = replace(facts, tested=Estimate(0.85, 0.8, 0.89))
    assert "reaches 93.0% (between 90.0% and 95.0%) on validation" in next_actions(facts)[0].reason
    assert "reaches 85.0% (between 80.0% and 89.0%) on test rows" in next_actions(tested)[0].reason


@given(
    goal=st.sampled_from([None, GOAL]),
    pool=st.integers(0, 1000),
    holes=st.dictionaries(st.sampled_from(["a", "b"]), st.floats(0.01, 1.0)),
    suspects=st.none() | st.builds(Suspects, st.integers(0, 50), st.floats(0, 50), st.just(600)),
    feasible=st.sampled_from([None, UNDECIDED, replace(UNDECIDED, verdict="realistic")]),
    quality=st.none() | st.floats(0, 1).map(lambda one: Estimate(one, one, one)),
    serves=st.booleans(),
    expected=st.none() | st.floats(0, 1),
)
def test_there_are_one_to_three_actions_with_sound_gains(
    goal, pool, holes, suspects, feasible, quality, serves, expected
):
    facts = Facts(
        target="kind",
        goal=goal,
        rows={**ROWS, "pool": pool},
        holes=holes,
        suspects=suspects,
        feasible=feasible,
        quality=quality,
        serves=serves,
        search=Searched("running", 1, 9, 1.0, expected, 0.1),
    )
    actions = next_actions(facts)
    assert 1 <= len(actions) <= 3
    assert len({one.kind for one in actions}) == len(actions)
    for action in actions:
        assert action.reason.endswith(".")
        if action.gain is not None:
            assert 0 <= action.gain.low <= action.gain.value <= action.gain.high
    assert sum(one.state == "next" for one in rail(facts, actions)) <= 1
    assert len(questions(facts, actions)) == 5


def outcomes(told: float, came: list[float]) -> list[Outcome]:
    reckoned = Estimate(told, told / 2, 2 * told)
    return [Outcome("label", reckoned, each) for each in came]


def test_a_gain_is_corrected_by_what_came_and_the_more_the_more_came():
    reckoned = Estimate(0.04, 0.02, 0.08)
    found = []
    for times in (1, 10, 100):
        known = experiences(outcomes(0.04, [0.02] * times))["label"]
        found.append(known.corrected(reckoned).value)
    assert found == pytest.approx([0.036, 0.0257, 0.0208], abs=1e-4)
    certain = Estimate(0.0, 0.0, 0.0)
    assert known.corrected(certain) == certain


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0, 3), st.floats(0.01, 0.2))
def test_intervals_that_experience_moved_hold_what_comes(seed: int, ratio: float, noise: float):
    rng = np.random.default_rng(seed)
    came = ratio * 0.05 + noise * rng.normal(size=2_000)
    known = experiences(outcomes(0.05, came[:1_000].tolist()))["label"]
    gain = known.corrected(Estimate(0.05, 0.025, 0.1))
    share = ((gain.low <= came[1_000:]) & (came[1_000:] <= gain.high)).mean()
    assert share >= 0.85
    assert gain.value == pytest.approx(ratio * 0.05, abs=0.15 * noise + 0.001)


def filled(**wishes: object) -> Estimate:
    """Return what is promised of filling in cells, where nothing else is to be done."""
    facts = replace(KNOWN, **wishes)
    (action,) = [one for one in next_actions(facts) if one.kind == "clean"]
    assert action.gain is not None
    return action.gain


def test_filling_in_some_cells_promises_their_share_of_what_all_would_bring():
    """A quarter of the cells of one column lack: 20 of 150 were promised to bring what all would."""
    some = filled(holes={"size": 0.25})
    work = {"repair-cell": WorkLeft(10, 30.0)}
    assert filled(holes={"size": 0.25}, work=work).high == pytest.approx(some.high / 2)
    left = UNDECIDED.best.high - 0.85
    assert some.high == pytest.approx(0.25 * left * 20 / 150)
    assert (some.low, some.value) == (0.0, some.high / 2)


def test_filling_in_all_cells_promises_no_more_than_all_bring():
    left = UNDECIDED.best.high - 0.85
    assert filled(holes={"size": 0.01}).high == pytest.approx(0.01 * left)  # six cells


def test_what_nobody_measured_comes_before_what_surely_brings_next_to_nothing():
    """Filling in cells for a gain of .0002 at most stood above the labels of 483 of 683 rows."""
    facts = replace(
        KNOWN,
        rows={**ROWS, "train": 120, "pool": 483},
        feasible=replace(UNDECIDED, doubled=None, more_rows=None),
        quality=Estimate(0.895, 0.85, 0.94),
        holes={"hail": 0.2, "germ": 0.2},
    )
    gains = {action.kind: action.gain for action in next_actions(facts)}
    assert list(gains) == ["label", "clean"]
    assert gains["label"] is None
    assert gains["clean"] is not None
    assert 1e-4 < gains["clean"].high < 1e-3


@given(
    best=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(sorted),
    served=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_what_a_model_reaches_can_be_reached(best: list[float], served: list[float]):
    """ "The best that any model can reach is 57.9 %" stood beside a model of 81.8 %."""
    known = Estimate(best[1], best[0], best[2])
    found = replace(UNDECIDED, best=known).beside(Estimate(served[1], served[0], served[2])).best
    assert found.low <= found.value <= found.high
    assert (found.low, found.value) >= (known.low, known.value)
    assert found.value >= served[1]
    assert found.low >= served[0]
    assert found.high == max(known.high, found.value)


def test_who_has_too_few_rows_for_a_learning_curve_is_told_to_add_some():
    """Of 40 rows, "the best R2 is .09 (between 0 and 1)", and nothing was said of more rows."""
    short = replace(UNDECIDED, rows=32, doubled=None, more_rows=None)
    (rows, *_) = next_actions(replace(KNOWN, feasible=short))
    assert (rows.kind, rows.gain, rows.human_minutes) == ("collect", None, 8.0)
    assert rows.reason == "32 labelled rows are too few to tell what more of them bring."
    with_pool = replace(KNOWN, feasible=short, rows={**ROWS, "pool": 50})
    assert kinds(with_pool) == ["label"]
