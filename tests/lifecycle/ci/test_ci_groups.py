"""Conditions on groups of rows: how they are written, which rows count, and what is promised."""

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from easeml.errors import InvalidInput
from easeml.lifecycle import gates
from easeml.lifecycle.ci import (
    Clause,
    Examples,
    Group,
    clauses,
    groups_of,
    of_each_group,
    open_ledger,
    parse,
    plan,
    read_config,
    rows_that_settle,
    score_examples,
    step_nats,
    try_commit,
    values_in,
)
from easeml.lifecycle.ci.units import units_of

F, M = Group("sex", "=", "f"), Group("sex", "=", "m")
GAP = "n[sex = f] - n[sex = m] > -0.1 +/- 0.05"
DELTA = 0.1


def configured(condition: str, **more):
    found = {"condition": condition, "reliability": 1 - DELTA, "adaptivity": "none"}
    return read_config({**found, **more})


def drawn(seed: int, rows: int, share: float, right: tuple[float, float]) -> Examples:
    """Rows of two groups, the first of which has a ``share``; ``right``: how often, in each."""
    rng = np.random.default_rng(seed)
    is_f = rng.random(rows) < share
    chance = np.where(is_f, *right)
    new, old = (rng.random((2, rows)) < chance).astype(float)
    known = np.ones(rows, dtype=bool)
    return Examples(new, old, new != old, known, {F: is_f, M: ~is_f})


def tried(config, examples: Examples):
    return try_commit(config, examples, step_nats(config, shared=True), shared=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("n[sex=f]-o[sex = f]>0+/-.1", "n[sex = f] - o[sex = f] > 0 +/- 0.1"),
        ("n[age<30] > n[age >= 60] - 10 % +/- 5 %", "n[age < 30] - n[age >= 60] > -0.1 +/- 0.05"),
        ("n[price > 1,5] > .5 +/- .1", "n[price > 1.5] > 0.5 +/- 0.1"),
        ('n["a = b" != "[x]"] > .5 +/- .1', 'n["a = b" != "[x]"] > 0.5 +/- 0.1'),
        ("d[city = New York] < .1 +/- .1 and n > .5 +/- .1",
         "d[city = New York] < 0.1 +/- 0.1 /\\ n > 0.5 +/- 0.1"),
        ("2 * (n[sex = f] - n[sex = m]) > 0 +/- .1",
         "2 * n[sex = f] - 2 * n[sex = m] > 0 +/- 0.1"),
    ],
)  # fmt: skip
def test_groups_are_read_as_they_are_shown(text: str, shown: str) -> None:
    assert str(parse(text)) == shown
    assert parse(shown) == parse(text)


_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
_GROUPS = st.builds(Group, _NAMES, st.sampled_from(["=", "!="]), _NAMES)


@given(_GROUPS, st.sampled_from(["n", "o", "d"]))
def test_any_names_can_be_written(group: Group, variable: str) -> None:
    text = f"{variable}[{group}] > 0.5 +/- 0.1"
    assert groups_of(parse(text)) == [group]
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("n[sex] > 0 +/- .1", 2, "names no group"),
        ("n[sex = ] > 0 +/- .1", 2, "names no group"),
        ("n[age < old] > 0 +/- .1", 2, "names no group"),
        ('n["a\\q" = b] > 0 +/- .1', 2, "names no group"),
        ("n[sex = f] - n > 0 +/- .1", 1, "all rows or about groups"),
        ("n[sex = f] - n[age > 3] > 0 +/- .1", 1, "may have rows in common"),
        ("n[age < 30] - n[age < 20] > 0 +/- .1", 1, "may have rows in common"),
        ("n[age <= 30] - n[age >= 30] > 0 +/- .1", 1, "may have rows in common"),
        ("n[sex != f] - n[sex != m] > 0 +/- .1", 1, "may have rows in common"),
        ("n[sex = 1] - n[sex = 1.0] > 0 +/- .1", 1, "may have rows in common"),
        ("n[sex = f > 0 +/- .1", 2, "not understood"),
        ("n[sex = *] - n[sex = f] > 0 +/- .1", 1, "compared with no other"),
    ],
)
def test_what_names_no_groups_is_refused_at_its_column(text, column, problem) -> None:
    with pytest.raises(InvalidInput, match=problem) as error:
        parse(text)
    assert error.value.where == f"condition, column {column}"


_COMPARES = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
_OF_NUMBERS = st.builds(
    lambda how, value: Group("x", how, str(value)), _COMPARES, st.integers(0, 3)
)


@given(_OF_NUMBERS, _OF_NUMBERS)
def test_groups_that_exclude_each_other_share_no_row(one: Group, other: Group) -> None:
    cells = [*np.arange(-1, 5, 0.5), None, float("nan")]
    both = one.members(cells) & other.members(cells)
    if one.excludes(other):
        assert not both.any()
    elif {one.compare, other.compare} != {"!="}:
        assert both.any()


def test_cells_are_compared_as_labels_are() -> None:
    assert (
        Group("a", "=", "1").members([1, 1.0, "1", True, "x", None]).tolist()
        == [True] * 4 + [False] * 2
    )
    assert Group("a", "!=", "x").members(["y", "x", None]).tolist() == [True, False, False]
    assert Group("a", ">", "2").members(["3", 2, None, "x"]).tolist() == [True, False, False, False]


def test_a_clause_on_a_group_is_that_clause_on_its_rows_alone() -> None:
    rng = np.random.default_rng(5)
    for condition in ("{} > 0.6 +/- 0.1", "{} - {}o > -0.1 +/- 0.1", "d{} < 0.4 +/- 0.1"):
        for seed in range(20):
            examples = drawn(seed, 400, 0.4, tuple(rng.random(2)))
            alone = examples.take(np.flatnonzero(examples.groups[F]))
            grouped = condition.replace("{}o", "o[sex = f]").replace("d{}", "d[sex = f]")
            plain = condition.replace("{}o", "o").replace("d{}", "d").replace("{}", "n")
            first = tried(configured(grouped.replace("{}", "n[sex = f]"), difference=1), examples)
            second = tried(configured(plain, difference=1), alone)
            assert first.truth == second.truth
            assert first.labels == second.labels
            assert first.findings[0].low == pytest.approx(second.findings[0].low)


def test_a_large_group_is_averaged_over_blocks_and_no_row_counts_twice() -> None:
    examples = drawn(3, 500, 0.1, (0.5, 0.9))
    (clause,) = clauses(parse(GAP))
    units = units_of(clause, examples)
    rows_f, rows_m = (np.flatnonzero(examples.groups[group]) for group in (F, M))
    size = len(rows_m) // len(rows_f)
    assert len(units) == len(rows_f)
    for place in range(len(units)):
        block = rows_m[place * size : (place + 1) * size]
        expected = examples.new[rows_f[place]] - examples.new[block].mean()
        assert units.values[place] == pytest.approx(expected)
        assert units.ends[place] == max(rows_f[place], block[-1]) + 1
    assert all(before <= after for before, after in pairwise(units.ends))


def test_a_group_without_rows_leaves_a_clause_open() -> None:
    examples = drawn(0, 50, 0.0, (0.5, 0.5))
    found = tried(configured(GAP), examples)
    assert found.truth is None
    assert len(found.wanted) == 0
    of_f1 = configured("n[sex = f] > 0.5 +/- 0.1", metric="f1")
    events = np.column_stack([examples.new, 1 - examples.new])
    counted = Examples(events, events, examples.differ, examples.known, examples.groups)
    assert tried(of_f1, counted).truth is None


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("condition", [GAP, "n[sex = f] > 0.7 +/- 0.05"])
def test_a_gap_on_the_boundary_is_seldom_called_smaller(condition: str, share: float) -> None:
    lives = 150
    config = configured(condition)
    wrong = sum(
        tried(config, drawn(seed, 2000, share, (0.7, 0.8))).truth is True for seed in range(lives)
    )
    assert stats.binomtest(wrong, lives, DELTA, alternative="greater").pvalue > 0.05, wrong


def test_an_equal_model_is_proven_to_be_fair_and_an_unfair_one_is_not() -> None:
    config = configured(GAP)
    assert tried(config, drawn(1, 4000, 0.3, (0.85, 0.8))).truth is True
    assert tried(config, drawn(1, 4000, 0.3, (0.5, 0.9))).truth is False


def test_f1_is_compared_between_groups() -> None:
    rng = np.random.default_rng(0)
    rows = 6000
    is_f = rng.random(rows) < 0.4
    truth = rng.integers(0, 2, rows)
    fair = np.where(rng.random(rows) < 0.9, truth, 1 - truth)
    unfair = np.where(is_f & (rng.random(rows) < 0.6), 0, fair)
    table = pd.DataFrame({"sex": np.where(is_f, "f", "m")})
    config = configured("n[sex = f] - n[sex = m] > -0.2 +/- 0.1", metric="f1")
    for said, expected in ((fair, True), (unfair, False)):
        examples = score_examples(said, said, truth, config, table)
        assert tried(config, examples).truth is expected


def test_only_labels_of_rows_in_the_groups_are_asked_for() -> None:
    examples = drawn(2, 300, 0.2, (0.5, 0.8))
    unlabelled = Examples(
        examples.new, examples.old, examples.differ, np.zeros(300, dtype=bool), examples.groups
    )
    found = tried(configured("n[sex = f] - o[sex = f] > 0 +/- 0.1"), unlabelled)
    assert len(found.wanted)
    assert examples.groups[F][found.wanted].all()
    assert examples.differ[found.wanted].all()
    among_both = tried(configured(GAP), unlabelled)
    assert {*examples.groups[F][among_both.wanted]} == {True, False}


def test_the_more_rows_a_plan_asks_for_the_smaller_a_group_is() -> None:
    sizes = []
    for share in (0.5, 0.1):
        groups = {"sex = f": share, "sex = m": 1 - share}
        sizes.append(plan(configured(GAP, groups=groups)).chosen)
    assert sizes[0] < sizes[1]
    with pytest.raises(InvalidInput, match="how large the groups are") as error:
        plan(configured(GAP))
    assert "sex = f: 0.5, sex = m: 0.5" in error.value.remedy
    assert rows_that_settle(configured(GAP), shared=True) is None
    with pytest.raises(InvalidInput, match="F1 of groups"):
        plan(configured(GAP, metric="f1"), positives=0.1)


def test_the_sizes_of_groups_change_no_promise() -> None:
    with_sizes = configured(GAP, groups={"sex=f": 0.5, "sex=m": 0.5})
    assert with_sizes.digest == configured(GAP).digest
    assert read_config(with_sizes.to_json()) == with_sizes
    for wrong in ({"sex": 0.5}, {"sex = f": 1.5}, ["sex = f"]):
        with pytest.raises(InvalidInput) as error:
            configured(GAP, groups=wrong)
        assert error.value.where.startswith("groups")


def test_rows_without_the_column_are_refused_by_its_name() -> None:
    config = configured(GAP)
    with pytest.raises(InvalidInput, match="no rows are given"):
        score_examples([1], [1], [1], config)
    with pytest.raises(InvalidInput, match="no column is called so") as error:
        score_examples([1], [1], [1], config, pd.DataFrame({"age": [3]}))
    assert "age" in error.value.remedy


def test_a_gate_refuses_the_wrong_direction_of_a_group_and_lets_gaps_be() -> None:
    gates.check_direction(configured(GAP))
    gates.check_direction(configured("n[sex = f] - o[sex = f] > -0.1 +/- 0.1"))
    with pytest.raises(InvalidInput, match="worse"):
        gates.check_direction(configured("o[sex = f] - n[sex = f] > -0.1 +/- 0.1"))
    with pytest.raises(InvalidInput, match="compares groups"):
        gates.check_can_buy(configured(GAP), "kind")
    with pytest.raises(InvalidInput, match="only their labels would tell"):
        gates.check_can_buy(configured("n[kind = yes] > 0.5 +/- 0.1"), "kind")


def test_many_answers_on_shared_rows_count_one_more_that_stays_open() -> None:
    config = configured(GAP, adaptivity="full", steps=3, groups={"sex = f": 0.5, "sex = m": 0.5})
    ledger = open_ledger(config, np.ones(1_000_000, dtype=bool))
    assert ledger.answers == 3  # whether the rows of a group suffice is not known beforehand


def test_a_clause_keeps_its_group_when_it_is_turned() -> None:
    (clause,) = clauses(parse("n[sex = f] - 2 * n[sex = m] < 0.1 +/- 0.1"))
    turned = clause.upward()
    assert isinstance(turned, Clause)
    assert str(turned) == "-n[sex = f] + 2 * n[sex = m] > -0.1 +/- 0.1"


def test_each_group_has_a_clause_of_its_own_and_all_must_hold() -> None:
    rows = pd.DataFrame({"sex": ["f", "m", None], "age": [3, 4, 5]})
    condition = parse("n > .5 +/- .1 and n[sex = *] - o[sex = *] > -.1 +/- .1")
    named = of_each_group(condition, partial(values_in, rows=rows))
    assert str(named) == (
        "n > 0.5 +/- 0.1 /\\ n[sex = f] - o[sex = f] > -0.1 +/- 0.1"
        " /\\ n[sex = m] - o[sex = m] > -0.1 +/- 0.1"
    )
    assert parse(str(named)) == named
    either = of_each_group(parse("n > .9 +/- .1 or n[sex = *] > .5 +/- .1"), lambda _: ["f", "m"])
    assert parse(str(either)) == either
    assert of_each_group(parse("n[sex = *] > 0 +/- 1"), lambda _: ["f"]) == parse(
        "n[sex = f] > 0 +/- 1"
    )
    with pytest.raises(InvalidInput, match="stands for 1 to 20"):
        values_in("id", pd.DataFrame({"id": range(30)}))
    with pytest.raises(InvalidInput, match="no column is called so"):
        values_in("region", rows)


def test_twenty_groups_of_long_names_are_read_again_from_the_ledger() -> None:
    rows = pd.DataFrame({"region": [f"{place:02}{'x' * 130}" for place in range(20)]})
    condition = parse("n[region = *] - o[region = *] > -.1 +/- .1")
    named = of_each_group(condition, partial(values_in, rows=rows))
    assert parse(str(named)) == named
