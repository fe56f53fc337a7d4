"""A row of weight 2 counts as two rows: by objectives, ensembles, transforms and models."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.modules import Context, Predictions, conformal, interval, load_registry, score
from easeml.modules.pipeline import fit
from easeml.modules.selection import choose

REGISTRY = load_registry()
_DRAWS = 100
CATEGORY = {
    "nodes": {"y": {"singleton": True, "type": "category", "class": "y"}},
    "classes": {"y": {"dim": 3, "labels": ["a", "b", "c"]}},
}
NUMBER = {"nodes": {"y": {"singleton": True, "type": "tensor", "dim": [1]}}}
OBJECTIVES = {
    kind: [one.name for one in REGISTRY.objectives_for(schema)]
    for kind, schema in (("category", CATEGORY), ("number", NUMBER))
}
FAMILIES = ["recall(b)", "precision(b)", "specificity(b)", "f-beta(b, 2)", "cost(a as b=3)"]
SCHEMA_IN = {
    "nodes": {
        "x": {"singleton": True, "type": "tensor", "dim": [1], "optional": True},
        "z": {"singleton": True, "type": "tensor", "dim": [1]},
        "town": {"singleton": True, "type": "category", "class": "town"},
    },
    "classes": {"town": {"dim": 14, "labels": [f"t{number}" for number in range(14)]}},
}


def _said(rng: np.random.Generator, rows: int, kind: str) -> tuple[Any, Predictions]:
    """Return answers, and predictions of them in which some are equal."""
    if kind == "number":
        return rng.integers(0, 5, rows) + 0.5, Predictions(rng.normal(2.0, 1.0, rows), None, None)
    shares = rng.integers(1, 6, size=(rows, 3)).astype(float)
    shares /= shares.sum(axis=1, keepdims=True)
    labels = np.array(["a", "b", "c"], dtype=object)
    return labels[rng.integers(0, 3, rows)], Predictions.of_probabilities(shares, labels)


@pytest.mark.parametrize(
    ("kind", "objective"),
    [(kind, name) for kind, names in OBJECTIVES.items() for name in names]
    + [("category", name) for name in FAMILIES],
)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 40))
def test_an_objective_counts_a_row_of_weight_two_twice(
    kind: str, objective: str, seed: int, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    actual, said = _said(rng, rows, kind)
    counts = rng.integers(1, 4, rows)
    repeated = np.repeat(np.arange(rows), counts)
    whole = score(objective, actual[repeated], said.of_rows(repeated))
    assert score(objective, actual, said, counts.astype(float)) == pytest.approx(whole, abs=1e-9)
    assert score(objective, actual, said, np.ones(rows)) == score(objective, actual, said)


@pytest.mark.parametrize(("kind", "objective"), [("category", "roc-auc"), ("number", "r2")])
def test_an_ensemble_is_chosen_alike(kind: str, objective: str) -> None:
    rng = np.random.default_rng(1)
    actual = _said(rng, 60, kind)[0]
    tried = [_said(rng, 60, kind)[1] for _ in range(4)]
    counts = rng.integers(1, 4, 60)
    repeated = np.repeat(np.arange(60), counts)
    whole = choose(objective, actual[repeated], [one.of_rows(repeated) for one in tried])
    found = choose(objective, actual, tried, row_weights=counts.astype(float))
    np.testing.assert_allclose(found.weights, whole.weights)
    plain = choose(objective, actual, tried)
    assert not np.allclose(found.weights, plain.weights)


@pytest.mark.parametrize("objective", ["accuracy", "balanced-accuracy"])
def test_an_interval_of_weighted_rows_holds_the_truth(objective: str) -> None:
    random = np.random.default_rng(5)
    labels = np.array(["a", "b"], dtype=object)
    held = 0
    for _ in range(_DRAWS):
        codes = random.integers(2, size=200)
        said = np.where(random.random(200) < 0.8, codes, 1 - codes)
        predictions = Predictions.of_probabilities(np.eye(2)[said], labels)
        weights = np.exp(random.normal(size=200))
        _, low, high = interval(objective, labels[codes], predictions, weights)
        held += low <= 0.8 <= high
    assert held >= 0.9 * _DRAWS  # 95 % is what is told


@pytest.mark.parametrize("rows", [30, 80, 500])
def test_an_interval_holds_the_weight_that_it_says(rows: int) -> None:
    rng = np.random.default_rng(2)
    actual, said = _said(rng, rows, "number")
    counts = rng.integers(1, 4, rows)
    repeated = np.repeat(np.arange(rows), counts)
    found = conformal.describe(actual, said, counts.astype(float))
    whole = conformal.describe(actual[repeated], said.of_rows(repeated))
    assert found is not None
    assert whole is not None
    np.testing.assert_allclose(conformal.bounds(found, said), conformal.bounds(whole, said))


def _table(rows: int, kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    town = rng.integers(0, 14, rows)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "z": rng.normal(size=rows)})
    level = frame["x"] + np.sin(town) + rng.normal(scale=0.3, size=rows)
    frame.loc[::7, "x"] = np.nan
    frame["town"] = pd.Categorical.from_codes(town.tolist(), [f"t{number}" for number in range(14)])
    labels = pd.cut(level, 3, labels=["a", "b", "c"]).astype(str)
    return frame.assign(y=labels if kind == "category" else level)


def _outputs(said: Predictions) -> Any:
    return said.values if said.probabilities is None else said.probabilities


_SUMS = [("category", "logistic")]  # models that are sums over rows
_SUMS += [("number", name) for name in ("ridge", "elastic-net-regressor", "svm-regressor")]


def _fitted(kind: str, model: str, frame: pd.DataFrame, weights: Any = None) -> Any:
    """Return what a small model of its kind says of the rows that it learned from."""
    module = REGISTRY.get(model)
    small = {"trees": 30, "leaf_rows": 4, "row_share": 1.0, "feature_share": 1.0}
    config = {name: value for name, value in small.items() if name in module.space}
    transforms = [{"module": one.name} for one in REGISTRY.candidates(module, SCHEMA_IN)]
    pipeline = {"transforms": transforms, "model": {"module": model, "config": config}}
    schema_out = CATEGORY if kind == "category" else NUMBER
    said = fit(pipeline, frame, SCHEMA_IN, schema_out, Context(weights=weights)).predict(frame)
    return said.values if said.probabilities is None else said.probabilities


@pytest.mark.parametrize(("kind", "model"), _SUMS)
def test_sums_over_rows_are_the_same_by_weights_and_by_repetition(kind: str, model: str) -> None:
    frame = _table(300, kind)
    counts = np.where(frame["z"] > 0, 5, np.random.default_rng(4).integers(1, 4, 300))
    repeated = frame.loc[np.repeat(frame.index, counts)]
    first = np.cumsum(counts) - counts
    whole = _fitted(kind, model, repeated.reset_index(drop=True))[first]
    np.testing.assert_allclose(_fitted(kind, model, frame, counts.astype(float)), whole, atol=0.05)


def test_a_model_that_takes_no_weights_says_so() -> None:
    pipeline = {
        "transforms": [{"module": "table-onehot"}, {"module": "scale"}],
        "model": {"module": "knn-regressor"},
    }
    context = Context(weights=np.full(50, 2.0))
    with pytest.raises(InvalidInput, match="does not learn from weights"):
        fit(pipeline, _table(50, "number"), SCHEMA_IN, NUMBER, context)
