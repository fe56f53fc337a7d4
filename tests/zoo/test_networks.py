"""Networks that learn from pictures and series themselves, where PyTorch is installed
(`make test-networks`).
"""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.data import object_array
from easeml.errors import InvalidInput
from easeml.export import ModelFacts, write_export
from easeml.modules import Context, load_registry, score
from easeml.modules.conformance import CHECKS
from easeml.modules.pipeline import TrainedPipeline, fit, load_trained, save
from easeml.search import spaces

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'easeml[torch]'")

REGISTRY = load_registry()
LABELS = ["across", "down"]
NUMBER = {"nodes": {"target": {"singleton": True, "type": "tensor", "dim": [1]}}}
CATEGORY = {
    "nodes": {"target": {"singleton": True, "type": "category", "class": "t"}},
    "classes": {"t": {"dim": 2, "labels": LABELS}},
}
ASK = """
import json, sys, pandas
sys.path.insert(0, "code")
from easeml.export import load_exported
import easeml
predicted = load_exported("model").predict(pandas.read_pickle(sys.argv[1]))
print(json.dumps([easeml.__file__, predicted["probability_across"].tolist()]))
"""
FEW = {"epochs": 10, "width": 8}


def stripes(rows: int, height: int = 10, width: int = 12) -> pd.DataFrame:
    """Return pictures with stripes across or down, and how many there are."""
    random = np.random.default_rng(0)
    cells, codes, counts = [], [], []
    for _ in range(rows):
        is_down, count = int(random.integers(2)), int(random.integers(1, 5))
        wave = np.sin(np.linspace(0, 2 * np.pi * count, width if is_down else height))
        picture = np.ones((height, 1)) * wave if is_down else wave[:, None] * np.ones((1, width))
        cells.append((picture + random.normal(0, 0.3, picture.shape))[:, :, None])
        codes.append(is_down)
        counts.append(float(count))
    frame = pd.DataFrame({"x": object_array(cells)})
    return frame.assign(label=pd.Categorical.from_codes(codes, LABELS), count=counts)


def waves(rows: int, steps: int = 60) -> pd.DataFrame:
    """Return series of two channels, of different lengths, and how fast the first one swings."""
    random = np.random.default_rng(1)
    cells, codes, counts = [], [], []
    for _ in range(rows):
        count = int(random.integers(1, 7))
        length = steps + int(random.integers(0, 20))
        wave = np.sin(np.linspace(0, 2 * np.pi * count, length) + random.uniform(0, 6))
        cell = np.stack([wave, np.zeros(length)]) + random.normal(0, 0.3, (2, length))
        cells.append(cell)
        codes.append(int(count > 3))
        counts.append(float(count))
    frame = pd.DataFrame({"x": object_array(cells)})
    return frame.assign(label=pd.Categorical.from_codes(codes, LABELS), count=counts)


def schema(dim: list[int | str]) -> dict[str, Any]:
    return {"nodes": {"x": {"singleton": True, "type": "tensor", "dim": dim, "optional": True}}}


SAMPLES = {
    "picture": (stripes(160), schema([10, 12, 1])),
    "series": (waves(160), schema([2, "steps"])),
}


def learnt(
    kind: str, what: str, context: Context | None = None, config: dict[str, Any] | None = None
) -> TrainedPipeline:
    """Return a network trained on the first hundred samples."""
    frame, schema_in = SAMPLES[kind]
    rows = frame.iloc[:100].assign(target=frame[what])
    task, schema_out = ("classifier", CATEGORY) if what == "label" else ("regressor", NUMBER)
    module = REGISTRY.get(f"{kind}-network-{task}")
    chain = [transform.choice() for transform in REGISTRY.candidates(module, schema_in)]
    pipeline = {"transforms": chain, "model": module.choice({**FEW, **(config or {})})}
    return fit(pipeline, rows, schema_in, schema_out, context or Context())


@pytest.mark.parametrize("kind", SAMPLES)
def test_classes_are_learnt_saved_and_predicted_alike(kind: str, tmp_path: Path) -> None:
    unseen = SAMPLES[kind][0].iloc[100:]
    trained = learnt(kind, "label", config={"epochs": 20})
    predicted = trained.predict(unseen)
    assert score("accuracy", unseen["label"], predicted) > 0.9
    assert predicted.probabilities is not None
    np.testing.assert_allclose(predicted.probabilities.sum(axis=1), 1.0, atol=1e-9)

    save(trained, tmp_path / "model")
    loaded = load_trained(tmp_path / "model")
    loaded.check_parity()
    assert np.array_equal(loaded.predict(unseen).probabilities, predicted.probabilities)
    alone = [loaded.predict(unseen.iloc[[row]]).probabilities for row in range(5)]
    np.testing.assert_allclose(np.concatenate(alone), predicted.probabilities[:5], atol=1e-5)
    assert not list((tmp_path / "model").rglob("*.pkl"))


@pytest.mark.parametrize("kind", SAMPLES)
def test_numbers_are_learnt_in_their_own_unit(kind: str) -> None:
    unseen = SAMPLES[kind][0].iloc[100:]
    predicted = learnt(kind, "count", config={"epochs": 40}).predict(unseen)
    assert score("r2", unseen["count"], predicted) > 0.7


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_run_that_was_killed_goes_on_where_it_was(kind: str, tmp_path: Path) -> None:
    unseen = SAMPLES[kind][0].iloc[100:]

    def killed(step: int, quality: float | None) -> None:
        if step == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learnt(kind, "label", Context(report=killed, checkpoint=tmp_path))
    steps = []
    context = Context(report=lambda step, quality: steps.append(step), checkpoint=tmp_path)
    resumed = learnt(kind, "label", context).predict(unseen)
    assert steps == [6, 7, 8, 9, 10]
    undisturbed = learnt(kind, "label").predict(unseen)
    assert np.array_equal(resumed.probabilities, undisturbed.probabilities)


def test_a_run_that_has_had_enough_ends_with_what_it_has() -> None:
    asked = iter([False, False, True])
    trained = learnt("picture", "label", Context(enough=lambda: next(asked)))
    assert "It was ended early, with 3 of 10 steps." in trained.notes


@pytest.mark.parametrize("kind", SAMPLES)
def test_equal_seeds_give_equal_networks(kind: str) -> None:
    unseen = SAMPLES[kind][0].iloc[100:]
    first, again, other = (
        learnt(kind, "label", Context(seed=seed)).predict(unseen).probabilities
        for seed in (7, 7, 8)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", SAMPLES)
def test_configurations_from_all_over_the_space_are_learnt_with(kind: str) -> None:
    frame, _ = SAMPLES[kind]
    space = REGISTRY.get(f"{kind}-network-classifier").space
    for config in spaces.suggest(space, 4, seed=1):
        small = {**config, "epochs": 10, "width": 8}
        predicted = learnt(kind, "label", config=small).predict(frame.iloc[:3])
        assert np.isfinite(predicted.probabilities).all()


def test_pictures_smaller_than_the_network_and_of_any_size_are_predicted() -> None:
    trained = learnt("picture", "label", config={"epochs": 5, "blocks": 3})
    strange = [np.ones((1, 1, 1)), np.full((40, 3, 1), np.nan), np.full((10, 12, 1), 1e300)]
    predicted = trained.predict(pd.DataFrame({"x": object_array(strange)}))
    assert np.isfinite(predicted.probabilities).all()


def test_series_without_values_are_predicted() -> None:
    trained = learnt("series", "label", config={"epochs": 10})
    strange = [np.full((2, 5), np.nan), np.ones((1, 3)), np.full((3, 900), -np.inf)]
    predicted = trained.predict(pd.DataFrame({"x": object_array(strange)}))
    assert np.isfinite(predicted.probabilities).all()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("task", ["classifier", "regressor"])
def test_a_network_of_tables_conforms(check: Any, task: str, tmp_path: Path) -> None:
    check(REGISTRY.get(f"table-network-{task}"), REGISTRY, tmp_path)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_network_is_taken_home_as_a_folder_and_has_no_graph(kind: str, tmp_path: Path) -> None:
    """In a process of its own the folder predicts, by its own code, what the network predicts."""
    trained = learnt(kind, "label")
    unseen = SAMPLES[kind][0].iloc[100:110][["x"]]
    save(trained, tmp_path / "model", quality=0.9)
    facts = ModelFacts("app_1", "Stripes", "mod_1", "a network", "data_1", 1, "accuracy", 0.9)
    with pytest.raises(InvalidInput, match=r"ONNX graph"):
        write_export(tmp_path / "model", facts, "onnx", tmp_path / "graph", unseen)
    for form in ("python", "mlflow"):
        folder = tmp_path / form
        write_export(tmp_path / "model", facts, form, folder)
        assert "torch==" in (folder / "requirements.txt").read_text()
        unseen.to_pickle(tmp_path / "rows.pickle")
        command = [sys.executable, "-c", ASK, str(tmp_path / "rows.pickle")]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        where, shares = json.loads(run.stdout)
        assert Path(where).is_relative_to(folder)
        expected = trained.predict(unseen).probabilities
        assert expected is not None
        np.testing.assert_allclose(shares, expected[:, 0], atol=1e-6)


def test_a_network_learns_on_the_gpu_that_it_sees_within_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The GPU is made up; of 16 GiB the task has 8 and what CUDA itself takes."""
    import torch  # pyright: ignore[reportMissingImports]

    from easeml.modules import gpu_share
    from easeml.zoo.models.networks.training import device

    assert device().type == "cpu" or torch.cuda.is_available()
    fractions: list[float] = []
    whole = SimpleNamespace(total_memory=16 * 2**30)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: whole)
    monkeypatch.setattr(
        torch.cuda,
        "set_per_process_memory_fraction",
        lambda fraction, number: fractions.append(fraction),
    )
    monkeypatch.setenv(gpu_share.MEMORY, str(8 * 2**30 + gpu_share.OF_CUDA))
    assert device().type == "cuda"
    assert fractions == [0.5]
