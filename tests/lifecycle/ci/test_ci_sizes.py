"""Published sample sizes to the example, exact bounds, and that sizes suffice (brute force)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import (
    Examples,
    baseline_size,
    clauses,
    clopper_pearson,
    empirical_bernstein,
    exact_size,
    optimised_size,
    plan,
    read_config,
    single_range_size,
    step_nats,
    try_commit,
)
from easeml.lifecycle.ci.bounds import bennett_size, exact_cuts

TABLE = {
    0.99: {0.1: (404, 1340, 1753, 5496), 0.05: (1615, 5358, 7012, 21984), 0.025: (6457, 21429, 28045, 87933),
           0.01: (40355, 133930, 175282, 549581)},
    0.999: {0.1: (519, 1455, 2214, 5957), 0.05: (2075, 5818, 8854, 23826), 0.025: (8299, 23271, 35414, 95302),
            0.01: (51868, 145443, 221333, 595633)},
    0.9999: {0.1: (634, 1570, 2674, 6417), 0.05: (2536, 6279, 10696, 25668), 0.025: (10141, 25113, 42782, 102670),
             0.01: (63381, 156956, 267385, 641684)},
    0.99999: {0.1: (749, 1685, 3135, 6878), 0.05: (2996, 6739, 12538, 27510), 0.025: (11983, 26955, 50150, 110038),
              0.01: (74894, 168469, 313437, 687736)},
}  # fmt: skip


def configured(condition: str, reliability: float, adaptivity: str, steps: int, **more):
    keys = {
        "condition": condition,
        "reliability": reliability,
        "adaptivity": adaptivity,
        "steps": steps,
    }
    return read_config({**keys, **more})


@pytest.mark.parametrize("reliability", TABLE)
def test_published_table(reliability: float) -> None:
    for tolerance, expected in TABLE[reliability].items():
        cases = [
            ("n > 0.5", "none"),
            ("d < 0.1", "full"),
            ("n - o > 0.02", "firstChange"),
            ("n - o > 0.02", "full"),
        ]
        found = [
            baseline_size(configured(f"{text} +/- {tolerance}", reliability, adaptivity, 32))
            for text, adaptivity in cases
        ]
        assert tuple(found) == expected


@pytest.mark.parametrize(("adaptivity", "labelled"), [("none", 29048), ("full", 67706)])
def test_published_pattern_of_small_differences(adaptivity: str, labelled: int) -> None:
    condition = "d < 0.08 +/- 0.01 /\\ n - o > 0.02 +/- 0.01"
    found = optimised_size(configured(condition, 0.9999, adaptivity, 32))
    assert found is not None
    assert (found.labelled, found.per_commit) == (labelled, 2189)
    assert found.share == pytest.approx(0.1)
    stated = optimised_size(
        configured("n - o > 0.02 +/- 0.01", 0.9999, adaptivity, 32, difference=0.1)
    )
    assert stated is not None
    assert stated.labelled == labelled


def test_raw_published_sizes() -> None:
    nats = math.log(4e4)
    raw = [bennett_size(0.1, 0.01, nats + more) for more in (math.log(32), 32 * math.log(2), 0.0)]
    assert raw[:2] == pytest.approx([29047.2963, 67705.0308])
    assert raw[2] * 0.1 == pytest.approx(2188.8457)


def test_weighted_clause_splits_the_tolerance_in_proportion() -> None:
    config = configured("n - 1.1 * o > 0.01 +/- 0.01", 0.9999, "none", 32)
    assert baseline_size(config) == 294792
    assert single_range_size(config.condition, step_nats(config, shared=True)) == 279508


@pytest.mark.parametrize(("adaptivity", "size"), [("none", 44269), ("full", 58799)])
def test_emotion_challenge(adaptivity: str, size: int) -> None:
    config = configured("n - o > 0.02 +/- 0.02", 0.998, adaptivity, 7)
    assert single_range_size(config.condition, step_nats(config, shared=True), sides=2) == size


def test_thousands_of_adaptive_steps_do_not_overflow() -> None:
    assert baseline_size(configured("n > 0.5 +/- 0.01", 0.9999, "full", 5000)) == 17374732
    assert plan(configured("n > 0.5 +/- 0.1", 0.9999, "full", 5000)).chosen < 175_000


@pytest.mark.parametrize(
    ("successes", "trials", "level", "interval"),
    [
        (95, 100, 0.05, (0.8871650889, 0.9835681208)),
        (0, 50, 0.01, (0.0, 0.1005450834)),
        (980, 1000, 0.001, (0.9609720188, 0.9915019287)),
    ],
)
def test_clopper_pearson(
    successes: int, trials: int, level: float, interval: tuple[float, float]
) -> None:
    assert clopper_pearson(successes, trials, level) == pytest.approx(interval, abs=1e-8)


@pytest.mark.parametrize("args", [(5, 4, 0.1), (-1, 4, 0.1), (1, 4, 0.0), (1, 4, 1.0)])
def test_no_share_has_no_interval(args) -> None:
    with pytest.raises(InvalidInput):
        clopper_pearson(*args)


@pytest.mark.parametrize(
    ("low", "high"), [(0.8, 0.9), (0.9, 1.0), (0.0, 0.05), (0.5, 0.52), (0.001, 0.02)]
)
@pytest.mark.parametrize("nats", [3.0, 9.2])
def test_exact_size_tells_the_two_apart(low: float, high: float, nats: float) -> None:
    size = exact_size(low, high, nats)
    first, second = exact_cuts(size, low, high, nats)
    assert first <= second + 1
    assert binom.sf(first - 1, size, low) <= math.exp(-nats) < binom.sf(first - 2, size, low)
    assert binom.cdf(second, size, high) <= math.exp(-nats) < binom.cdf(second + 1, size, high)
    assert size <= math.ceil(nats / (2 * ((high - low) / 2) ** 2)) + 1


def test_chernoff_takes_over_below_what_a_float_holds() -> None:
    first, _ = exact_cuts(100_000, 0.5, 0.9, 650.0)
    edge, _ = exact_cuts(100_000, 0.5, 0.9, 599.0)
    assert edge < first < 60_000


def test_empirical_bernstein_covers() -> None:
    generator = np.random.default_rng(1)
    misses = 0
    for _ in range(2000):
        low, high = empirical_bernstein((generator.random(200) < 0.03).astype(float), 1.0, 0.05)
        misses += not low <= 0.03 <= high
    assert misses / 2000 <= 0.05


@pytest.mark.parametrize("values", [[0.5], [0.5, math.nan], [0.0, 2.0]])
def test_empirical_bernstein_refuses(values) -> None:
    with pytest.raises(InvalidInput):
        empirical_bernstein(np.array(values), 1.0, 0.05)


@pytest.mark.parametrize("condition", ["n > 0.8 +/- 0.05", "d < 0.1 +/- 0.01", "n > 0.95 +/- 0.01"])
@pytest.mark.parametrize("adaptivity", ["none", "full"])
def test_exact_tails_need_fewer_than_published(condition: str, adaptivity: str) -> None:
    found = plan(configured(condition, 0.9999, adaptivity, 32))
    assert found.chosen <= found.baseline / 2


@pytest.mark.parametrize("adaptivity", ["none", "full"])
@pytest.mark.parametrize(
    "condition",
    ["n - o > 0.02 +/- 0.01", "d < 0.08 +/- 0.01 /\\ n - o > 0.02 +/- 0.01", "n > 0.8 +/- 0.1", "n - 1.1*o > 0 +/- .1",
     "n - o > 0.05 +/- 0.02 \\/ d < 0.1 +/- 0.02"],
)  # fmt: skip
def test_the_chosen_size_is_never_above_the_published_ones(condition: str, adaptivity: str) -> None:
    found = plan(configured(condition, 0.999, adaptivity, 8))
    assert found.chosen <= found.baseline
    assert found.optimised is None or found.chosen <= found.optimised
    assert 0 <= found.expected <= found.chosen
    assert found.advice
    assert len(found.to_frame()) == len(found.methods)
    assert len(found.figure().series) == 2
    assert found.to_json()["chosen"] == found.chosen


def test_a_difference_stated_beforehand_saves_labels() -> None:
    wide = plan(configured("n - o > 0.02 +/- 0.01", 0.9999, "none", 32))
    narrow = plan(configured("n - o > 0.02 +/- 0.01", 0.9999, "none", 32, difference=0.1))
    assert narrow.chosen < wide.chosen / 8
    assert "difference" in wide.advice
    assert "difference" not in narrow.advice


CONDITIONS = [
    "n - o > 0.02 +/- {0}",
    "n > 0.8 +/- {0}",
    "n - 1.1 * o > 0.01 +/- {0}",
    "d < 0.1 +/- {0}",
]


@given(
    st.sampled_from(CONDITIONS),
    st.sampled_from([0.02, 0.05, 0.09]),
    st.floats(0.5, 0.999999),
    st.sampled_from(["none", "full", "firstChange"]),
    st.sampled_from([1, 4, 32, 2000]),
)
@settings(deadline=None, max_examples=60)
def test_no_plan_asks_for_more_than_one_hoeffding_bound(
    condition, tolerance, reliability, adaptivity, steps
):
    """Without ``difference``, too, and at levels that floats cannot hold (5,836 against 5,348 once)."""
    text = condition.format(tolerance)
    keys = {"condition": text, "reliability": reliability, "adaptivity": adaptivity, "steps": steps}
    config = read_config(keys)
    (clause,) = clauses(config.condition)
    assert plan(config).chosen <= single_range_size(clause, step_nats(config, shared=True))


def test_a_look_settles_every_commit_at_its_size():
    """Values between the ends too: no sum at the planned number of rows leaves the clause open."""
    config = read_config({"condition": "n - o > 0.02 +/- 0.1", "reliability": 0.9})
    rows = plan(config).unlabelled
    for mean in np.linspace(0.0, 0.24, 25):
        rng = np.random.default_rng(int(1000 * mean))
        change = rng.random(rows) < 0.9
        new = change & (rng.random(rows) < 0.5 + mean / 1.8)
        old = change & ~new
        everything = np.ones(rows, dtype=bool)
        examples = Examples(new * 1.0, old * 1.0, everything, everything)
        assert try_commit(
            config, examples, step_nats(config, shared=False), shared=False
        ).truth in (
            True,
            False,
        )
