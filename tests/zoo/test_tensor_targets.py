"""Models that predict tensors: every element, in the shape it came in, and alike when loaded."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.data import object_array
from easeml.modules import Context, load_registry, score
from easeml.modules.pipeline import fit, load_trained, save

REGISTRY = load_registry()
SCHEMA_IN: dict[str, Any] = {"nodes": {"x": {"singleton": True, "type": "tensor", "dim": [2, 3]}}}
SCHEMA_OUT: dict[str, Any] = {
    "nodes": {"y": {"singleton": True, "type": "tensor", "dim": [2, 1, 2]}}
}
FITTING = [match.module.name for match in REGISTRY.models_for(SCHEMA_IN, SCHEMA_OUT) if match.fits]


def rows(count: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 2, 3))
    weights = np.random.default_rng(0).normal(size=(6, 4)) * [1, 100, 0, 0.01]
    y = (x.reshape(count, 6) @ weights + [5, 0, 7, 0]).reshape(count, 2, 1, 2)
    return pd.DataFrame({"x": object_array(list(x)), "y": object_array(list(y))})


@pytest.mark.parametrize("name", FITTING)
def test_every_element_is_predicted_in_its_place(name: str, tmp_path: Path) -> None:
    chain = REGISTRY.candidates(REGISTRY.get(name), SCHEMA_IN)
    pipeline = {"transforms": [{"module": one.name} for one in chain], "model": {"module": name}}
    trained, test = fit(pipeline, rows(150, 1), SCHEMA_IN, SCHEMA_OUT, Context(seed=3)), rows(40, 2)
    found = trained.predict(test)
    assert found.values.shape == (40, 2, 1, 2)
    if name != "baseline-regressor":
        baseline = np.stack(test["y"]).mean(axis=0)
        for place in (
            (0, 0, 0),
            (0, 0, 1),
            (1, 0, 1),
        ):  # each scale is learnt, not the largest alone
            actual, guessed = (
                np.array([one[place] for one in test["y"]]),
                found.values[(slice(None), *place)],
            )
            assert np.mean((actual - guessed) ** 2) < 0.95 * np.mean(
                (actual - baseline[place]) ** 2
            )
    np.testing.assert_allclose(found.values[:, 1, 0, 0], 7.0, atol=0.5)
    save(trained, tmp_path / "m")
    loaded = load_trained(tmp_path / "m")
    loaded.check_parity()
    np.testing.assert_array_equal(loaded.predict(test).values, found.values)
    assert loaded.predict(test.iloc[:0]).values.shape == (0, 2, 1, 2)
    assert loaded.predict(test.iloc[:1]).values.shape == (1, 2, 1, 2)


def test_measures_are_means_over_elements_by_hand() -> None:
    from easeml.modules import Predictions

    actual = object_array([np.array([0.0, 0.0]), np.array([2.0, 20.0])])
    predictions = Predictions(np.array([[1.0, 0.0], [2.0, 20.0]]), None, None)
    assert score("r2", actual, predictions) == pytest.approx(
        1 - 1 / 202
    )  # squared deviations: 1 + 1 + 100 + 100
    assert score("mean-absolute-error", actual, predictions) == pytest.approx(1 - 0.25 / 5.5)
    assert score("rmse", actual, predictions) == pytest.approx(1 - np.sqrt(0.25) / np.sqrt(50.5))
