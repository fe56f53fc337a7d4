"""A model of a small table is judged by all rows that are no test rows, none of which it has seen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.contract.evaluation import Evaluation
from easeml.contract.tasks import ModuleChoice, Pipeline, TaskResult
from easeml.data import Declared, declare, infer_table, read_table, read_version, write_version
from easeml.kinds.measure import MeasureSpec, measure
from easeml.kinds.shared.judged import read_judging
from easeml.kinds.shared.predictions import read_predictions
from easeml.kinds.train import TrainSpec, train
from easeml.modules import Predictions, score
from easeml.modules.pipeline import Context, fit, load_trained
from easeml.modules.temperature import LEAST, softened

PIPELINE = Pipeline(
    transforms=[ModuleChoice(module="table-codes", config={})],
    model=ModuleChoice(module="knn-classifier", config={"k": 3}),
)


@pytest.fixture
def made(tmp_path: Path) -> Declared:
    """A table of 150 rows with three classes."""
    random = np.random.default_rng(5)
    x = random.normal(size=(150, 2))
    kind = np.digitize(x[:, 0] + random.normal(scale=0.5, size=150), [-0.6, 0.8])
    frame = pd.DataFrame({"x": x[:, 0], "y": x[:, 1], "kind": np.array(["a", "b", "c"])[kind]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv")
    return declare(table, infer_table(table, "kind").columns, "kind")


def trained(folder: Path, declared: Declared, objective: str = "accuracy") -> TaskResult:
    write_version(folder / "version", declared)
    outputs = folder / "outputs"
    outputs.mkdir()
    spec = TrainSpec(
        pipeline=PIPELINE,
        objective=objective,
        schema_in=declared.schema_in.to_json(),
        schema_out=declared.schema_out.to_json(),
        measures=["noisy(0.3)"],
    )
    return train(spec, folder, outputs)


@pytest.mark.parametrize("objective", ["accuracy", "balanced-accuracy"])
def test_each_row_is_predicted_by_a_fit_that_has_not_seen_it(
    tmp_path: Path, made: Declared, objective: str
) -> None:
    result = trained(tmp_path, made, objective)
    version = read_version(tmp_path / "version")
    rows, said = read_judging(tmp_path / "outputs" / "predictions", version)
    known: Any = pd.concat([version.train, version.validation], ignore_index=True)
    assert sorted(rows["_row"]) == sorted(known["_row"])

    # By brute force: a fit for each fold on all rows of the others.
    assert version.folds is not None
    schemas = made.schema_in.to_json(), made.schema_out.to_json()
    expected = np.zeros((len(known), 3))
    fold = version.folds.loc[known["_row"]].to_numpy()
    for number in range(4):
        context = Context(objective=objective)
        model = fit(PIPELINE.model_dump(), known[fold != number], *schemas, context)
        expected[fold == number] = model.predict(known[fold == number]).probabilities
    calibrated = softened(np.maximum(expected, LEAST), result.value["temperature"])
    order = pd.Series(range(len(known)), known["_row"]).loc[rows["_row"]]
    np.testing.assert_allclose(said.probabilities, calibrated[order])

    assert result.value["quality"] == score(objective, rows["kind"], said)
    told = result.value["measures"][objective]
    assert (told["rows"], told["folds"]) == (120, 4)
    evaluation = Evaluation.model_validate_json((tmp_path / "outputs" / "evaluation").read_text())
    assert evaluation.rows == 120


def as_learned(said: Predictions, result: TaskResult) -> np.ndarray:
    """Return probabilities before they were calibrated: by all rows, or by the validation rows."""
    return softened(said.probabilities, 1 / result.value["temperature"])


def test_what_is_kept_has_learned_from_train_rows_alone(tmp_path: Path, made: Declared) -> None:
    """So what is compared on validation rows later, or asked about them, is honest."""
    by_folds, held_out = tmp_path / "folds", tmp_path / "held-out"
    by_folds.mkdir()
    held_out.mkdir()
    result = trained(by_folds, made)
    summary = {name: told for name, told in made.summary.items() if name != "folds"}
    alone = trained(held_out, replace(made, summary=summary))
    assert result.value["held_out"] == alone.value["quality"]
    assert "held_out" not in alone.value
    assert "folds" not in alone.value["measures"]["accuracy"]
    version = read_version(by_folds / "version")
    for role in ("validation", "test"):
        ids, said = read_predictions(by_folds / "outputs" / "predictions", role)
        others, same = read_predictions(held_out / "outputs" / "predictions", role)
        assert (ids == others).all()
        np.testing.assert_allclose(as_learned(said, result), as_learned(same, alone))
    model = load_trained(by_folds / "outputs" / "model").predict(version.test)
    first = load_trained(held_out / "outputs" / "model").predict(version.test)
    np.testing.assert_allclose(as_learned(model, result), as_learned(first, alone))
    # What asks the model again is measured on rows that it has not learned from.
    noisy = result.value["measures"]["noisy(0.3)"]
    assert noisy["value"] == alone.value["measures"]["noisy(0.3)"]["value"]


def test_it_is_measured_later_on_the_same_rows(tmp_path: Path, made: Declared) -> None:
    result = trained(tmp_path, made)
    (tmp_path / "outputs" / "predictions").rename(tmp_path / "predictions-0")
    spec = MeasureSpec(objective="log-loss", models=["mod_1"])
    found = measure(spec, tmp_path, tmp_path / "outputs").value["qualities"]["mod_1"]
    assert found == pytest.approx(result.value["metrics"]["log-loss"])
