"""Where rules of commits begin and end: cases that are worked out by hand, or the plainest way."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import (
    Clause,
    Config,
    Examples,
    Ledger,
    can_pass,
    open_ledger,
    optimised_size,
    parse,
    parse_config,
    plan,
    powered_mean,
    read_config,
    rows_that_show,
    score_examples,
    step_nats,
    try_commit,
)
from easeml.lifecycle.ci.betting import growth, ladder_of_bets
from easeml.lifecycle.ci.bounds import exact_cuts, exact_size, hoeffding_size, up
from easeml.lifecycle.ci.design import (
    HALF,
    Assumed,
    Design,
    design_clause,
    hardest_rows,
    value_range,
)
from easeml.lifecycle.ci.levels import Level
from easeml.lifecycle.ci.planning import answers_seen
from easeml.lifecycle.ci.published import baseline_size, share_that_may_differ
from easeml.lifecycle.ci.ratio_sizes import typical_rows
from easeml.lifecycle.ci.settling import ratio_ends
from easeml.lifecycle.ci.test_set_names import is_retired, test_set_digest

test_set_digest.__test__ = False  # type: ignore[attr-defined]


def configured(condition: str = "n > 0.7 +/- 0.1", adaptivity: str = "none", **more) -> Config:
    keys = {"condition": condition, "reliability": 0.9, "adaptivity": adaptivity, "steps": 3}
    return read_config({**keys, **more})


def clause_of(condition: str) -> Clause:
    formula = parse(condition)
    assert isinstance(formula, Clause)
    return formula


def rows_of(new: np.ndarray, old: np.ndarray) -> Examples:
    everything = np.ones(len(new), dtype=bool)
    return Examples(new.astype(float), old.astype(float), new != old, everything)


# Bounds


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("level", [0.2, 0.05, 0.001])
def test_cuts_are_the_first_counts_with_a_tail_within_the_level(share: float, level: float) -> None:
    for trials in range(1, 25):
        tails = binom.sf(np.arange(trials + 1) - 1, trials, share)
        proof = np.flatnonzero(tails <= level)
        expected = int(proof[0]) if proof.size else trials + 1
        assert exact_cuts(trials, share, 1.0, -math.log(level))[0] == expected, trials


def test_one_example_tells_nothing_from_everything() -> None:
    assert exact_size(0.0, 1.0, 3.0, whole=True) == 1


def test_counts_are_whole_unless_it_is_said() -> None:
    sizes = [
        exact_size(0.4, 0.6, 3.0, **whole) for whole in ({}, {"whole": True}, {"whole": False})
    ]
    assert sizes[0] == sizes[1] < sizes[2]


# Designs


CONDITIONS = (
    "n > 0.8 +/- 0.05",
    "n > 0.99 +/- 0.005",
    "d < 0.1 +/- 0.02",
    "n - o > 0.02 +/- 0.02",
    "n - o > 0.3 +/- 0.2",
    "n - o > -0.7 +/- 0.2",
    "n - o > 0.0 +/- 0.1",
    "n > 0.5 +/- 0.3",
    "n > 0.3 +/- 0.2",
    "2 * n - 1 * o > 0.5 +/- 0.1",
)
LEVELS = [Level(*nats) for nats in ((0.2, 0.3), (1.0, 1.0), (1.0, 5.0), (5.0, 1.0), (40.0, 41.0))]
ASSUMED = [
    Assumed(configured().mode, configured(metric=metric).metric, 1.0, share)
    for metric, share in product(("accuracy", "absolute-error"), (0.05, 1.0))
]


def test_the_first_bet_of_a_ladder_has_half_of_the_wealth() -> None:
    assert math.exp(-HALF) == pytest.approx(float(ladder_of_bets(0.5, 1.0).weights[0]))


def test_the_promised_rows_settle_a_clause_wherever_its_mean_lies() -> None:
    """By bets: the first bet of one side gains enough. By a look: each sum is a proof."""
    designs = [
        design_clause(clause_of(condition), assumed, level)
        for condition, assumed, level in product(CONDITIONS, ASSUMED, LEVELS)
    ]
    for design in designs:
        settled = _every_sum_is_proof if design.look else _every_mean_is_refuted
        assert settled(design, design.rows), design
    looks = {design.look for design in designs}
    assert looks == {0.0, 0.5, 0.75}
    with_one_bet = [not design.look and len(design.above.sizes) == 1 for design in designs]
    assert any(with_one_bet)


def _every_sum_is_proof(design: Design, rows: int) -> bool:
    spread = design.top - design.bottom
    ends = [(end - design.bottom) / spread for end in (design.zone.low, design.zone.high)]
    nats = design.look_nats(max(design.level.true, design.level.false))
    low, high = ends
    first, last = exact_cuts(rows, low, high, nats)
    fewest = exact_size(low, high, nats, whole=design.two_valued)
    return rows == fewest and first <= last + design.two_valued


def _every_mean_is_refuted(design: Design, rows: int) -> bool:
    for mean in np.linspace(design.zone.low, design.zone.high, 30):
        values, shares = hardest_rows(design, 1.0, float(mean))
        turned = [-value for value in values]
        sides = [
            (design.above, values, design.zone.low, design.level.true),
            (design.below, turned, -design.zone.high, design.level.false),
        ]
        gained = [
            rows * growth(points, shares, edge, float(bets.sizes[0]))
            - (design.bet_nats(nats) - math.log(bets.weights[0]))
            for bets, points, edge, nats in sides
        ]
        if max(gained) < -1e-3:
            return False
    return True


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_the_hardest_rows_have_the_asked_mean_and_reach_both_ends(
    scale: float, share: float
) -> None:
    clause = clause_of("0.1 * n - 0.1 * o > 0.02 +/- 0.01")
    least, greatest = value_range(clause, scale)
    assert (least, greatest) == pytest.approx((-0.1 * scale, 0.1 * scale))
    metric = configured(metric="absolute-error").metric
    assumed = Assumed(configured().mode, metric, scale, share)
    design = design_clause(clause, assumed, Level(3.0, 3.0))
    values, shares = map(np.array, hardest_rows(design, scale, 0.01 * scale))
    assert shares.sum() == pytest.approx(1.0)
    assert values @ shares == pytest.approx(0.01 * scale)
    assert (values.min(), values.max()) == pytest.approx((least, greatest))
    assert shares[values == 0.0].sum() == pytest.approx(1 - share)


def test_a_clause_made_by_hand_stands_at_the_first_column() -> None:
    never = Clause(n=1, o=0, d=0, above=True, threshold=2.0, tolerance=0.1)
    config = configured()
    with pytest.raises(InvalidInput) as told:
        try_commit(
            replace(config, condition=never), rows_of(np.ones(9), np.ones(9)), 3, shared=True
        )
    assert told.value.where == "condition, column 1"


# Conditions and configurations


def test_a_condition_is_the_same_wherever_it_stands_and_reads_as_it_is_written() -> None:
    assert parse("   n > 0.5 +/- 0.1") == parse("n > 0.5 +/- 0.1")
    assert str(parse("0.5 * n - 0.5 * o > 0.1 +/- 0.1")) == "0.5 * n - 0.5 * o > 0.1 +/- 0.1"
    assert parse("n * 0.5 > 0.1 +/- 0.1") == parse("0.5 * n > 0.1 +/- 0.1")
    assert str(parse("2 * 0.25 * n > 0.1 +/- 0.1")) == "0.5 * n > 0.1 +/- 0.1"


def test_the_most_reliable_configuration() -> None:
    assert configured(reliability=1 - 10 * 2**-53).delta > 0
    with pytest.raises(InvalidInput, match="reliability"):
        configured(reliability=1 - 9 * 2**-53)


def test_the_longest_configuration() -> None:
    text = "condition: n > 0.5 +/- 0.1\nreliability: 0.9\n#"
    assert parse_config(text.ljust(100_000, "x"))
    with pytest.raises(InvalidInput, match="longer than 100,000"):
        parse_config(text.ljust(100_001, "x"))


def test_a_backslash_in_double_quotes_gets_a_remedy() -> None:
    with pytest.raises(InvalidInput) as told:
        parse_config('condition: "n > 0.5 +/- 0.1 /\\d < 0.1 +/- 0.1"')
    assert "single quotes" in told.value.remedy
    with pytest.raises(InvalidInput) as told:
        parse_config("condition: [")
    assert told.value.remedy == ""


# Examples


F1 = configured("n > 0.5 +/- 0.1", metric="f1", positive="yes")


@pytest.mark.parametrize("seen", [["no"], ["yes"], ["yes", "no"], ["yes", "no", "perhaps"]])
def test_rows_of_one_class_may_lack_the_positive_one(seen: list[str]) -> None:
    assert len(score_examples(seen, None, seen, F1)) == len(seen)


@pytest.mark.parametrize("seen", [["no", "perhaps"], ["no", "perhaps", "never"]])
def test_a_positive_class_that_nobody_has_is_refused(seen: list[str]) -> None:
    with pytest.raises(InvalidInput, match="No example is labelled or predicted as 'yes'") as told:
        score_examples(seen, None, seen, F1)
    assert told.value.where == "positive"


def test_predictions_of_other_classes_than_the_labels_are_refused() -> None:
    with pytest.raises(InvalidInput, match="No label is ever predicted"):
        score_examples(["yes", "no"], None, [1, 0], configured())


def test_what_is_wrong_with_labels_is_said_of_the_labels() -> None:
    config = configured("n < 0.5 +/- 0.1", metric="absolute-error")
    for labels in (["a", "b"], [[1.0], [2.0]]):
        with pytest.raises(InvalidInput) as told:
            score_examples([1.0, 2.0], None, labels, config)
        assert told.value.where == "labels"


def test_a_score_may_reach_its_scale() -> None:
    config = configured("n > 0.5 +/- 0.1", metric="score", scale=2.0)
    found = score_examples([0.0, 2.0], None, [1, 1], config)
    assert found.new.tolist() == [0.0, 2.0]
    for wrong in (-0.01, 2.01):
        with pytest.raises(InvalidInput, match="A score is not in"):
            score_examples([wrong, 1.0], None, [1, 1], config)


# Sizes


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_the_baseline_by_its_formula(scale: float) -> None:
    """Of clauses with several variables, d among them, whose reach is 1 at any scale."""
    condition = "n - 0.5 * o - d > 0.2 +/- 0.1 /\\ n > 0.3 +/- 0.2"
    config = configured(condition, metric="absolute-error", scale=scale, steps=7)
    nats = math.log(7 / config.delta * 2)
    first = (1.5 * scale + 1) ** 2 * (nats + math.log(3)) / (2 * 0.1**2)
    second = scale**2 * nats / (2 * 0.2**2)
    assert baseline_size(config) == max(math.ceil(first), math.ceil(second))


def test_a_single_range_is_shared_by_histories() -> None:
    config = configured("n - o > 0.2 +/- 0.1", adaptivity="full", steps=5)
    methods = {method.name: method.labelled for method in plan(config).methods}
    nats = 5 * math.log(2) - math.log(config.delta)
    assert methods["single range"] == up(hoeffding_size(2.0, 0.1, nats))


def test_the_names_of_methods() -> None:
    bounded = configured("d < 0.1 +/- 0.02 /\\ n - o > 0.03 +/- 0.03")
    names = [method.name for method in plan(bounded).methods]
    assert names == ["baseline", "optimised", "sequential, shared pool"]
    of_f1 = [method.name for method in plan(F1, positives=0.5).methods]
    assert of_f1 == ["baseline", "sequential, shared pool"]


def test_the_share_of_positives_lies_above_0_and_is_1_at_most() -> None:
    assert plan(F1, positives=1).baseline
    for wrong in (0, -0.1, 1.01, 2):
        with pytest.raises(InvalidInput) as told:
            plan(F1, positives=wrong)
        assert told.value.where == "positives"


def test_patterns_are_those_of_two_models_compared() -> None:
    assert optimised_size(configured("n - o > 0.02 +/- 0.01", difference=0.1)) is not None
    for other in ("n > 0.8 +/- 0.01", "n - o + d > 0.02 +/- 0.01", "d < 0.1 +/- 0.01"):
        assert optimised_size(configured(other, difference=0.1)) is None


@pytest.mark.parametrize(
    ("beside", "share"),
    [
        ("d < 0.1 +/- 0.01", 0.1),
        ("0.5 * d < 0.1 +/- 0.01", 0.2),
        ("d > 0.1 +/- 0.01", 1.0),
        ("0.5 * d > 0.1 +/- 0.01", 1.0),
        ("n - d > 0.2 +/- 0.01", 1.0),
        ("(n > 0.5 +/- 0.1 \\/ d < 0.1 +/- 0.01)", 1.0),
    ],
)
def test_which_clauses_bound_how_many_predictions_change(beside: str, share: float) -> None:
    config = configured(f"{beside} /\\ n - o > 0.02 +/- 0.01")
    assert share_that_may_differ(config) == pytest.approx(share)


def test_with_few_rows_a_step_has_three_answers() -> None:
    """So three histories a step, at which the rows that show a gain have to prove it."""
    series = configured("n - o > 0.1 +/- 0.05", adaptivity="full", steps=6)
    once = configured("n - o > 0.1 +/- 0.05", steps=1)
    known = np.ones(50, dtype=bool)
    assert answers_seen(series, known, 50, 0.0) == 3
    assert answers_seen(once, known, 50, 0.0) == 2
    extra = 6 * math.log(3)
    assert rows_that_show(series, 0.2) == rows_that_show(once, 0.2, extra=extra)
    assert rows_that_show(once, 0.2) == rows_that_show(once, 0.2, extra=0.0)


# Prediction-powered means


def test_an_interval_of_a_share_stays_within_0_and_1() -> None:
    rng = np.random.default_rng(0)
    guesses = rng.random(400)
    small = powered_mean(np.zeros(400), guesses, rng.random(400), 0.1)
    assert small.low == 0.0
    assert 0 < small.high < 1
    # Guesses were right of the first half, and are wrong of the second and of the pool.
    values = np.concatenate([np.tile([0.0, 1.0], 10_000), np.ones(20_000)])
    said = np.concatenate([np.tile([0.0, 1.0], 10_000), np.zeros(20_000)])
    large = powered_mean(values, said, np.ones(1_000_000), 0.1)
    assert large.factor > 0.9
    assert (large.low, large.high) == (1.0, 1.0)


def test_guesses_that_say_the_opposite_are_not_used() -> None:
    values = np.tile([0.0, 1.0], 100)
    assert powered_mean(values, 1 - values, np.full(100, 0.5), 0.1).factor == 0.0


# What labels may still bring


@pytest.mark.parametrize(
    "condition",
    [
        "0.5 * n > 0.4 +/- 0.2",
        "n + 0.5 * o > 1.2 +/- 0.4",
        "0.5 * n + 0.5 * o > 0.8 +/- 0.3",
        "n < 0.5 +/- 0.3",
        "0.5 * n < 0.3 +/- 0.2",
        "n - o > 0.1 +/- 0.5",
        "n > 0.6 +/- 0.4 /\\ n - o > 0.1 +/- 0.5",
        "o > 0.4 +/- 0.3 /\\ n + o > 0.9 +/- 0.5",
    ],
)
@pytest.mark.parametrize(("scale", "rows"), [(1.0, 1), (3.0, 2), (1.0, 8), (3.0, 60)])
def test_labels_can_bring_what_the_best_scores_would(
    condition: str, scale: float, rows: int
) -> None:
    """Tried one by one: all rows with the same scores of both models, at either end."""
    config = configured(condition, metric="score", scale=scale, mode="fp-free")
    ends = (0.0, scale)
    passes = [
        open_ledger(config, np.ones(rows, dtype=bool))
        .test("a", Examples(np.full(rows, new), np.full(rows, old), every(rows), every(rows)))[0]
        .passed
        for new, old in product(ends, ends)
    ]
    unlabelled = Examples(np.zeros(rows), np.zeros(rows), every(rows), ~every(rows))
    ledger = open_ledger(config, unlabelled.known)
    assert can_pass(ledger, "a", unlabelled, rows) == any(passes)


def every(rows: int) -> np.ndarray:
    return np.ones(rows, dtype=bool)


# Test sets and answers


def test_what_two_test_sets_have_in_common_is_told_by_their_names() -> None:
    first = test_set_digest(["a", None], ids=[1, 2])
    labelled_since = test_set_digest(["a", "b"], ids=[1, 2])
    others = test_set_digest(["a", None], ids=[3, 4])
    assert is_retired(labelled_since, [first])
    assert not is_retired(others, [first])
    without = test_set_digest(["a", "b"])
    relabelled = test_set_digest(["b", "b"])
    assert is_retired(without, [without])
    assert not is_retired(relabelled, [without])
    assert not is_retired("", [""])


def test_the_words_of_answers_and_steps() -> None:
    config = configured(steps=2)
    bad = rows_of(np.zeros(400), np.ones(400))
    ledger = open_ledger(config, bad.known)
    verdict, ledger = ledger.test("a", bad)
    assert verdict.answer == "fail"
    again, ledger = ledger.test("a", bad)
    assert again.reason == "This commit was tested before; no step was spent."
    assert ledger.history[0].answer == "fail"


def test_a_clause_that_costs_no_label_is_looked_at_on_all_its_rows() -> None:
    """Also where another clause is settled long before: the rows say how far the test has looked."""
    config = configured("n > 0.7 +/- 0.1 /\\ d < 0.5 +/- 0.02")
    examples = rows_of(np.ones(3000), np.tile([1, 1, 1, 0], 750))
    trial = try_commit(config, examples, 3.0, shared=True)
    by_labels, free = trial.findings
    assert trial.truth is True
    assert by_labels.rows < free.rows
    assert trial.rows == free.rows
    assert trial.labels == by_labels.rows


def test_a_step_that_runs_out_of_rows_is_undecided() -> None:
    config = configured("n > 0.7 +/- 0.01", adaptivity="full")
    few = rows_of(np.tile([1, 1, 1, 0], 5), np.ones(20))
    verdict, after = open_ledger(config, few.known).test("a", few)
    assert (verdict.answer, after.history[-1].answer) == ("unknown", "undecided")


def test_a_ledger_of_the_first_version_keeps_its_order_of_examples() -> None:
    config = configured(seed=7)
    ledger = open_ledger(config, every(50))
    document = ledger.to_json()
    del document["seed"], document["spent"]
    read = Ledger.from_json({**document, "version": 1})
    assert read.order().tolist() == ledger.order().tolist()
    assert read.order().tolist() != open_ledger(configured(), every(50)).order().tolist()


def test_rows_whose_labels_are_asked_for_count_as_looked_at() -> None:
    config = configured(batch=7)
    unlabelled = Examples(np.zeros(300), np.ones(300), every(300), ~every(300))
    ledger = open_ledger(config, unlabelled.known)
    verdict, after = ledger.test("a", unlabelled)
    places = [after.order().tolist().index(row) for row in verdict.labels_wanted]
    assert after.history[-1].rows == max(places) + 1 == 7


# F1


@pytest.mark.parametrize("seed", range(6))
def test_f1_is_looked_at_after_each_batch_and_each_twentieth_more(seed: int) -> None:
    """A commit waits for no more labels than the first look that settles it."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(4000) < 0.5, "yes", "no")
    said = np.where(rng.random(4000) < 0.72, labels, "no")
    config = replace(F1, batch=1)
    examples = score_examples(said.tolist(), None, labels.tolist(), config)
    nats = step_nats(config, shared=True)
    trial = try_commit(config, examples, nats, shared=True)
    clause = config.condition
    assert isinstance(clause, Clause)
    looks, rows = [], 0
    while rows < len(labels):
        rows = max(rows + 1, int(rows * 1.05))
        looks.append(rows)
    first = next(rows for rows in looks if _is_settled(clause, examples, rows, nats))
    assert first >= 40
    assert trial.findings[0].rows == first


def _is_settled(clause: Clause, examples: Examples, rows: int, nats: float) -> bool:
    hits, errors = examples.new[:rows].sum(axis=0)
    low, high = ratio_ends(clause, Level(nats, nats), {"n": (int(hits), int(errors))})
    return low > clause.threshold or high < clause.threshold + 2 * clause.tolerance


def test_the_share_of_changes_after_one_row() -> None:
    config = configured("n - d > 0.1 +/- 0.1", metric="f1", positive="yes", batch=1)
    examples = score_examples(["yes"], ["no"], ["yes"], config)
    trial = try_commit(config, examples, 3.0, shared=True)
    assert trial.findings[0].estimate == pytest.approx(1.0 - 1.0)


@pytest.mark.parametrize(
    ("condition", "place"), [("n - d > 0.1 +/- 0.1", 0.5), ("n > 0.6 +/- 0.1", 0.0)]
)
def test_typical_rows_of_f1_are_the_first_that_settle_a_clause(
    condition: str, place: float
) -> None:
    """Of one model, and of changes: so many rows of each kind as are to be expected."""
    config = configured(condition, metric="f1", positive="yes")
    assumed = Assumed(config.mode, config.metric, 1.0, 1.0)
    design = design_clause(clause_of(condition), assumed, Level(4.0, 4.0))
    positives, differ = 0.5, 0.3
    target = design.zone.low + place * (design.zone.high - design.zone.low)
    score = target + (differ if design.clause.d else 0.0)
    hits = positives * score / (2 - score)
    found = typical_rows(design, positives, differ, place)

    def is_settled(rows: int) -> bool:
        counts = {"n": (round(rows * hits), round(rows * (positives - hits)))}
        if design.clause.d:
            counts["d"] = (round(rows * differ), round(rows * (1 - differ)))
        low, high = ratio_ends(design.clause, design.level, counts)
        return low > design.zone.low or high < design.zone.high

    assert is_settled(found)
    assert not any(map(is_settled, range(1, int(found / 1.1))))
