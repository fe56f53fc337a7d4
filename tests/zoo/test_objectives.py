"""The catalogue of objectives: each is what scikit-learn's measure of that name is."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from easeml.modules import Predictions, conformance_of_objectives, load_registry, score, value

REGISTRY = load_registry()
OF_FAMILIES = (
    "recall(1)",
    "precision(1)",
    "specificity(1)",
    "f-beta(1, 2)",
    "cost(0 as 1=5, 0 as 2=2, 1 as 0=1, 2 as 0=3, 2 as 1=0.5)",
)
OBJECTIVES = [one for one in REGISTRY.of_kind("objective") if not one.takes]
OBJECTIVES += [REGISTRY.get(name) for name in OF_FAMILIES]


@pytest.mark.parametrize("module", OBJECTIVES, ids=lambda module: module.name)
def test_every_objective_does_what_an_objective_has_to(module) -> None:
    conformance_of_objectives.check(module)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(2, 40),
    classes=st.integers(2, 4),
    digits=st.integers(1, 3),
)
def test_measures_of_classes_are_scikit_learns(
    seed: int, rows: int, classes: int, digits: int
) -> None:
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), random.integers(classes, size=rows)])
    raw = np.round(random.random((len(codes), classes)), digits) + 0.01  # with ties
    shares = raw / raw.sum(axis=1, keepdims=True)
    labels = np.array([f"label {code}" for code in range(classes)], dtype=object)
    predicted = Predictions.of_probabilities(shares, labels)
    actual, said = labels[codes], predicted.values

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of classes that nobody predicts
        wanted = {
            "f1-weighted": metrics.f1_score(actual, said, average="weighted"),
            "matthews": metrics.matthews_corrcoef(actual, said),
            "quadratic-kappa": metrics.cohen_kappa_score(actual, said, weights="quadratic"),
            "average-precision": metrics.average_precision_score(
                np.eye(classes)[codes], shares, average="macro"
            ),
            "brier": metrics.brier_score_loss(actual, shares, labels=labels),
        }
    for name, expected in wanted.items():
        assert value(name, actual, predicted) == pytest.approx(expected, abs=1e-12), name


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), rows=st.integers(2, 40))
def test_measures_of_numbers_are_scikit_learns(seed: int, rows: int) -> None:
    random = np.random.default_rng(seed)
    actual = random.normal(10, 30, rows)
    said = actual + random.normal(0, 5, rows)
    predicted = Predictions(said, None, None)
    wanted = {
        "mape": metrics.mean_absolute_percentage_error(actual, said),
        "pinball-10": metrics.mean_pinball_loss(actual, said, alpha=0.1),
        "pinball-90": metrics.mean_pinball_loss(actual, said, alpha=0.9),
    }
    for name, expected in wanted.items():
        assert value(name, actual, predicted) == pytest.approx(expected), name


@pytest.mark.parametrize("name", ["mape", "pinball-10", "pinball-90"])
def test_no_constant_has_a_better_quality_than_none(name: str) -> None:
    random = np.random.default_rng(3)
    actual = random.gamma(2, 10, 51)
    found = []
    for constant in actual:  # the best one is always a value that occurs
        found.append(score(name, actual, Predictions(np.full(51, constant), None, None)))
    assert max(found) == pytest.approx(0.0)


def test_rows_of_one_class_have_a_measure() -> None:
    labels = np.array(["a", "b"], dtype=object)
    right = Predictions(np.repeat(labels[:1], 4), np.tile([0.9, 0.1], (4, 1)), labels)
    actual = np.repeat(labels[:1], 4)
    assert score("matthews", actual, right) == 0.0
    assert score("quadratic-kappa", actual, right) == 1.0
    assert score("average-precision", actual, right) == 1.0
    assert score("f1-weighted", actual, right) == 1.0
