"""Patterns that are hard to find, with and without noise: the verdicts, and what they claim.

A short form of ``benchmarks/feasibility_adversarial.py``.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility import bayes_error, study
from easeml.lifecycle.feasibility.columns import read_columns
from easeml.lifecycle.feasibility.curve import SLOWEST
from easeml.lifecycle.feasibility.learners import boosted
from easeml.lifecycle.feasibility.patterns import Patterns, find


def loaded(name: str) -> ModuleType:
    """Return a file of the benchmarks as a module."""
    path = Path(__file__).parents[3] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


CASES = loaded("feasibility_cases")
BY_NAME = {case.name: case for case in CASES.CASES}
OUTSIDE = {case.name: case for case in loaded("feasibility_outside_cases").CASES}


def drawn(name: str, rows: int, noise: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X, y = BY_NAME[name].draw(rows, rng)
    return X, CASES.flipped(y, noise, rng)


@pytest.mark.parametrize(
    "name", ["parity of 3 signs", "a missing number", "one of two missing", "category xor number"]
)
def test_a_pattern_without_noise_is_found(name: str):
    answer = bayes_error(*drawn(name, 600), goal=0.95)
    assert answer.verdict == "realistic"
    assert answer.lower <= answer.estimate <= answer.upper


def test_a_border_of_many_pieces_leaves_the_bound_from_below_at_the_truth():
    """Twelve points in three dimensions: what is left falls slowly, as long as models can bend."""
    X, y = BY_NAME["prototypes"].draw(2000, np.random.default_rng(10_020))
    answer = bayes_error(X, y, goal=0.99, seed=20)
    assert answer.verdict == "cannot tell"
    assert answer.lower <= 0.005
    assert answer.reached < 0.08


def test_trees_go_on_learning_from_more_rows():
    """Errors of four times the rows fall as the bound expects: trees of one size would not."""
    frame, y = OUTSIDE["nearest of 30 in 3 d"].draw(16_000, np.random.default_rng(5))
    X = frame.to_numpy()
    errors = []
    for rows in (3000, 12_000):
        trees = boosted(2, seed=0)(rows).fit(X[:rows], y[:rows])
        errors.append((trees.predict(X[12_000:]) != y[12_000:]).mean())
    assert errors[1] < errors[0] * 4**-SLOWEST


def test_the_length_of_names_that_never_come_again_is_found():
    frame, y = OUTSIDE["length of a name"].draw(600, np.random.default_rng(0))
    frame.loc[:20, "name"] = None
    y[:21] = 0
    answer = bayes_error(frame, y, goal=0.95)
    assert answer.verdict == "realistic"


def test_what_two_dice_say_together_is_found():
    """Every pair of values has a cell of its own: coarser ones hide what the sum says."""
    answer = bayes_error(*OUTSIDE["sum by three"].draw(1500, np.random.default_rng(0)), goal=0.95)
    assert answer.verdict == "realistic"


def test_with_noise_a_goal_above_the_truth_is_unrealistic():
    answer = bayes_error(*drawn("one of two missing", 1200, 0.2), goal=0.88)
    assert answer.verdict == "unrealistic"
    assert answer.risk is not None
    assert answer.risk <= 0.05
    assert answer.assumes


@pytest.mark.parametrize("place", [1, 3])
def test_a_digit_of_a_whole_number_is_found(place: int):
    rng = np.random.default_rng(4)
    price = rng.integers(1_000, 100_000, 800)
    frame = pd.DataFrame({"size": rng.normal(size=800), "price": price})
    is_high = (price // 10 ** (place - 1) % 10 >= 5).astype(int)
    columns = read_columns(frame)
    found = find(Patterns(columns, classes=2), is_high, np.arange(800))
    assert f"price, digit {place} from the end" in [cut.name for cut in found]


@pytest.mark.parametrize("divisor", [7, 12, 97])
def test_a_remainder_of_a_whole_number_is_found(divisor: int):
    rng = np.random.default_rng(6)
    number = rng.integers(1_000, 1_000_000, 900)
    frame = pd.DataFrame({"size": rng.normal(size=900), "number": number})
    is_chosen = (rng.random(divisor) < 0.5)[number % divisor].astype(int)
    found = find(Patterns(read_columns(frame), classes=2), is_chosen, np.arange(900))
    assert f"number, remainder by {divisor}" in [cut.name for cut in found]


def test_a_goal_that_a_remainder_reaches_is_not_unrealistic():
    answer = bayes_error(*drawn("remainder by 7", 700, 0.05), goal=0.9)
    assert answer.verdict == "realistic"


def test_chance_leaves_no_remainder():
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"number": rng.integers(0, 10**6, 400), "size": rng.normal(size=400)})
        patterns = Patterns(read_columns(frame), classes=2)
        found += find(patterns, rng.integers(0, 2, 400), np.arange(400))
    assert len(found) <= 2, [cut.name for cut in found]


def test_a_sign_of_a_code_is_found():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 10**6, 700)
    is_odd = codes // 1000 % 10 % 2
    answers = np.where(rng.random(700) < 0.03, 1 - is_odd, is_odd)
    words = [f"{code:06d}" for code in codes]
    frame = pd.DataFrame({"code": words, "size": rng.normal(size=700)})
    answer = bayes_error(frame, answers.astype(str), goal=0.96)
    assert answer.verdict != "unrealistic"
    assert answer.estimate < 0.1


def test_a_parity_of_six_columns_is_found():
    X, y = CASES.sign_parity(6)(600, np.random.default_rng(0))
    assert bayes_error(X, y, goal=0.9).verdict == "realistic"


def test_nothing_found_in_a_wide_table_leaves_it_open():
    """A parity of seven among 24 columns cannot be told from noise, so noise stays open too."""
    rng = np.random.default_rng(0)
    answer = bayes_error(rng.normal(size=(200, 24)), rng.integers(0, 2, 200), goal=0.8)
    assert answer.verdict == "cannot tell"
    assert answer.next_verdict != "unrealistic"
    assert "many columns together" in answer.notes[-1]


def test_categories_of_many_values_give_the_same_answer_again():
    """Nothing is drawn from NumPy's global random state: its next number stays what it was."""
    np.random.seed(1)
    first = bayes_error(*drawn("150 shops", 300, 0.15))
    np.random.seed(2)
    state = np.random.get_state()[1].copy()
    assert bayes_error(*drawn("150 shops", 300, 0.15)) == first
    assert (np.random.get_state()[1] == state).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("name", "rows"), [("40 classes", 100), ("hour of the day", 100), ("parity of 3 flags", 300)]
)
def test_no_library_warns(name: str, rows: int):
    """Few rows a class, time stamps, and patterns without noise."""
    assert bayes_error(*drawn(name, rows), task="classification").final


def test_values_seen_once_leave_it_open():
    """A category decides, but hardly any value comes twice: nothing that was read can say so."""
    answer = bayes_error(*drawn("codes seen once", 400), goal=0.9)
    assert answer.verdict == "cannot tell"


def several_blobs(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Clean classes like handwritten letters: twenty, each of eight blobs in six dimensions."""
    means = np.random.default_rng(5).normal(size=(20, 8, 6)) * 1.5
    y, blob = rng.integers(0, 20, rows), rng.integers(0, 8, rows)
    return means[y, blob] + rng.normal(size=(rows, 6)) * 0.4, y


def test_clean_classes_with_few_rows():
    """Errors that come from too few rows are neither wrong labels nor the end of what is possible."""
    answer = bayes_error(*several_blobs(300, np.random.default_rng(0)), goal=0.98)
    assert answer.reached > 0.1
    assert answer.verdict == "cannot tell"
    assert answer.next_verdict in (None, "realistic")
    assert "wrong" not in answer.advice
    assert answer.noise is not None
    assert answer.noise.low == 0
    assert answer.noise.low <= answer.noise.share <= answer.noise.high
    assert answer.lower <= answer.estimate <= answer.upper
    for forecast in answer.forecasts:
        assert forecast.low <= forecast.error <= forecast.high
    errors = [forecast.error for forecast in answer.forecasts]
    assert errors == sorted(errors, reverse=True)


def test_a_table_whose_target_stands_first():
    X, y = drawn("category xor number", 300)
    table = pd.DataFrame({"answer": np.where(y, "yes", "no"), **X})
    table.loc[3, "answer"] = None
    answer = study(table, "answer", 0.9)
    assert answer.verdict == "realistic"
    assert answer.rows == 299
    assert "without answer" in answer.notes[-1]
    with pytest.raises(InvalidInput, match="no column absent"):
        study(table, "absent", 0.9)
