"""Tasks take a row of weight 2 for two rows: by weights they find what they find in repeated rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.contract.evaluation import Evaluation
from easeml.contract.tasks import ModuleChoice, Pipeline, WeightedPipeline
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.kinds.advise import AdviseSpec, ask_tool
from easeml.kinds.judge_again import JudgeAgainSpec, judge_again
from easeml.kinds.refit import RefitSpec, refit
from easeml.kinds.rescore import RescoreSpec, score_again
from easeml.kinds.test_quality import TestQualitySpec, read_test_quality
from easeml.kinds.train import TrainSpec, train
from easeml.modules import Predictions, conformal
from easeml.modules.ensemble import load_model

ROWS = 240
MODELS = {"category": "logistic", "number": "ridge"}
OBJECTIVES = {"category": ("accuracy", "balanced-accuracy"), "number": ("r2", "pinball-90")}


def rows_with_counts(kind: str) -> pd.DataFrame:
    """Return rows of which those of one side count more: a model that ignores it is another one."""
    random = np.random.default_rng(4)
    frame = pd.DataFrame({"x": random.normal(size=ROWS), "y": random.normal(size=ROWS)})
    said = frame["x"] - frame["y"] ** 2 + random.normal(size=ROWS)
    frame["answer"] = np.where(said > -0.5, "yes", "no") if kind == "category" else said
    frame["part"] = np.resize(["train", "train", "train", "validation", "test"], ROWS)
    frame["count"] = np.where(frame["x"] > 0.4, random.integers(2, 6, ROWS), 1)
    frame.loc[::17, "count"] = 0
    return frame


def found(folder: Path, frame: pd.DataFrame, kind: str, weight: str | None) -> dict[str, Any]:
    """Return what tasks find of a model of a table, whose rows count by a column or alike."""
    folder.mkdir()
    frame.to_csv(folder / "rows.csv", index=False)
    table = read_table(folder / "rows.csv")
    columns = infer_table(table, "answer").columns
    declared = declare(table, columns, "answer", split="given:part", weight=weight)
    write_version(folder / "version", declared)
    version = read_version(folder / "version")
    objective, other = OBJECTIVES[kind]
    schemas = {
        "schema_in": version.schema_in.to_json(),
        "schema_out": version.schema_out.to_json(),
    }
    transforms = [ModuleChoice(module=name, config={}) for name in ("table-onehot", "scale")]
    model = ModuleChoice(module=MODELS[kind], config={})
    pipeline = Pipeline(transforms=transforms, model=model)

    first = train(TrainSpec(pipeline=pipeline, objective=objective, **schemas), folder, folder)
    test = read_test_quality(
        TestQualitySpec(objective=objective, schema_out=schemas["schema_out"]), folder, folder
    )
    again = score_again(RescoreSpec(objective=other, version_id=""), folder, folder)
    for name in ("model", "predictions"):
        (folder / f"{name}-0").symlink_to(folder / name)
    spec = JudgeAgainSpec(objective=other, schema_out=schemas["schema_out"], models=["mod_1"])
    (folder / "judged").mkdir()
    judged = judge_again(spec, folder, folder / "judged").value["judged"]["mod_1"]
    last = folder / "last"
    last.mkdir()
    members = [WeightedPipeline(pipeline=pipeline, weight=1.0)]
    refit(RefitSpec(members=members, objective=objective, quality=0.5, **schemas), folder, last)

    refitted = load_model(last / "model")
    said = refitted.predict(frame)
    predicted = said.values if kind == "number" else said.probabilities
    return {
        "qualities": list(first.value["metrics"].values()),
        "values": [one["value"] for one in first.value["measures"].values()],
        "baselines": [one["baseline"] for one in first.value["measures"].values()],
        "test": [test.value["value"], test.value["measure"]["baseline"]],
        "again": [again.value["quality"], judged["quality"]],
        "interval": ends(refitted.manifest["interval"]),
        "predicted": dict(zip(frame["x"], np.asarray(predicted).tolist(), strict=True)),
    }


def ends(interval: dict[str, Any] | None) -> list[float]:
    """Return where intervals of some predictions end; nothing of a model of categories."""
    if interval is None:
        return []
    said = Predictions(np.linspace(-2, 2, 5), None, None)
    return np.ravel(conformal.bounds(interval, said)).tolist()


@pytest.mark.parametrize("kind", MODELS)
def test_weights_are_found_to_be_repetitions(tmp_path: Path, kind: str) -> None:
    frame = rows_with_counts(kind)
    repeated = frame.loc[frame.index.repeat(frame["count"])].drop(columns="count")
    by_weight = found(tmp_path / "weights", frame, kind, "count")
    by_row = found(tmp_path / "rows", repeated, kind, None)
    own = by_weight.pop("predicted")
    for x, row in by_row.pop("predicted").items():
        assert own[x] == pytest.approx(row, abs=1e-5)
    for name, wanted in by_row.items():
        assert by_weight[name] == pytest.approx(wanted, abs=1e-5), name

    evaluation = Evaluation.model_validate_json((tmp_path / "weights" / "evaluation").read_text())
    assert evaluation.weight == "count"
    spec = AdviseSpec(tool="feasibility", parameters={}, seconds=0.1)
    ask_tool(spec, tmp_path / "weights", tmp_path)
    told = (tmp_path / "answer").read_text()
    assert "Each row counts once here, whatever its weight in column 'count'." in told
