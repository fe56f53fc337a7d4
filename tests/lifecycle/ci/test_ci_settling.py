"""At which row a clause is settled, and what does not settle it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from easeml.lifecycle.ci import (
    Examples,
    confidence_sequence,
    read_config,
    score_examples,
    step_nats,
    try_commit,
)
from easeml.lifecycle.ci.betting import first_crossing
from easeml.lifecycle.ci.design import Assumed, Design, design_clause
from easeml.lifecycle.ci.levels import clause_levels
from easeml.lifecycle.ci.settling import settle


def design_of(condition: str, nats: float) -> Design:
    config = read_config({"condition": condition, "reliability": 0.9, "adaptivity": "none"})
    ((clause, level),) = clause_levels(config.condition, nats)
    return design_clause(clause, Assumed(config.mode, config.metric, 1.0, 1.0), level)


def alone(right: np.ndarray) -> Examples:
    """Rows of one model whose answers are right or wrong."""
    no, yes = np.zeros(len(right), dtype=bool), np.ones(len(right), dtype=bool)
    return Examples(right.astype(float), right.astype(float), no, yes)


@pytest.mark.parametrize("share", [0.95, 0.4])
def test_the_row_that_settles_a_clause_is_enough_of_them(share: float) -> None:
    """Bets that prove something at a row prove it where that row is the last, and not before."""
    design = design_of("n > 0.7 +/- 0.1", 3.0)
    right = np.random.default_rng(4).random(2000) < share
    found = settle(design, alone(right), 2001)
    assert found.truth is (share > 0.7)
    assert 1 < found.rows < 2000
    last = settle(design, alone(right[: found.rows]), 2001)
    assert (last.truth, last.rows, last.estimate) == (found.truth, found.rows, found.estimate)
    before = settle(design, alone(right[: found.rows - 1]), 2001)
    assert (before.truth, before.rows) == (None, found.rows - 1)
    first = settle(design, alone(right[:1]), 2001)
    assert (first.truth, first.rows, first.estimate) == (None, 1, float(right[0]))


def test_the_interval_of_an_open_clause_errs_at_twice_its_level() -> None:
    design = design_of("n > 0.7 +/- 0.1", 3.0)
    for true, false in ((3.0, 4.0), (4.0, 3.0), (3.0, 3.0)):
        of_sides = replace(design, level=replace(design.level, true=true, false=false))
        right = np.tile([True, True, True, False], 10)
        found = settle(of_sides, alone(right), 2001)
        interval = confidence_sequence(right, 0.0, 1.0, 2 * math.exp(-3.0))
        assert (found.truth, found.low, found.high) == (None, *interval)
        assert 0.4 < found.low < found.high < 0.99


def test_true_is_said_where_both_sides_are_proven_at_one_row() -> None:
    """Values in the middle of the zone prove "more than .4" as fast as "less than .6"."""
    design = design_of("n > 0.4 +/- 0.1", 3.0)
    found = settle(design, alone(np.full(3000, 0.5)), 3001)
    turned = first_crossing(np.full(3000, -0.5), -0.6, design.below, design.bet_nats(3.0))
    assert (found.truth, found.rows) == (True, turned)


def test_the_look_waits_for_all_its_rows() -> None:
    """Its number of rows was fixed before any label: whoever has fewer has not looked."""
    design = replace(design_of("n > 0.5 +/- 0.1", 3.0), look=1 - 1e-12)
    right = np.ones(60, dtype=bool)
    only_bets_of_nothing = replace(design.above, sizes=np.full(len(design.above.sizes), 1e-9))
    design = replace(design, above=only_bets_of_nothing)
    assert settle(design, alone(right), 60).truth is True
    assert settle(design, alone(right[:59]), 60).truth is None
    without = replace(design, look=0.0)
    assert settle(without, alone(right), 60).truth is None


@pytest.mark.parametrize("condition", ["n > 0 +/- 0.1", "n > 0.9 +/- 0.1"])
def test_an_end_that_f1_cannot_pass_proves_nothing(condition: str) -> None:
    """The bounds of few rows are 0 and 1, which are the ends of the zones."""
    metric = {"metric": "f1", "positive": "yes", "batch": 5}
    config = read_config({"condition": condition, "reliability": 0.9, **metric})
    truth = np.array(["yes", "no"] * 5)
    said = np.array(["yes", "yes", "no", "no"] * 2 + ["yes", "yes"])
    nats = step_nats(config, shared=True)
    trial = try_commit(config, score_examples(said, None, truth, config), nats, shared=True)
    (finding,) = trial.findings
    assert (trial.truth, finding.rows, finding.low, finding.high) == (None, 10, 0.0, 1.0)


@pytest.mark.parametrize(
    ("condition", "weights"),
    [("n - 0.5 * d > 0.2 +/- 0.1", (1, 0, -0.5)), ("0.8 * n - o + 0.3 * d > 0.1 +/- 0.1", (0.8, -1, 0.3))],
)  # fmt: skip
def test_the_estimate_is_the_mean_of_the_expression(
    condition: str, weights: tuple[float, float, float]
) -> None:
    said = {"condition": condition, "reliability": 0.9, "adaptivity": "none", "difference": 0.9}
    config = read_config(said)
    generator = np.random.default_rng(5)
    truth, new, old = generator.integers(0, 3, (3, 500))
    nats = step_nats(config, shared=True)
    (finding,) = try_commit(
        config, score_examples(new, old, truth, config), nats, shared=True
    ).findings
    rows = finding.rows
    parts = [(new == truth)[:rows].mean(), (old == truth)[:rows].mean(), (new != old)[:rows].mean()]
    assert rows > 0
    assert finding.estimate == pytest.approx(np.dot(weights, parts))
