"""Columns that are not known ahead: a forecast looks at what they were at its origin, never later.

Brute force is the oracle: a past that holds only what came before says the same.
"""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.modules.contract import Context
from easeml.modules.ensemble import load_model
from easeml.modules.forecasting import Past, Rule, load, save
from easeml.modules.pipeline import TrainedPipeline, fit
from easeml.modules.pipeline import save as save_model
from easeml.protocols import forecasts
from easeml.schema import Schema

NUMBER = {"singleton": True, "type": "tensor", "dim": [1]}
SCHEMA_IN = {
    "nodes": {
        "day": {"singleton": True, "type": "timestamp", "column": "day"},
        "temperature": {**NUMBER, "column": "temperature"},
    }
}
SCHEMA_OUT = {"nodes": {"load": {**NUMBER, "column": "load"}}}
PIPELINE = {
    "transforms": [{"module": "table-onehot"}],
    "model": {"module": "ridge"},
    "forecast": {"time": "day", "ahead": 3, "series": [], "past_only": ["temperature"]},
}
RULE = Rule("load", "day", 3, past_only=("temperature",))


def loads(days: int = 240) -> pd.DataFrame:
    """The load of a day follows the temperature of three days before, which has some gaps."""
    random = np.random.default_rng(0)
    temperature = random.normal(size=days)
    load_of_day = 100 + 5 * np.roll(temperature, 3) + random.normal(scale=0.1, size=days)
    rows = pd.DataFrame(
        {
            "day": pd.date_range("2024-01-01", periods=days),
            "temperature": temperature,
            "load": load_of_day,
        }
    )
    rows.loc[50:54, "temperature"] = np.nan
    return rows


def fitted(rows: pd.DataFrame, history: pd.DataFrame, model: str = "ridge") -> TrainedPipeline:
    """A forecast three days ahead."""
    pipeline = {**PIPELINE, "model": {"module": model}}
    return fit(pipeline, rows, SCHEMA_IN, SCHEMA_OUT, Context(history=history))


@settings(max_examples=25)
@given(st.integers(0, 239))
def test_nothing_after_its_origin_is_seen(number: int) -> None:
    rows = loads()
    past = Past.learn(RULE, rows[:180], rows)
    row = rows[["day", "temperature"]].iloc[[number]]
    seen = past.of_rows(row)
    distance = int(seen.features["ahead"][0])
    assert 1 <= distance <= 3

    changed = rows.copy()
    is_later = changed["day"] > row["day"].iloc[0] - pd.DateOffset(days=distance)
    changed.loc[is_later, ["temperature", "load"]] = 777.0
    blind = past.told(changed[is_later]).of_rows(row.assign(temperature=-5.0))
    assert "latest of temperature" in seen.features
    for name, values in seen.features.items():
        assert values == pytest.approx(blind.features[name], rel=1e-9, nan_ok=True), name


def test_what_is_seen_is_what_a_list_says() -> None:
    rows = loads()
    past = Past.learn(RULE, rows, rows)
    chosen, seen = past.of_training(rows, seed=0)
    temperature = rows["temperature"].tolist()
    for place, row in enumerate(chosen[:300]):
        origin = row - int(seen.features["ahead"][place])
        known = [value for value in temperature[: origin + 1] if not np.isnan(value)]
        usual = np.mean(known[-7:])
        latest = seen.features["latest of temperature"][place]
        assert latest == pytest.approx(known[-1] - usual)
        known = [value for value in temperature[: row - 2] if not np.isnan(value)]
        if known:
            before = seen.features["3 before of temperature"][place]
            assert before == pytest.approx(known[-1] - usual)


@pytest.mark.parametrize("model", ["ridge", "lightgbm-regressor"])
def test_rows_are_forecast_without_the_column_and_better_for_its_past(
    model: str, tmp_path: Path
) -> None:
    rows = loads()
    train, test = rows[:200], rows[200:]
    trained = fitted(train, rows, model)
    assert list(trained.schema_in["nodes"]) == ["day"]
    said = trained.predict(test[["day"]]).values
    assert said.tolist() == trained.predict(test.drop(columns="load")).values.tolist()
    error = float(np.abs(said - test["load"]).mean())
    assert error < 0.5 * float(np.abs(test["load"] - test["load"].mean()).mean())

    save_model(trained, tmp_path / "model", quality=0.5)
    loaded = load_model(tmp_path / "model")
    loaded.check_parity()
    assert loaded.predict(test[["day"]]).values.tolist() == said.tolist()


def test_rows_of_a_test_are_forecast_as_if_each_were_asked_at_its_origin() -> None:
    rows = loads()
    train, test = rows[:200], rows[200:239]
    at_once = fitted(train, rows).predict(test[["day"]]).values
    earlier = fitted(train, train)
    assert earlier.past is not None
    said = []
    for first in range(200, 239, 3):
        past = earlier.past.knowing(rows[:first])
        said.extend(replace(earlier, past=past).predict(rows[["day"]][first : first + 3]).values)
    assert said == pytest.approx(list(at_once), rel=1e-9)


def test_a_column_without_any_value_teaches_nothing(tmp_path: Path) -> None:
    rows = loads().assign(temperature=np.nan)
    trained = fitted(rows[:200], rows)
    assert np.isfinite(trained.predict(rows[["day"]][200:]).values).all()
    assert trained.past is not None
    save(trained.past, tmp_path)
    assert load(tmp_path).of_rows(rows[200:]).level.tolist()


def test_newer_values_come_with_rows_that_have_a_target() -> None:
    rows = loads()
    trained = fitted(rows[:180], rows[:200])
    assert trained.past is not None
    told = trained.past.told(rows[200:220])
    whole = trained.past.knowing(rows[:220])
    asked = rows[["day"]][220:223]
    for name, values in told.of_rows(asked).features.items():
        assert values == pytest.approx(whole.of_rows(asked).features[name], rel=1e-9), name


def test_newer_rows_are_written_as_the_file_was_that_was_learned_from() -> None:
    """A file with a comma in its numbers has one in all of them, and so have the next ones."""
    rows = loads()
    comma = {**NUMBER, "format": "1234,5"}
    day = SCHEMA_IN["nodes"]["day"]
    schema_in = {"nodes": {"day": day, "temperature": {**comma, "column": "temperature"}}}
    schema_out = {"nodes": {"load": {**comma, "column": "load"}}}
    trained = fit(PIPELINE, rows[:200], schema_in, schema_out, Context(history=rows[:200]))
    served = SimpleNamespace(
        trained=trained,
        schema_in=Schema.from_json(trained.schema_in),
        schema_out=Schema.from_json(schema_out),
    )
    newer = rows[200:203].assign(day=rows["day"].dt.strftime("%Y-%m-%d"))
    written = newer.to_csv(sep=";", decimal=",", index=False).encode()
    plain = json.dumps(newer.to_dict("records")).encode()
    said = forecasts.forecast(served, written, "text/csv", 3).predicted.values
    assert (
        said.tolist()
        == forecasts.forecast(served, plain, "application/json", 3).predicted.values.tolist()
    )
    without = json.dumps(newer.assign(temperature=None).to_dict("records")).encode()
    other = forecasts.forecast(served, without, "application/json", 3).predicted.values
    assert said.tolist() != other.tolist()  # they count
