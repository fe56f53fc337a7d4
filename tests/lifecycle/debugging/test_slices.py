"""Conditions hold where they say; the scan finds the best slice, and names none where there is none."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from easeml.lifecycle.debugging import Condition, Slice
from easeml.lifecycle.debugging.candidates import candidates_in
from easeml.lifecycle.debugging.scan import likelihood_ratio, scan


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "size": [1.0, 2.0, np.nan, 4.0],
            "kind": pd.Categorical(["a", None, "b", "a"]),
            "said": ["Red fox runs", "a dog", None, "the fox"],
            "when": pd.to_datetime(["2026-01-01", None, "2026-01-03", "2026-01-04"]),
        }
    )


@pytest.mark.parametrize(
    ("condition", "holds", "told"),
    [
        (Condition("size", "within", "", 2.0, 4.0), "0100", "size at least 2 and below 4"),
        (Condition("size", "within", "", None, 2.0), "1000", "size below 2"),
        (Condition("size", "missing"), "0010", "size is missing"),
        (Condition("size", "is", "4"), "0001", "size is 4"),
        (Condition("kind", "is", "a"), "1001", "kind is a"),
        (Condition("kind", "missing"), "0100", "kind is missing"),
        (Condition("said", "word", "fox"), "1001", "said says 'fox'"),
        (Condition("gone", "is", "a"), "0000", "gone is a"),
        (
            Condition("when", "within", "", 1767398400.0, None, is_time=True),
            "0011",
            "when at least 2026-01-03",
        ),
    ],
)
def test_a_condition_holds_where_it_says(condition: Condition, holds: str, told: str) -> None:
    assert condition.holds(table()).tolist() == [one == "1" for one in holds]
    assert str(condition) == told
    place = Slice((condition,))
    assert Slice.from_json(place.to_json()) == place


def test_what_cannot_be_said_in_words_is_no_condition() -> None:
    rows = pd.DataFrame({"picture": [b"1", b"2"] * 20, "same": [1.0] * 40})
    assert candidates_in(rows, 5).conditions == ()


def best_by_hand(holds: np.ndarray, column: np.ndarray, wrong: np.ndarray, least: int) -> float:
    """Return the score of the best slice of one or two conditions, one after the other."""
    rows, total = len(wrong), wrong.sum()
    best = 0.0
    pairs = [(place, place) for place in range(len(holds))]
    pairs += list(combinations(range(len(holds)), 2))
    for one, other in pairs:
        inside = holds[one] & holds[other]
        n, mistakes = inside.sum(), (inside & wrong).sum()
        differ = one == other or column[one] != column[other]
        if n < least or not differ or mistakes <= n * total / rows:
            continue
        chance, share = mistakes / n, total / rows
        outside = (total - mistakes) / max(rows - n, 1)
        score = 0.0
        for count, of, told in ((mistakes, n, chance), (total - mistakes, rows - n, outside)):
            score += count * np.log(told / share) if count else 0.0
            score += (of - count) * np.log((1 - told) / (1 - share)) if of > count else 0.0
        best = max(best, score)
    return best


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_the_scan_finds_what_looking_at_each_slice_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {"x": random.normal(size=80), "kind": pd.Categorical(random.choice(["a", "b", "c"], 80))}
    )
    wrong = random.random(80) < np.where(rows["kind"] == "a", 0.6, 0.1)
    found = candidates_in(rows, 5)
    by_hand = best_by_hand(found.holds, found.column, wrong, 5)
    named = scan(
        found,
        wrong,
        np.zeros(80, dtype=int),
        least=5,
        level=1.0,
        most=1,
        permutations=1,
        seed=0,
    )
    inside = named[0].slice.holds(rows)
    n, mistakes = np.array([inside.sum()]), np.array([(inside & wrong).sum()])
    score = likelihood_ratio(n, mistakes, n * wrong.mean(), 80, wrong.sum())[0]
    assert 0.8 * by_hand - 1e-6 <= score
    if len(named[0].slice.conditions) < 3:
        assert score <= by_hand + 1e-6


def test_no_slice_is_named_where_mistakes_are_spread_by_chance() -> None:
    named = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        rows = pd.DataFrame(random.normal(size=(200, 3)), columns=["x", "y", "z"])
        rows["kind"] = pd.Categorical(random.choice(list("abcd"), size=200))
        wrong = random.random(200) < 0.2
        strata = random.integers(0, 3, size=200)
        found = scan(
            candidates_in(rows, 10),
            wrong,
            strata,
            least=10,
            level=0.1,
            most=5,
            permutations=39,
            seed=seed,
        )
        named += bool(found)
    assert named <= binom.ppf(0.999, 100, 0.1)


def test_a_second_slice_is_named_only_if_the_first_does_not_explain_it() -> None:
    random = np.random.default_rng(1)
    rows = pd.DataFrame(
        {
            "kind": pd.Categorical(random.choice(list("abcdef"), size=900)),
            "hue": pd.Categorical(random.choice(list("uvwxyz"), size=900)),
        }
    )
    rows["twin"] = rows["kind"]  # says the same
    bad = (rows["kind"] == "a") | (rows["hue"] == "u")
    wrong = random.random(900) < np.where(bad, 0.7, 0.1)
    found = scan(
        candidates_in(rows, 15),
        wrong,
        np.zeros(900, dtype=int),
        least=15,
        level=0.05,
        most=6,
        permutations=99,
        seed=0,
    )
    named = [str(one.slice) for one in found]
    assert len(named) == 2
    assert {"hue is u"} < set(named)
    assert all(one.p_value <= 0.05 for one in found)
