"""The numbers of a plan beside the plainest way to compute them."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from easeml.lifecycle.ci import (
    Config,
    Method,
    clauses,
    confidence_sequence,
    f1_bounds,
    optimised_size,
    plan,
    read_config,
    rows_that_show,
    step_nats,
)
from easeml.lifecycle.ci.design import (
    Assumed,
    Design,
    design_clause,
    expected_rows,
    hardest_rows,
    value_range,
)
from easeml.lifecycle.ci.levels import clause_levels

DIFFERENCE = "n - o > 0.02 +/- 0.02"
BOUNDED = "d < 0.1 +/- 0.02 /\\ n - o > 0.03 +/- 0.03"
LATER_BOUNDED = "n - o > 0.03 +/- 0.03 /\\ d < 0.1 +/- 0.02"


def configured(condition: str, adaptivity: str = "none", **more) -> Config:
    keys = {"condition": condition, "reliability": 0.99, "adaptivity": adaptivity, "steps": 4}
    return read_config({**keys, **more})


def designs_of(config: Config, share: float, nats: float) -> list[Design]:
    assumed = Assumed(config.mode, config.metric, config.scale, share)
    levels = clause_levels(config.condition, nats)
    return [design_clause(clause, assumed, level) for clause, level in levels]


def rows_by_wald(design: Design, scale: float, truth: float) -> float:
    """What the best single bet takes, of all bets of both sides."""
    values, shares = map(np.array, hardest_rows(design, scale, truth))
    found = [float(design.rows)]
    for bets, gains, nats in (
        (design.above, values - design.zone.low, design.bet_nats(design.level.true)),
        (design.below, design.zone.high - values, design.bet_nats(design.level.false)),
    ):
        for size, weight in zip(bets.sizes, bets.weights, strict=True):
            rate = float(shares @ np.log1p(size * gains))
            if rate > 0:
                found.append((nats - math.log(weight)) / rate)
    return min(found)


@pytest.mark.parametrize(
    ("condition", "difference", "share"),
    [
        (DIFFERENCE, None, 1.0),
        (DIFFERENCE, 0.1, 0.1),
        (BOUNDED, None, 0.1),
        (LATER_BOUNDED, 0.5, 0.1),
        ("n > 0.8 +/- 0.05", None, 1.0),
        ("n > 0.8 +/- 0.05 /\\ 2 * n - o > 0.6 +/- 0.2", None, 1.0),
    ],
)
@pytest.mark.parametrize("steps", [1, 40])
def test_a_plan_adds_up(condition: str, difference: float | None, share: float, steps: int) -> None:
    more = {} if difference is None else {"difference": difference}
    for adaptivity in ("none", "full"):
        config = configured(condition, adaptivity, steps=steps, **more)
        own = [one for one in plan(config).methods if one.name.startswith("sequential")]
        assert own == list(methods(config, share, adaptivity))


def methods(config: Config, share: float, adaptivity: str) -> Iterator[Method]:
    steps, is_full = config.steps, adaptivity == "full"
    for shared in (True, False) if is_full else (True,):
        designs = designs_of(config, share, step_nats(config, shared=shared))
        labelled = [one for one in designs if one.clause.n or one.clause.o]
        rows = max(one.rows for one in labelled)
        pool = max(one.rows for one in designs)
        asked, usual = 0, 0
        for one in labelled:
            part = share if one.clause.n == -one.clause.o else 1.0
            ends = [rows_by_wald(one, 1.0, end) for end in (one.zone.low, one.zone.high)]
            asked = max(asked, math.ceil(one.rows * part - 1e-9))
            usual = max(usual, math.ceil(max(ends) * part - 1e-9))
        names = {True: "shared examples" if is_full else "shared pool", False: "fresh examples"}
        found = {
            "shared examples": (rows, pool, rows, rows),
            "fresh examples": (asked * steps, pool * steps, asked, usual * steps),
            "shared pool": (
                min(rows, asked * steps),
                pool,
                asked,
                min(rows, asked * steps, usual * steps),
            ),
        }
        name = names[shared]
        whys = {
            "shared examples": "every step looks at the same labelled examples, at delta / 2^H",
            "fresh examples": "each step takes fresh examples, at delta / H, "
            "and asks for labels only until it is settled",
            "shared pool": "all steps walk the same pool at delta / H, "
            "and ask for labels only until they are settled",
        }
        yield Method(f"sequential, {name}", *found[name], whys[name])


@pytest.mark.parametrize("truth", [0.0, 0.013, 0.05])
@pytest.mark.parametrize("share", [0.06, 0.3, 1.0])
@pytest.mark.parametrize("condition", [DIFFERENCE, "2 * n - 2 * o - d > 0.02 +/- 0.02"])
def test_the_hardest_rows_have_their_mean_and_share(
    condition: str, share: float, truth: float
) -> None:
    (design,) = designs_of(configured(condition), share, 5.0)
    values, chances = map(np.array, hardest_rows(design, 1.0, truth))
    assert (chances >= 0).all()
    assert chances.sum() == pytest.approx(1.0)
    assert float(values @ chances) == pytest.approx(truth)
    if share < 1:
        assert chances[values != 0].sum() == pytest.approx(share)
    assert expected_rows(design, 1.0, truth) == pytest.approx(rows_by_wald(design, 1.0, truth))


@pytest.mark.parametrize(
    "condition",
    [
        *(DIFFERENCE, "n > 0.5 +/- 0.1", "d < 0.1 +/- 0.02", "n - 3 * d > -0.5 +/- 0.1"),
        *(
            "2 * n - 2 * o - 3 * d > -2 +/- 0.1",
            "n - o + 3 * d > 1 +/- 0.1",
            "n - 2 * o < 0.5 +/- 0.1",
        ),
    ],
)
def test_the_range_of_a_row_is_that_of_all_rows(condition: str) -> None:
    (clause,) = clauses(configured(condition).condition)
    upward = clause.upward()
    possible = []
    for new, old, differ in product((0.0, 2.0), (0.0, 2.0), (0, 1)):
        is_difference = upward.n == -upward.o != 0
        if is_difference and new != old and not differ:
            continue  # equal predictions have equal scores
        if is_difference and new == old and differ:
            continue  # only these are between the ends of a difference
        possible.append(upward.n * new + upward.o * old + upward.d * differ)
    assert value_range(upward, 2.0) == (min(possible), max(possible))


# F1


F1_CONDITIONS = [
    ("n > 0.7 +/- 0.1", 0.3),
    ("2 * n > 1.2 +/- 0.3", 0.5),
    ("n - o > 0.05 +/- 0.1", 0.4),
    ("2 * n - o > 0.6 +/- 0.4", 0.4),
    ("n - 0.2 * d > 0.5 +/- 0.15", 0.5),
    ("d < 0.3 +/- 0.1 /\\ n > 0.6 +/- 0.15", 0.5),
]


def is_settled(design: Design, target: float, scores: dict[str, float], positives, differ, rows):
    """Does the interval of counts to be expected leave the zone?"""
    low = high = 0.0
    nats = math.log(len(design.clause.weights))
    for name, weight in design.clause.weights.items():
        if name == "d":
            counts = (round(rows * differ), round(rows * (1 - differ)))
            values = np.repeat([1.0, 0.0], counts)
            ends = [
                confidence_sequence(values, 0, 1, min(0.999, 2 * math.exp(-level - nats)))
                for level in (design.level.true, design.level.false)
            ]
        else:
            hits = positives * scores[name] / (2 - scores[name])
            counts = (round(rows * hits), round(rows * (positives - hits)))
            ends = [
                f1_bounds(*counts, level + nats)
                for level in (design.level.true, design.level.false)
            ]
        low += min(weight * end for end in ends[0])
        high += max(weight * end for end in ends[1])
    return low > design.zone.low or high < design.zone.high


def worlds(design: Design, place: float, differ: float) -> Iterator[tuple[float, dict[str, float]]]:
    """Scores of both models at which the clause has its value at a place in the zone."""
    target = design.zone.low + place * (design.zone.high - design.zone.low)
    clause = design.clause
    rest = target - clause.d * differ
    if not clause.o:
        yield target, {"n": min(1.0, max(0.0, rest / clause.n))}
        return
    for other in (0.2, 0.5, 0.8):
        own = (rest - clause.o * other) / clause.n
        if 0 <= own <= 1:
            yield target, {"n": own, "o": other}


@pytest.mark.parametrize(("condition", "positives"), F1_CONDITIONS)
def test_a_plan_of_f1_settles_what_is_to_be_expected_and_not_sooner(
    condition: str, positives: float
) -> None:
    config = configured(condition, metric="f1", steps=1, reliability=0.9, difference=0.4)
    (made,) = plan(config, positives=positives).methods[1:]
    designs = designs_of(config, 0.4, step_nats(config, shared=True))
    for rows, places in ((made.labelled, (0.3, 0.4, 0.5, 0.6, 0.7)), (made.expected, (0, 1))):
        sooner, then = [], []
        for design in designs:
            if design.clause.only_d:
                continue
            for place in places:
                for target, scores in worlds(design, place, 0.4):
                    about = (design, target, scores, positives, 0.4)
                    then.append(is_settled(*about, rows))
                    sooner.append(is_settled(*about, rows / 1.08))
        assert all(then)
        assert not all(sooner)


@pytest.mark.parametrize(("condition", "positives"), F1_CONDITIONS)
def test_steps_of_f1_multiply_what_is_fresh(condition: str, positives: float) -> None:
    one = configured(condition, metric="f1", steps=1, reliability=0.9)
    once = plan(one, positives=positives).methods[1]
    # As much evidence a step: a seventh of the chance of an error, in seven steps.
    seven = configured(condition, metric="f1", steps=7, reliability=1 - 0.1 * 7)
    pool = plan(seven, positives=positives).methods[1]
    assert (pool.labelled, pool.per_commit, pool.pool) == (once.labelled, once.labelled, once.pool)
    assert pool.expected == min(once.labelled, 7 * once.expected)
    full = configured(condition, "full", metric="f1", steps=7, reliability=1 - 0.1 * 7)
    fresh = plan(full, positives=positives).methods[1]
    assert (fresh.labelled, fresh.per_commit) == (7 * once.labelled, once.labelled)
    assert (fresh.pool, fresh.expected) == (7 * once.pool, 7 * once.expected)
    assert [pool.name, fresh.name] == ["sequential, shared pool", "sequential, fresh examples"]


@pytest.mark.parametrize(("condition", "positives"), F1_CONDITIONS)
def test_a_fixed_number_for_f1_is_hoeffdings(condition: str, positives: float) -> None:
    config = configured(condition, metric="f1", reliability=0.9)
    found = list(clauses(config.condition))
    sizes = []
    for clause in found:
        weights = {name: getattr(clause, name) for name in "nod" if getattr(clause, name)}
        tolerance = clause.tolerance / sum(map(abs, weights.values()))
        nats = math.log(4 / 0.1 * len(found) * len(weights))
        for name, weight in weights.items():
            known = clause.threshold / weight if len(weights) == 1 else 0.0
            reach = 3.0 if name == "d" else 2 - known
            share = 1.0 if name == "d" else positives
            width = 2.0 if name == "d" else reach
            sizes.append(width**2 * nats / (2 * (tolerance * share) ** 2))
    assert plan(config, positives=positives).baseline == math.ceil(max(sizes) - 1e-9)


# What is published, and what is said


def test_one_range_is_published_for_one_clause_of_several_variables() -> None:
    names = {}
    for condition in (DIFFERENCE, "n > 0.8 +/- 0.05", f"{DIFFERENCE} /\\ n > 0.5 +/- 0.1"):
        names[condition] = [one.name for one in plan(configured(condition)).methods]
    assert list(names.values()) == [
        ["baseline", "single range", "sequential, shared pool"],
        ["baseline", "sequential, shared pool"],
        ["baseline", "sequential, shared pool"],
    ]
    single = plan(configured(DIFFERENCE)).methods[1]
    size = math.ceil(2**2 * math.log(4 / 0.01) / (2 * 0.02**2))
    assert (single.labelled, single.pool, single.per_commit, single.expected) == (size,) * 4


def test_a_bound_on_d_widens_where_only_proof_fails() -> None:
    for condition in (BOUNDED, LATER_BOUNDED):
        assert plan(configured(condition)).may_differ == pytest.approx(0.1)
        assert plan(configured(condition, mode="fn-free")).may_differ == pytest.approx(0.14)
    doubled = "2 * d < 0.2 +/- 0.04 /\\ n - o > 0.03 +/- 0.03"
    assert plan(configured(doubled, mode="fn-free")).may_differ == pytest.approx(0.14)


def test_sizes_of_the_published_patterns_count_on_weights_and_scales() -> None:
    nats = math.log(4) + math.log(2 / 0.01)
    doubled = optimised_size(configured("2 * d < 0.2 +/- 0.04 /\\ n - o > 0.03 +/- 0.03"))
    assert doubled is not None
    assert doubled.unlabelled == math.ceil(nats / (2 * 0.02**2))
    assert doubled.share == pytest.approx(0.1 + 2 * 0.02)
    method = plan(configured("2 * d < 0.2 +/- 0.04 /\\ n - o > 0.03 +/- 0.03")).methods[1]
    assert (method.labelled, method.pool) == (
        doubled.labelled,
        doubled.labelled + doubled.unlabelled,
    )
    said = optimised_size(configured("2 * n - 2 * o > 0.04 +/- 0.04", difference=0.1))
    assert said is not None
    assert said.unlabelled == math.ceil(nats / (2 * 0.04**2))
    scaled = {"metric": "score", "scale": 2.0, "difference": 0.1}
    wide = optimised_size(configured("n - o > 0.04 +/- 0.04", **scaled))
    assert wide is not None
    assert wide.labelled == said.labelled == optimised_labels(0.1, 0.02)
    everything = "d < 0.9 +/- 0.05 /\\ n - o > 0.03 +/- 0.03"  # d of 1 may meet it
    assert optimised_size(configured(everything)) is None


def optimised_labels(share: float, tolerance: float) -> int:
    u = tolerance / share
    nats = math.log(4) + math.log(4 / 0.01)
    return math.ceil(nats / (share * ((1 + u) * math.log1p(u) - u)))


def test_the_promise_is_that_of_the_mode() -> None:
    start = "With probability 0.99 or more, no commit of the 4 "
    middle = "; with the same probability, none "
    end = " with every clause by more than twice its tolerance."
    assert plan(configured(DIFFERENCE)).guarantee == (
        f"{start}passes though the condition does not hold{middle}fails though the condition "
        f"holds{end}"
    )
    assert plan(configured(DIFFERENCE, mode="fn-free")).guarantee == (
        f"{start}fails though the condition holds{middle}passes though the condition "
        f"does not hold{end}"
    )


def test_the_advice_names_clear_commits_where_they_take_fewer_labels() -> None:
    few = plan(configured("n > 0.8 +/- 0.05", steps=1))
    assert few.expected < few.chosen
    assert f"take about {few.expected:,} in all ({few.chosen_method})" in few.advice
    many = plan(configured("n > 0.8 +/- 0.05", steps=1000))
    assert many.expected == many.chosen
    assert "Commits that lie clearly" not in many.advice


# Gains


@pytest.mark.parametrize("extra", [0.0, 2.0])
@pytest.mark.parametrize(
    ("condition", "share", "difference"),
    [
        (DIFFERENCE, 0.2, None),
        (DIFFERENCE, 0.2, 0.1),
        (DIFFERENCE, 0.02, None),
        (BOUNDED, 0.3, None),
        ("n > 0.8 +/- 0.03", 0.2, None),
        ("n - o > 0 +/- 0.05 /\\ n > 0.5 +/- 0.1", 0.3, None),
    ],
)
def test_so_many_rows_show_a_gain(
    condition: str, share: float, difference: float | None, extra: float
) -> None:
    """The fewest rows after which one bet of the mixture has won enough with the chance asked."""
    more = {} if difference is None else {"difference": difference}
    config = configured(condition, **more)
    nats = step_nats(config, shared=True, answers=3) + extra
    bound = 0.1 if condition == BOUNDED else difference or 1.0
    levels = list(clause_levels(config.condition, nats))
    z = norm.ppf(1 - 0.02 / len(levels))
    most = 0
    for clause, level in levels:
        clear = clause.upward().threshold + 3 * clause.tolerance
        changed = max(min(share, bound), min(1.0, clear))
        assumed = Assumed(config.mode, config.metric, 1.0, changed if bound == 1 else bound)
        design = design_clause(clause, assumed, level)
        needed = float(design.rows)
        truth = min(clear, design.top)
        values, chances = map(np.array, hardest_rows(replace(design, share=changed), 1.0, truth))
        for bet, weight in zip(design.above.sizes, design.above.weights, strict=True):
            gains = np.log1p(bet * (values - design.zone.low))
            rate, spread = chances @ gains, np.sqrt(np.cov(gains, aweights=chances, ddof=0))
            enough = design.bet_nats(level.true) - math.log(weight)
            if rate > 0:
                needed = min(needed, root_of(rate, float(z * spread), enough) ** 2)
        most = max(most, math.ceil(needed - 1e-6))
    compares = "o" in condition or "d" in condition
    if bound == 1 and compares:
        most = math.ceil(most / (1 - 1 / 20) - 1e-6)
    assert rows_that_show(config, share, extra) == most


def root_of(rate: float, spread: float, nats: float) -> float:
    """The x > 0 with ``rate x^2 - spread x = nats``, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        if rate * middle**2 - spread * middle < nats:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize(
    ("condition", "metric", "look", "price"),
    [
        ("n > 0.8 +/- 0.05", "accuracy", 0.5, 0.0),
        ("d < 0.1 +/- 0.02", "score", 0.5, 0.0),
        ("n > 0.8 +/- 0.05", "score", 0.75, 1.0),
        ("n - 0.5 * o > 0.4 +/- 0.05", "accuracy", 0.75, 1.0),
    ],
)
def test_a_look_has_its_share_and_costs_a_factor_e_between_two_values(
    condition: str, metric: str, look: float, price: float
) -> None:
    (design,) = designs_of(configured(condition, metric=metric), 1.0, 5.0)
    assert (design.look, design.two_valued) == (look, price == 0)
    assert design.look_nats(5.0) == pytest.approx(5.0 - math.log(look) + price)
    assert design.bet_nats(5.0) == pytest.approx(5.0 - math.log(1 - look))
    width = design.top - design.bottom
    hoeffding = width**2 * 5.0 / (2 * design.clause.tolerance**2)
    assert design.rows <= math.ceil(hoeffding)


@pytest.mark.parametrize("nats", [0.05, 0.7, 2.0, 8.0])
@pytest.mark.parametrize("tolerance", [0.02, 0.3])
@pytest.mark.parametrize("expression", ["n", "n - o", "n - 0.5 * o", "d"])
def test_no_clause_takes_more_rows_than_one_hoeffding_bound(
    expression: str, tolerance: float, nats: float
) -> None:
    """Where a mixture of bets would, one bet has the whole level."""
    for threshold, metric in product((0.02, 0.3, 0.8), ("accuracy", "score")):
        config = configured(f"{expression} > {threshold} +/- {tolerance}", metric=metric)
        (design,) = designs_of(config, 1.0, nats)
        width, zone = design.top - design.bottom, design.zone.high - design.zone.low
        assert design.rows <= math.ceil(width**2 * nats / (2 * (zone / 2) ** 2) - 1e-9)
        for bets in (design.above, design.below):
            assert bets.weights.sum() == pytest.approx(1.0)
