"""What is too good to be true is said after training."""

import numpy as np
import pandas as pd

from easeml.modules.contract import Predictions
from easeml.modules.suspicion import suspicions


def told(values: np.ndarray) -> Predictions:
    return Predictions(values.astype(object), None, np.unique(values).astype(object))


def answers(rows: int, wrong: float, seed: int = 0) -> tuple[pd.Series, np.ndarray]:
    """Return three classes, of which ``c`` is never mistaken and ``a``, ``b`` at times."""
    random = np.random.default_rng(seed)
    truth = random.choice(["a", "b", "c"], rows)
    turned = np.where(truth == "a", "b", "a")
    is_wrong = (truth != "c") & (random.random(rows) < wrong)
    return pd.Series(truth), np.where(is_wrong, turned, truth)


def test_a_class_that_is_never_mistaken_is_named():
    truth, found = answers(300, 0.2)
    (said,) = suspicions(truth, told(found))
    assert said.startswith("Class 'c' is never mistaken: all ")
    assert "Check that no column" in said


def test_a_class_that_others_are_taken_for_is_not():
    truth, found = answers(300, 0.2)
    found[int((truth == "a").to_numpy().argmax())] = "c"
    assert suspicions(truth, told(found)) == []


def test_a_small_class_without_errors_may_be_luck():
    truth, found = answers(40, 0.2)
    assert suspicions(truth, told(found)) == []


def test_classes_of_equal_difficulty_are_rarely_suspected():
    suspected = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        truth = pd.Series(random.choice(["a", "b", "c"], 90))
        guessed = random.choice(["a", "b", "c"], 90)
        found = np.where(random.random(90) < 0.1, guessed, truth)
        suspected += bool(suspicions(truth, told(found)))
    assert suspected <= 3


def test_no_error_at_all_is_said_where_the_rows_are_many():
    truth, _ = answers(300, 0.0)
    assert suspicions(truth, told(truth.to_numpy())) == [
        "It is right on all 300 validation rows. "
        "Check that no column is known only after the answer is."
    ]
    assert suspicions(truth[:60], told(truth[:60].to_numpy())) == []


def test_numbers_that_are_hit_to_the_digit_are_suspected():
    random = np.random.default_rng(0)
    truth = pd.Series(random.normal(size=200))
    near = Predictions(truth.to_numpy() + 1e-3, None, None)
    far = Predictions(truth.to_numpy() + 0.1 * random.normal(size=200), None, None)
    assert "almost to the digit" in suspicions(truth, near)[0]
    assert suspicions(truth, far) == []
