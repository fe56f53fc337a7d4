"""Testing commits: bets, zones, verdicts; errors at the edge of the condition by simulation."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import (
    Bets,
    Examples,
    confidence_sequence,
    f1_bounds,
    f1_size,
    log_wealth,
    plan,
    powered_mean,
    read_config,
    score_examples,
    step_nats,
    try_commit,
)
from easeml.lifecycle.ci.betting import best_bet, first_crossing, growth, ladder_of_bets
from easeml.lifecycle.ci.design import Assumed, design_clause
from easeml.lifecycle.ci.levels import clause_levels
from easeml.lifecycle.ci.settling import settle


def configured(condition: str, **more):
    return read_config({"condition": condition, "reliability": 0.9, "adaptivity": "none", **more})


def drawn(
    generator, rows: int, gain: float, d: float, *, right: float = 0.7, ties: float = 0.0
) -> Examples:
    """Rows of a commit with n - o = gain; ``ties`` of the changed ones are wrong by both."""
    u = generator.random(rows)
    won = (d * (1 - ties) + gain) / 2
    differ = u < d
    same = (u >= d) & (u < d + (1 - d) * right)
    new, old = (u < won) | same, ((u >= won) & (u < d * (1 - ties))) | same
    return Examples(new.astype(float), old.astype(float), differ, np.ones(rows, dtype=bool))


def tried(config, examples: Examples):
    return try_commit(config, examples, step_nats(config, shared=True), shared=True)


def test_wealth_of_fixed_bets() -> None:
    values = np.array([1, 1, -1, 1, 0, 1, 1, -1, 1, 1], dtype=float)
    sizes = np.array([0.1, 0.3, 0.5])
    alone = [
        math.exp(log_wealth(values, 0.2, Bets(np.array([bet]), np.ones(1)))[-1]) for bet in sizes
    ]
    assert alone == pytest.approx([1.300641803468, 1.73555986194, 1.5179544576])
    mixed = log_wealth(values, 0.2, Bets(sizes, np.full(3, 1 / 3)))
    assert math.exp(mixed[-1]) == pytest.approx(1.518052041003)
    assert len(mixed) == len(values)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=1500), st.floats(-0.9, 0.9))
@settings(max_examples=30, deadline=None)
def test_the_crossing_is_the_first_look_at_which_the_wealth_suffices(values, mean) -> None:
    bets = ladder_of_bets(0.05, mean + 1)
    wealth = log_wealth(np.array(values), mean, bets)
    reached = [row + 1 for row, nats in enumerate(wealth) if nats >= 2.0]
    assert first_crossing(np.array(values), mean, bets, 2.0) == (
        reached[0] if reached else len(values) + 1
    )


@given(st.floats(1e-4, 5.0), st.floats(0.0, 5.0))
def test_bets_are_a_mixture_that_cannot_lose_all(smallest: float, worst: float) -> None:
    bets = ladder_of_bets(smallest, worst)
    assert bets.weights.sum() == pytest.approx(1.0)
    assert (bets.weights > 0).all()
    assert (1 - bets.sizes * worst > 0).all()


@pytest.mark.parametrize(("q", "p"), [(0.8, 0.6), (0.99, 0.5), (0.3, 0.1)])
def test_the_best_bet_on_two_values_is_kellys(q: float, p: float) -> None:
    bet = best_bet([1.0, 0.0], [q, 1 - q], p)
    assert bet == pytest.approx((q - p) / (p * (1 - p)), rel=1e-6)
    divergence = q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))
    assert growth([1.0, 0.0], [q, 1 - q], p, bet) == pytest.approx(divergence)


def test_one_look_martingale_by_enumeration() -> None:
    """The expected wealth under a mean at the edge is exactly 1, after every number of rows."""
    bets, probabilities = ladder_of_bets(0.1, 1.2), {1.0: 0.35, -1.0: 0.15, 0.0: 0.5}
    total = 0.0
    for (first, chance), (second, other) in itertools.product(probabilities.items(), repeat=2):
        total += chance * other * math.exp(log_wealth(np.array([first, second]), 0.2, bets)[-1])
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("condition", "mode", "world", "wrong"),
    [
        ("n > 0.7 +/- 0.1", "fp-free", (0.0, 0.2, 0.625), True),
        ("n - o > 0.1 +/- 0.1", "fp-free", (0.1, 0.3), True),
        ("n - o > 0.1 +/- 0.1", "fn-free", (0.1, 0.3), False),
        ("n - o > 0.1 +/- 0.1", "fp-free", (0.3, 0.3), False),
        ("n - o > 0.1 +/- 0.1 /\\ d < 0.3 +/- 0.1", "fp-free", (0.1, 0.3), True),
        ("n - o > 0.1 +/- 0.1 \\/ d < 0.3 +/- 0.1", "fp-free", (0.1, 0.3), True),
        ("n - o > 0.1 +/- 0.1 \\/ d < 0.3 +/- 0.1", "fn-free", (0.1, 0.3), False),
    ],
)
def test_errors_at_the_edge_are_rare(condition: str, mode: str, world, wrong: bool) -> None:
    """150 commits at delta 0.1: more than 27 errors would have probability below 0.001."""
    config = configured(condition, mode=mode)
    generator = np.random.default_rng(7)
    gain, d, *right = world
    rows = min(plan(config).unlabelled, 600)
    found = [
        tried(config, drawn(generator, rows, gain, d, right=right[0] if right else 0.7))
        for _ in range(150)
    ]
    assert sum(trial.truth is wrong for trial in found) <= 27


def test_wide_of_the_edge_it_answers_soon_and_right() -> None:
    config = configured("n - o > 0.02 +/- 0.02 /\\ d < 0.4 +/- 0.05", reliability=0.999)
    generator = np.random.default_rng(3)
    found = [tried(config, drawn(generator, 3000, 0.15, 0.2)) for _ in range(20)]
    assert all(trial.truth is True for trial in found)
    assert np.median([trial.labels for trial in found]) < 60
    worse = tried(config, drawn(generator, 3000, -0.1, 0.2))
    assert worse.truth is False


def test_ties_of_several_classes_keep_the_guarantee() -> None:
    config = configured("n - o > 0.05 +/- 0.1", difference=0.3)
    generator = np.random.default_rng(5)
    found = [tried(config, drawn(generator, 700, 0.05, 0.3, ties=0.5)).truth for _ in range(100)]
    assert sum(truth is True for truth in found) <= 20


@given(
    st.floats(0.3, 0.9),
    st.integers(2, 20),
    st.sampled_from(["fp-free", "fn-free"]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=12, deadline=None)
def test_planned_rows_always_settle(threshold: float, percent: int, mode: str, seed: int) -> None:
    config = configured(f"n > {threshold:.3f} +/- {percent / 100}", mode=mode)
    generator = np.random.default_rng(seed)
    rows = plan(config).unlabelled
    right = (generator.random(rows) < generator.random()).astype(float)
    examples = Examples(right, right, np.zeros(rows, dtype=bool), np.ones(rows, dtype=bool))
    assert tried(config, examples).truth is not None


@given(st.integers(5, 30), st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_planned_rows_settle_a_difference_if_no_more_than_planned_differ(
    percent: int, seed: int
) -> None:
    config = configured("n - o > 0.03 +/- 0.05", difference=percent / 100)
    generator = np.random.default_rng(seed)
    rows = plan(config).unlabelled
    changed = generator.permutation(rows)[: int(rows * percent / 100)]
    new, old, differ = np.zeros(rows), np.zeros(rows), np.zeros(rows, dtype=bool)
    won = generator.random(len(changed)) < generator.random()
    differ[changed], new[changed], old[changed] = True, won, ~won
    assert tried(config, Examples(new, old, differ, np.ones(rows, dtype=bool))).truth is not None


def test_only_changed_predictions_are_asked_for_and_d_costs_nothing() -> None:
    config = configured("n - o > 0.02 +/- 0.02 /\\ d < 0.05 +/- 0.02")
    examples = drawn(np.random.default_rng(1), 4000, 0.1, 0.3)
    unlabelled = replace(examples, known=np.zeros(4000, dtype=bool))
    trial = tried(config, unlabelled)
    assert trial.truth is False
    assert (trial.labels, len(trial.wanted)) == (0, 0)
    open_trial = tried(configured("n - o > 0.02 +/- 0.02", batch=30, difference=0.3), unlabelled)
    assert open_trial.truth is None
    assert len(open_trial.wanted) == 30
    assert examples.differ[open_trial.wanted].all()
    assert (np.flatnonzero(examples.differ)[:30] == open_trial.wanted).all()


def test_asking_label_by_label_ends_where_full_labels_do() -> None:
    config = configured("n - o > 0.02 +/- 0.03", batch=1)
    examples = drawn(np.random.default_rng(2), 2000, 0.12, 0.3)
    whole = tried(config, examples)
    known = np.zeros(2000, dtype=bool)
    asked = 0
    while (trial := tried(config, replace(examples, known=known))).truth is None:
        known[trial.wanted] = True
        asked += len(trial.wanted)
    assert (trial.truth, asked, trial.rows) == (whole.truth, whole.labels, whole.rows)


@pytest.mark.parametrize(
    "condition", ["n > 1 +/- 0.1", "n - o < -1 +/- 0.1", "n > -0.5 +/- 0.1", "d < 0 +/- 0.1"]
)
def test_clauses_that_cannot_fail_or_pass_are_refused(condition: str) -> None:
    with pytest.raises(InvalidInput, match=r"never|always"):
        plan(configured(condition))


def test_equal_models_fail_without_a_label() -> None:
    examples = drawn(np.random.default_rng(1), 2000, 0.0, 0.0)
    trial = tried(
        configured("n - o > 0.02 +/- 0.02"), replace(examples, known=np.zeros(2000, dtype=bool))
    )
    assert (trial.truth, trial.labels) == (False, 0)


def test_errors_of_a_number_are_cut_at_the_scale() -> None:
    config = configured("o - n > 0.5 +/- 0.5", metric="absolute-error", scale=5)
    generator = np.random.default_rng(4)
    truth = generator.normal(size=800) * 10
    scored = score_examples(truth + 1, truth + 100, truth, config)
    assert scored.new == pytest.approx(np.ones(800))
    assert (scored.old == 5).all()
    assert tried(config, scored).truth is True
    assert tried(config, score_examples(truth + 100, truth + 1, truth, config)).truth is False


def test_scores_of_ones_own() -> None:
    config = configured("n > 0.5 +/- 0.2", metric="score", scale=2)
    labels = [1.0] * 300 + [None] * 10
    scores = [1.5] * 300 + [math.nan] * 10
    assert tried(config, score_examples(scores, None, labels, config)).truth is True
    with pytest.raises(InvalidInput, match=r"\[0, 2\]"):
        score_examples([3.0], None, [1.0], config)


def test_f1_agrees_with_its_definition_and_finds_the_better_model() -> None:
    config = configured("n > 0.6 +/- 0.1", metric="f1", positive="yes")
    generator = np.random.default_rng(6)
    truth = np.where(generator.random(1500) < 0.3, "yes", "no")
    wrong = np.where(truth == "yes", "no", "yes")
    good = np.where(generator.random(1500) < 0.05, wrong, truth)
    trial = tried(config, score_examples(good, None, truth, config))
    assert trial.truth is True
    assert tried(config, score_examples(wrong, None, truth, config)).truth is False
    better = configured("n - o > 0.1 +/- 0.1", metric="f1", positive="yes")
    assert tried(better, score_examples(good, wrong, truth, better)).truth is True
    with pytest.raises(InvalidInput, match="F1"):
        plan(config)
    sizes = plan(config, positives=0.3)
    assert trial.rows <= sizes.chosen < sizes.baseline
    for share in (0.0, 1.5, math.nan):
        with pytest.raises(InvalidInput, match="positives"):
            plan(config, positives=share)
    with pytest.raises(InvalidInput, match="not used"):
        plan(configured("n > 0.6 +/- 0.1"), positives=0.3)
    rows = trial.rows
    hits = ((good == "yes") & (truth == "yes"))[:rows].sum()
    errors = ((good == "yes") ^ (truth == "yes"))[:rows].sum()
    assert trial.findings[0].estimate == pytest.approx(2 * hits / (2 * hits + errors))


@pytest.mark.parametrize("f1", [0.8, 0.85, 0.9])
def test_plans_of_f1_hold_on_simulated_commits(f1: float) -> None:
    """Misses alone, the hardest case: nine in ten commits are settled by the planned number of
    rows.
    """
    config = configured("n > 0.8 +/- 0.05", metric="f1", positive="1", batch=20)
    most, generator, found = plan(config, positives=0.3).chosen, np.random.default_rng(3), []
    for _ in range(10):
        truth = (generator.random(3 * most) < 0.3).astype(int)
        said = truth * (generator.random(3 * most) < f1 / (2 - f1))
        found.append(tried(config, score_examples(said, None, truth, config)).rows)
    assert sorted(found)[8] <= 1.1 * most


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.5, 12.0))
def test_f1_bounds_hold_the_estimate_and_nest(hits: int, errors: int, nats: float) -> None:
    low, high = f1_bounds(hits, errors, nats)
    wider = f1_bounds(hits, errors, nats + 1)
    assert 0 <= wider[0] <= low <= high <= wider[1] <= 1
    if hits + errors:
        assert low - 1e-9 <= 2 * hits / (2 * hits + errors) <= high + 1e-9
    assert f1_size(0.5, 0.1, 0.5, nats) > 0


def test_confidence_sequence_covers_at_all_times() -> None:
    generator = np.random.default_rng(8)
    misses = 0
    for _ in range(150):
        values = generator.beta(2, 6, 200)
        ends = [confidence_sequence(values[:rows], 0.0, 1.0, 0.1) for rows in (5, 20, 60, 200)]
        misses += not all(low <= 0.25 <= high for low, high in ends)
    assert misses <= 28
    assert confidence_sequence(np.zeros(0), -1.0, 2.0, 0.1) == (-1.0, 2.0)


def test_powered_means_cover_and_are_narrower_with_good_guesses() -> None:
    generator = np.random.default_rng(9)
    misses, shorter = 0, 0
    for _ in range(200):
        guesses = generator.beta(0.5, 0.5, 3000)
        values = (generator.random(400) < guesses[:400]).astype(float)
        exact = powered_mean(values, guesses[:400], guesses[400:], 0.1)
        quick = powered_mean(values, guesses[:400], guesses[400:], 0.1, exact=False)
        alone = 2 * 1.645 * values.std(ddof=1) / math.sqrt(400)
        misses += not exact.low <= 0.5 <= exact.high
        shorter += quick.high - quick.low < alone
    assert misses <= 20
    assert shorter == 200
    useless = powered_mean(np.array([0.0, 1] * 10), np.full(20, 0.5), np.full(50, 0.5), 0.1)
    assert useless.factor == 0


@pytest.mark.parametrize(
    "args",
    [
        (np.ones(3), np.ones(3), np.ones(9)),
        (np.full(9, 2.0), np.ones(9), np.ones(9)),
        (np.ones(9), np.ones(8), np.ones(9)),
    ],
)
def test_powered_means_refuse(args) -> None:
    with pytest.raises(InvalidInput):
        powered_mean(*args, 0.1)


@pytest.mark.parametrize(
    ("new", "old", "labels", "problem"),
    [
        ([1, 2], None, [1], "2 new predictions"),
        ([1], [1, 2], [1], "2 old predictions"),
        ([], None, [], "no examples"),
        ([None], None, [1], "missing"),
        ([[1]], None, [1], "one value"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(new, old, labels, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        score_examples(new, old, labels, configured("n > 0.5 +/- 0.1"))


@pytest.mark.parametrize("bad", [["x"], [math.inf]])
def test_an_error_metric_wants_numbers(bad) -> None:
    with pytest.raises(InvalidInput, match="number"):
        score_examples(bad, None, [1.0], configured("n < 0.5 +/- 0.1", metric="squared-error"))


def test_classes_are_the_same_however_they_are_written() -> None:
    config = configured("n > 0.5 +/- 0.1")
    scored = score_examples([1, 2, 3], ["1", "2 ", "4"], [1.0, math.nan, 3.0], config)
    assert scored.new.tolist() == [1, 0, 1]
    assert scored.differ.tolist() == [False, False, True]
    assert scored.known.tolist() == [True, False, True]


def test_levels_of_a_conjunction_and_a_disjunction() -> None:
    config = configured("n > 0.5 +/- 0.1 /\\ (d < 0.1 +/- 0.1 \\/ o > 0.2 +/- 0.1)")
    levels = [level for _, level in clause_levels(config.condition, 5.0)]
    half = math.log(2)
    assert [(level.true, level.false) for level in levels] == [
        (5.0, 5 + half),
        (5 + half, 5 + half),
        (5 + half, 5 + half),
    ]


def test_the_design_of_a_clause_is_the_same_for_both_directions() -> None:
    config = configured("n > 0.5 +/- 0.1")
    assumed = Assumed(config.mode, config.metric, 1.0, 1.0)
    ((clause, level),) = clause_levels(config.condition, 5.0)
    ((other, _),) = clause_levels(configured("-n < -0.5 +/- 0.1").condition, 5.0)
    assert design_clause(clause, assumed, level).zone == design_clause(other, assumed, level).zone


@pytest.mark.parametrize(
    ("condition", "worst", "best"),
    [("n > 0.7 +/- 0.05", 0.0, 1.0), ("n - o > 0.1 +/- 0.2", -1.0, 1.0)],
)
def test_a_look_says_what_binomial_tails_say(condition: str, worst: float, best: float) -> None:
    """Every number of right rows, beside scipy's tails; the bets have next to nothing."""
    config = configured(condition)
    ((clause, level),) = clause_levels(config.condition, 3.0)
    design = design_clause(clause, Assumed(config.mode, config.metric, 1.0, 1.0), level)
    design = replace(design, look=1 - 1e-12, level=replace(level, false=4.0))
    rows = 60
    ends = [(edge - worst) / (best - worst) for edge in (design.zone.low, design.zone.high)]
    nats = 0.0 if design.two_valued else 1.0  # Bentkus
    found = []
    expected = []
    mixed = np.random.default_rng(0).permutation(rows)  # a row of the right ones would win a bet
    for right in range(rows + 1):
        new = (mixed < right).astype(float)
        is_there = np.ones(rows, dtype=bool)
        found.append(settle(design, Examples(new, 1 - new, is_there, is_there), rows).truth)
        if stats.binom.sf(right - 1, rows, ends[0]) <= math.exp(-level.true - nats):
            expected.append(True)
        elif stats.binom.cdf(right, rows, ends[1]) <= math.exp(-4.0 - nats):
            expected.append(False)
        else:
            expected.append(None)
    assert found == expected
    assert set(found) == {True, False, None}


def test_f1_without_labels_and_of_few_rows_stays_open() -> None:
    config = configured("n - o > 0.1 +/- 0.1", metric="f1", positive="yes")
    truth = np.array(["yes", "no"] * 6)
    unlike = np.array(["yes", "yes"] * 6)
    examples = score_examples(truth, unlike, truth, config)
    trial = tried(config, replace(examples, known=np.zeros(12, dtype=bool)))
    (finding,) = trial.findings
    assert (trial.truth, finding.rows) == (None, 0)
    assert math.isnan(finding.estimate)
    assert (finding.low, finding.high) == (-math.inf, math.inf)
    (finding,) = tried(config, examples).findings
    assert (finding.truth, finding.rows) == (None, 12)
    assert finding.estimate == pytest.approx(1.0 - 2 / 3)


def test_the_interval_of_a_clause_joins_what_was_seen_and_what_was_proven() -> None:
    config = configured("n > 0.7 +/- 0.1")
    ((clause, level),) = clause_levels(config.condition, 3.0)
    design = design_clause(clause, Assumed(config.mode, config.metric, 1.0, 1.0), level)
    is_there = np.ones(400, dtype=bool)
    for share, truth in ((0.95, True), (0.3, False)):
        new = (np.random.default_rng(2).random(400) < share).astype(float)
        found = settle(design, Examples(new, new, ~is_there, is_there), 401)
        seen = new[: found.rows]
        likely = 2 * math.exp(-min(level.true, level.false))
        low, high = confidence_sequence(seen, 0.0, 1.0, likely)
        proven = (max(low, design.zone.low), high) if truth else (low, min(high, design.zone.high))
        assert (found.truth, found.low, found.high) == (truth, *proven)
        assert found.estimate == pytest.approx(seen.mean())
    found = settle(design, Examples(new, new, ~is_there, ~is_there), 401)
    assert (found.truth, found.rows, found.low, found.high) == (None, 0, 0.0, 1.0)
    assert math.isnan(found.estimate)


def test_a_class_that_is_not_a_number_in_a_list_of_texts_is_missing() -> None:
    config = read_config({"condition": "n > 0.5 +/- 0.1", "reliability": 0.9})
    for nothing in (None, float("nan")):
        scored = score_examples(["a", "b"], None, ["a", nothing], config)
        assert scored.known.tolist() == [True, False]
