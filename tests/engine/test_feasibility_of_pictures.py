"""Feasibility of data whose cells are pictures, alone and beside other columns."""

import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from easeml.data import Declared, declare, infer_table, read_declared, read_table, write_version
from easeml.engine.task_main import bring
from easeml.kinds.advise import KIND, AdviseSpec, ask_tool
from easeml.kinds.shared.embeddings import representations
from easeml.kinds.shared.readable import readable
from easeml.schema import Schema
from easeml.settings import Settings
from easeml.store.records import Task


def picture(rng: np.random.Generator, *, is_light: bool) -> bytes:
    """A noisy picture that is light above, or below."""
    pixels = rng.integers(0, 60, size=(12, 12, 3), dtype=np.uint8)
    half = slice(0, 6) if is_light else slice(6, 12)
    pixels[half] += 150
    kept = BytesIO()
    Image.fromarray(pixels).save(kept, "png")
    return kept.getvalue()


def upload(folder: Path) -> Path:
    """A zip file of 48 pictures, a folder a class."""
    rng = np.random.default_rng(0)
    path = folder / "pictures.zip"
    with zipfile.ZipFile(path, "w") as file:
        for number in range(48):
            answer = ("below", "above")[number % 2]
            file.writestr(f"{answer}/{number}.png", picture(rng, is_light=number % 2 == 1))
    return path


@pytest.fixture
def version(tmp_path: Path) -> Declared:
    table = read_table(upload(tmp_path))
    seen = infer_table(table)
    declared = declare(table, seen.columns, "label")
    write_version(tmp_path / "version", declared)
    return read_declared(tmp_path / "version")


def test_a_goal_on_pictures_has_a_verdict(version: Declared, tmp_path: Path) -> None:
    (tmp_path / "embeddings").mkdir()
    halves(tmp_path / "embeddings" / "halves.onnx")
    asked = {"goal": 0.7, "quick": True, "of": "balanced-accuracy"}
    ask_tool(AdviseSpec(tool="feasibility", parameters=asked), tmp_path, tmp_path)
    told = json.loads((tmp_path / "answer").read_text())
    assert told["verdict"] == "realistic"
    (ways,) = told["tables"]
    assert "halves of image" in [row[0] for row in ways["rows"]]


def test_beside_other_columns_a_picture_becomes_columns(version: Declared) -> None:
    frame = version.frames["train"].assign(shade=1.5)[["image", "shade"]]
    schema = version.schema_in.to_json()
    shade = {"singleton": True, "type": "tensor", "dim": [1]}
    mixed = Schema.from_json({**schema, "nodes": {**schema["nodes"], "shade": shade}})
    found = readable(replace(version, schema_in=mixed), frame)
    assert list(found.index) == list(frame.index)
    assert set(found.dtypes.astype(str)) == {"float64"}
    assert list(found.columns[:2]) == ["shade", "component 0"]
    is_above = version.frames["train"]["label"] == "above"
    means = found["component 0"].groupby(is_above.to_numpy()).mean()
    assert abs(means[True] - means[False]) > found["component 0"].std()


def halves(path: Path) -> None:
    """Write an ONNX model that tells how light both halves of a picture of 4 x 4 pixels are."""
    weights = np.zeros((48, 2), dtype=np.float32)
    for channel in range(3):
        weights[16 * channel : 16 * channel + 8, 0] = 1 / 24
        weights[16 * channel + 8 : 16 * channel + 16, 1] = 1 / 24
    nodes = [
        helper.make_node("Flatten", ["picture"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["told"]),
    ]
    picture_in = helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["n", 3, 4, 4])
    told = helper.make_tensor_value_info("told", TensorProto.FLOAT, ["n", 2])
    graph = helper.make_graph(
        nodes, "halves", [picture_in], [told], [numpy_helper.from_array(weights, "weights")]
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def test_a_model_of_the_provider_sees_the_pictures(version: Declared, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    halves(models / "halves.onnx")
    (models / "broken.onnx").write_bytes(b"no model")
    settings = Settings(embeddings=f"{models / 'halves.onnx'}, {models / 'broken.onnx'}, /absent")
    task = Task(
        id="t",
        tenant_id="t",
        kind="advise",
        lane="short",
        payload={"tool": "feasibility", "parameters": {}},
    )
    bring(tmp_path / "work", KIND.provided(settings, task))

    folder = tmp_path / "work" / "inputs" / "embeddings"
    frame = version.frames["train"]
    found, notes = representations(version, frame, folder)
    (own,) = found
    assert own.name == "halves of image"
    assert [note.partition(":")[0] for note in notes] == ["The model broken.onnx was not used"]
    light = own.embed(np.arange(len(frame)))
    is_above = (frame["label"] == "above").to_numpy()
    assert (light[is_above, 0] > light[is_above, 1]).all()
    assert (light[~is_above, 0] < light[~is_above, 1]).all()
    places = np.array([5, 2])
    assert np.allclose(own.embed(places), light[places], atol=1e-6)


def test_tables_and_other_tools_are_told_of_no_models() -> None:
    settings = Settings(embeddings="/absent")
    task = Task(
        id="t",
        tenant_id="t",
        kind="advise",
        lane="short",
        payload={"tool": "label-errors", "parameters": {}},
    )
    assert KIND.provided(settings, task) == {}
