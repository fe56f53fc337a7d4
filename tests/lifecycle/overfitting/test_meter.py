"""The overfitting meter: published sizes, its promise, its ledger, and what others do."""

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
from easeml.lifecycle.overfitting._sizes import deviation, exponent, size

EDGES = (-0.1, -0.02, 0.04, 0.1)


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
        smaller = size(option.learned, tolerance, delta) - 1
        assert (
            supported_reports(
                smaller, mode=option.mode, signals=signals, tolerance=tolerance, delta=delta
            )
            < reports
        )


def test_good_models_need_fewer_examples():
    assert exponent(0.02, 0.5) == pytest.approx(2 * 0.02**2)
    assert exponent(0.02, 0.9) > 2 * exponent(0.02)
    truths = np.linspace(0.9, 0.999, 200)
    assert min(exponent(0.02, float(p)) for p in truths) == pytest.approx(exponent(0.02, 0.9))


@given(st.floats(0.0, 30.0), st.integers(50, 10**6), st.sampled_from([0.0, 0.6, 0.9, 0.99]))
@settings(deadline=None, max_examples=60)
def test_deviation_is_what_the_size_supports(count, examples, least):
    tolerance = deviation(count, examples, 0.01, least)
    if tolerance < 0.4:
        assert size(count, tolerance * (1 + 1e-6), 0.01, least) <= examples


def test_signal_is_the_range_of_the_gap():
    meter = Meter(1000, edges=(0.02, 0.1), tolerance=0.2, delta=0.01)
    assert meter.read(0.9, scores(900, 1000)).signal == 1
    assert meter.read(0.5, scores(900, 1000)).signal == 1  # better on test than on validation data
    assert meter.read(0.95, scores(900, 1000)).signal == 2
    reading = meter.read(1.0, scores(800, 1000))
    assert (reading.signal, reading.low, reading.high) == (3, 0.1, inf)
    assert "at least" in reading.advice
    assert list(reading.to_frame()["signal"]) == [1, 1, 2, 3]
    assert len(reading.figure().series) == 3
    assert reading.to_json()["high"] is None


def test_a_gap_on_an_edge_belongs_to_the_lower_range():
    meter = Meter(1000, edges=(0.25,), tolerance=0.2, delta=0.01)
    assert meter.read(0.75, scores(500, 1000)).signal == 1


def test_the_same_question_costs_nothing():
    meter = Meter(1000, tolerance=0.2, delta=0.01, reports=1)
    first, again = (meter.read(0.9, scores(900, 1000)) for _ in range(2))
    assert (first.repeated, again.repeated) == (False, True)
    assert first.signal == again.signal
    assert meter.history == [1]


@pytest.mark.parametrize("mode", ["coded", "monotone", "plain"])
def test_a_worn_out_meter_says_nothing(mode):
    examples = max(option.size for option in plan(3, 2, 0.1, 0.05).options)
    meter = Meter(examples, edges=(0.02, 0.1), tolerance=0.1, delta=0.05, reports=2, mode=mode)
    shown = [
        meter.read(0.9, scores(right, examples)).signal
        for right in (examples - 1, examples // 2, 3, 4)
    ]
    assert shown == [1, 3, None, None]
    assert meter.exhausted
    assert "worn out" in meter.read(0.9, scores(9, examples)).advice


def test_a_coded_meter_pays_for_changes_and_counts_what_remains():
    def remaining(qualities: list[float]) -> int | None:
        meter = Meter(1500, edges=(0.1,), tolerance=0.1, delta=0.05)
        last = None
        for number, quality in enumerate(qualities):
            last = meter.read(quality, scores(750 + number, 1500))
        assert last is not None
        return last.remaining

    quiet, loud = remaining([0.5] * 6), remaining([0.5, 0.9] * 3)
    assert quiet is not None and loud is not None
    assert quiet > 5 * loud


def test_a_monotone_meter_shows_the_worst_so_far():
    meter = Meter(3000, edges=(0.02, 0.1), tolerance=0.1, delta=0.05, reports=5, mode="monotone")
    assert [meter.read(q, scores(1500, 3000)).signal for q in (0.5, 0.55, 0.52, 0.9, 0.4)] == [
        1,
        2,
        2,
        3,
        3,
    ]


def test_a_meter_goes_on_from_its_state():
    meter = Meter(1000, tolerance=0.2, delta=0.05)
    meter.read(0.9, scores(900, 1000))
    other = Meter.from_json(meter.to_json())
    assert other.read(0.9, scores(900, 1000)).repeated
    assert other.read(0.99, scores(900, 1000)).history == (1, 4)


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
        {"least_accuracy": 1.0},
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
        (float("nan"), [1.0] * 1000),
        (0.9, ["a"] * 1000),
    ],
    ids=["too few", "nan", "too large", "no quality", "text"],
)
def test_wrong_scores_are_refused_and_cost_nothing(quality, test_scores):
    meter = Meter(1000, tolerance=0.2)
    with pytest.raises(InvalidInput):
        meter.read(quality, test_scores)
    assert meter.history == []


@pytest.mark.parametrize("developer", sorted(DEVELOPERS))
@pytest.mark.parametrize("mode", ["coded", "monotone", "plain"])
def test_the_promise_holds_against_developers(mode, developer):
    examples = next(option.size for option in plan(5, 20, 0.1, 0.05).options if option.mode == mode)
    found = attack(
        mode,
        lambda rng: keep_with_meter(
            Meter(examples, EDGES, tolerance=0.1, delta=0.05, reports=20, mode=mode)
        ),
        examples=examples,
        rounds=20,
        delta=0.05,
        developer=developer,
        runs=100,
    )
    assert not found.refuted
    assert found.answered >= 2


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
    assert plan(least_accuracy=0.9).options[0].size < plan().options[0].size


@pytest.mark.parametrize(
    "wrong", [{"signals": 0}, {"reports": 0}, {"tolerance": 1.5}, {"delta": 0.0}], ids=str
)
def test_wrong_plans_are_refused(wrong):
    with pytest.raises(InvalidInput):
        plan(**wrong)
