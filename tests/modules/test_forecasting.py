"""What a forecast knows of the past: nothing after its origin, and of what came before all it says.

Brute force over lists is the oracle.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.data import ColumnTable
from easeml.errors import InvalidInput
from easeml.modules import measured, newer_past
from easeml.modules.contract import Context
from easeml.modules.ensemble import load_model
from easeml.modules.forecasting import Past, Rule, last_rows, load, next_rows, save
from easeml.modules.forecasting.known_values import KnownValues
from easeml.modules.forecasting.steps import Steps
from easeml.modules.pipeline import fit
from easeml.modules.pipeline import save as save_model
from easeml.protocols import forecasts
from easeml.schema import Schema

SCHEMA_IN = {
    "nodes": {
        "month": {"singleton": True, "type": "timestamp", "format": "%Y-%m", "column": "month"},
        "shop": {"singleton": True, "type": "category", "class": "shop", "column": "shop"},
    },
    "classes": {"shop": {"dim": 2, "labels": ["a", "b"]}},
}
SCHEMA_OUT = {
    "nodes": {"sales": {"singleton": True, "type": "tensor", "dim": [1], "column": "sales"}}
}
RULE = Rule("sales", "month", 6, ("shop",))


def sales(months: int = 60) -> pd.DataFrame:
    """Two shops of different size, with a season and a rise; in the order of time."""
    random = np.random.default_rng(0)
    time = pd.date_range("2019-01-01", periods=months, freq="MS")
    frames = []
    for shop, level in (("a", 10.0), ("b", 1000.0)):
        number = np.arange(months)
        shape = 1 + 0.01 * number + 0.3 * np.sin(2 * np.pi * number / 12)
        noise = random.normal(scale=0.02, size=months)
        frames.append(pd.DataFrame({"month": time, "shop": shop, "sales": level * (shape + noise)}))
    rows = pd.concat(frames).sort_values(["month", "shop"], ignore_index=True)
    rows["shop"] = rows["shop"].astype("category")
    return rows


known_values = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-5, 15), st.integers(-50, 50)), min_size=1, max_size=40
)


@given(known_values, st.integers(0, 3), st.integers(-8, 20), st.integers(1, 6))
def test_known_values_say_what_a_list_says(
    values: list[tuple[int, int, int]], series: int, place: int, count: int
) -> None:
    known = KnownValues.sorted(*map(np.array, zip(*values, strict=True)))
    latest = {(one, where): float(value) for one, where, value in values}
    before = sorted((where, value) for (one, where), value in latest.items() if one == series)
    before = [value for where, value in before if where <= place]
    asked = np.array([series]), np.array([place])
    default = np.array([-1.0])

    found, last = known.until(*asked)
    assert found[0] == len(before)
    assert known.at(*asked, default)[0] == (before[-1] if before else -1.0)
    lagged = before[-1 - count] if len(before) > count else -1.0
    assert known.lag(found, last, count, default)[0] == lagged
    mean = np.mean(before[-count:]) if before else -1.0
    assert known.means(found, last, count, default)[0] == pytest.approx(mean)
    spread = np.std(before) if before else 0.0
    assert known.spreads(found, last)[0] == pytest.approx(spread, abs=1e-6)


@pytest.mark.parametrize(
    ("times", "unit", "length", "seasons"),
    [
        (pd.date_range("2020-01-01", periods=40, freq="MS"), "month", 1, (12,)),
        (pd.date_range("2020-01-31", periods=40, freq="ME"), "month", 1, (12,)),
        (pd.date_range("2020-02-15", periods=40, freq="QS-FEB"), "month", 3, (4,)),
        (pd.date_range("1990-07-01", periods=40, freq="YS-JUL"), "month", 12, ()),
        (pd.date_range("2020-01-06", periods=120, freq="W-MON"), "second", 7 * 86_400, (52,)),
        (pd.date_range("2020-01-06", periods=40, freq="D"), "second", 86_400, (7,)),
        (pd.date_range("2020-01-06", periods=40, freq="B"), "weekday", 1, (5,)),
        (pd.date_range("2020-01-06 16:30", periods=40, freq="B"), "weekday", 1, (5,)),
        (
            pd.bdate_range("2020-01-06", periods=40, freq="C", weekmask="Mon Wed Fri"),
            "weekday",
            1,
            (3,),
        ),
        (
            pd.bdate_range("2020-01-06", periods=40, freq="C", weekmask="1111110"),
            "weekday",
            1,
            (6,),
        ),
        (pd.date_range("2015-01-04", periods=60, freq="28D"), "second", 28 * 86_400, ()),
        (pd.date_range("2015-01-04", periods=60, freq="35D"), "second", 35 * 86_400, ()),
        (pd.date_range("2021-01-01", periods=3, freq="YS"), "month", 12, ()),
        (pd.date_range("2020-01-31", periods=60, freq="BME"), "month", 1, (12,)),
        (pd.date_range("2020-01-06 07:30", periods=60, freq="h"), "second", 3600, (24,)),
    ],
)
def test_times_are_counted_in_their_steps_and_told_again(
    times: pd.DatetimeIndex, unit: str, length: int, seasons: tuple[int, ...]
) -> None:
    given_times = times.to_numpy()
    steps = Steps.of(given_times, np.zeros(len(times), dtype=np.int64))
    places = steps.places(given_times)
    assert (steps.unit, steps.length) == (unit, length)
    assert steps.seasons_within(int(places[-1] - places[0])) == seasons
    assert (np.diff(places) > 0).all()
    if times.freqstr != "BME":  # whose days are another each month
        assert (steps.times(places) == given_times.astype("datetime64[s]")).all()
    assert Steps.from_json(steps.to_json()) == steps


def test_numbers_are_steps_of_any_length() -> None:
    times = np.array([5.5, 6.0, 6.5, 8.0, 8.5])
    steps = Steps.of(times, np.zeros(5, dtype=np.int64))
    assert steps.places(times).tolist() == [11, 12, 13, 16, 17]
    assert (steps.times(steps.places(times)) == times).all()


@pytest.mark.parametrize(
    ("first", "length", "following"),
    [(1701234567890123.0, 60e6, 1701234747890123), (0.1, 0.1, 0.4), (2460000.5, 1.0, 2460003.5)],
)
def test_numbers_of_times_are_told_as_people_write_them(
    first: float, length: float, following: float
) -> None:
    times = first + length * np.arange(3)
    rows = pd.DataFrame({"at": times, "sales": [1.0, 2.0, 3.0]})
    past = Past.learn(Rule("sales", "at", 1), rows, rows)
    assert next_rows(past, 1, {"nodes": {}}) == [{"at": following}]


def test_irregular_times_have_the_median_step_and_not_the_least() -> None:
    random = np.random.default_rng(0)
    seconds = np.cumsum(random.exponential(3600, 500).round() + 1)
    times = np.datetime64("2024-01-01", "s") + seconds.astype("timedelta64[s]")
    steps = Steps.of(times, np.zeros(500, dtype=np.int64))
    assert steps.length == pytest.approx(np.median(np.diff(seconds)), rel=0.05)


@given(st.lists(st.lists(st.text("ab\\\nn", max_size=4), min_size=2, max_size=2), min_size=1))
def test_series_keep_their_names_whatever_is_in_them(names: list[list[str]]) -> None:
    rows = pd.DataFrame(names, columns=["shop", "kind"]).assign(day=1.0, sales=2.0)
    rule = Rule("sales", "day", 1, ("shop", "kind"))
    past = Past.learn(rule, rows, rows)
    assert sorted(past.names_of_series()) == sorted(map(list, set(map(tuple, names))))


def test_values_of_a_name_that_nobody_knows_are_not_those_of_one_series() -> None:
    """Two new shops have no name where a column has its classes: their values are not mixed."""
    rows = sales()
    past = Past.learn(RULE, rows[:80], rows)
    months = pd.date_range("2024-01-01", periods=2, freq="MS")
    shops = pd.Categorical([None, None], ["a", "b"])
    new = pd.DataFrame({"month": months, "shop": shops, "sales": [5.0, 6000.0]})
    assert past.told(new) is past
    assert past.unused_values(new) == 2
    without_names = pd.concat([rows, new])
    learned = Past.learn(RULE, without_names, without_names)
    assert learned.names_of_series() == [[None], ["a"], ["b"]]
    table = ColumnTable({"month": months.to_numpy(), "shop": np.array([None] * 2, object)}, 2)
    assert learned.distances(table).tolist() == learned.distances(new).tolist()
    assert learned.told(new.assign(sales=7.0)).known.values[:2].tolist() == [7.0, 7.0]


def test_series_that_are_numbers_are_named_as_people_write_them() -> None:
    rows = pd.DataFrame({"day": [1.0, 2.0, 3.0] * 2, "shop": [101.0] * 3 + [7.5] * 3, "sales": 1.0})
    past = Past.learn(Rule("sales", "day", 1, ("shop",)), rows, rows)
    schema = {"nodes": {"shop": {"type": "tensor", "dim": [1]}}}
    assert next_rows(past, 1, schema) == [{"day": 4, "shop": 101}, {"day": 4, "shop": 7.5}]


def test_a_value_without_a_time_tells_nothing() -> None:
    rows = sales()
    past = Past.learn(RULE, rows[:80], rows)
    timeless = pd.DataFrame({"month": [pd.NaT], "shop": ["a"], "sales": [777.0]})
    assert past.told(timeless) is past


@settings(max_examples=25)
@given(st.integers(0, 59), st.integers(0, 1))
def test_nothing_after_its_origin_is_seen(month: int, shop: int) -> None:
    """Values from the origin's next step on may be anything: what is seen of the row stays."""
    rows = sales()
    past = Past.learn(RULE, rows[:80], rows)
    row = rows[["month", "shop"]].iloc[[2 * month + shop]]
    seen = past.of_rows(row)
    distance = int(seen.features["ahead"][0])
    assert 1 <= distance <= 6

    changed = rows.copy()
    is_later = changed["month"] > row["month"].iloc[0] - pd.DateOffset(months=distance)
    changed.loc[is_later, "sales"] = 777_777.0
    blind = Past.learn(RULE, rows[:80], rows).told(changed[is_later])
    without = blind.of_rows(row)
    for name, values in seen.features.items():
        assert values == pytest.approx(without.features[name], rel=1e-9, abs=1e-9), name


def test_training_rows_see_each_distance_and_only_what_came_before() -> None:
    rows = sales()
    past = Past.learn(RULE, rows, rows)
    chosen, seen = past.of_training(rows, seed=1)
    assert set(seen.features["ahead"]) == {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
    by_row = rows.set_index(["month", "shop"])["sales"]
    lags = [name for name in seen.features if name.startswith("latest")]
    assert lags or past.plain == "latest"
    for place, row in enumerate(chosen[:200]):
        month, shop, _ = rows.iloc[row]
        distance = int(seen.features["ahead"][place])
        origin = by_row[month - pd.DateOffset(months=distance), shop]
        latest = seen.level[place]
        if lags:
            latest += seen.features["latest"][place] * seen.spread[place]
        assert latest == pytest.approx(origin)


@pytest.mark.parametrize("model", ["ridge", "lightgbm-regressor"])
def test_rows_of_a_test_are_forecast_as_if_each_were_asked_at_its_origin(model: str) -> None:
    """Brute force: a past that holds only what came before a block says the same of its rows, and a
    model that was fitted when nothing of the test was known is the same one.
    """
    rows = sales()
    train, test = rows[:96], rows[96:]
    pipeline = {
        "transforms": [{"module": "table-onehot"}],
        "model": {"module": model},
        "forecast": {"time": "month", "ahead": 6, "series": ["shop"]},
    }
    trained = fit(pipeline, train, SCHEMA_IN, SCHEMA_OUT, Context(history=rows))
    at_once = trained.predict(test).values
    earlier = fit(pipeline, train, SCHEMA_IN, SCHEMA_OUT, Context(history=train))
    assert earlier.past is not None
    said = []
    for first in range(96, 120, 12):  # six months of two shops
        past = earlier.past.knowing(rows[:first])
        block = rows[first : first + 12].drop(columns="sales")
        said.extend(replace(earlier, past=past).predict(block).values)
    assert said == pytest.approx(list(at_once), rel=1e-9)


def test_later_rows_are_forecast_from_the_newest_value_that_is_known() -> None:
    rows = sales()
    past = Past.learn(RULE, rows[:80], rows[:100])
    later = rows.iloc[100:112]
    assert past.distances(later[["month", "shop"]]).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    told = later.assign(sales=later["sales"].where(np.arange(12) < 4))
    newer = past.told(told)
    assert newer.distances(later[["month", "shop"]]).tolist()[4:] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert past.told(later[["month", "shop"]]) is past


def test_next_rows_follow_the_last_of_each_series_as_the_schema_writes_them() -> None:
    rows = sales()
    past = Past.learn(RULE, rows[:80], rows)
    newer = pd.DataFrame({"month": [pd.Timestamp("2024-01-01")], "shop": ["b"], "sales": [1.0]})
    past = past.told(newer)
    assert next_rows(past, 2, SCHEMA_IN) == [
        {"month": "2024-01", "shop": "a"},
        {"month": "2024-02", "shop": "a"},
        {"month": "2024-02", "shop": "b"},
        {"month": "2024-03", "shop": "b"},
    ]
    with pytest.raises(InvalidInput, match="end after 9999"):
        next_rows(past, 100_000, SCHEMA_IN)
    in_iso = {"nodes": {"month": {"column": "month"}}}
    assert next_rows(past, 1, in_iso)[0] == {"month": "2024-01-01", "shop": "a"}
    shown = last_rows(past, 2, SCHEMA_IN)
    assert shown[-1] == {"month": "2024-01", "shop": "b", "sales": 1.0}


def test_a_new_series_is_forecast_from_what_comes_with_it() -> None:
    rows = sales()
    past = Past.learn(RULE, rows[:80], rows)
    months = pd.date_range("2024-01-01", periods=4, freq="MS")
    new = pd.DataFrame({"month": months, "shop": "c", "sales": [5.0, 6.0, 7.0, np.nan]})
    seen = past.of_rows(new)
    latest = seen.level + seen.features.get("latest", np.zeros(4)) * seen.spread
    assert latest[3] == pytest.approx(7.0)
    assert past.of_rows(new[["month", "shop"]]).level[3] == past.middle


@pytest.mark.parametrize("model", ["ridge", "lightgbm-regressor"])
def test_a_forecast_beats_the_latest_value_and_is_kept_with_its_past(
    model: str, tmp_path: Path
) -> None:
    rows = sales()
    train, test = rows[:96], rows[96:]
    transform = {"ridge": "table-onehot", "lightgbm-regressor": "table-codes"}[model]
    transforms = [{"module": transform}, {"module": "scale"}]
    pipeline = {
        "transforms": transforms if model == "ridge" else transforms[:1],
        "model": {"module": model},
        "forecast": {"time": "month", "ahead": 6, "series": ["shop"]},
    }
    trained = fit(pipeline, train, SCHEMA_IN, SCHEMA_OUT, Context(history=rows))
    assert trained.past is not None
    said = trained.predict(test).values
    seen = trained.past.of_rows(test)
    latest = seen.level + seen.features["latest"] * seen.spread
    errors = np.abs(said - test["sales"]) / seen.spread
    errors_of_latest = np.abs(latest - test["sales"]) / seen.spread
    assert errors.mean() < errors_of_latest.mean() / 4

    save_model(trained, tmp_path / "model", quality=0.5)
    loaded = load_model(tmp_path / "model")
    loaded.check_parity()
    assert loaded.predict(test).values.tolist() == said.tolist()

    months = pd.date_range("2024-01-01", periods=2, freq="MS")
    newer = pd.DataFrame({"month": months[:1], "shop": ["a"], "sales": [50.0]})
    asked = pd.DataFrame({"month": months[1:], "shop": pd.Categorical(["a"], ["a", "b"])})
    before = loaded.predict(asked).values
    newer_past.tell(tmp_path / "model", pd.concat([rows, newer]))
    told = load_model(tmp_path / "model")
    told.check_parity()
    assert told.predict(asked).values != before
    assert told.predict(test).values.tolist() == said.tolist()


def test_rows_whose_origin_lies_before_all_values_have_no_past() -> None:
    rows = sales(24)
    have_past = Past.learn(RULE, rows, rows).have_past(rows)
    of_first_origin = rows["month"] < "2019-07-01"
    assert have_past.tolist() == (~of_first_origin).tolist()


def test_a_forecast_is_compared_with_a_plain_one_and_not_with_the_mean() -> None:
    rows = sales()
    description = {
        "transforms": [{"module": "table-onehot", "config": {}}],
        "model": {"module": "ridge", "config": {"alpha": 1.0}},
        "forecast": {"time": "month", "ahead": 6, "series": ["shop"]},
    }
    trained = fit(description, rows, SCHEMA_IN, SCHEMA_OUT, Context(history=rows))
    asked = rows[rows["month"] >= "2023-01-01"]
    found = trained.predict(asked)
    measure = measured("mean-absolute-error", asked["sales"], found, learnt=rows["sales"])
    assert measure.guess == "what a plain forecast says"
    assert trained.past is not None
    plain = trained.past.plain_forecasts(asked)[trained.past.plain]
    assert measure.baseline == pytest.approx(np.abs(asked["sales"] - plain).mean())
    assert measure.value < measure.baseline


def test_an_answer_has_a_bound_of_rows() -> None:
    rows = sales()
    pipeline = {
        "transforms": [{"module": "table-onehot"}],
        "model": {"module": "ridge"},
        "forecast": {"time": "month", "ahead": 6, "series": ["shop"]},
    }
    trained = fit(pipeline, rows, SCHEMA_IN, SCHEMA_OUT, Context(history=rows))
    assert trained.past is not None
    shops = [f"shop {number}" for number in range(30)]
    many = pd.DataFrame({"month": rows["month"].iloc[-1], "shop": shops, "sales": 1.0})
    served = SimpleNamespace(
        trained=replace(trained, past=trained.past.told(many)),
        schema_in=Schema.from_json(SCHEMA_IN),
        schema_out=Schema.from_json(SCHEMA_OUT),
    )
    with pytest.raises(InvalidInput, match="320,000 rows; one answer has at most 200,000") as said:
        forecasts.forecast(served, b"", "application/json", 10_000)
    assert "at most 6,250 steps" in said.value.remedy


def test_the_past_is_whole_after_a_round_trip(tmp_path: Path) -> None:
    rows = sales()
    past = Past.learn(RULE, rows[:80], rows)
    save(past, tmp_path)
    again = load(tmp_path)
    before, after = past.of_rows(rows), again.of_rows(rows)
    assert before.level.tolist() == after.level.tolist()
    for name, values in before.features.items():
        assert values.tolist() == after.features[name].tolist()
