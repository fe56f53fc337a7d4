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
MODELS = [module.name for module in REGISTRY.of_kind("model")]


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
