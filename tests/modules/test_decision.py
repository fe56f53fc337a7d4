"""Labels are chosen for the objective: balanced accuracy names rare classes from lower probabilities."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.errors import NotFound
from easeml.kinds.shared.predictions import read_predictions, write_predictions
from easeml.modules import Context, Predictions, score
from easeml.modules.decision import class_weights
from easeml.modules.ensemble import combined
from easeml.modules.pipeline import fit, load_trained, save
from easeml.modules.selection import choose

CLASSES = np.array(["common", "rare"], dtype=object)
SCHEMA_IN = {
    "nodes": {"x": {"singleton": True, "type": "tensor", "dim": [1]}},
    "classes": {},
}
SCHEMA_OUT = {
    "nodes": {"y": {"singleton": True, "type": "category", "class": "label"}},
    "classes": {"label": {"dim": 2, "labels": ["common", "rare"]}},
}
PIPELINE = {
    "transforms": [{"module": "table-onehot", "config": {}}],
    "model": {"module": "logistic", "config": {}},
}


def table(seed: int, rows: int = 1500) -> pd.DataFrame:
    """Return rows of which one in twelve is rare; both classes overlap."""
    random = np.random.default_rng(seed)
    rare = random.random(rows) < 1 / 12
    return pd.DataFrame({"x": random.normal(1.5 * rare), "y": np.where(rare, "rare", "common")})


def best_of_all_thresholds(objective: str, chance: np.ndarray, is_rare: np.ndarray) -> float:
    """Return the best value of a measure over all thresholds, from the counts of its definition.

    Scoring 20,000 names 99 times took two seconds a test; that both agree is checked at one.
    """
    values = []
    for threshold in np.linspace(0.01, 0.99, 99):
        said = chance > threshold
        both = int(np.count_nonzero(said & is_rare))
        missed = int(np.count_nonzero(is_rare)) - both
        false = int(np.count_nonzero(said)) - both
        neither = len(said) - both - missed - false
        values.append(VALUES[objective](both, missed, false, neither))
    said = CLASSES[(chance > 0.25).astype(int)]
    actual = CLASSES[is_rare.astype(int)]
    assert values[24] == pytest.approx(score(objective, actual, Predictions(said, None, CLASSES)))
    return max(values)


def _f1_macro(both: int, missed: int, false: int, neither: int) -> float:
    wrong = missed + false
    return both / (2 * both + wrong) + neither / (2 * neither + wrong)


def _matthews(both: int, missed: int, false: int, neither: int) -> float:
    margins = (both + missed) * (both + false) * (neither + missed) * (neither + false)
    return (both * neither - missed * false) / margins**0.5 if margins else 0.0


def _balanced(both: int, missed: int, false: int, neither: int) -> float:
    return (both / (both + missed) + neither / (neither + false)) / 2


VALUES = {"balanced-accuracy": _balanced, "f1-macro": _f1_macro, "matthews": _matthews}


def test_weights_are_one_over_the_share_and_only_where_the_objective_has_them() -> None:
    rows = np.array([90, 10, 0])
    found = class_weights("balanced-accuracy", rows, CLASSES)
    assert found is not None
    assert found[1] / found[0] == pytest.approx(9)
    assert found[2] == 0
    assert class_weights("accuracy", rows, CLASSES) is None
    assert class_weights("", rows, CLASSES) is None
    with pytest.raises(NotFound):
        class_weights("no-such-objective", rows, CLASSES)


def test_no_other_threshold_is_much_better_where_probabilities_are_right() -> None:
    """Brute force over all thresholds, on rows with known probabilities."""
    random = np.random.default_rng(0)
    chance = random.beta(0.4, 3.0, 20_000)
    is_rare = random.random(20_000) < chance
    actual = np.where(is_rare, "rare", "common")
    shares = np.column_stack([1 - chance, chance])
    weights = class_weights("balanced-accuracy", np.bincount(is_rare, minlength=2), CLASSES)
    ours = score(
        "balanced-accuracy", actual, Predictions.of_probabilities(shares, CLASSES, weights)
    )
    assert ours > best_of_all_thresholds("balanced-accuracy", chance, is_rare) - 0.005
    assert ours > score("balanced-accuracy", actual, Predictions.of_probabilities(shares, CLASSES))


@pytest.mark.parametrize("objective", ["f1-macro", "matthews"])
def test_measures_between_weigh_rare_classes_less_than_balanced_accuracy(objective: str) -> None:
    rows = np.array([90, 10, 0])
    found = class_weights(objective, rows, CLASSES)
    assert found is not None
    assert 1 < found[1] / found[0] < 9
    assert found[2] == 0
    assert class_weights(objective, np.array([50, 50]), CLASSES) == pytest.approx([1, 1])


@pytest.mark.parametrize("objective", ["f1-macro", "matthews"])
@pytest.mark.parametrize("share", [1 / 5, 1 / 12, 1 / 40])
def test_no_threshold_is_much_better_than_that_of_a_measure_between(
    objective: str, share: float
) -> None:
    """Brute force over all thresholds, where the probabilities are right."""
    random = np.random.default_rng(0)
    is_rare = random.random(20_000) < share
    place = random.normal(1.8 * is_rare)
    odds = share / (1 - share) * np.exp(1.8 * place - 1.8**2 / 2)
    chance = odds / (1 + odds)
    actual = np.where(is_rare, "rare", "common")
    weights = class_weights(objective, np.bincount(is_rare), CLASSES)
    shares = np.column_stack([1 - chance, chance])
    ours = score(objective, actual, Predictions.of_probabilities(shares, CLASSES, weights))
    plain = score(objective, actual, Predictions.of_probabilities(shares, CLASSES))
    best = best_of_all_thresholds(objective, chance, is_rare)
    assert ours > plain + (best - plain) / 2
    assert ours > best - 0.02


def test_a_model_names_the_rare_class_and_keeps_its_probabilities(tmp_path: Path) -> None:
    plain = fit(PIPELINE, table(0), SCHEMA_IN, SCHEMA_OUT, Context(objective="accuracy"))
    fair = fit(PIPELINE, table(0), SCHEMA_IN, SCHEMA_OUT, Context(objective="balanced-accuracy"))
    assert any("balanced accuracy" in note for note in fair.notes)
    unseen = table(1)
    one, other = plain.predict(unseen), fair.predict(unseen)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    gained = score("balanced-accuracy", unseen["y"], other)
    gained -= score("balanced-accuracy", unseen["y"], one)
    assert gained > 0.1
    assert score("accuracy", unseen["y"], other) < score("accuracy", unseen["y"], one)
    assert score("log-loss", unseen["y"], other) == score("log-loss", unseen["y"], one)

    save(fair, tmp_path / "model")
    loaded = load_trained(tmp_path / "model")
    loaded.check_parity()
    assert loaded.predict(unseen).values.tolist() == other.values.tolist()


def test_kept_predictions_and_ensembles_choose_labels_alike(tmp_path: Path) -> None:
    rows = table(2, 400)
    context = Context(objective="balanced-accuracy")
    found = fit(PIPELINE, table(0), SCHEMA_IN, SCHEMA_OUT, context).predict(rows)
    ids = {"validation": np.arange(400)}
    write_predictions(tmp_path / "predictions", ids, {"validation": found})
    _, kept = read_predictions(tmp_path / "predictions", "validation")
    assert score("balanced-accuracy", rows["y"], kept) == score(
        "balanced-accuracy", rows["y"], found
    )
    mixed = combined([kept, found], [0.5, 0.5])
    assert mixed.values.tolist() == found.values.tolist()
    choice = choose("balanced-accuracy", rows["y"], [kept, kept])
    assert choice.best.values.tolist() == found.values.tolist()
