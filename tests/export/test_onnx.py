"""ONNX graphs predict what the models predict, or are refused with the reason."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from training import FACTS, REGISTRY, ensemble

from easeml.errors import InvalidInput
from easeml.export import write_export
from easeml.modules.conformance import schemas, table
from easeml.modules.ensemble import TrainedEnsemble, member_folder, seal
from easeml.modules.pipeline import fit, save

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")

ONE_HOT, CODES = ("table-onehot", "scale"), ("table-codes",)
CONVERTED = (
    *((name, CODES) for name in ("decision-tree", "random-forest", "hist-gradient-boosting")),
    *((name, CODES) for name in ("extra-trees", "lightgbm", "baseline")),
    *((name, ONE_HOT) for name in ("elastic-net", "mlp", "lightgbm")),
)
TYPES = ("tensor", "category")  # of the columns that a graph takes: numbers and categories


def trained(
    name: str,
    chain: tuple[str, ...],
    folder: Path,
    scaling: str = "standard",
    config: dict[str, Any] | None = None,
):
    """Fit and save a pipeline on numbers and categories; return new rows, and what it predicts."""
    module = REGISTRY.get(name)
    schema_in, schema_out = schemas(module, REGISTRY)
    nodes = {key: node for key, node in schema_in["nodes"].items() if node["type"] in TYPES}
    transforms = [{"module": one} for one in chain]
    if "scale" in chain:
        transforms[-1]["config"] = {"method": scaling}
    pipeline = {"transforms": transforms, "model": {"module": name, "config": config or {}}}
    made = fit(pipeline, table(module, rows=200), {**schema_in, "nodes": nodes}, schema_out)
    save(made, folder, quality=0.9)
    columns = [node.get("column", key) for key, node in nodes.items()]
    return made, table(module, seed=3, rows=150)[columns]


def predicted(folder: Path, rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Ask a graph as somebody does who knows only ONNX Runtime."""
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    given = {}
    for one in session.get_inputs():
        column = rows[one.name]
        if one.type == "tensor(string)":
            column = column.astype(object).where(column.notna(), "")
        given[one.name] = column.to_numpy()[:, None]
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))


@pytest.mark.parametrize("side", ["classifier", "regressor"])
@pytest.mark.parametrize(("kind", "chain"), CONVERTED)
def test_a_graph_predicts_alike(tmp_path: Path, kind: str, chain, side: str) -> None:
    made, rows = trained(f"{kind}-{side}", chain, tmp_path / "m")
    told = write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    assert told["agreement"]["rows"] == len(rows)
    assert told["agreement"]["worst"] <= 1e-5
    expected, found = made.predict(rows), predicted(tmp_path / "out", rows)
    if expected.probabilities is None:
        close = pytest.approx(expected.values, abs=1e-5 * (expected.values.std() or 1))
        assert found["prediction"] == close
        return
    assert found["prediction"].tolist() == expected.values.tolist()
    assert found["probabilities"] == pytest.approx(expected.probabilities, abs=1e-5)


def test_trees_that_add_up_in_the_logarithm_predict_alike(tmp_path: Path) -> None:
    module = REGISTRY.get("lightgbm-regressor")
    schema_in, schema_out = schemas(module, REGISTRY)
    nodes = {key: node for key, node in schema_in["nodes"].items() if node["type"] in TYPES}
    rows = table(module, rows=200)
    target = next(iter(schema_out["nodes"]))
    rows[target] = np.exp(rows[target] / rows[target].std())
    model = {"module": module.name, "config": {"loss": "poisson"}}
    pipeline = {"transforms": [{"module": "table-codes"}], "model": model}
    made = fit(pipeline, rows, {**schema_in, "nodes": nodes}, schema_out)
    save(made, tmp_path / "m", quality=0.9)
    write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    expected, found = made.predict(rows).values, predicted(tmp_path / "out", rows)
    assert found["prediction"] == pytest.approx(expected, abs=1e-5 * expected.std())
    assert expected.min() > 0


@pytest.mark.parametrize(("name", "chain"), [("lightgbm", CODES), ("elastic-net", ONE_HOT)])
def test_categories_are_worth_the_same(tmp_path: Path, name: str, chain: tuple[str, ...]) -> None:
    """Of a column of many, what they are worth is a feature (``zoo.transforms.target_means``)."""
    towns = [f"town {number}" for number in range(40)]
    codes = np.random.default_rng(0).integers(-1, 39, 400)
    frame = pd.DataFrame({"town": pd.Categorical.from_codes(codes, towns), "target": codes * 2.5})
    schema_in = {
        "nodes": {
            "town": {"singleton": True, "type": "category", "class": "town", "optional": True}
        },
        "classes": {"town": {"dim": 40, "labels": towns}},
    }
    schema_out = {"nodes": {"target": {"singleton": True, "type": "tensor", "dim": [1]}}}
    pipeline = {
        "transforms": [{"module": one} for one in chain],
        "model": {"module": f"{name}-regressor"},
    }
    made = fit(pipeline, frame, schema_in, schema_out)
    save(made, tmp_path / "m", quality=0.9)
    assert made.transforms[0].means is not None
    rows = pd.DataFrame({"town": [*towns, None, "a village"]})
    told = write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    assert told["agreement"]["worst"] <= 1e-5


@pytest.mark.parametrize("smoothness", [0.5, 1.5, 2.5])
def test_a_gaussian_process_predicts_alike(tmp_path: Path, smoothness: float) -> None:
    config = {"smoothness": smoothness}
    made, rows = trained("gaussian-process-regressor", ONE_HOT, tmp_path / "m", config=config)
    told = write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    assert told["agreement"]["worst"] <= 1e-5
    wild = rows.head(4).copy()
    number = next(name for name in rows if rows[name].dtype == float)
    wild[number] = [np.inf, -np.inf, 1e300, -1e300]
    expected = made.predict(wild).values
    found = predicted(tmp_path / "out", wild)["prediction"]
    assert found == pytest.approx(expected, abs=1e-5 * made.predict(rows).values.std())


@pytest.mark.parametrize("scaling", ["robust", "squash"])
def test_features_are_scaled_alike(tmp_path: Path, scaling: str) -> None:
    made, rows = trained("logistic", ONE_HOT, tmp_path / "m", scaling)
    write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    wild = rows.head(4).copy()
    number = next(name for name in rows if rows[name].dtype == float)
    wild[number] = [np.inf, -np.inf, 1e300, -1e300]
    found = predicted(tmp_path / "out", wild)["probabilities"]
    assert found == pytest.approx(made.predict(wild).probabilities, abs=1e-9)


def test_an_ensemble_is_one_graph(tmp_path: Path) -> None:
    first, rows = trained("logistic", ONE_HOT, member_folder(tmp_path / "m", 0))
    second, _ = trained("lightgbm-classifier", CODES, member_folder(tmp_path / "m", 1))
    made = TrainedEnsemble((first, second), (0.7, 0.3))
    seal(made, tmp_path / "m", rows, quality=0.9)
    write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    found = predicted(tmp_path / "out", rows)
    assert found["probabilities"] == pytest.approx(made.predict(rows).probabilities, abs=1e-5)


def test_labels_are_chosen_for_the_objective_as_the_model_does(tmp_path: Path) -> None:
    made, rows = trained("logistic", ONE_HOT, tmp_path / "first")
    weights = np.resize([1.0, 5.0, 0.2], len(made.target.classes))
    made = replace(made, target=replace(made.target, class_weights=weights))
    save(made, tmp_path / "m", quality=0.9)
    write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    expected, found = made.predict(rows), predicted(tmp_path / "out", rows)
    assert found["prediction"].tolist() == expected.values.tolist()
    plain = expected.classes[expected.probabilities.argmax(axis=1)]
    assert expected.values.tolist() != plain.tolist()


def test_a_graph_that_predicts_otherwise_is_refused_with_the_row(tmp_path: Path) -> None:
    """The converted graph of nearest neighbours does not always take the same neighbours."""
    _, rows = trained("knn-classifier", ONE_HOT, tmp_path / "m")
    with pytest.raises(InvalidInput, match="they differ by") as caught:
        write_export(tmp_path / "m", FACTS, "onnx", tmp_path / "out", rows)
    assert caught.value.where.startswith("row ")
    assert list(tmp_path.iterdir()) == [tmp_path / "m"]


def test_what_has_no_graph_is_refused_with_the_reason(tmp_path: Path) -> None:
    _, rows = trained("svm-regressor", ONE_HOT, tmp_path / "svm")
    with pytest.raises(InvalidInput, match="no ONNX graph for the model svm-regressor"):
        write_export(tmp_path / "svm", FACTS, "onnx", tmp_path / "out", rows)
    _, rows = ensemble(tmp_path / "dates")
    with pytest.raises(InvalidInput, match="Dates and texts") as caught:
        write_export(tmp_path / "dates", FACTS, "onnx", tmp_path / "out", rows)
    assert caught.value.where.startswith("column ")
    with pytest.raises(InvalidInput, match="Rows are needed"):
        write_export(tmp_path / "svm", FACTS, "onnx", tmp_path / "out")
