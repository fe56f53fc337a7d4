"""Models that say ``monotonic = true`` never go against a column: seen on a grid of its values."""

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.modules import load_registry
from easeml.modules.pipeline import fit, load_trained, save

REGISTRY = load_registry()
NUMBER = {"singleton": True, "type": "tensor", "dim": [1]}
SCHEMA_IN = {"nodes": {"other": NUMBER, "area": NUMBER, "still": NUMBER}, "classes": {}}
NUMBERS = {"nodes": {"y": NUMBER}, "classes": {}}
LABELS = {
    "nodes": {"y": {"singleton": True, "type": "category", "class": "label"}},
    "classes": {"label": {"dim": 2, "labels": ["cheap", "dear"]}},
}
MODELS = [
    one.name
    for one in REGISTRY.of_kind("model")
    if one.monotonic and one.name not in REGISTRY.lacking
]


def table(classes: bool) -> pd.DataFrame:
    """Return rows whose target falls with the area at first, and rises later."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"other": random.normal(size=500), "area": random.uniform(0, 10, 500)})
    frame["still"] = 1.0
    y = (frame["area"] - 4) ** 2 + 3 * frame["other"] + random.normal(size=500)
    frame.loc[::17, "area"] = np.nan
    frame["y"] = np.where(y > 8, "dear", "cheap") if classes else y
    return frame


@pytest.mark.parametrize("way", ["rising", "falling"])
@pytest.mark.parametrize("name", MODELS)
def test_predictions_follow_the_column(name: str, way: str, tmp_path) -> None:
    is_category = name.endswith("classifier")
    pipeline = {
        "transforms": [{"module": "table-codes", "config": {}}],
        "model": {"module": name, "config": {}},
    }
    frame, out = table(is_category), LABELS if is_category else NUMBERS
    monotonic = {"area": way, "still": "rising"}
    held = fit({**pipeline, "monotonic": monotonic}, frame, SCHEMA_IN, out)
    free = fit(pipeline, frame, SCHEMA_IN, out)
    save(held, tmp_path / "model")
    loaded = load_trained(tmp_path / "model")
    assert loaded.description["monotonic"] == monotonic

    def steps(trained) -> np.ndarray:
        grid = pd.DataFrame({"area": np.linspace(-1, 12, 200), "other": 0.0, "still": 1.0})
        found = trained.predict(grid)
        values = found.probabilities[:, 1] if is_category else found.values
        return np.diff(values) * (1 if way == "rising" else -1)

    assert steps(loaded).min() >= -1e-9
    if "baseline" not in name:
        assert steps(loaded).max() > 0
        assert steps(free).min() < -1e-3  # what it would do by itself


def test_a_transform_that_mixes_columns_is_refused() -> None:
    pipeline = {
        "transforms": [{"module": "table-onehot", "config": {}}],
        "model": {"module": "ridge", "config": {}},
        "monotonic": {"area": "rising"},
    }
    with pytest.raises(InvalidInput, match="mixes the columns"):
        fit(pipeline, table(False), SCHEMA_IN, NUMBERS)
