"""A refit learns from train and validation rows, knows them again, and predicts the test rows."""

import json
from base64 import b64decode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.confinement import why_unavailable
from easeml.contract.tasks import ModuleChoice, Pipeline, TaskResult, WeightedPipeline
from easeml.data import VersionTables, declare, infer_table, read_table, read_version, write_version
from easeml.kinds.refit import RefitSpec, refit
from easeml.kinds.shared.predictions import read_predictions, write_predictions
from easeml.modules import Predictions, conformal, known_rows, packed
from easeml.modules.pipeline import load_trained


def refitted(folder: Path, *choices: ModuleChoice) -> tuple[TaskResult, VersionTables]:
    """Refit a model, or an ensemble, of a table in which the price is a multiple of x."""
    frame = pd.DataFrame({"x": [x + 0.5 for x in range(80)], "price": [3.5 * x for x in range(80)]})
    frame.to_csv(folder / "rows.csv", index=False)
    table = read_table(folder / "rows.csv")
    write_version(folder / "version", declare(table, infer_table(table, "price").columns, "price"))
    version = read_version(folder / "version")
    codes = [ModuleChoice(module="table-codes", config={})]
    pipelines = [Pipeline(transforms=codes, model=choice) for choice in choices]
    spec = RefitSpec(
        members=[WeightedPipeline(pipeline=one, weight=1 / len(choices)) for one in pipelines],
        objective="r2",
        quality=0.7,
        schema_in=version.schema_in.to_json(),
        schema_out=version.schema_out.to_json(),
    )
    unseen = version.validation
    first_fit = {"validation": Predictions(unseen["price"].to_numpy() - 2.0, None, None)}
    write_predictions(folder / "predictions", {"validation": unseen["_row"]}, first_fit)
    (folder / "outputs").mkdir()
    return refit(spec, folder, folder / "outputs"), version


def test_all_rows_but_the_test_rows_are_learned_from(tmp_path: Path) -> None:
    nearest = ModuleChoice(module="knn-regressor", config={"k": 1})
    result, version = refitted(tmp_path, nearest)
    outputs = tmp_path / "outputs"
    assert result.value["rows"] == len(version.train) + len(version.validation)
    model = load_trained(outputs / "model")
    assert model.manifest["quality"] == 0.7  # measured before, of the first fit
    ten = Predictions(np.asarray([10.0]), None, None)
    assert conformal.bounds(model.manifest["interval"], ten) == ([8.0], [12.0])  # likewise
    # The nearest row of a row that was learned from is that row itself.
    exact = model.predict(version.validation).values == version.validation["price"]
    assert exact.all()
    found = known_rows.read(outputs / "model")
    assert found is not None
    columns = {"x": version.validation["x"].to_numpy()}
    assert found.are_known(columns, version.validation["price"].to_numpy()).all()
    rows, _ = read_predictions(outputs / "predictions", "test")
    assert sorted(rows) == sorted(version.test["_row"])


TOML = """\
name = "steps"
kind = "model"
version = "1"
title = "Steps"
contract = 1
accepts = "regression"
[runtime]
kind = "process"
data = "csv"
"""
TRAIN = """\
#!/bin/sh
read -r step < checkpoint/step
echo $step > "$6/began-at"
echo 7 > checkpoint/step
echo "{}"
"""
PREDICT = """\
#!/bin/sh
exec awk 'NR == 1 { print "p0" } NR > 1 { print 0 }' "$2/features.csv" > "$6/predictions.csv"
"""


@pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp")
def test_a_refit_goes_on_from_what_an_earlier_attempt_kept(tmp_path: Path) -> None:
    steps = {"checkpoint": "4\n", "checkpoint-1": "5\n"}  # of an ensemble, each member its own
    for name, step in steps.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "step").write_text(step)
    text = packed.pack_texts(TOML, {"train": TRAIN, "predict": PREDICT})
    choice = ModuleChoice(module="steps", config={}, source=text)
    refitted(tmp_path, choice, choice)
    states = sorted((tmp_path / "outputs").rglob("state.json"))
    memories = [json.loads(state.read_text())["memory"] for state in states]
    assert [b64decode(one["began-at"]) for one in memories] == [b"4\n", b"5\n"]
    assert {(tmp_path / name / "step").read_text() for name in steps} == {"7\n"}
