"""Labels from functions that are wrong now and then: brute force, known accuracies, calibration."""

import numpy as np
import pandas as pd
import pytest

import easeml
from easeml.errors import InvalidInput
from easeml.lifecycle.doubts import label_model, votes_of

ACCURACIES = np.array([0.9, 0.8, 0.7, 0.6, 0.75])


def drawn(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Votes of five independent functions with known accuracies that abstain on 30 % of the rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, rows)
    right = rng.random((rows, 5)) < ACCURACIES
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    votes[rng.random((rows, 5)) < 0.3] = -1
    return votes, truth


@pytest.mark.parametrize("method", ["triplets", "dawid-skene"])
def test_accuracies_are_found_without_any_label(method: str):
    votes, _ = drawn(8000)
    found = label_model(votes, 2, method=method)
    assert found.accuracies == pytest.approx(ACCURACIES, abs=0.04)
    assert found.coverage == pytest.approx([0.7] * 5, abs=0.02)


def test_probabilities_are_those_of_bayes_where_accuracies_are_known():
    """Votes (1, 1, 0) at accuracies (.8, .7, .6): P(1) = .861538."""
    odds = 0.8 / 0.2 * 0.7 / 0.3 * 0.4 / 0.6
    assert odds / (1 + odds) == pytest.approx(0.861538, abs=1e-6)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60_000)
    right = rng.random((60_000, 3)) < [0.8, 0.7, 0.6]
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    found = label_model(votes, 2, known=np.where(np.arange(60_000) < 50_000, truth, -1))
    row = 50_000 + np.flatnonzero((votes[50_000:] == [1, 1, 0]).all(axis=1))[0]
    assert found.probabilities[row, 1] == pytest.approx(0.861538, abs=0.01)


def test_probabilities_are_calibrated_and_better_than_the_majority():
    votes, truth = drawn(5000, seed=3)
    found = label_model(votes, 2)
    assert found.method == "dawid-skene"
    likely = found.probabilities.max(axis=1)
    right = found.probabilities.argmax(axis=1) == truth
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.0)):
        some = (likely > low) & (likely <= high)
        assert right[some].mean() == pytest.approx(likely[some].mean(), abs=0.05)
    plain = label_model(votes, 2, method="majority").probabilities.argmax(axis=1)
    assert right.mean() >= (plain == truth).mean()


@pytest.mark.parametrize("seed", range(3))
def test_keywords_of_a_class_with_two_kinds_of_rows_are_no_worse_than_the_majority(seed: int):
    """Rows of class 1 that have one word lack all the others: that speaks for no class."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, 900, p=[0.5, 0.3, 0.2])
    firing = np.array(
        [
            [0.0, 0.0, 0.0, 0.0, 0.16, 0.24, 0.08],
            [0.4, 0.25, 0.2, 0.02, 0.06, 0.08, 0.2],
            [0.02, 0.02, 0.02, 0.4, 0.06, 0.08, 0.2],
        ]
    )
    votes = np.where(rng.random((900, 7)) < firing[kind], [1, 1, 1, 1, 0, 0, 0], -1)
    truth = (kind > 0).astype(int)
    heard = (votes != -1).any(axis=1)
    tallies = (votes == 1).sum(axis=1) - (votes == 0).sum(axis=1)
    by_majority = np.where(tallies == 0, 0.5, (tallies > 0) == truth)
    right = label_model(votes, 2, seed=seed).probabilities.argmax(axis=1) == truth
    assert right[heard].mean() > by_majority[heard].mean() + 0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_class_of_which_more_functions_know_does_not_win_the_others_rows(seed: int):
    """Three functions know class 0, two class 1, each vote is right three times of four."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 600)
    knows = np.array([0, 0, 0, 1, 1])
    fires = rng.random((600, 5)) < np.where(truth[:, None] == knows, 0.42, 0.14)
    votes = np.where(fires, knows, -1)
    heard = fires.any(axis=1)
    found = label_model(votes, 2, seed=seed).probabilities.argmax(axis=1) == truth
    plain = label_model(votes, 2, method="majority").probabilities.argmax(axis=1) == truth
    assert found[heard].mean() > plain[heard].mean() - 0.06


def test_intervals_hold_the_accuracy():
    held = []
    for seed in range(12):
        found = label_model(drawn(600, seed)[0], 2, seed=seed)
        held += list((found.low <= ACCURACIES) & (found.high >= ACCURACIES))
        assert (found.high - found.low).max() < 0.2
    assert np.mean(held) > 0.8


def right_of(votes: np.ndarray, truth: np.ndarray, method: str) -> float:
    """Return how many rows with a vote get the true label; one of two equals counts half."""
    shares = label_model(votes, 2, method=method).probabilities
    likeliest = shares >= shares.max(axis=1, keepdims=True) - 0.01
    right = likeliest[np.arange(len(truth)), truth] / likeliest.sum(axis=1)
    return float(right[(votes >= 0).any(axis=1)].mean())


def votes_by(skills: list[float], rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Votes of functions with these skills on 60 % of the rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, rows)
    right = rng.random((rows, len(skills))) < skills
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    return np.where(rng.random(votes.shape) < 0.6, votes, -1), truth


def test_functions_of_equal_skill_count_alike_and_better_ones_more():
    """A model that gives each function a skill of its own must not lose where all are the same."""
    for skills, least in (([0.7] * 5, -0.01), ([0.8] * 5, -0.01), ([0.9] + [0.6] * 6, 0.02)):
        gains = []
        for seed in range(4):
            votes, truth = votes_by(skills, 720, seed)
            gains.append(right_of(votes, truth, "dawid-skene") - right_of(votes, truth, "majority"))
        assert np.mean(gains) > least, skills


def test_a_function_that_is_there_several_times_counts_once():
    votes, truth = votes_by([0.85, 0.8, 0.8, 0.6], 1000, 0)
    alone = label_model(votes, 2)
    copied = label_model(np.column_stack([votes, *[votes[:, 3]] * 4]), 2)
    assert np.abs(alone.probabilities - copied.probabilities).mean() < 0.03
    heard = (votes >= 0).any(axis=1)
    right = copied.probabilities.argmax(axis=1) == truth
    sure = copied.probabilities.max(axis=1)
    assert sure[heard].mean() == pytest.approx(right[heard].mean(), abs=0.05)


def test_what_is_likely_is_what_all_labelings_weighed_by_their_chance_say():
    """Brute force: four rows, three functions; all 16 labelings, skills summed over a grid."""
    votes = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1]] * 6)
    patterns = votes[:4]
    grid = np.linspace(0.05, 0.98, 24)
    known = np.tile([-1, 1, 0, -1], 6)
    found = label_model(votes, 2, known=known, method="dawid-skene").probabilities
    # Rows that are alike share no label, so each is summed over by itself, given the skills.
    chance = np.zeros(4)
    total = 0.0
    for skills in np.array(np.meshgrid(grid, grid, grid)).reshape(3, -1).T:
        agree = np.where(patterns == 1, skills, 1 - skills).prod(axis=1) / 2
        against = np.where(patterns == 0, skills, 1 - skills).prod(axis=1) / 2
        unknown = agree + against
        weight = (against[2] * agree[1] * unknown[0] * unknown[3]) ** 6
        chance += weight * agree / unknown
        total += weight
    assert found[0, 1] == pytest.approx(chance[0] / total, abs=0.1)
    assert found[3, 1] == pytest.approx(chance[3] / total, abs=0.1)


def test_two_functions_vote_by_majority_and_silence_is_the_prior():
    votes = np.array([[1, 1], [0, -1], [1, -1], [-1, -1]])
    found = label_model(votes, 2)
    assert found.method == "majority"
    assert found.probabilities[3] == pytest.approx(found.prior)
    assert found.prior[1] > 0.5
    assert found.probabilities[0, 1] > found.probabilities[2, 1] > 0.5


def test_functions_worse_than_chance_are_found_out_by_labels():
    votes, truth = drawn(2000, seed=5)
    votes[:, 0] = np.where(votes[:, 0] == -1, -1, 1 - votes[:, 0])
    known = np.where(np.arange(2000) < 100, truth, -1)
    assert label_model(votes, 2, known=known).accuracies[0] == pytest.approx(0.1, abs=0.05)


FUNCTIONS = [
    {"label": "spam", "column": "text", "words": ["free", "win"]},
    {"label": "spam", "column": "text", "pattern": "!!+"},
    {"label": "ham", "when": "length > 30"},
]


def test_functions_are_described_or_written():
    frame = pd.DataFrame({"text": ["Free beer", "hi!!", "freedom", None], "length": [9, 4, 40, 1]})
    votes = votes_of([*FUNCTIONS, lambda rows: [None, "ham", None, None]], frame, ["ham", "spam"])
    assert votes.tolist() == [[1, -1, -1, -1], [-1, 1, -1, 0], [-1, -1, 0, -1], [-1, -1, -1, -1]]
    with pytest.raises(InvalidInput, match="which is not a label"):
        votes_of([lambda rows: ["eggs"] * 4], frame, ["ham", "spam"])
    with pytest.raises(InvalidInput, match="no column"):
        votes_of([{"label": "ham", "column": "other", "words": ["x"]}], frame, ["ham"])


def test_rows_without_a_label_get_candidates():
    texts = ["win a free car!!", "a long letter to my old friend about the weather", "so"] * 20
    frame = pd.DataFrame({"text": texts, "length": [len(text) for text in texts], "kind": None})
    frame.loc[0:2, "kind"] = ["spam", "ham", "ham"]
    relation = easeml.Relation.from_frame(frame, target="kind").weak_labels(FUNCTIONS)
    likeliest = relation.to_frame()["kind"]
    assert list(likeliest[3:5]) == ["spam", "ham"]
    assert len(relation.content.blocks) == 57
    counted = relation.count("kind == 'spam'")
    assert 15 < counted.mean < 45
    assert set(relation.candidates()["tool"]) == {"weak_labels: majority, 3 functions"}


@pytest.mark.parametrize(
    ("votes", "classes", "method"),
    [([[0]], 1, "auto"), ([[3]], 2, "auto"), ([[0, 1]], 2, "triplets"), ([[0]], 2, "vote")],
)
def test_what_does_not_fit_is_refused(votes: list, classes: int, method: str):
    with pytest.raises(InvalidInput):
        label_model(np.array(votes), classes, method=method)


def test_the_next_rows_to_label_are_named_by_their_ids():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame.loc[80:, "kind"] = None
    frame.index = pd.Index([f"r{row}" for row in range(120)])
    roles = ["train"] * 40 + ["validation"] * 40 + ["pool"] * 40
    queue = easeml.Relation.from_frame(frame, "kind", roles).label_next(n=4).eval()
    assert len(set(queue["row_ids"])) == 4
    assert all(int(row_id[1:]) >= 80 for row_id in queue["row_ids"])


def test_functions_that_name_one_class_only_are_no_reason_to_be_sure_of_another():
    """Keywords: each function says one class or nothing, so that all of its votes agree."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 500)
    votes = []
    for label, skill in ((1, 0.9), (1, 0.8), (1, 0.6), (0, 0.9), (0, 0.7), (0, 0.6)):
        share = np.where(truth == label, 0.3 * skill, 0.3 * (1 - skill))
        votes.append(np.where(rng.random(500) < share, label, -1))
    votes = np.array(votes).T
    heard = (votes >= 0).any(axis=1)
    right = {}
    for method in ("majority", "dawid-skene"):
        found = label_model(votes, 2, method=method).probabilities[heard]
        right[method] = (found.argmax(axis=1) == truth[heard]).mean()
    assert right["dawid-skene"] > right["majority"] - 0.05
