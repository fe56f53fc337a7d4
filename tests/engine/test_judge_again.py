"""A model that is judged by another objective is what training for that one would have brought."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.contract.tasks import ModuleChoice, Pipeline, TaskResult
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.kinds.judge_again import JudgeAgainSpec, judge_again, outputs_of
from easeml.kinds.shared.predictions import ROLES, read_predictions
from easeml.kinds.train import TrainSpec, train
from easeml.modules.pipeline import load_trained

COSTS = "cost(no as yes=1, yes as no=7)"


@pytest.fixture
def version(tmp_path: Path) -> Path:
    """A table in which few rows say yes."""
    random = np.random.default_rng(2)
    x = random.normal(size=(200, 2))
    wants = x[:, 0] + random.normal(size=200) > 1.2
    frame = pd.DataFrame({"x": x[:, 0], "y": x[:, 1], "answer": np.where(wants, "yes", "no")})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv")
    columns = infer_table(table, "answer").columns
    write_version(tmp_path / "inputs" / "version", declare(table, columns, "answer"))
    return tmp_path / "inputs"


def trained_for(objective: str, inputs: Path, outputs: Path) -> TaskResult:
    """Train a model of the table for an objective."""
    outputs.mkdir()
    declared = read_version(inputs / "version")
    codes = [ModuleChoice(module="table-codes", config={})]
    spec = TrainSpec(
        pipeline=Pipeline(transforms=codes, model=ModuleChoice(module="logistic", config={})),
        objective=objective,
        schema_in=declared.schema_in.to_json(),
        schema_out=declared.schema_out.to_json(),
    )
    return train(spec, inputs, outputs)


def judged_by(objective: str, inputs: Path, outputs: Path, trained: Path) -> TaskResult:
    """Judge the model in the folder ``trained`` by another objective."""
    for name in ("model", "predictions"):
        shutil.move(trained / name, inputs / f"{name}-0")
    outputs.mkdir()
    schema_out = read_version(inputs / "version").schema_out.to_json()
    spec = JudgeAgainSpec(objective=objective, schema_out=schema_out, models=["mod_1"])
    return judge_again(spec, inputs, outputs)


@pytest.mark.parametrize("objective", ["balanced-accuracy", "f1-macro", COSTS, "recall(yes)"])
def test_it_is_what_training_for_it_would_have_brought(
    version: Path, tmp_path: Path, objective: str
) -> None:
    trained_for("accuracy", version, tmp_path / "before")
    wanted = trained_for(objective, version, tmp_path / "wanted")
    result = judged_by(objective, version, tmp_path / "judged", tmp_path / "before")
    found = result.value["judged"]["mod_1"]
    for name in ("quality", "low", "high", "metrics", "measures"):
        assert found[name] == wanted.value[name], name
    if not result.outputs:
        return  # it says the same labels: its files are those that there are

    model, predictions, evaluation = (tmp_path / "judged" / name for name in outputs_of(0))
    for role in ROLES:
        rows, said = read_predictions(predictions, role)
        expected_rows, expected = read_predictions(tmp_path / "wanted" / "predictions", role)
        assert rows.tolist() == expected_rows.tolist()
        assert said.values.tolist() == expected.values.tolist()
    assert evaluation.read_text() == (tmp_path / "wanted" / "evaluation").read_text()
    test = read_version(version / "version").test
    loaded, other = load_trained(model), load_trained(tmp_path / "wanted" / "model")
    loaded.check_parity()
    assert loaded.predict(test).values.tolist() == other.predict(test).values.tolist()
    assert loaded.notes == other.notes
    assert loaded.manifest["objective"] == objective


def test_where_labels_are_chosen_alike_the_files_stay(version: Path, tmp_path: Path) -> None:
    trained_for("accuracy", version, tmp_path / "before")
    result = judged_by("log-loss", version, tmp_path / "judged", tmp_path / "before")
    assert result.outputs == []
    assert list((tmp_path / "judged").iterdir()) == []


def test_going_back_brings_the_labels_back(version: Path, tmp_path: Path) -> None:
    wanted = trained_for("accuracy", version, tmp_path / "wanted")
    trained_for(COSTS, version, tmp_path / "before")
    result = judged_by("accuracy", version, tmp_path / "judged", tmp_path / "before")
    assert result.value["judged"]["mod_1"]["quality"] == wanted.value["quality"]
    assert load_trained(tmp_path / "judged" / "model-0").target.class_weights is None
