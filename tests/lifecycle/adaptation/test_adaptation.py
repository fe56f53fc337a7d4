"""What recent rows without labels say: by brute force and by shifts that are known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from easeml.lifecycle.adaptation import (
    WAYS,
    Known,
    input_weights,
    likeliest_shares,
    moves_between,
    propose,
    shares_by_confusions,
    sure_from,
)
from easeml.lifecycle.held_out import Unseen

ROWS, LEARNED = 1200, 600
SOUND = {"none": set(), "inputs": {"weights"}, "shares": {"prior"}, "unit": {"scale"}}


def rows_of(
    rng: np.random.Generator, rows: int, share: float = 0.5
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of two classes whose inputs overlap."""
    codes = (rng.random(rows) < share).astype(int)
    values = rng.normal(size=(rows, 2)) + 1.2 * codes[:, None]
    return pd.DataFrame(values, columns=["length", "mass"]), codes


def shifted(shift: str, seed: int = 0) -> Known:
    """Return labelled rows, and recent ones of which one thing has changed."""
    rng = np.random.default_rng(seed)
    inputs, codes = rows_of(rng, ROWS)
    recent, _ = rows_of(rng, 800, share=0.1 if shift == "shares" else 0.5)
    if shift == "inputs":
        recent = recent.sample(800, replace=True, weights=np.exp(recent["mass"]), random_state=1)
    if shift == "unit":
        recent["length"] = 25.4 * recent["length"] + 3
    model = LogisticRegression().fit(inputs[:LEARNED], codes[:LEARNED])
    names = np.array(["no", "yes"], dtype=object)
    held_out = np.arange(ROWS) >= LEARNED

    def said(frame: pd.DataFrame) -> Unseen:
        chances = model.predict_proba(frame)
        return Unseen(names[chances.argmax(axis=1)], chances, names)

    answers = pd.Series(pd.Categorical(names[codes], categories=list(names)))
    return Known(inputs, answers, held_out, said(inputs[held_out]), recent, said(recent))


@pytest.mark.parametrize("shift", SOUND)
def test_each_way_fits_the_shift_that_it_is_for(shift: str) -> None:
    found = {way: propose(way, shifted(shift)) for way in WAYS}
    fitting = {way for way in ("weights", "prior", "scale") if found[way].applies}
    assert fitting >= SOUND[shift], {way: one.says for way, one in found.items()}
    if shift in ("none", "inputs", "unit"):
        assert "prior" not in fitting
    assert shift != "none" or not fitting


def test_what_was_found_is_told_in_words() -> None:
    assert propose("weights", shifted("none")).says.startswith("The inputs are as before")
    weighted = propose("weights", shifted("inputs"))
    assert "Inputs moved in mass" in weighted.says
    assert "1,200 rows tell as much as" in weighted.says
    by_class = propose("prior", shifted("shares"))
    assert by_class.weights is not None
    shares = by_class.weights[shifted("shares").answers.to_numpy() == "yes"].sum() / ROWS
    assert shares == pytest.approx(0.1, abs=0.06)
    moved = propose("scale", shifted("unit"))
    assert moved.inputs is not None
    assert np.median(moved.inputs["length"]) == pytest.approx(
        np.median(shifted("unit").recent["length"])
    )
    few = shifted("none")
    none = propose(
        "weights",
        Known(few.inputs, few.answers, few.held_out, few.said, few.recent[:9], few.said_recent),
    )
    assert not none.applies
    assert "9 recent rows" in none.says


def test_pseudo_labels_are_of_rows_about_which_the_model_is_as_right_as_it_says() -> None:
    known = shifted("inputs")
    found = propose("pseudo-labels", known)
    assert found.applies
    assert found.extra is not None
    assert found.extra_answers is not None
    assert list(found.extra_answers) == list(known.said_recent.values[found.extra])
    numbers = Known(
        known.inputs,
        known.answers,
        known.held_out,
        Unseen(np.zeros(600)),
        known.recent,
        Unseen(np.zeros(800)),
    )
    assert not propose("pseudo-labels", numbers).applies
    assert not propose("prior", numbers).applies


def test_weights_are_the_ratio_of_densities() -> None:
    """Of two cells: how often each comes, before and now."""
    rng = np.random.default_rng(0)
    old = (rng.random(4000) < 0.5).astype(float)
    new = (rng.random(4000) < 0.8).astype(float)
    found = input_weights(old[:, None], new[:, None])
    ratio = found.weights[old == 1].mean() / found.weights[old == 0].mean()
    assert ratio == pytest.approx((0.8 / 0.5) / (0.2 / 0.5), rel=0.1)
    assert found.has_moved
    counts = found.weights
    assert found.effective == pytest.approx(counts.sum() ** 2 / (counts**2).sum())
    again = input_weights(old[:, None], new[:, None], counts=counts)
    assert not again.has_moved  # once weighted, both look the same


def test_weights_of_few_rows_are_flattened_until_they_are_worth_enough() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(500, 3)), rng.normal(loc=1.5, size=(500, 3))
    found = input_weights(old, new)
    assert found.exact < 100 <= found.effective + 1
    assert found.power < 1


@given(st.integers(0, 10_000), st.floats(0.1, 0.9))
@settings(max_examples=20, deadline=None)
def test_the_likeliest_shares_are_those_of_a_grid(seed: int, before: float) -> None:
    rng = np.random.default_rng(seed)
    chance = rng.beta(1, 1, size=30)
    chances = np.column_stack([1 - chance, chance])
    shares = likeliest_shares(chances, np.array([1 - before, before]))
    grid = np.linspace(0, 1, 1001)

    def likelihood(share: float) -> float:
        each = (1 - share) * chances[:, 0] / (1 - before) + share * chances[:, 1] / before
        return float(np.log(each).sum())

    best = max(map(likelihood, grid))
    assert likelihood(float(shares[1])) >= best - 1e-3
    assert shares.sum() == pytest.approx(1)


def test_shares_by_confusions_solve_the_table_of_confusions() -> None:
    codes = np.repeat([0, 1], 10)
    said = np.r_[np.repeat([0, 1], [8, 2]), np.repeat([0, 1], [3, 7])]
    recent = np.repeat([0, 1], [60, 40])  # 0.8 (1 - p) + 0.3 p = 0.6
    assert shares_by_confusions(said, codes, recent, 2) == pytest.approx([0.6, 0.4])
    assert shares_by_confusions(np.tile([0, 1], 10), codes, recent, 2) is None  # knows nothing
    assert shares_by_confusions(said, codes, recent, 3) is None  # a class without rows


@given(st.floats(0.1, 100), st.floats(-1000, 1000))
@settings(max_examples=20, deadline=None)
def test_a_change_of_unit_is_found_exactly(factor: float, offset: float) -> None:
    values = np.random.default_rng(0).gamma(2.0, size=300)
    old = pd.DataFrame({"x": values, "kept": values, "fixed": 1.0})
    new = old.assign(x=offset + factor * values)
    moves = moves_between(old, new)
    assert {move.column for move in moves} <= {"x"}
    for move in moves:
        assert move.apply(values) == pytest.approx(
            new["x"].to_numpy(), abs=1e-6 * (1 + abs(offset))
        )
    assert moves or abs(np.median(new["x"]) - np.median(values)) < 1


@given(st.lists(st.tuples(st.integers(0, 10), st.booleans()), min_size=1, max_size=60))
@settings(max_examples=50, deadline=None)
def test_the_least_sure_confidence_is_that_of_a_scan(rows: list[tuple[int, bool]]) -> None:
    confidence = np.array([one / 10 for one, _ in rows])
    right = np.array([one for _, one in rows])
    found = sure_from(confidence, right, 0.8)
    if found is not None:
        order = np.argsort(-confidence, kind="stable")
        ends = [end for end in range(20, len(rows) + 1) if right[order[:end]].mean() >= 0.8]
        assert found == confidence[order[max(ends) - 1]]
