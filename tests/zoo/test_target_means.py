"""What the categories of a table are worth, where the target is a number."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import TargetEncoder

from easeml.modules import Context, Data, load_registry
from easeml.search import spaces

REGISTRY = load_registry()
TOWNS = [f"town {number}" for number in range(40)]
SCHEMA: dict[str, Any] = {
    "nodes": {
        "size": {"type": "tensor", "dim": [1]},
        "town": {"type": "category", "class": "town"},
        "sold": {"type": "category", "class": "sold"},
    },
    "classes": {
        "town": {"dim": 40, "labels": TOWNS},
        "sold": {"dim": 2, "labels": ["no", "yes"]},
    },
}
ROWS = 400
BOTH = pytest.mark.parametrize("name", ["table-codes", "table-onehot"])


def table(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Return sizes, towns of which the last has no row, and few categories."""
    random = np.random.default_rng(seed)
    town = random.integers(0, 39, rows)
    town[:3] = -1
    return pd.DataFrame(
        {
            "size": random.normal(size=rows),
            "town": pd.Categorical.from_codes(town, TOWNS),
            "sold": pd.Categorical.from_codes(random.integers(0, 2, rows), ["no", "yes"]),
        }
    )


def prices(frame: pd.DataFrame) -> np.ndarray:
    noise = np.random.default_rng(1).normal(size=len(frame))
    return 1000.0 + 10 * frame["town"].cat.codes.to_numpy(float) + noise


def learnt(name: str, frame: pd.DataFrame, y: Any, classes: int = 0) -> tuple[Any, np.ndarray]:
    module = REGISTRY.get(name)
    config = spaces.complete(module.space, {})
    data: Any = frame
    return module.make().fit_transform(Data(data, y, classes), SCHEMA, config, Context(seed=3))


@BOTH
def test_many_categories_get_the_mean_of_their_rows(name: str) -> None:
    frame = table()
    y = prices(frame)
    fitted, features = learnt(name, frame, y)
    means = fitted.transform(frame)[:, -1]
    assert features.shape == (ROWS, fitted.transform(frame).shape[1])
    of_rows = pd.Series(y).groupby(frame["town"], observed=True).mean()
    expected = of_rows[frame["town"][3:]].to_numpy()
    assert means[3:] == pytest.approx(expected, abs=0.3)  # drawn a little towards all rows


@BOTH
def test_means_are_drawn_as_by_scikit_learn(name: str) -> None:
    frame = table()
    y = np.random.default_rng(2).normal(size=ROWS) ** 3
    fitted, _ = learnt(name, frame, y)
    codes = frame[["town"]].apply(lambda column: column.cat.codes)
    expected = TargetEncoder(target_type="continuous").fit(codes, y).transform(codes)
    assert fitted.transform(frame)[:, -1] == pytest.approx(expected[:, 0])


@BOTH
def test_a_category_without_rows_gets_the_mean_of_all(name: str) -> None:
    frame = table()
    y = prices(frame)
    fitted, _ = learnt(name, frame, y)
    strange = frame.head(2).assign(town="town 39")
    assert fitted.transform(strange)[:, -1] == pytest.approx(y.mean())


@BOTH
def test_no_training_row_is_told_its_own_answer(name: str) -> None:
    frame = table(150)
    y = prices(frame)
    _, features = learnt(name, frame, y)
    for row in range(0, len(frame), 10):
        other = y.copy()
        other[row] += 1e6
        _, changed = learnt(name, frame, other)
        np.testing.assert_allclose(changed[row], features[row], rtol=1e-6)
        assert not np.array_equal(changed, features)


@BOTH
def test_what_is_saved_transforms_alike(name: str, tmp_path: Path) -> None:
    frame = table()
    fitted, _ = learnt(name, frame, prices(frame))
    fitted.save(tmp_path)
    loaded = REGISTRY.get(name).make().load(tmp_path)
    others = table(50, seed=7)
    np.testing.assert_array_equal(loaded.transform(others), fitted.transform(others))


@BOTH
@pytest.mark.parametrize("case", ["classes", "few rows", "few categories", "several numbers"])
def test_where_there_are_none(name: str, case: str) -> None:
    frame = table(10) if case == "few rows" else table()
    y = prices(frame)
    classes = 0
    if case == "classes":
        y, classes = (y > y.mean()).astype(int), 2
    if case == "few categories":
        frame = frame.assign(town=pd.Categorical.from_codes(frame["sold"].cat.codes, TOWNS))
    if case == "several numbers":
        y = np.column_stack([y, y])
    fitted, features = learnt(name, frame, y, classes)
    assert fitted.means is None
    np.testing.assert_array_equal(features, fitted.transform(frame))
