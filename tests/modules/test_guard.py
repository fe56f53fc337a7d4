"""A model that is worse than always giving the same answer is told apart from one that is weak."""

import numpy as np
import pandas as pd

from easeml.modules.contract import Predictions
from easeml.modules.guard import fault_of

ROWS = 400


def answers(rng: np.random.Generator, share: float) -> pd.Series:
    return pd.Series(np.where(rng.random(ROWS) < share, "yes", "no"))


def told(values: np.ndarray) -> Predictions:
    return Predictions(values.astype(object), None, np.array(["no", "yes"], dtype=object))


def test_an_anti_predictive_classifier_is_a_fault():
    truth = answers(np.random.default_rng(0), 0.3)
    opposite = np.where(truth == "yes", "no", "yes")
    found = fault_of(truth, truth, told(opposite))
    assert "right for 0.0%" in found
    assert "fault of the module" in found


def test_a_classifier_that_weights_a_rare_class_is_no_fault():
    rng = np.random.default_rng(1)
    truth = answers(rng, 0.1)
    finds = rng.random(ROWS) < np.where(truth == "yes", 0.8, 0.4)
    weighted = np.where(finds, "yes", "no")
    accuracy = (weighted == truth).mean()
    assert accuracy < (truth == "no").mean() - 0.2
    assert fault_of(truth, truth, told(weighted)) == ""


def test_guessing_is_rarely_called_a_fault():
    faults = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = answers(rng, 0.5)
        guessed = answers(rng, 0.5).to_numpy()
        faults += bool(fault_of(truth, truth, told(guessed)))
    assert faults <= 3


def test_a_regression_that_misses_more_than_the_mean_is_a_fault():
    rng = np.random.default_rng(2)
    truth = pd.Series(rng.normal(size=ROWS))
    wild = Predictions(-2 * truth.to_numpy(), None, None)
    good = Predictions(truth.to_numpy() * 0.5, None, None)
    assert "off by" in fault_of(truth, truth, wild)
    assert fault_of(truth, truth, good) == ""


def test_few_rows_and_missing_answers_say_nothing():
    truth = pd.Series(["yes"] * 10 + [None] * 30, dtype=object)
    assert fault_of(truth.dropna(), truth, told(np.array(["no"] * 40))) == ""


def test_a_model_is_judged_by_the_weights_that_it_learned_from():
    rng = np.random.default_rng(2)
    truth = answers(rng, 0.3)
    heavy = rng.random(ROWS) < 0.2
    right_where_it_counts = np.where(heavy, truth, np.where(truth == "yes", "no", "yes"))
    weights = np.where(heavy, 50.0, 1.0)
    assert "fault" in fault_of(truth, truth, told(right_where_it_counts))
    assert fault_of(truth, truth, told(right_where_it_counts), weights, weights) == ""
    wrong_where_it_counts = np.where(heavy, np.where(truth == "yes", "no", "yes"), truth)
    assert fault_of(truth, truth, told(wrong_where_it_counts)) == ""
    assert "fault" in fault_of(truth, truth, told(wrong_where_it_counts), weights, weights)
