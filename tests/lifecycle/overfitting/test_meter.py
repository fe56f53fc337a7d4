"""The overfitting meter: published sizes, its promise, its ledger, and what others do."""

import json
from collections.abc import Sequence
from itertools import product
from math import comb, exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting import (
    DEVELOPERS,
    History,
    Ladder,
    Meter,
    Reading,
    Thresholdout,
    attack,
    bounds_after,
    budget,
    code_length,
    keep_with_meter,
    keep_with_thresholdout,
    keep_without_care,
    ladder_bound,
    log_histories,
    log_models,
    noise_bound,
    plan,
    supported_reports,
)
from easeml.lifecycle.overfitting.sizes import deviation, size

EDGES = (-0.1, -0.02, 0.04, 0.1)


def read_all(
    meter: Meter, asked: Sequence[tuple[float, np.ndarray]]
) -> tuple[list[Reading], Meter]:
    readings = []
    for quality, test_scores in asked:
        reading, meter = meter.read(quality, test_scores)
        readings.append(reading)
    return readings, meter


def scores(right: int, examples: int) -> np.ndarray:
    return (np.arange(examples) < right).astype(float)


def test_published_sizes():
    found = plan(signals=5, reports=10, tolerance=0.02, delta=0.01)
    assert (found.non_adaptive, found.plain, found.monotone, found.one_bit) == (
        9502,
        26741,
        15259,
        15288,
    )


def test_published_budget():
    found = budget(10000, 5, 0.02, 0.01, used=1)
    assert (found.total, found.remaining) == (1, 0)


@pytest.mark.parametrize(("signals", "reports", "count"), [(5, 10, 1001), (5, 100, 4598126)])
def test_monotone_histories(signals, reports, count):
    assert exp(log_histories("monotone", signals, reports)) == pytest.approx(count, rel=1e-9)


@pytest.mark.parametrize("signals", [1, 2, 3])
@pytest.mark.parametrize("reports", [1, 2, 5])
def test_counts_of_models_by_enumeration(signals, reports):
    shown = [list(product(range(signals), repeat=t)) for t in range(reports)]
    plain = sum(len(histories) for histories in shown)
    monotone = sum(sum(list(h) == sorted(h) for h in histories) for histories in shown)
    assert exp(log_models("plain", signals, reports)) == pytest.approx(plain)
    assert exp(log_models("monotone", signals, reports)) == pytest.approx(monotone)
    assert monotone == comb(reports + signals - 1, signals)


@pytest.mark.parametrize(("signals", "reports"), [(1, 4), (2, 6), (3, 5), (4, None)])
def test_code_is_a_code(signals, reports):
    """Kraft: the granted failure probabilities of all models that can come up sum to at most one
    delta.
    """
    longest = 6 if reports is None else reports
    total = sum(
        exp(-code_length(History.of(tuple(s + 1 for s in shown)), signals, reports))
        for t in range(longest)
        for shown in product(range(signals), repeat=t)
    )
    assert total <= 1 + 1e-9


@given(st.integers(1, 8), st.integers(1, 200), st.floats(0.005, 0.3), st.floats(0.001, 0.3))
@settings(deadline=None, max_examples=60)
def test_sizes_and_supported_reports_are_inverse(signals, reports, tolerance, delta):
    found = plan(signals, reports, tolerance, delta)
    for option in found.options:
        given_back = supported_reports(
            option.size, mode=option.mode, signals=signals, tolerance=tolerance, delta=delta
        )
        assert given_back >= reports
        assert deviation(option.learned, option.size, delta) <= tolerance


def test_good_models_need_fewer_examples():
    assert size(3.0, 0.02, 0.01, 0.9) < size(3.0, 0.02, 0.01) / 2
    assert deviation(3.0, 5000, 0.01, 0.9) == pytest.approx(
        deviation(3.0, 5000, 0.01, 0.1), rel=1e-6
    )


def test_the_test_set_is_at_most_half_of_what_it_was():
    before = {10: 16126, 30: 19372, 100: 22443}  # by Hoeffding, for at most one change
    for reports, examples in before.items():
        found = plan(reports=reports)
        least = min(option.size for option in found.options)
        assert least <= examples / 2
        assert found.tolerance < found.tolerance_after_change < 1.5 * found.tolerance


@given(st.floats(0.0, 20.0), st.integers(20, 400), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=40)
def test_deviation_is_exact_by_enumeration(count, examples, accuracy):
    """No truth further away than the deviation gives such a measurement with more than the level."""
    from scipy.stats import binom

    right = round(accuracy * examples)
    found = deviation(count, examples, 0.01, right / examples)
    level = 0.01 / 2 / exp(count)
    below, above = right / examples - found, right / examples + found
    if below > 0:
        assert binom.sf(right - 1, examples, below) <= level * (1 + 1e-6)
    if above < 1:
        assert binom.cdf(right, examples, above) <= level * (1 + 1e-6)
    assert found <= deviation(count, examples, 0.01, right / examples, graded=True)


def test_signal_is_the_range_of_the_gap():
    meter = Meter(1000, edges=(0.02, 0.1), tolerance=0.2, delta=0.01)
    asked = [(0.9, 900), (0.5, 900), (0.95, 900), (1.0, 800)]
    readings, _ = read_all(meter, [(quality, scores(right, 1000)) for quality, right in asked])
    assert [reading.signal for reading in readings] == [1, 1, 2, 3]
    reading = readings[-1]
    assert (reading.signal, reading.low, reading.high) == (3, 0.1, inf)
    assert "at least" in reading.advice
    assert list(reading.to_frame()["signal"]) == [1, 1, 2, 3]
    assert len(reading.figure().series) == 3
    assert reading.to_json()["high"] is None


def test_few_test_rows_do_not_call_validation_rows_fresh():
    """Eight test rows: "fresh: at most 0.656 above the truth: go on"."""
    reading, _ = Meter(examples=8, tolerance=0.64, delta=0.05).read(0.4, np.array([1, 0] * 4))
    assert (reading.signal, reading.is_above) == (1, None)
    assert "cannot tell: they are sure within 0.491 only. Label more" in reading.advice


def test_a_gap_on_an_edge_belongs_to_the_lower_range():
    meter = Meter(1000, edges=(0.25,), tolerance=0.2, delta=0.01)
    assert meter.read(0.75, scores(500, 1000))[0].signal == 1


def test_the_same_question_costs_nothing():
    meter = Meter(1000, tolerance=0.2, delta=0.01, reports=1)
    (first, again), after = read_all(meter, [(0.9, scores(900, 1000))] * 2)
    assert (first.repeated, again.repeated) == (False, True)
    assert first.signal == again.signal
    assert (meter.history, after.history) == ((), (1,))


@pytest.mark.parametrize("mode", ["coded", "monotone", "plain"])
def test_a_worn_out_meter_says_nothing(mode):
    examples = max(option.size for option in plan(3, 2, 0.1, 0.05).options)
    meter = Meter(examples, edges=(0.02, 0.1), tolerance=0.1, delta=0.05, reports=2, mode=mode)
    asked = [(0.9, scores(right, examples)) for right in (examples - 1, examples // 2, 3, 4)]
    readings, worn = read_all(meter, asked)
    assert [reading.signal for reading in readings] == [1, 3, None, None]
    assert not worn.allows(0.9)
    assert "worn out" in readings[-1].advice


def test_a_coded_meter_pays_for_changes_and_counts_what_remains():
    def remaining(qualities: list[float]) -> int | None:
        meter = Meter(1500, edges=(0.1,), tolerance=0.1, delta=0.05, widest=0.07)
        asked = [(quality, scores(750 + place, 1500)) for place, quality in enumerate(qualities)]
        return read_all(meter, asked)[0][-1].remaining

    quiet, loud = remaining([0.5] * 6), remaining([0.5, 0.9] * 3)
    assert quiet is not None and loud is not None
    assert quiet > 5 * loud


def test_a_monotone_meter_shows_the_worst_so_far():
    meter = Meter(3000, edges=(0.02, 0.1), tolerance=0.1, delta=0.05, reports=5, mode="monotone")
    asked = [(quality, scores(1500, 3000)) for quality in (0.5, 0.55, 0.52, 0.9, 0.4)]
    assert [reading.signal for reading in read_all(meter, asked)[0]] == [1, 2, 2, 3, 3]


def test_a_meter_goes_on_from_its_state():
    meter = Meter(1000, tolerance=0.2, delta=0.05)
    _, meter = meter.read(0.9, scores(900, 1000))
    other = Meter.from_json(json.loads(json.dumps(meter.to_json())))
    assert other == meter
    assert other.read(0.9, scores(900, 1000))[0].repeated
    assert other.read(0.99, scores(900, 1000))[0].history == (1, 4)


def test_a_meter_of_the_version_before_is_refused():
    document = {**Meter(1000, tolerance=0.2).to_json(), "least_accuracy": 0.0}
    del document["version"]
    with pytest.raises(InvalidInput, match="counted otherwise"):
        Meter.from_json(document)


def test_what_others_have_shown_costs_tolerance():
    asked = (0.9, scores(900, 1000))
    alone = Meter(1000, tolerance=0.2).read(*asked)[0]
    beside = Meter(1000, tolerance=0.2, learned_elsewhere=5.0).read(*asked)[0]
    assert beside.tolerance > alone.tolerance


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"examples": "x"},
        {"examples": 1000, "edges": [0.1], "tolerance": 0.2, "shown": {}, "history": [7]},
    ],
)
def test_what_is_no_state_is_refused(state):
    with pytest.raises(InvalidInput):
        Meter.from_json(state)


@pytest.mark.parametrize(
    "wrong",
    [
        {"examples": 10},
        {"edges": (0.2, 0.1)},
        {"edges": (0.1, float("nan"))},
        {"tolerance": 0.0},
        {"delta": 1.0},
        {"mode": "plain"},
        {"mode": "other"},
        {"reports": 0},
        {"widest": 0.001},
    ],
    ids=str,
)
def test_wrong_meters_are_refused(wrong):
    with pytest.raises(InvalidInput):
        Meter(**{"examples": 1000, "tolerance": 0.2, **wrong})


@pytest.mark.parametrize(
    ("quality", "test_scores"),
    [
        (0.9, [1.0] * 9),
        (0.9, [float("nan")] * 1000),
        (0.9, [2.0] * 1000),
        (0.9, [0.5] * 1000),
        (float("nan"), [1.0] * 1000),
        (0.9, ["a"] * 1000),
    ],
    ids=["too few", "nan", "too large", "between", "no quality", "text"],
)
def test_wrong_scores_are_refused_and_cost_nothing(quality, test_scores):
    meter = Meter(1000, tolerance=0.2)
    with pytest.raises(InvalidInput):
        meter.read(quality, test_scores)
    assert meter.history == ()


@pytest.mark.parametrize("developer", sorted(DEVELOPERS))
@pytest.mark.parametrize("mode", ["coded", "monotone", "plain"])
def test_the_promise_holds_against_developers(mode, developer):
    """They end where it breaks most easily: a gap one tolerance above the lowest edge."""
    edges, tolerance, rounds = (0.04, 0.1, 0.16, 0.22), 0.1, 10
    options = plan(5, rounds, tolerance, 0.1).options
    examples = next(option.size for option in options if option.mode == mode)
    found = attack(
        mode,
        lambda rng: keep_with_meter(Meter(examples, edges, tolerance, 0.1, rounds, mode)),
        examples=examples,
        rounds=rounds,
        delta=0.1,
        developer=developer,
        aim=0.04 + tolerance * 1.001,
        runs=100,
    )
    assert not found.refuted
    assert found.answered >= 2


@pytest.mark.parametrize("developer", ["block chooser", "independent"])
def test_the_promise_holds_where_models_are_good(developer):
    """The size follows from the accuracy, and no assumption on it is made."""
    examples = plan(5, 10, 0.05, 0.1, accuracy=0.8).options[0].size
    found = attack(
        "coded",
        lambda rng: keep_with_meter(Meter(examples, (0.02, 0.06, 0.1, 0.15), 0.05, 0.1, 10)),
        examples=examples,
        rounds=10,
        delta=0.1,
        developer=developer,
        edge=0.02,
        aim=0.0701,
        truth=0.8,
        runs=100,
    )
    assert not found.refuted
    assert examples < plan(5, 10, 0.05, 0.1).options[0].size


def test_careless_reuse_breaks_its_promise():
    found = attack(
        "test score",
        lambda rng: keep_without_care(1000, 100, 0.05),
        examples=1000,
        rounds=100,
        delta=0.05,
        runs=60,
    )
    assert found.refuted
    assert found.rate > 0.9
    assert "does not keep" in found.advice
    assert len(found.figure().series) == 2


def test_thresholdout_answers_until_its_budget_is_spent():
    mechanism = Thresholdout(np.random.default_rng(0), threshold=0.04, noise=0.001, budget=3)
    assert mechanism.ask(0.9, 0.9) == 0.9
    answers = [mechanism.ask(0.9, 0.5) for _ in range(4)]
    assert answers[3] is None
    assert np.allclose([a for a in answers if a is not None], 0.5, atol=0.02)
    keeper = keep_with_thresholdout(Thresholdout(np.random.default_rng(1), budget=0), 0.1)
    assert keeper(0.9, np.ones(5)) is None


def test_the_ladder_shows_only_gains_of_a_step():
    ladder = Ladder(0.05)
    assert [round(ladder.submit(q), 9) for q in (0.62, 0.64, 0.5, 0.66, 0.71)] == [
        0.6,
        0.6,
        0.6,
        0.65,
        0.7,
    ]
    with pytest.raises(InvalidInput):
        ladder.submit(1.5)
    with pytest.raises(InvalidInput):
        Ladder(0.0)


def test_bounds_after_rounds():
    found = bounds_after(10000, (1, 10, 1000))
    table = found.to_frame().pivot(index="answers", columns="rounds", values="±")
    assert np.all(np.diff(table.to_numpy(), axis=1) >= 0)  # more rounds, less known
    assert np.all(table.loc["fixed in advance"] <= table.loc["ladder"])
    assert table.loc["ladder", 1000] < table.loc["full scores", 1000]
    assert len(found.figure().series) == 5
    assert 0 < noise_bound(10**6, 1000, 0.05) < noise_bound(10**4, 1000, 0.05) <= 1
    with pytest.raises(InvalidInput):
        bounds_after(0)


def test_ladder_bound_holds_against_boosting():
    """Submit random guesses, then the vote of those that helped; the release must stay within the
    bound.
    """
    rounds, examples, rng = 60, 500, np.random.default_rng(3)
    bound, step = ladder_bound(examples, rounds, 0.05)
    worst, free = 0.0, 0.0
    for _ in range(50):
        right = rng.integers(0, 2, size=(rounds, examples))
        ladder = Ladder(step)
        shown = [ladder.submit(float(row.mean())) for row in right[:-1]]
        helped = [row for row in right[:-1] if row.mean() > 0.5]
        vote = np.mean(helped, axis=0) > 0.5
        worst = max(worst, max(shown) - 0.5, ladder.submit(float(vote.mean())) - 0.5)
        free = max(free, vote.mean() - 0.5)
    assert worst <= bound
    assert (
        free > (log(60) / 1000) ** 0.5
    )  # full scores, as if fixed in advance, would have been overfitted


def test_plan_says_what_to_do():
    found = plan(reports=100, examples=30000, used=2)
    assert found.default == "coded"
    assert found.budget is not None and found.budget.total >= found.budget.remaining
    assert f"{found.options[0].size:,}" in found.advice
    assert len(found.to_frame()) == 7
    drawn = found.figure().series
    assert sorted(size for series in drawn for size in series.x) == sorted(
        found.to_frame()["test examples"]
    )
    assert plan(accuracy=0.9).options[0].size < plan().options[0].size


@pytest.mark.parametrize(
    "wrong", [{"signals": 0}, {"reports": 0}, {"tolerance": 1.5}, {"delta": 0.0}], ids=str
)
def test_wrong_plans_are_refused(wrong):
    with pytest.raises(InvalidInput):
        plan(**wrong)
