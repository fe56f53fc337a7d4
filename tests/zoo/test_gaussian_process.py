"""Gaussian processes solve the equations that define them, whatever rows they are given."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from easeml.modules import Context, Data, load_registry
from easeml.modules.pipeline import fit
from easeml.search import spaces
from easeml.zoo.models.gaussian_process import GaussianProcess, TrainedGaussianProcess, bounded

MODULE = load_registry().get("gaussian-process-regressor")
CHAIN = [{"module": "table-onehot"}, {"module": "scale"}]
SCHEMA_OUT = {"nodes": {"y": {"singleton": True, "type": "tensor", "dim": [1], "column": "y"}}}


def config(**given: Any) -> dict[str, Any]:
    return spaces.complete(MODULE.space, given)


def waves(rows: int, noise: float = 0.3, seed: int = 0) -> Data:
    """Return rows of two numbers, whose sum of waves is the answer; a third says nothing."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + noise * generator.normal(size=rows)
    return Data(X, 50 + 7 * y, 0)


def learnt(data: Data, context: Context | None = None, **given: Any) -> TrainedGaussianProcess:
    return GaussianProcess().fit(data, config(**given), context or Context())


def kernel(smoothness: float, distance: np.ndarray) -> np.ndarray:
    """Return the Matern kernel as equation 4.17 of Rasmussen and Williams writes it."""
    far = np.sqrt(2 * smoothness) * distance
    factors = {0.5: 1.0, 1.5: 1 + far, 2.5: 1 + far + far**2 / 3}
    return factors[smoothness] * np.exp(-far)


@pytest.mark.parametrize("smoothness", [0.5, 1.5, 2.5])
def test_the_posterior_mean_solves_its_equations(smoothness: float) -> None:
    """(height * K + noise * 1) alpha = y: what is left of y is weights times noise by height."""
    data = waves(200)
    trained = learnt(data, smoothness=smoothness)
    near = bounded(data.X) / trained.lengths
    said = kernel(smoothness, cdist(near, trained.rows)) @ trained.weights + trained.centre
    assert trained.predict(data.X) == pytest.approx(said, rel=1e-9)
    order = cdist(near, trained.rows).argmin(axis=1)
    ratios = (data.y - said) / trained.weights[order]
    assert ratios == pytest.approx(np.full(200, np.median(ratios)), rel=1e-3)
    assert np.median(ratios) > 0


def test_lengths_tell_which_features_count() -> None:
    trained = learnt(waves(250))
    assert trained.lengths[2] > 10 * max(trained.lengths[:2])
    unseen = waves(500, noise=0.0, seed=1)
    off = np.mean((trained.predict(unseen.X) - unseen.y) ** 2) / np.var(unseen.y)
    assert off < 0.05


def test_many_rows_are_learnt_from_in_part_and_predicted_in_blocks() -> None:
    trained = learnt(waves(2300))
    assert trained.rows.shape == (2000, 3)
    assert trained.notes == ("It learnt from 2000 of 2300 training rows.",)
    rows = np.random.default_rng(0).normal(size=(10_000, 3))
    tracemalloc.start()
    values = trained.predict(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert values.shape == (10_000,)
    assert peak < 80e6  # all distances at once are 160 MB


def test_the_search_for_a_kernel_ends_when_it_has_had_enough() -> None:
    data = waves(100)
    short = learnt(data, Context(enough=lambda: True))
    assert short.notes == ("It was ended early, with 1 of 8 steps.",)
    assert np.isfinite(short.predict(data.X)).all()
    assert learnt(data).notes == ()


def answers(kind: str, generator: np.random.Generator, rows: int) -> np.ndarray:
    plain = generator.normal(size=rows)
    scales = {"huge": 1e300, "tiny": 1e-300, "far": 1.0}
    return plain * scales[kind] + (1e9 if kind == "far" else 0.0)


@pytest.mark.parametrize("kind", ["huge", "tiny", "far"])
def test_answers_of_any_scale_are_learnt(kind: str) -> None:
    generator = np.random.default_rng(0)
    y = np.sort(answers(kind, generator, 60))
    data = Data(np.linspace(-2, 2, 60)[:, None], y, 0)
    said = learnt(data).predict(data.X)
    assert np.isfinite(said).all()
    assert np.corrcoef(said / np.abs(y).max(), y / np.abs(y).max())[0, 1] > 0.9


def test_rows_that_are_alike_and_columns_that_say_nothing() -> None:
    """Equal rows with other answers make the kernel singular; their mean is what is known."""
    X = np.repeat([[0.0, 1.0], [1.0, 1.0]], 40, axis=0)
    y = np.tile([1.0, 3.0], 40) + X[:, 0] * 10
    said = learnt(Data(X, y, 0)).predict(np.array([[0.0, 1.0], [1.0, 1.0]]))
    assert said == pytest.approx([2.0, 12.0], abs=0.5)
    exact = learnt(Data(X, X[:, 0] * 10, 0)).predict(X)
    assert exact == pytest.approx(X[:, 0] * 10, abs=0.1)


def hostile(rows: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a table with an empty column, a constant one, wild numbers, and a name for each row."""
    names = [f"n{place}" for place in range(rows)]
    wild = np.resize([1e300, -1e300, 1e-300, 0.0, np.nan, np.inf], rows)
    frame = pd.DataFrame({"empty": np.nan, "same": 1.0, "wild": wild, "name": names})
    frame["name"] = pd.Categorical(frame["name"])
    frame["y"] = np.arange(rows, dtype=float)
    number = {"singleton": True, "type": "tensor", "dim": [1], "optional": True}
    nodes = {name: {**number, "column": name} for name in ("empty", "same", "wild")}
    named = {"singleton": True, "type": "category", "class": "name", "column": "name"}
    classes = {"name": {"dim": rows, "labels": names}}
    return frame, {"nodes": {**nodes, "name": named}, "classes": classes}


@pytest.mark.parametrize("rows", [2, 5, 1000])
def test_hostile_tables_are_learnt_from_and_kept(rows: int, tmp_path: Path) -> None:
    frame, schema_in = hostile(rows)
    pipeline = {"transforms": CHAIN, "model": {"module": MODULE.name}}
    trained = fit(pipeline, frame, schema_in, SCHEMA_OUT)
    assert np.isfinite(trained.predict(frame).values).all()
    trained.model.save(tmp_path)
    again = GaussianProcess().load(tmp_path)
    X = trained.transforms[1].transform(trained.transforms[0].transform(frame))
    np.testing.assert_array_equal(again.predict(X), trained.model.predict(X))
