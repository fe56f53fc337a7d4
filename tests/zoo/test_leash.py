"""A fit that has had enough time ends with what it has; nothing that was learnt is lost."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.contract.tasks import RESULT, TaskResult
from easeml.kinds import train
from easeml.modules import Context
from easeml.modules.leash import Leash
from easeml.modules.pipeline import fit, load_trained, save
from easeml.schema import Schema

ROWS = 120
SCHEMA_IN = {
    "nodes": {
        name: {"singleton": True, "type": "tensor", "dim": [1], "column": name} for name in "ab"
    }
}
SCHEMA_OUT = {
    "nodes": {"target": {"singleton": True, "type": "category", "class": "t"}},
    "classes": {"t": {"dim": 2, "labels": ["no", "yes"]}},
}
IN_STEPS = ("lightgbm-classifier", "hist-gradient-boosting-classifier", "random-forest-classifier")


def table(seed: int = 0) -> pd.DataFrame:
    """Return rows whose class depends on the product of two numbers."""
    generator = np.random.default_rng(seed)
    a, b = generator.normal(size=(2, ROWS))
    target = pd.Categorical.from_codes((a * b > 0).astype(int), ["no", "yes"])
    return pd.DataFrame({"_row": np.arange(ROWS), "a": a, "b": b, "target": target})


def pipeline(model: str) -> dict[str, Any]:
    return {"transforms": [{"module": "table-codes"}], "model": {"module": model}}


@pytest.mark.parametrize("name", IN_STEPS)
def test_a_model_that_learns_in_steps_ends_with_those_that_it_has(name: str, tmp_path: Path):
    asked: list[bool] = []

    def enough() -> bool:
        asked.append(len(asked) >= 1)
        return asked[-1]

    rows = table()
    short = fit(pipeline(name), rows, SCHEMA_IN, SCHEMA_OUT, Context(enough=enough))
    whole = fit(pipeline(name), rows, SCHEMA_IN, SCHEMA_OUT)
    assert asked == [False, True]
    assert any("ended early" in note for note in short.notes)
    assert not any("time limit" in note for note in whole.notes)
    some, all_of_them = short.predict(rows).probabilities, whole.predict(rows).probabilities
    assert some is not None
    assert some.shape == (ROWS, 2)
    assert np.abs(some - all_of_them).max() > 1e-6
    save(short, tmp_path / "model")
    load_trained(tmp_path / "model").check_parity()


@pytest.mark.parametrize("name", IN_STEPS[1:])
def test_parts_are_what_one_fit_would_be(name: str):
    rows = table()
    trained = fit(pipeline(name), rows, SCHEMA_IN, SCHEMA_OUT)
    features = trained.transforms[0].transform(rows)
    estimator = trained.model.estimator  # type: ignore[attr-defined]
    again = type(estimator)(**{**estimator.get_params(), "warm_start": False})
    codes = (rows["target"] == "yes").to_numpy().astype(int)
    again.fit(np.ascontiguousarray(features), codes)
    np.testing.assert_allclose(
        trained.predict(rows).probabilities, again.predict_proba(features), atol=1e-12
    )


def test_a_leash_counts_the_seconds_of_its_own():
    assert not Leash(60.0).is_over()
    assert Leash(0.0).is_over()
    leash = Leash(0.02)
    until = time.perf_counter() + 10
    while not leash.is_over():
        assert time.perf_counter() < until


def spec(leash: float) -> train.TrainSpec:
    return train.TrainSpec(
        pipeline=pipeline("naive-bayes"),  # type: ignore[arg-type]
        objective="accuracy",
        schema_in=SCHEMA_IN,
        schema_out=SCHEMA_OUT,
        leash=leash,
    )


def test_a_long_run_keeps_a_model_of_some_rows_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rows = {"train": table(), "validation": table(1), "test": table(2)}
    version = SimpleNamespace(
        **rows,
        target="target",
        weights=None,
        folds=None,
        groups=None,
        schema_in=Schema.from_json(SCHEMA_IN),
    )
    monkeypatch.setattr("easeml.data.read_version", lambda folder: version)
    monkeypatch.setattr(train, "_MANY_ROWS", ROWS)
    monkeypatch.setattr(train, "_FIRST_ROWS", 40)
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    put_whole = train.put_whole

    def stopped(made: Path, into: Path) -> None:
        raise TimeoutError

    monkeypatch.setattr(train, "put_whole", stopped)
    with pytest.raises(TimeoutError):
        train.train(spec(leash=50.0), tmp_path, outputs)
    first = TaskResult.model_validate_json((tmp_path / RESULT).read_text())
    assert first.ok
    assert first.notes[-1] == f"It learnt from 40 of {ROWS} rows."
    assert all((outputs / name).exists() for name in first.outputs)
    load_trained(outputs / "model").check_parity()

    monkeypatch.setattr(train, "put_whole", put_whole)
    again = tmp_path / "again"
    outputs = again / "outputs"
    outputs.mkdir(parents=True)
    whole = train.train(spec(leash=50.0), again, outputs)
    assert not (again / RESULT).exists()
    assert not any("learnt from" in note for note in whole.notes)
    assert all((outputs / name).exists() for name in whole.outputs)
    load_trained(outputs / "model").check_parity()


def test_an_attempt_is_stopped_some_time_after_its_leash():
    assert spec(leash=30.0).longest_seconds == 360.0
    assert spec(leash=30.0).model_copy(update={"leash": None}).longest_seconds is None
