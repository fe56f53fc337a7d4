"""Every model of the zoo passes the conformance suite, and learns what it should from real tables."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from easeml.modules import load_registry, score
from easeml.modules.conformance import CHECKS
from easeml.modules.pipeline import fit

REGISTRY = load_registry()
MODELS = []
for _module in REGISTRY.of_kind("model"):
    if _module.name not in REGISTRY.lacking:
        MODELS.append(_module.name)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_conformance(check: Any, name: str, tmp_path: Any) -> None:
    check(REGISTRY.get(name), REGISTRY, tmp_path)


def load(loader: Any) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Return a shuffled table of scikit-learn with its schemas."""
    bunch = loader(as_frame=True)
    frame = bunch.data.astype(float).sample(frac=1, random_state=0)
    nodes = {
        f"c{i}": {"singleton": True, "type": "tensor", "dim": [1], "column": column}
        for i, column in enumerate(frame.columns)
    }
    target: dict[str, Any] = {"singleton": True, "type": "tensor", "dim": [1]}
    schema_out: dict[str, Any] = {"nodes": {"target": target}}
    values = bunch.target.loc[frame.index].to_numpy()
    if "target_names" in bunch and bunch.frame is not None and len(np.unique(values)) < 10:
        labels = [str(name) for name in bunch.target_names]
        schema_out["nodes"]["target"] = {"singleton": True, "type": "category", "class": "t"}
        schema_out["classes"] = {"t": {"dim": len(labels), "labels": labels}}
        return (
            frame.assign(target=pd.Categorical.from_codes(values, labels)),
            {"nodes": nodes},
            schema_out,
        )
    return frame.assign(target=values.astype(float)), {"nodes": nodes}, schema_out


TABLES = {
    "breast_cancer": (load(datasets.load_breast_cancer), 0.9),
    "wine": (load(datasets.load_wine), 0.8),
    "diabetes": (load(datasets.load_diabetes), 0.1),
}


FITTING = [
    (table, match.module.name)
    for table, ((_, schema_in, schema_out), _) in TABLES.items()
    for match in REGISTRY.models_for(schema_in, schema_out)
    if match.fits
]


@pytest.mark.parametrize(("table", "name"), FITTING)
def test_quality(name: str, table: str) -> None:
    (frame, schema_in, schema_out), least = TABLES[table]
    module = REGISTRY.get(name)
    chain = [{"module": transform.name} for transform in REGISTRY.candidates(module, schema_in)]
    cut = int(0.7 * len(frame))
    trained = fit(
        {"transforms": chain, "model": {"module": name}}, frame[:cut], schema_in, schema_out
    )
    objective = REGISTRY.objectives_for(schema_out)[0].name
    quality = score(objective, frame["target"][cut:], trained.predict(frame[cut:]))
    if name.startswith("baseline"):
        assert quality < 0.7
    else:
        assert quality > least


def test_forests_predict_as_scikit_learn_does() -> None:
    (frame, schema_in, schema_out), _ = TABLES["wine"]
    for name in ("random-forest-classifier", "extra-trees-classifier", "decision-tree-classifier"):
        pipeline = {"transforms": [{"module": "table-codes"}], "model": {"module": name}}
        trained = fit(pipeline, frame, schema_in, schema_out)
        estimator = trained.model.estimator  # type: ignore[attr-defined]
        X = trained.transforms[0].transform(frame)
        np.testing.assert_allclose(trained.predict(frame).probabilities, estimator.predict_proba(X))


def heavy_tailed() -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Return counts as a table of e-mails has them: mostly zero, a few very large."""
    random = np.random.default_rng(0)
    rows, columns = 1200, 30
    spam = random.integers(0, 2, rows)
    leaning = random.choice([-0.8, 0.8], columns)
    chance = random.uniform(0.03, 0.4, columns) * (1 + leaning * (2 * spam[:, None] - 1))
    sizes = np.exp(random.normal(0, 1.3, (rows, columns)) + random.normal(0, 1, columns))
    counts = (random.random((rows, columns)) < chance) * sizes
    capitals = np.exp(random.normal([1, 2, 4], 1.4, (rows, 3)) + 0.6 * spam[:, None])
    frame = pd.DataFrame(np.c_[counts, capitals], columns=[f"c{i}" for i in range(columns + 3)])
    nodes = {
        column: {"singleton": True, "type": "tensor", "dim": [1], "column": column}
        for column in frame.columns
    }
    labels = ["mail", "spam"]
    schema_out = {
        "nodes": {"target": {"singleton": True, "type": "category", "class": "t"}},
        "classes": {"t": {"dim": 2, "labels": labels}},
    }
    frame["target"] = pd.Categorical.from_codes(spam, labels)
    return frame, {"nodes": nodes}, schema_out


@pytest.mark.parametrize("method", ["standard", "robust", "squash"])
@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1e-1])
def test_elastic_net_predicts_the_class_and_not_its_opposite(method: str, alpha: float) -> None:
    frame, schema_in, schema_out = heavy_tailed()
    pipeline = {
        "transforms": [
            {"module": "table-onehot"},
            {"module": "scale", "config": {"method": method}},
        ],
        "model": {"module": "elastic-net-classifier", "config": {"alpha": alpha}},
    }
    trained = fit(pipeline, frame[:800], schema_in, schema_out)
    assert score("accuracy", frame["target"][800:], trained.predict(frame[800:])) > 0.8


def test_more_bins_tell_values_apart_that_lie_close() -> None:
    """As in series of prices, whose class goes with the hour: 255 bins of a column mix the hours."""
    random = np.random.default_rng(0)
    moments = random.random(4000)
    labels = ["down", "up"]
    frame = pd.DataFrame({"moment": moments})
    frame["target"] = pd.Categorical.from_codes((moments * 200).astype(int) % 2, labels)
    nodes = {"moment": {"singleton": True, "type": "tensor", "dim": [1], "column": "moment"}}
    schema_out = {
        "nodes": {"target": {"singleton": True, "type": "category", "class": "t"}},
        "classes": {"t": {"dim": 2, "labels": labels}},
    }
    found = {}
    for bins in (127, 2047):
        config = {"bins": bins, "trees": 20, "leaves": 255, "learning_rate": 0.3, "leaf_rows": 2}
        model = {"module": "lightgbm-classifier", "config": config}
        pipeline = {"transforms": [{"module": "table-codes"}], "model": model}
        trained = fit(pipeline, frame[:3000], {"nodes": nodes}, schema_out)
        found[bins] = score("accuracy", frame["target"][3000:], trained.predict(frame[3000:]))
    assert found[127] < 0.8
    assert found[2047] > 0.9


def _boosted(frame: pd.DataFrame, loss: str) -> np.ndarray:
    """Fit LightGBM on rows but the last thousand; return what it predicts of those."""
    node = {"singleton": True, "type": "tensor", "dim": [1]}
    inputs = [name for name in frame if name != "target"]
    nodes = {name: {**node, "column": name} for name in inputs}
    config = {"trees": 100, "l2": 5.0, "loss": loss}
    model = {"module": "lightgbm-regressor", "config": config}
    pipeline = {"transforms": [{"module": "table-codes"}], "model": model}
    trained = fit(pipeline, frame.iloc[:-1000], {"nodes": nodes}, {"nodes": {"target": node}})
    return trained.predict(frame.iloc[-1000:]).values


def _products() -> pd.DataFrame:
    """Numbers whose effects multiply, as those of area and place on a price, with noise alike."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.random((2000, 6)), columns=list("abcdef"))
    noise = random.normal(0, 0.5, len(frame))
    return frame.assign(target=np.exp(frame.sum(axis=1) + noise))


def test_effects_that_multiply_are_learnt_better_by_the_likelihood_of_poisson() -> None:
    frame = _products()
    actual = frame["target"][-1000:]
    errors = {}
    for loss in ("squares", "poisson"):
        errors[loss] = float(np.mean((_boosted(frame, loss) - actual) ** 2))
    assert errors["poisson"] < 0.95 * errors["squares"]


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_likelihood_of_poisson_knows_no_unit(unit: float) -> None:
    frame = _products()
    in_unit = frame.assign(target=frame["target"] * unit)
    expected = _boosted(frame, "poisson")
    assert _boosted(in_unit, "poisson") / unit == pytest.approx(expected, rel=1e-2)


def test_targets_below_zero_are_learnt_by_squares() -> None:
    frame = _products()
    frame["target"] -= frame["target"].mean()
    assert np.array_equal(_boosted(frame, "poisson"), _boosted(frame, "squares"))
