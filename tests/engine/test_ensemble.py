"""An ensemble is chosen, put together, served as one model, and fitted again, by the bodies."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.contract.tasks import ModuleChoice, Pipeline, WeightedPipeline
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.errors import Damaged
from easeml.kinds.ensemble import EnsembleSpec, MayJoin, ensemble
from easeml.kinds.refit import RefitSpec, refit
from easeml.kinds.shared.judged import read_judging
from easeml.kinds.shared.predictions import read_predictions
from easeml.kinds.train import TrainSpec, train
from easeml.modules import Predictions, score
from easeml.modules.ensemble import load_model

MODELS = {"knn-regressor": {"k": 3}, "ridge": {}, "decision-tree-regressor": {}}
CLASSIFIER = "decision-tree-classifier"


def pipeline(name: str) -> Pipeline:
    transforms = [ModuleChoice(module="table-codes", config={})]
    return Pipeline(
        transforms=transforms, model=ModuleChoice(module=name, config=MODELS.get(name, {}))
    )


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """Inputs of an ensemble: a version, and three models trained on it."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(150, 2))
    noise = rng.normal(scale=0.8, size=150)
    price = x[:, 0] + np.sin(2 * x[:, 1]) + noise
    frame = pd.DataFrame({"x": x[:, 0], "y": x[:, 1], "price": price})
    return trained_on(frame, "price", list(MODELS), "r2", tmp_path)


def trained_on(
    frame: pd.DataFrame, target: str, models: list[str], objective: str, folder: Path
) -> Path:
    """Train models on a table, and return the inputs of an ensemble of them."""
    frame.to_csv(folder / "rows.csv", index=False)
    table = read_table(folder / "rows.csv")
    inputs = folder / "inputs"
    columns = infer_table(table, target).columns
    write_version(inputs / "version", declare(table, columns, target))
    version = read_version(inputs / "version")
    for place, name in enumerate(models):
        outputs = folder / name
        outputs.mkdir()
        spec = TrainSpec(
            pipeline=pipeline(name),
            objective=objective,
            schema_in=version.schema_in.to_json(),
            schema_out=version.schema_out.to_json(),
        )
        assert train(spec, inputs, outputs).ok
        shutil.move(outputs / "model", inputs / f"model-{place}")
        shutil.move(outputs / "predictions", inputs / f"predictions-{place}")
    return inputs


def spec_of(
    inputs: Path,
    latency: float | None = None,
    names: Iterable[str] = MODELS,
    objective: str = "r2",
) -> EnsembleSpec:
    version = read_version(inputs / "version")
    models = [MayJoin(model_id=f"mod_{name}", name=name, latency=0.01) for name in names]
    return EnsembleSpec(
        models=models,
        trained=3,
        name="ensemble-1",
        objective=objective,
        schema_in=version.schema_in.to_json(),
        schema_out=version.schema_out.to_json(),
        latency=latency,
    )


def test_it_is_served_as_one_model_with_an_honest_quality(trained: Path, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    result = ensemble(spec_of(trained), trained, outputs)
    weights = {member["name"]: member["weight"] for member in result.value["members"]}
    assert len(weights) > 1
    assert sum(weights.values()) == pytest.approx(1)

    version = read_version(trained / "version")
    model = load_model(outputs / "model")
    model.check_parity()
    told = model.predict(version.test).values
    mean = np.zeros(len(version.test))
    for place, name in enumerate(MODELS):
        rows, one = read_predictions(trained / f"predictions-{place}", "test")
        assert list(rows) == list(version.test["_row"])
        mean += weights.get(name, 0.0) * one.values
    np.testing.assert_allclose(told, mean)
    _, kept = read_predictions(outputs / "predictions", "test")
    np.testing.assert_allclose(kept.values, mean)

    # Its quality is that of predictions by weights that the row did not choose.
    rows, unseen = read_judging(outputs / "predictions", version)
    assert len(rows) == len(version.validation) + len(version.train)  # folds have judged it
    quality = score("r2", rows["price"], unseen)
    assert result.value["quality"] == pytest.approx(quality)
    flattered = [read_judging(trained / f"predictions-{place}", version) for place in range(3)]
    order = [said.of_rows(np.argsort(one["_row"].to_numpy())).values for one, said in flattered]
    shares = [weights.get(name, 0.0) for name in MODELS]
    chosen = Predictions(np.average(order, axis=0, weights=shares), None, None)
    assert score("r2", rows.sort_values("_row")["price"], chosen) >= quality
    assert model.manifest["interval"]["rows"] == len(rows)
    _, held_out = read_predictions(outputs / "predictions", "validation")
    alone = score("r2", version.validation["price"], held_out)
    assert result.value["held_out"] == pytest.approx(alone)


def test_an_ensemble_that_is_too_good_says_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    reason = rng.choice(["late", "lost", "none"], 160)
    mood = np.where(reason == "none", "good", "bad")
    frame = pd.DataFrame({"reason": reason, "length": rng.integers(9, 99, 160), "mood": mood})
    inputs = trained_on(frame, "mood", [CLASSIFIER], "accuracy", tmp_path)
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    result = ensemble(spec_of(inputs, None, [CLASSIFIER], "accuracy"), inputs, outputs)
    (said,) = result.notes
    assert said.startswith("It is right on all ")
    assert "known only after the answer" in said


def test_what_takes_too_long_is_no_ensemble(trained: Path, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    result = ensemble(spec_of(trained, latency=0.015), trained, outputs)
    assert len(result.value["members"]) == 1


def test_one_byte_of_a_member_that_flips_is_seen(trained: Path, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    ensemble(spec_of(trained), trained, outputs)
    (outputs / "model" / "1" / "manifest.json").write_text("{}")
    with pytest.raises(Damaged):
        load_model(outputs / "model")


def test_all_members_are_fitted_again(trained: Path, tmp_path: Path) -> None:
    version = read_version(trained / "version")
    shutil.copy(trained / "predictions-0", trained / "predictions")
    spec = RefitSpec(
        members=[
            WeightedPipeline(pipeline=pipeline("knn-regressor"), weight=0.75),
            WeightedPipeline(pipeline=pipeline("ridge"), weight=0.25),
        ],
        objective="r2",
        quality=0.7,
        schema_in=version.schema_in.to_json(),
        schema_out=version.schema_out.to_json(),
    )
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    refit(spec, trained, outputs)
    model = load_model(outputs / "model")
    model.check_parity()
    parts = [load_model(outputs / "model" / str(number)) for number in range(2)]
    expected = 0.75 * parts[0].predict(version.test).values
    expected += 0.25 * parts[1].predict(version.test).values
    np.testing.assert_allclose(model.predict(version.test).values, expected)
    assert model.manifest["quality"] == 0.7
