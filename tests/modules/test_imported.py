"""Models that were fitted elsewhere, read from their files: each predicts as where it was fitted."""

import contextlib
import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from easeml.errors import InvalidInput
from easeml.modules.contract import Predictions
from easeml.modules.imported import convert
from easeml.modules.pipeline import TrainedPipeline, load_trained, save
from easeml.modules.programs import ProgramFailed

NUMBERS, TEXTS = ["length", "width"], ["colour"]
SCHEMA_IN = {
    "nodes": {
        "length": {"singleton": True, "type": "tensor", "dim": [1]},
        "width": {"singleton": True, "type": "tensor", "dim": [1]},
        "colour": {"singleton": True, "type": "category", "class": "colours"},
    },
    "classes": {"colours": {"dim": 3, "labels": ["blue", "green", "red"]}},
}
SPECIES = {
    "nodes": {"species": {"singleton": True, "type": "category", "class": "kinds"}},
    "classes": {"kinds": {"dim": 3, "labels": ["ant", "bee", "cat"]}},
}
PRICE = {"nodes": {"price": {"singleton": True, "type": "tensor", "dim": [1]}}, "classes": {}}


def made_rows(rows: int = 240) -> pd.DataFrame:
    random = np.random.default_rng(5)
    length, width = random.normal(size=rows), random.normal(size=rows)
    colour = random.choice(["blue", "green", "red"], size=rows)
    score = length + (colour == "red") + 0.3 * random.normal(size=rows)
    labels = np.array(["ant", "bee", "cat"], dtype=object)
    return pd.DataFrame(
        {
            "length": length,
            "width": width,
            "colour": pd.Categorical(colour, categories=["blue", "green", "red"]),
            "species": pd.Categorical(labels[np.digitize(score, [-0.3, 0.8])], categories=labels),
            "price": 3 * length - width,
        }
    )


# What a frame gives by a list of names, or maps by a dictionary, has no narrow type.
ROWS: Any = made_rows()
GIVEN: Any = ROWS[[*NUMBERS, *TEXTS]].astype({"colour": object})


def dumped(model: Any) -> bytes:
    """Return what skops writes; only these tests wait for its import."""
    import skops.io

    return skops.io.dumps(model)


def mixed(model: Any, *more: Any) -> Any:
    """Return a pipeline of numbers and texts that ends with ``model``, fitted."""
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler(), *more), NUMBERS),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), TEXTS),
    )
    target = "species" if hasattr(model, "predict_proba") else "price"
    return make_pipeline(columns, model).fit(GIVEN, ROWS[target].astype(object).to_list())


def imported(content: bytes, folder: Path, schema_out: Any, name: str = "m") -> TrainedPipeline:
    """Return the model in a file as it is loaded where it serves."""
    (folder / "file").write_bytes(content)
    kept = [one for one in ROWS if one not in {"species", "price"} - set(schema_out["nodes"])]
    trained = convert(folder / "file", name, ROWS[kept], (SCHEMA_IN, schema_out), "accuracy")
    save(trained, folder / "model")
    loaded = load_trained(folder / "model")
    loaded.check_parity()
    return loaded


def shares(found: Predictions) -> NDArray[np.float64]:
    """Return the probabilities of a classifier."""
    assert found.probabilities is not None
    return found.probabilities


def graph_of(pipeline: Any, zipmap: bool) -> bytes:
    convert_sklearn = pytest.importorskip("skl2onnx").convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    types: list[Any] = [(name, FloatTensorType([None, 1])) for name in NUMBERS]
    types.append(("colour", StringTensorType([None, 1])))
    is_classifier = hasattr(pipeline, "predict_proba")
    options = {id(pipeline): {"zipmap": zipmap}} if is_classifier else None
    return convert_sklearn(pipeline, initial_types=types, options=options).SerializeToString()


def test_a_classifier_in_skops_predicts_as_it_did(tmp_path: Path):
    pipeline = mixed(LogisticRegression())
    found = imported(dumped(pipeline), tmp_path, SPECIES).predict(ROWS)
    assert found.classes is not None
    assert found.classes.tolist() == ["ant", "bee", "cat"]
    np.testing.assert_allclose(shares(found), pipeline.predict_proba(GIVEN), atol=1e-12)


def test_a_regressor_in_skops_predicts_as_it_did(tmp_path: Path):
    pipeline = mixed(GradientBoostingRegressor(n_estimators=10))
    found = imported(dumped(pipeline), tmp_path, PRICE).predict(ROWS)
    np.testing.assert_allclose(found.values, pipeline.predict(GIVEN))


@pytest.mark.parametrize("zipmap", [True, False])
def test_a_classifier_in_onnx_predicts_as_it_did(tmp_path: Path, zipmap: bool):
    pipeline = mixed(LogisticRegression())
    found = imported(graph_of(pipeline, zipmap), tmp_path, SPECIES).predict(ROWS)
    np.testing.assert_allclose(shares(found), pipeline.predict_proba(GIVEN), atol=1e-5)
    assert found.values.tolist() == pipeline.predict(GIVEN).tolist()


def test_a_regressor_in_onnx_predicts_as_it_did(tmp_path: Path):
    pipeline = mixed(LinearRegression())
    found = imported(graph_of(pipeline, zipmap=False), tmp_path, PRICE).predict(ROWS)
    np.testing.assert_allclose(found.values, pipeline.predict(GIVEN), atol=1e-4)


def test_labels_in_another_order_are_those_of_the_data(tmp_path: Path):
    """A model may know its classes in any order, and not all of them."""
    two = ROWS["species"] != "bee"
    pipeline = mixed(LogisticRegression())
    pipeline.fit(GIVEN[two], ROWS["species"][two].astype(object).to_list())
    found = imported(dumped(pipeline), tmp_path, SPECIES).predict(ROWS)
    assert (shares(found)[:, 1] == 0).all()
    np.testing.assert_allclose(shares(found)[:, [0, 2]], pipeline.predict_proba(GIVEN))


def test_categories_of_digits_are_given_as_numbers(tmp_path: Path):
    rows = ROWS.assign(
        colour=pd.Categorical(ROWS["colour"].map({"blue": "1", "green": "2", "red": "3"}))
    )
    given = rows[[*NUMBERS, *TEXTS]].astype({"colour": float})
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    pipeline.fit(given, rows["species"].astype(object).to_list())
    schema_in = {**SCHEMA_IN, "classes": {"colours": {"dim": 3, "labels": ["1", "2", "3"]}}}
    (tmp_path / "file").write_bytes(dumped(pipeline))
    schemas = (schema_in, SPECIES)
    trained = convert(tmp_path / "file", "m", rows.drop(columns="price"), schemas, "accuracy")
    np.testing.assert_allclose(shares(trained.predict(rows)), pipeline.predict_proba(given))
    assert any("as numbers: colour" in note for note in trained.notes)


@pytest.mark.parametrize("flavour", ["skops", "onnx"])
def test_a_folder_of_mlflow_is_read(tmp_path: Path, flavour: str):
    pipeline = mixed(LogisticRegression())
    content = graph_of(pipeline, False) if flavour == "onnx" else dumped(pipeline)
    about = "  onnx: {data: model.onnx}"
    if flavour == "skops":
        about = "  sklearn: {pickled_model: model.onnx, serialization_format: skops}"
    path = tmp_path / "zipped"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/MLmodel", f"flavors:\n{about}\n")
        archive.writestr("model/model.onnx", content)
    found = imported(path.read_bytes(), tmp_path, SPECIES).predict(ROWS)
    np.testing.assert_allclose(shares(found), pipeline.predict_proba(GIVEN), atol=1e-5)


class Hostile:
    """What runs a command and writes a file where it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> Any:
        return exec, (f"import os; os.system('touch {self.path}'); open('{self.path}', 'w')",)


def test_a_pickle_is_written_anew(tmp_path: Path):
    pipeline = mixed(LogisticRegression())
    found = imported(pickle.dumps(pipeline), tmp_path, SPECIES)
    np.testing.assert_allclose(shares(found.predict(ROWS)), pipeline.predict_proba(GIVEN))
    assert "(pickle)" in found.notes[0]
    assert zipfile.is_zipfile(io.BytesIO(found.model.content))  # as skops writes it


def test_a_pickle_that_does_more_does_it_to_nobody(tmp_path: Path):
    there = tmp_path / "hostile-was-here"
    path = tmp_path / "zipped"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("MLmodel", "flavors:\n  sklearn: {pickled_model: model.pkl}\n")
        archive.writestr("model.pkl", pickle.dumps(Hostile(there)))
    with pytest.raises(InvalidInput, match="PermissionError"):
        imported(path.read_bytes(), tmp_path, SPECIES)
    assert not there.exists()


def zipped(folder: Path, **members: Any) -> bytes:
    """Return a zip file; ``__`` in a name stands for its dot."""
    path = folder / "zipped"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return path.read_bytes()


LAUGHS = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ("flavors: {onnx: {data: ../../../../etc/passwd}}", "does not have its model"),
        ("flavors: {onnx: {data: /etc/passwd}}", "does not have its model"),
        ("flavors: {onnx: {}}", "does not have its model"),
        ("flavors: {onnx: [1]}", "does not have its model"),
        ("a0: &a0 [x]\n" + LAUGHS + "\nflavors: {onnx: {data: *a11}}", "does not have its model"),
        ("flavors: {python_function: {loader_module: os}}", "flavours python_function"),
        ("flavors: " + "[" * 5000, "cannot be read"),
        ("flavors: !!python/object/apply:os.system [ls]", "cannot be read"),
        ("- 1", "names no flavours"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_folder_of_mlflow_that_leads_elsewhere(tmp_path: Path, about: Any, said: str):
    with pytest.raises(InvalidInput, match=said):
        imported(zipped(tmp_path, MLmodel=about), tmp_path, SPECIES)


@pytest.mark.parametrize("name", ["MLmodel", "schema__json"])
def test_an_archive_that_grows_is_not_read(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
):
    """Its members are measured by what the archive states; none is read for that."""
    monkeypatch.setattr("easeml.modules.imported.archives._LARGEST", 100_000)
    with pytest.raises(InvalidInput, match="larger than a model may be"):
        imported(zipped(tmp_path, **{name: b"0" * 200_000}), tmp_path, SPECIES)


@pytest.mark.parametrize("place", range(0, 100, 7))
def test_a_damaged_archive_is_told(tmp_path: Path, place: int):
    """Wherever 8 bytes of it are others; one that is not harmed by that is a model."""
    about = "flavors: {sklearn: {pickled_model: m, serialization_format: skops}}"
    content = bytearray(zipped(tmp_path, MLmodel=about, m=dumped(mixed(LogisticRegression()))))
    at = len(content) * place // 100
    content[at : at + 8] = b"\xff" * 8
    with contextlib.suppress(InvalidInput):
        imported(bytes(content), tmp_path, SPECIES)


def test_a_tree_whose_way_comes_back_is_refused(tmp_path: Path):
    """Such a tree is never at an end with a row that goes that way."""
    pipeline = mixed(RandomForestClassifier(n_estimators=2))
    tree = pipeline[-1].estimators_[1].tree_
    state = tree.__getstate__()
    state["nodes"]["left_child"][1] = 0
    tree.__setstate__(state)
    with pytest.raises(InvalidInput, match="tree of the model is damaged"):
        imported(dumped(pipeline), tmp_path, SPECIES)
    boosted = mixed(HistGradientBoostingClassifier(max_iter=2))
    boosted[-1]._predictors[0][0].nodes["right"][0] = 0
    with pytest.raises(InvalidInput, match="tree of the model is damaged"):
        imported(dumped(boosted), tmp_path, SPECIES)


def looping_graph() -> bytes:
    """Return a graph that turns a loop 2**62 times where a length is above 50."""
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    turn = helper.make_graph(
        [
            helper.make_node("Identity", ["more"], ["still"]),
            helper.make_node("Sin", ["value"], ["next"]),
        ],
        "turn",
        [
            helper.make_tensor_value_info("turn", kinds.INT64, []),
            helper.make_tensor_value_info("more", kinds.BOOL, []),
            helper.make_tensor_value_info("value", kinds.FLOAT, [None, 1]),
        ],
        [
            helper.make_tensor_value_info("still", kinds.BOOL, []),
            helper.make_tensor_value_info("next", kinds.FLOAT, [None, 1]),
        ],
    )
    nodes = [
        helper.make_node("ReduceMax", ["length"], ["longest"], keepdims=0),
        helper.make_node("Greater", ["longest", "limit"], ["is_long"]),
        helper.make_node("Loop", ["turns", "is_long", "width"], ["price"], body=turn),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, kinds.FLOAT, [None, 1]) for name in NUMBERS],
        [helper.make_tensor_value_info("price", kinds.FLOAT, [None, 1])],
        [
            helper.make_tensor("limit", kinds.FLOAT, [], [50.0]),
            helper.make_tensor("turns", kinds.INT64, [], [1 << 62]),
        ],
    )
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def test_a_graph_that_does_not_come_to_an_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("easeml.modules.imported.graphs._SECONDS", 0.05)
    trained = imported(looping_graph(), tmp_path, PRICE)
    assert np.isfinite(trained.predict(ROWS).values).all()
    with pytest.raises(ProgramFailed, match="took longer than"):
        trained.predict(ROWS.assign(length=60.0))
    assert np.isfinite(trained.predict(ROWS).values).all()


def test_a_row_without_a_number_is_named(tmp_path: Path):
    trained = imported(graph_of(mixed(LinearRegression()), False), tmp_path, PRICE)
    rows = ROWS.copy()
    rows.loc[7, "length"] = 1e300  # more than a float of 32 bits holds
    with pytest.raises(ProgramFailed, match="not a number") as caught:
        trained.predict(rows)
    assert caught.value.where == "row 7"


def shouted(rows: Any) -> Any:
    """Return rows as they are: a function of the user."""
    return rows


def test_a_type_that_is_not_trusted_is_not_made(tmp_path: Path):
    import os

    for function in (shouted, os.system):
        pipeline = mixed(LogisticRegression())
        pipeline.steps.insert(0, ("mine", FunctionTransformer(function)))
        with pytest.raises(InvalidInput, match="holds what is not loaded"):
            imported(dumped(pipeline), tmp_path, SPECIES)


def test_a_graph_with_weights_in_other_files_is_refused(tmp_path: Path):
    onnx = pytest.importorskip("onnx")
    model = onnx.load_model_from_string(graph_of(mixed(LogisticRegression()), False))
    tensor = model.graph.initializer.add(name="secret", data_type=1, dims=[1])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/passwd")
    with pytest.raises(InvalidInput, match="weights in other files"):
        imported(model.SerializeToString(), tmp_path, SPECIES)


class TestWhatIsNoModelOfTheApplication:
    def refused(self, content: bytes, folder: Path, schema_out: Any = SPECIES) -> str:
        with pytest.raises(InvalidInput) as caught:
            imported(content, folder, schema_out)
        assert not (folder / "model").exists()
        return f"{caught.value.message} {caught.value.where}"

    @pytest.mark.parametrize("content", [b"no model", b"PK\x03\x04", b"", b"\x00" * 99])
    def test_no_model(self, tmp_path: Path, content: bytes):
        assert "cannot be read" in self.refused(content, tmp_path) or content == b""

    def test_a_skops_file_of_something_else(self, tmp_path: Path):
        assert "not a model but dict" in self.refused(dumped({"a": 1}), tmp_path)
        assert "not a model but" in self.refused(dumped(StandardScaler()), tmp_path)

    def test_a_model_that_was_not_fitted(self, tmp_path: Path):
        unfitted = make_pipeline(StandardScaler(), LogisticRegression())
        self.refused(dumped(unfitted), tmp_path)

    def test_other_columns(self, tmp_path: Path):
        other = LogisticRegression().fit(
            GIVEN[NUMBERS].rename(columns={"width": "height"}), ROWS["species"].astype(object)
        )
        assert "height" in self.refused(dumped(other), tmp_path)
        narrow = LogisticRegression().fit(GIVEN[NUMBERS].to_numpy(), ROWS["species"].astype(object))
        assert "2 columns without names" in self.refused(dumped(narrow), tmp_path)

    def test_other_columns_of_a_graph(self, tmp_path: Path):
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import FloatTensorType

        model = LogisticRegression().fit(GIVEN[NUMBERS].to_numpy(), ROWS["species"].astype(object))
        types = [("X", FloatTensorType([None, 2]))]
        graph: Any = convert_sklearn(model, initial_types=types)
        assert "'X'" in self.refused(graph.SerializeToString(), tmp_path)

    def test_other_classes(self, tmp_path: Path):
        labels = ROWS["species"].map({"ant": "ant", "bee": "bee", "cat": "dog"}).astype(object)
        other = mixed(LogisticRegression()).fit(GIVEN, labels)
        assert "dog" in self.refused(dumped(other), tmp_path)
        assert "dog" in self.refused(graph_of(other, False), tmp_path)

    def test_numbers_for_classes_and_classes_for_numbers(self, tmp_path: Path):
        number, label = mixed(LinearRegression()), mixed(LogisticRegression())
        for content in (dumped(number), graph_of(number, False)):
            self.refused(content, tmp_path)
        for content in (dumped(label), graph_of(label, False)):
            assert "target is a number" in self.refused(content, tmp_path, PRICE)

    def test_scores_that_are_no_numbers(self, tmp_path: Path):
        model = mixed(LinearRegression())
        model[-1].coef_[:] = np.nan
        assert "not a number" in self.refused(dumped(model), tmp_path, PRICE)
        two = LinearRegression().fit(GIVEN[NUMBERS], ROWS[["price", "length"]])
        assert "shape" in self.refused(dumped(two), tmp_path, PRICE)
