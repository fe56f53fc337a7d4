"""After a release: which rows count, and what they may say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.lifecycle import released
from easeml.lifecycle.rollout import Evidence, Outcome, Plan, is_worse, told


@given(st.lists(st.booleans(), max_size=400))
def test_a_run_counts_where_nearly_all_of_its_truth_is_there(known: list[bool]):
    starts = released.whole_runs(known)
    for start in range(0, len(known), released.RUN):
        run = known[start : start + released.RUN]
        missing = run.count(False)
        is_whole = len(run) == 50 and missing <= 2
        assert (start in starts) == is_whole


@given(st.floats(0.5, 0.999), st.integers(1, 200))
def test_all_releases_together_err_as_seldom_as_was_said(reliability: float, number: int):
    parts = [1 - released.reliability_of(reliability, k) for k in range(1, number + 1)]
    assert sum(parts) <= (1 - reliability) * (1 + 1e-9)
    assert parts[0] == pytest.approx((1 - reliability) / 2)


@given(
    st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=300),
    st.randoms(use_true_random=False),
)
def test_evidence_is_the_same_in_any_order(gains: list[int], random):
    shuffled = gains.copy()
    random.shuffle(shuffled)
    plan = Plan()
    one, other = (
        told(plan, Evidence(), [Outcome(gain, float(gain < 0)) for gain in order])
        for order in (gains, shuffled)
    )
    assert one.worse == pytest.approx(other.worse)
    assert one.gained == other.gained == sum(gains)
    assert released.interval(one) == pytest.approx(released.interval(other))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=50, max_size=50))
def test_no_choice_of_two_truths_makes_a_run_look_worse(rows: list[tuple[bool, bool]]):
    """Whoever keeps two truths back, the bet is at most what it is with all of them."""
    plan = Plan()
    full = [Outcome(float(new) - float(old)) for new, old in rows]
    whole = told(plan, Evidence(), full)
    for hidden in range(0, 50, 7):
        new, old = rows[hidden]
        seen = full.copy()
        seen[hidden] = released.without_truth(float(new != old))
        kept = told(plan, Evidence(), seen)
        assert all(a <= b + 1e-9 for a, b in zip(kept.worse, whole.worse, strict=True))


def test_what_rows_say_is_said_with_both_shares_and_an_interval():
    evidence = told(Plan(), Evidence(), [Outcome(-1, 1.0)] * 30 + [Outcome(0, 1.0)] * 70)
    assert released.qualities(evidence) == (pytest.approx(0.7), 1.0)
    text = released.said(evidence, "Share of right answers", "new", "old")
    assert text.startswith("Share of right answers on 100 rows: 0.700 of new, 1.000 of old")
    low, high = released.interval(evidence) or (0.0, 0.0)
    assert -1 < low < -0.3 < high < 0
    assert f"{low:+.3f} to {high:+.3f}" in text
    numbers = told(Plan(), Evidence(), [Outcome(-0.25, 0.5)] * 4)
    assert released.interval(numbers) is None
    assert released.said(Evidence(), "Share", "new", "old") == "No row counts yet."
    assert released.interval(Evidence()) is None


def test_the_interval_covers_the_difference_whenever_one_looks():
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(100):
        gains = rng.choice([-1, 0, 1], p=[0.1, 0.84, 0.06], size=600)
        evidence, is_missed = Evidence(), False
        for start in range(0, 600, 50):
            evidence = told(Plan(), evidence, [Outcome(int(g)) for g in gains[start : start + 50]])
            low, high = released.interval(evidence) or (-1.0, 1.0)
            is_missed |= not low <= -0.04 <= high
        missed += is_missed
    assert missed <= 5


def test_a_drop_is_found_after_about_as_many_rows_as_are_said():
    plan = Plan(reliability=released.reliability_of(0.95, 1))
    needed = released.rows_needed(0.2, 0.3, plan.reliability)
    rng = np.random.default_rng(1)
    ends = []
    for _ in range(20):
        evidence, rows = Evidence(), 0
        while not is_worse(plan, evidence) and rows < 2000:
            gain = rng.choice([-1, 0, 1], p=[0.25, 0.7, 0.05])
            evidence, rows = told(plan, evidence, [Outcome(int(gain))]), rows + 1
        ends.append(rows)
    assert needed < float(np.median(ends)) < 4 * needed
    assert math.isfinite(needed)
