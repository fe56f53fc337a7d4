"""A model that is made smaller predicts nearly as well, and says what it cost; else it is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from training import FACTS, REGISTRY

from easeml.data import VersionTables
from easeml.errors import InvalidInput
from easeml.export import Evidence, load_exported, write_export
from easeml.export.smaller.files import packed_size, plain_size, rounded
from easeml.modules.conformance import schemas, table
from easeml.modules.contract import CanBeShortened
from easeml.modules.ensemble import TrainedEnsemble, load_model, member_folder, seal
from easeml.modules.pipeline import fit, save
from easeml.modules.score import score
from easeml.schema import Schema

KINDS = {
    "random-forest-classifier": ("table-codes", {"trees": 20}),
    "lightgbm-classifier": ("table-codes", {}),
    "lightgbm-regressor": ("table-codes", {}),
    "mlp-classifier": ("table-onehot", {}),
    "words-logistic": ("table-words", {}),
}


TYPES = ("tensor", "category")  # of the columns that a graph takes: numbers and categories


def made(
    name: str, folder: Path, types: tuple[str, ...] = (), **config: Any
) -> tuple[Any, Evidence]:
    """Fit and save a model; return it with rows that it has not seen.

    ``types``: of the columns that it takes; all if empty.
    """
    module = REGISTRY.get(name)
    transform, chosen = KINDS[name]
    model = {"module": name, "config": {**chosen, **config}}
    schema_in, schema_out = schemas(module, REGISTRY)
    if types:
        nodes = {key: node for key, node in schema_in["nodes"].items() if node["type"] in types}
        schema_in = {**schema_in, "nodes": nodes}
    pipeline = {"transforms": [{"module": transform}], "model": model}
    trained = fit(pipeline, table(module, rows=300), schema_in, schema_out)
    save(trained, folder, quality=0.9)
    target = trained.target.column
    validation = table(module, seed=3, rows=300).assign(_row=range(300))
    test = table(module, seed=4, rows=100).assign(**{target: None})
    both = Schema.from_json(schema_in), Schema.from_json(schema_out)
    rows = VersionTables(validation.head(0), validation, test, *both, target, [])
    return trained, Evidence(folder, rows)


def sizes(model: Path) -> tuple[int, int]:
    parts = [path for path in model.iterdir() if path.is_dir()]
    return sum(map(plain_size, parts)), sum(map(packed_size, parts))


@pytest.mark.parametrize("name", KINDS)
def test_a_smaller_model_saves_what_it_says_and_loses_no_point(tmp_path: Path, name: str) -> None:
    trained, evidence = made(name, tmp_path / "m")
    objective = "r2" if trained.target.classes is None else "accuracy"
    facts = replace(FACTS, objective=objective)
    told = write_export(tmp_path / "m", facts, "python", tmp_path / "out", evidence=evidence)
    cost = told["compressed"]
    found = tmp_path / "out" / "model"
    (before, packed_before), (after, packed_after) = sizes(tmp_path / "m"), sizes(found)
    assert cost["bytes"] == {"before": before, "after": after}
    assert cost["packed_bytes"] == {"before": packed_before, "after": packed_after}
    assert after <= 0.38 * before

    validation = evidence.rows.validation
    answers = validation[evidence.rows.target]
    quality = score(objective, answers, load_model(found).predict(validation))
    assert cost["quality"]["after"] == pytest.approx(quality)
    assert quality >= score(objective, answers, trained.predict(validation)) - 0.01
    load_exported(found)  # its sample is that of the smaller one
    card = (tmp_path / "out" / "card.md").read_text()
    assert f"{after:,} bytes instead of {before:,}" in card
    of_numbers = trained.target.classes is None
    assert ("of the answers' deviation apart" in card) == of_numbers
    assert ("test rows otherwise" in card) != of_numbers


def test_an_ensemble_is_made_smaller_as_one(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    first, evidence = made("lightgbm-classifier", member_folder(folder, 0))
    second, _ = made("mlp-classifier", member_folder(folder, 1))
    trained = TrainedEnsemble((first, second), (0.6, 0.4))
    seal(trained, folder, first.sample, quality=0.9)
    evidence = replace(evidence, first_fit=folder)
    told = write_export(folder, FACTS, "mlflow", tmp_path / "out", evidence=evidence)
    smaller = load_model(tmp_path / "out" / "model")
    assert isinstance(smaller, TrainedEnsemble)
    assert sum(smaller.weights) == pytest.approx(1)
    assert told["compressed"]["saving"] >= 0.62
    smaller.check_parity()


def test_a_graph_is_made_smaller_by_its_own_bytes(tmp_path: Path) -> None:
    pytest.importorskip("skl2onnx")
    _, evidence = made("mlp-classifier", tmp_path / "m", TYPES, units=128, layers=2)
    rows = evidence.rows.test
    whole = write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "whole", rows)
    told = write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows, evidence)
    before = (tmp_path / "whole" / "model.onnx").stat().st_size
    after = (tmp_path / "out" / "model.onnx").stat().st_size
    assert told["compressed"]["bytes"] == {"before": before, "after": after}
    assert after <= 0.38 * before
    assert told["agreement"]["worst"] <= 1e-5  # with the smaller model
    assert "compressed" not in whole


def test_what_loses_more_than_a_point_is_refused_with_the_nearest(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    trained, evidence = made("lightgbm-regressor", tmp_path / "m", TYPES)
    # Answers that are the model's own: with a third of its trees it misses all of them.
    validation = evidence.rows.validation
    own = validation.assign(**{evidence.rows.target: trained.predict(validation).values})
    evidence = replace(evidence, rows=replace(evidence.rows, validation=own))
    facts = replace(FACTS, objective="r2")
    with pytest.raises(InvalidInput, match=r"instead of 1\.0000") as refused:
        write_export(tmp_path / "m", facts, "onnx", tmp_path / "out", evidence.rows.test, evidence)
    assert "62% smaller within 0.01 of quality" in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["lightgbm-classifier", "random-forest-classifier"])
def test_a_shorter_model_leaves_the_model_as_it_is(tmp_path: Path, name: str) -> None:
    trained, evidence = made(name, tmp_path / "m")
    before = trained.predict(evidence.rows.validation).probabilities
    assert isinstance(trained.model, CanBeShortened)
    whole = replace(trained, model=trained.model.shortened(1.0))
    half = replace(trained, model=trained.model.shortened(0.5))
    assert np.array_equal(whole.predict(evidence.rows.validation).probabilities, before)
    assert not np.array_equal(half.predict(evidence.rows.validation).probabilities, before)
    assert np.array_equal(trained.predict(evidence.rows.validation).probabilities, before)


@given(arrays(np.float64, 5, elements=st.floats(allow_subnormal=False)), st.integers(2, 52))
def test_rounding_keeps_the_bits_that_it_says(values: np.ndarray, bits: int) -> None:
    found = rounded(values, bits)
    finite = np.isfinite(values)
    apart = np.abs(found[finite] - values[finite])
    assert (apart <= np.abs(values[finite]) * 2.0 ** -(bits + 1)).all()
    assert np.array_equal(rounded(found, bits), found, equal_nan=True)
    assert np.array_equal(found[~finite], values[~finite], equal_nan=True)
