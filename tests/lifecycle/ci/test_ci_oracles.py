"""Bets, bounds, levels and answers beside the plainest way to compute them."""

import math
from html import escape

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import (
    Bets,
    ClauseFinding,
    Spent,
    Verdict,
    bennett_size,
    confidence_sequence,
    empirical_bernstein,
    exact_size,
    f1_bounds,
    f1_size,
    hoeffding_size,
    log_wealth,
    read_config,
    step_nats,
)
from easeml.lifecycle.ci.betting import best_bet, first_crossing, growth, ladder_of_bets
from easeml.lifecycle.ci.bounds import bernoulli_divergence, exact_cuts, up
from easeml.lifecycle.ci.levels import clause_levels
from easeml.lifecycle.ci.ratios import f1_score
from easeml.lifecycle.ci.steps import Step

# Bets


@given(st.floats(1e-5, 2.0), st.floats(0.01, 5.0))
@example(1e-5, 0.01)
@example(2.0, 1.0)
def test_bets_rise_by_half_to_just_below_what_loses_all(smallest: float, worst: float) -> None:
    bets = ladder_of_bets(smallest, worst)
    largest = 0.99 / worst
    expected = [min(smallest, largest)]
    while len(expected) < 24 and 1.5 * expected[-1] <= largest * (1 + 1e-12):
        expected.append(1.5 * expected[-1])
    if abs(math.log(largest / expected[-1], 1.5) - 1) > 1e-9:  # else either count is right
        assert bets.sizes == pytest.approx(expected)
    shares = [1 / ((place + 1) * (place + 2)) for place in range(len(bets.sizes) - 1)]
    assert bets.weights == pytest.approx([*shares, 1 - sum(shares)])


def test_without_anything_to_lose_bets_are_many_and_with_no_wish_tiny() -> None:
    assert len(ladder_of_bets(1.0, 0.0).sizes) == 24
    assert ladder_of_bets(1.0, -3.0).sizes == pytest.approx(ladder_of_bets(1.0, 0.0).sizes)
    assert ladder_of_bets(0.0, 1.0).sizes[0] == pytest.approx(1e-6)
    assert ladder_of_bets(1e9, 0.0).sizes == pytest.approx([0.99e6])


def test_who_lost_all_stays_at_nothing() -> None:
    wealth = log_wealth(np.array([1.0, 0.0, 1.0]), 1.0, Bets(np.ones(1), np.ones(1)))
    assert wealth.tolist() == [0.0, -math.inf, -math.inf]
    mixed = log_wealth(np.array([0.0]), 1.0, Bets(np.array([1.0, 0.5]), np.array([0.25, 0.75])))
    assert mixed == pytest.approx(math.log(0.75 * 0.5))


def test_growth_is_the_mean_of_logarithms() -> None:
    values, shares = [1.0, 0.0, -1.0], [0.5, 0.3, 0.2]
    expected = sum(
        share * math.log(1 + 0.4 * (value - 0.1))
        for value, share in zip(values, shares, strict=True)
    )
    assert growth(values, shares, 0.1, 0.4) == pytest.approx(expected)
    assert growth([1.0, -1.0], [0.5, 0.5], 0.0, 1.0) == -math.inf
    assert growth([1.0, -1.0], [1.0, 0.0], 0.0, 1.0) == pytest.approx(math.log(2))


@given(
    st.lists(st.integers(1, 9), min_size=3, max_size=3),
    st.floats(-0.8, 0.9),
)
@settings(max_examples=40, deadline=None)
def test_no_bet_grows_faster_than_the_best(counts: list[int], mean: float) -> None:
    values = [1.0, 0.0, -1.0]
    shares = [count / sum(counts) for count in counts]
    best = best_bet(values, shares, mean)
    most = 1 / (mean + 1)
    assert 0 <= best < most
    rate = growth(values, shares, mean, best)
    others = np.linspace(0, most, 400, endpoint=False)
    assert all(growth(values, shares, mean, float(bet)) <= rate + 1e-9 for bet in others)
    if np.dot(values, shares) <= mean:
        assert best == 0.0


def test_where_nothing_can_be_lost_the_best_bet_is_the_largest() -> None:
    assert best_bet([1.0], [1.0], 0.0) == pytest.approx(1e12, rel=1e-6)
    assert best_bet([1.0, 0.0], [0.5, 0.5], 0.5) == 0.0
    never_lost = best_bet([1.0, 0.0], [1.0, 0.0], 0.5)
    assert (never_lost < 2.0, never_lost) == (True, pytest.approx(2.0))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.1, 0.5]))
@settings(max_examples=20, deadline=None)
def test_the_interval_is_of_the_means_that_no_side_refutes(seed: int, level: float) -> None:
    """Beside the wealth of either side at each mean of a grid, of values in [-2, 3]."""
    generator = np.random.default_rng(seed)
    values = -2 + 5 * generator.beta(2, 3, int(generator.integers(1, 60))).round(1)
    low, high = confidence_sequence(values, -2.0, 3.0, level)
    bets, nats = ladder_of_bets(1 / 64, 1.0), math.log(2 / level)
    unit = (values + 2) / 5
    for mean in np.linspace(0.003, 0.997, 40):
        refuted_low = log_wealth(unit, mean, bets)[-1] >= nats
        refuted_high = log_wealth(1 - unit, 1 - mean, bets)[-1] >= nats
        at = -2 + 5 * mean
        if min(abs(at - low), abs(at - high)) > 1e-6:
            assert (at < low, at > high) == (refuted_low, refuted_high)


@pytest.mark.parametrize("seed", range(5))
def test_an_interval_ends_on_the_safe_side_of_its_roots(seed: int) -> None:
    values = np.random.default_rng(seed).beta(5, 2, 50)
    low, high = confidence_sequence(values, 0.0, 1.0, 0.1)
    bets, nats = ladder_of_bets(1 / 64, 1.0), math.log(2 / 0.1)
    assert log_wealth(values, low, bets)[-1] >= nats
    assert log_wealth(1 - values, 1 - high, bets)[-1] >= nats


def test_wealth_that_is_just_enough_suffices() -> None:
    one = Bets(np.ones(1), np.ones(1))
    assert first_crossing(np.ones(3), 0.0, one, float(np.log1p(1.0))) == 1


def test_an_interval_that_cannot_be_narrowed() -> None:
    assert confidence_sequence(np.array([0.5]), 0.0, 1.0, 0.01) == (0.0, 1.0)
    assert confidence_sequence(np.ones(5), 1.0, 1.0, 0.1) == (1.0, 1.0)
    low, high = confidence_sequence(np.zeros(100), 0.0, 1.0, 0.05)
    assert (low, high < 0.1) == (0.0, True)


# Bounds


def test_sizes_by_their_formulas() -> None:
    assert hoeffding_size(2.0, 0.1, 3.0) == pytest.approx(600.0)
    u = 0.05 / 0.2
    assert bennett_size(0.2, 0.05, 3.0) == pytest.approx(
        3.0 / (0.2 * ((1 + u) * math.log(1 + u) - u))
    )
    assert [up(7.0), up(7.0000000001), up(7.001)] == [7, 7, 8]
    assert f1_size(0.8, 0.1, 0.5, 3.0) == pytest.approx(1.2**2 * 3 / (2 * 0.05**2))
    assert f1_size(-1.0, 0.1, 0.5, 3.0) == f1_size(0.0, 0.1, 0.5, 3.0)
    assert f1_size(2.0, 0.1, 0.5, 3.0) == f1_size(1.0, 0.1, 0.5, 3.0)


def test_divergence_of_shares() -> None:
    expected = 0.3 * math.log(0.3 / 0.6) + 0.7 * math.log(0.7 / 0.4)
    assert bernoulli_divergence(0.3, 0.6) == pytest.approx(expected)
    assert bernoulli_divergence(0.0, 0.5) == pytest.approx(math.log(2))
    assert bernoulli_divergence(1.0, 0.5) == pytest.approx(math.log(2))
    assert bernoulli_divergence(0.5, 0.0) == bernoulli_divergence(0.5, 1.0) == math.inf
    assert bernoulli_divergence(0.0, 0.0) == bernoulli_divergence(1.0, 1.0) == 0.0


@given(st.integers(1, 40), st.integers(0, 20), st.integers(0, 20), st.floats(0.7, 12.0))
@settings(max_examples=60, deadline=None)
def test_cuts_by_counting_through_all_tails(trials: int, low: int, high: int, nats: float) -> None:
    """Shares in twentieths, 0 and 1 among them; levels up to a half, where a median proves nothing."""
    first, last = exact_cuts(trials, low / 20, high / 20, nats)
    alpha = math.exp(-nats)
    proof = [k for k in range(1, trials + 1) if binom.sf(k - 1, trials, low / 20) <= alpha]
    assert first == min(proof, default=trials + 1)
    proof = [k for k in range(trials) if binom.cdf(k, trials, high / 20) <= alpha]
    assert last == max(proof, default=-1)


def test_beyond_floats_chernoff_says_how_many() -> None:
    first, _ = exact_cuts(5000, 0.5, 0.9, 700.0)
    assert 5000 * bernoulli_divergence(first / 5000, 0.5) >= 700.0
    assert 5000 * bernoulli_divergence((first - 1) / 5000, 0.5) < 700.0
    assert exact_cuts(10, 0.5, 0.5, 700.0) == (11, -1)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.7, 0.2), (1.0, 1.5), (-1.0, 0.0)])
def test_an_empty_zone_has_no_size(low: float, high: float) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        exact_size(low, high, 3.0)


def test_sums_between_two_counts_ask_for_no_fewer_rows() -> None:
    for low, high in ((0.4, 0.6), (0.85, 0.9), (-0.5, 0.3), (0.6, 2.0)):
        ends = max(0.0, low), min(1.0, high)
        for whole in (True, False):
            size = exact_size(low, high, 3.0, whole=whole)
            first, last = exact_cuts(size, *ends, 3.0)
            assert first <= last + whole
            if size > 1:
                first, last = exact_cuts(size - 1, *ends, 3.0)
                assert first > last + whole


def test_empirical_bernstein_by_its_formula() -> None:
    values = np.array([0.0, 0.25, 1.0, 0.5])
    nats = math.log(4 / 0.2)
    radius = math.sqrt(2 * np.var(values, ddof=1) * nats / 4) + 7 * 2.0 * nats / (3 * 3)
    low, high = empirical_bernstein(values, 2.0, 0.2)
    assert (low, high) == pytest.approx((values.mean() - radius, values.mean() + radius))
    assert empirical_bernstein(values[:2], 0.25, 0.2)[0] < 0
    for bad, spread, level in (
        (values[:1], 1.0, 0.2),
        (values[:, None], 1.0, 0.2),
        ([0.0, math.nan], 1.0, 0.2),
        (values, 0.99, 0.2),
        (values, 1.0, 0.0),
        (values, 1.0, 1.0),
    ):
        with pytest.raises(InvalidInput):
            empirical_bernstein(np.asarray(bad), spread, level)


# F1


@pytest.mark.parametrize(
    ("hits", "errors", "nats"), [(30, 4, 3.0), (4, 30, 3.0), (200, 90, 6.0), (0, 50, 2.0)]
)
def test_f1_bounds_are_where_the_wealth_of_bets_suffices(
    hits: int, errors: int, nats: float
) -> None:
    """Beside a mixture of bets on values in [-1, 2], at half the size, for each F1 of a grid."""
    bets = ladder_of_bets(1 / 64, 1.0)
    low, high = f1_bounds(hits, errors, nats)

    def wealth(gain: float, loss: float, gains: int, losses: int) -> float:
        sizes, weights = bets.sizes / 2, bets.weights
        return float((weights * (1 + sizes * gain) ** gains * (1 + sizes * loss) ** losses).sum())

    for c in np.linspace(0.0, 1.0, 101):
        too_small = wealth(2 * (1 - c), -c, hits, errors) >= math.exp(nats)
        too_large = wealth(c, -2 * (1 - c), errors, hits) >= math.exp(nats)
        if min(abs(c - low), abs(c - high)) > 1e-9:
            assert (c < low, c > high) == (too_small, too_large)


def test_f1_of_counts() -> None:
    assert f1_score(3, 2) == pytest.approx(6 / 8)
    assert (f1_score(0, 1), f1_score(1, 0)) == (0.0, 1.0)
    assert math.isnan(f1_score(0, 0))
    assert f1_bounds(0, 0, 0.5) == (0.0, 1.0)


# Levels, steps, answers


def test_the_level_of_a_step() -> None:
    many = {"condition": "n > 0.5 +/- 0.1", "reliability": 0.9, "steps": 5}
    for adaptivity, shared, expected in (
        ("none", True, math.log(50)),
        ("firstChange", True, math.log(50)),
        ("full", True, 5 * math.log(2) + math.log(10)),
        ("full", False, math.log(50)),
    ):
        config = read_config({**many, "adaptivity": adaptivity})
        assert step_nats(config, shared=shared) == pytest.approx(expected)
    config = read_config({**many, "adaptivity": "full"})
    assert step_nats(config, shared=True, answers=3) == pytest.approx(
        5 * math.log(3) + math.log(10)
    )


def test_a_disjunction_shares_what_is_true_among_its_parts() -> None:
    text = "n > 0.5 +/- 0.1 \\/ d < 0.1 +/- 0.1 \\/ o > 0.2 +/- 0.1"
    config = read_config({"condition": text, "reliability": 0.9, "adaptivity": "none"})
    levels = [level for _, level in clause_levels(config.condition, 5.0)]
    assert [(level.true, level.false) for level in levels] == [(5.0 + math.log(3), 5.0)] * 3


def test_what_uses_gave_away_adds_up() -> None:
    assert Step("c", "pass", 3, 10, 5).end == 15
    both = Spent(10, 1.5, None).and_also(Spent(4, 2.0, 7))
    assert both == Spent(10, 3.5, 7)
    assert Spent(1, 0.0, 3).and_also(Spent(2, 0.5, 9)) == Spent(2, 0.5, 3)
    assert Spent().sentence() == ""
    start = "These examples have other uses, which share one budget: "
    rows, answers = "1,200 of the examples are spent", "what they answered counts here as well"
    assert Spent(1200).sentence() == f"{start}{rows}."
    assert Spent(nats=0.1).sentence() == f"{start}{answers}."
    assert Spent(1200, 0.1).sentence() == f"{start}{rows} and {answers}."


FOUND = ClauseFinding("n > 0.5 +/- 0.1", True, 0.8, 0.7, 0.9, 40)
PLAIN = {
    "commit": "c",
    "condition": "n > 0.5 +/- 0.1",
    "step": 1,
    "steps": 1200,
    "labels_used": 3,
    "rows_used": 40,
    "findings": (FOUND,),
}


@pytest.mark.parametrize(
    ("answer", "more", "left", "sentences"),
    [
        ("pass", {}, 1100, "The commit passes: the condition is proven. 1,100 steps are"),
        (
            "fail",
            {},
            0,
            "The commit fails: the condition does not hold, or not by more than twice its"
            " tolerance. 0 steps are",
        ),
        (
            "exhausted",
            {},
            2,
            "The test set is used up: no further commit can be answered with the promised"
            " reliability. 2 steps are",
        ),
        (
            "unknown",
            {"labels_wanted": tuple(range(1500))},
            1,
            "Open: label the 1,500 examples asked for, then test the same commit again. 1 step is",
        ),
        (
            "unknown",
            {"reason": "It is late."},
            1,
            "Open, and every example that could help is labelled: a larger test set is needed to"
            " tell. It is late. 1 step is",
        ),
    ],
    ids=["pass", "fail", "exhausted", "labels are wanted", "no labels help"],
)
def test_what_a_verdict_says(answer: str, more: dict, left: int, sentences: str) -> None:
    told = {"labels_wanted": (), "new_test_set_due": False, **PLAIN, **more}
    verdict = Verdict(answer=answer, steps_left=left, **told)
    assert verdict.advice == f"{sentences} left on this test set."
    assert verdict.passed is (answer == "pass")
    assert (verdict.repeated, verdict.by_mode) == (False, False)
    due = Verdict(answer=answer, steps_left=left, **{**told, "new_test_set_due": True})
    assert due.advice.endswith(" Bring a new test set before the next commit.")
    assert "left on" not in due.advice
    frame = verdict.to_frame()
    assert frame.to_dict("records") == [vars(FOUND)]
    assert list(frame.columns) == ["clause", "truth", "estimate", "low", "high", "rows"]
    hidden = Verdict(answer=answer, steps_left=left, **{**told, "findings": None})
    assert (len(hidden.to_frame()), list(hidden.to_frame().columns)) == (0, list(frame.columns))
    assert escape(FOUND.clause) in verdict.figure().to_svg()
