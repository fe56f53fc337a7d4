"""Whoever chooses what to label first, by inputs or by disagreement, cannot choose the answer."""

import numpy as np

from easeml.lifecycle.ci import Config, Examples, Ledger, open_ledger, read_config

ROWS, RUNS = 3000, 25


def settled(ledger: Ledger, examples: Examples, known: np.ndarray) -> tuple[str, Ledger]:
    """Label what is asked for until there is an answer; ``known`` is changed."""
    while True:
        shown = Examples(examples.new, examples.old, examples.differ, known.copy())
        verdict, ledger = ledger.test("a", shown)
        if verdict.answer != "unknown" or not verdict.labels_wanted:
            return verdict.answer, ledger
        known[list(verdict.labels_wanted)] = True


def world(seed: int) -> tuple[Examples, np.ndarray]:
    """A worthless commit: it wins 30 % of the hard half, loses as much of the easy half.

    Returns the examples and which are hard.
    """
    rng = np.random.default_rng(seed)
    hard = rng.random(ROWS) < 0.5
    differ = rng.random(ROWS) < 0.3
    wins = rng.random(ROWS) < np.where(hard, 0.95, 0.05)
    new = (differ & wins) | (~differ & (rng.random(ROWS) < 0.8))
    old = np.where(differ, ~new, new)
    everything = np.ones(ROWS, dtype=bool)
    return Examples(new.astype(float), old.astype(float), differ, everything), hard


def configured(condition: str, **more: object) -> Config:
    return read_config({"condition": condition, "reliability": 0.99, **more})


def test_hard_rows_labelled_first_do_not_pass_a_worthless_commit() -> None:
    config = configured("n - o > 0.02 +/- 0.04", difference=0.35)
    passes = 0
    for seed in range(RUNS):
        examples, hard = world(seed)
        answer, _ = settled(open_ledger(config, hard), examples, hard.copy())
        passes += answer == "pass"
    assert passes == 0  # in expectation 0.25 at most; all 25 passed when labels gave the order


def test_labels_that_one_configuration_asked_for_do_not_fail_another() -> None:
    first = configured("n - o > 0.02 +/- 0.04", difference=0.35)
    second = configured("n > 0.8 +/- 0.05")
    fails = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        differ = rng.random(ROWS) < 0.2
        new = np.where(differ, rng.random(ROWS) < 0.6, rng.random(ROWS) < 0.99)  # .912 in all
        old = np.where(differ, ~new, new)
        examples = Examples(new * 1.0, old * 1.0, differ, np.ones(ROWS, dtype=bool))
        known = np.zeros(ROWS, dtype=bool)
        _, ledger = settled(open_ledger(first, known), examples, known)
        for spent in (None, ledger.given_away()):
            later = open_ledger(second, known.copy(), spent=spent)
            fails += settled(later, examples, known.copy())[0] == "fail"
    assert fails == 0
