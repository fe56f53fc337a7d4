"""How near are forecasts, beside plain ones, and how many values lie within their intervals?

    python benchmarks/forecasts.py [--series airline,bikes] [--out DIR] [--peers PYTHON] [--short]

Of each series three fifths are learned from, a fifth chooses a model, and the last fifth judges, from
origins that lie as many steps apart as are forecast (a rolling origin). What is learned after each
origin is only what a method needs to forecast: values, not parameters.

``easeml``: of the ``MODELS`` with their defaults the mixture that is best on the fifth that chooses, by
greedy selection, fitted on both.
``by hand``: the same with columns of shifted values (one to three horizons, and a season, back) and
the date, as one had to make them before. ``latest`` and ``season``: the last value, and that of a
season before. ``ETS`` and ``ARIMA``: statsforecast's AutoETS and AutoARIMA (Hyndman and Khandakar,
Journal of Statistical Software 2008), fitted once on four fifths, with the python of ``--peers``.

``error``: mean absolute error by that of ``season``. ``held``: share of values within the interval
of nine in ten; ``near`` and ``far``: of the first and the last third of the distances.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from common import arguments, machine_line, read_options, write_table
from easeml.modules import Context, Predictions, conformal, load_registry
from easeml.modules.ensemble import TrainedEnsemble
from easeml.modules.forecasting import Past, Rule
from easeml.modules.pipeline import fit
from easeml.modules.selection import choose

MODELS = ["ridge", "elastic-net-regressor", "lightgbm-regressor", "extra-trees-regressor"]
HEAD = ["series", "rows", "ahead", "method", "error", "held", "near", "far"]
MOST_ROWS = 6000
OUT = {"nodes": {"value": {"singleton": True, "type": "tensor", "dim": [1], "column": "value"}}}
PATIENCE = 600  # seconds for the peers of one series
Floats = NDArray[np.float64]

PEERS = """
import json, sys
import numpy as np
from statsforecast.models import AutoARIMA, AutoETS
asked = json.load(sys.stdin)
values, season, ahead, first = asked["values"], asked["season"], asked["ahead"], asked["first"]
values = np.array(values)
found = {}
for name, model in {"ETS": AutoETS(season_length=season), "ARIMA": AutoARIMA(season_length=season)}.items():
    model.fit(values[:first])
    said, low, high = [], [], []
    for start in range(first, len(values), ahead):
        steps = min(ahead, len(values) - start)
        part = model.forward(y=values[:start], h=steps, level=[90])
        said += list(map(float, part["mean"]))
        low += list(map(float, part["lo-90"]))
        high += list(map(float, part["hi-90"]))
    found[name] = [said, low, high]
json.dump(found, sys.stdout)
"""


class Series(NamedTuple):
    """Rows of one or several series in the order of time, and how far they are forecast."""

    rows: pd.DataFrame
    ahead: int
    season: int
    by_shop: bool = False

    @property
    def rule(self) -> Rule:
        return Rule("value", "time", self.ahead, ("shop",) if self.by_shop else ())


def read(path: Path, time: str, target: str) -> pd.DataFrame:
    table = pd.read_csv(path).dropna(subset=[target]).tail(MOST_ROWS)
    times = pd.to_datetime(table[time]).astype("datetime64[us]")
    return pd.DataFrame({"time": times, "value": table[target].astype(float)})


def shops() -> pd.DataFrame:
    """Twenty made shops of sizes from 10 to 1,000, with a week's rhythm of their own, and a rise."""
    random = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=300)
    frames = []
    for number, level in enumerate(np.geomspace(10, 1000, 20)):
        rhythm = random.uniform(0.6, 1.4, 7)[np.arange(300) % 7]
        rise = 1 + random.normal(0, 0.002) * np.arange(300)
        value = level * rhythm * rise * random.lognormal(0, 0.1, 300)
        frames.append(pd.DataFrame({"time": days, "shop": f"shop {number:02}", "value": value}))
    rows = pd.concat(frames).sort_values(["time", "shop"], ignore_index=True)
    return rows.assign(shop=rows["shop"].astype("category"))


def all_series(data: Path) -> Iterator[tuple[str, Series]]:
    small = data / "ts_forecast_small"
    yield "airline", Series(read(small / "airline_passengers.csv", "date", "value"), 12, 12)
    yield "sunspots", Series(read(small / "monthly_sunspots.csv", "date", "value"), 12, 12)
    yield "temperatures", Series(read(small / "daily_min_temperatures.csv", "date", "value"), 30, 7)
    yield "births", Series(read(small / "daily_female_births.csv", "date", "value"), 14, 7)
    bikes = data / "bike_sharing_hourly" / "bike_sharing_hourly.csv"
    yield "bikes", Series(read(bikes, "datetime", "count"), 24, 24)
    yield "shops", Series(shops(), 14, 7, by_shop=True)


def schema_of(rows: pd.DataFrame) -> dict[str, object]:
    """Return the schema of all columns but the value."""
    nodes: dict[str, object] = {}
    classes: dict[str, object] = {}
    for name in rows.columns.drop("value"):
        node: dict[str, object] = {"singleton": True, "column": name}
        if name == "time":
            node |= {"type": "timestamp", "format": ""}
        elif name == "shop":
            node |= {"type": "category", "class": "shop"}
            labels = list(rows["shop"].cat.categories)
            classes["shop"] = {"dim": len(labels), "labels": labels}
        else:
            node |= {"type": "tensor", "dim": [1], "optional": True}
        nodes[f"column_{len(nodes)}"] = node
    return {"nodes": nodes, "classes": classes}


def pipeline(model: str, schema: dict[str, object]) -> dict[str, object]:
    registry = load_registry()
    module = registry.get(model)
    chain = [{"module": one.name} for one in registry.candidates(module, schema)]
    return {"transforms": chain, "model": {"module": model}}


def ensemble(
    rows: pd.DataFrame,
    ends: tuple[int, int],
    forecast: dict[str, object] | None,
    models: list[str],
) -> tuple[TrainedEnsemble, Predictions]:
    """Return the models that are best together where models are chosen, fitted on both parts, and what
    such a mixture said there.
    """
    schema = schema_of(rows)
    learned, chosen = rows[: ends[0]], rows[ends[0] : ends[1]]
    pipelines = []
    said = []
    for model in models:
        described = pipeline(model, schema) | ({"forecast": forecast} if forecast else {})
        trained = fit(described, learned, schema, OUT, Context(history=rows[: ends[1]]))
        pipelines.append(described)
        said.append(trained.predict(chosen))
    choice = choose("r2", chosen["value"], said)
    members = []
    for described in pipelines:
        members.append(fit(described, rows[: ends[1]], schema, OUT, Context(history=rows)))
    return TrainedEnsemble(tuple(members), tuple(choice.weights)), choice.unseen


def by_hand(series: Series) -> pd.DataFrame:
    """Return rows with columns of values of before, as far back as has to be."""
    rows = series.rows.copy()
    values = rows.groupby("shop", observed=True)["value"] if series.by_shop else rows["value"]
    back = -(-series.ahead // series.season) * series.season
    for lag in {
        series.ahead,
        series.ahead + 1,
        2 * series.ahead,
        3 * series.ahead,
        back,
        back + series.season,
    }:
        rows[f"{lag} before"] = values.shift(lag)
    return rows


def of_peers(series: Series, first: int, python: Path) -> dict[str, list[list[float]]]:
    asked = {"values": series.rows["value"].tolist(), "season": series.season}
    asked |= {"ahead": series.ahead, "first": first}
    command = [python, "-c", PEERS]
    try:
        told = subprocess.run(
            command,
            check=False,
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        print(f"the peers were not ready in {PATIENCE} s")
        return {}
    told.check_returncode()
    return json.loads(told.stdout)


def measure(name: str, series: Series, options: argparse.Namespace) -> list[list[object]]:
    """Return a line a method."""
    rows = series.rows
    count = len(rows)
    ends = int(0.6 * count), int(0.8 * count)
    judged = rows[ends[1] :]
    truth = judged["value"].to_numpy()
    past = Past.learn(series.rule, rows[: ends[1]], rows)
    distance = past.distances(judged)
    plain = past.plain_forecasts(judged)
    error_of_season = np.abs(plain[f"{series.season} before"] - truth).mean()
    lines: list[list[object]] = []

    def tell(
        method: str, said: Floats, lower: Floats | None = None, upper: Floats | None = None
    ) -> None:
        line = [
            name,
            count,
            series.ahead,
            method,
            round(np.abs(said - truth).mean() / error_of_season, 3),
        ]
        if lower is None or upper is None:
            lines.append([*line, "-", "-", "-"])
            return
        held = (lower <= truth) & (truth <= upper)
        third = series.ahead / 3
        parts = [held, held[distance <= third], held[distance > 2 * third]]
        lines.append([*line, *(round(float(part.mean()), 3) for part in parts)])

    forecast = {"time": "time", "ahead": series.ahead, "series": list(series.rule.series)}
    for method, table, rule in (("easeml", rows, forecast), ("by hand", by_hand(series), None)):
        trained, said = ensemble(table, ends, rule, MODELS[: options.models])
        band = conformal.describe(table["value"][ends[0] : ends[1]], said, past=trained.past)
        assert band is not None
        predicted = trained.predict(table[ends[1] :])
        lower, upper = map(np.asarray, conformal.bounds(band, predicted))
        tell(method, predicted.values, lower, upper)
    tell("latest", plain["latest"])
    tell("season", plain[f"{series.season} before"])
    if options.peers and not series.by_shop:
        for method, found in of_peers(series, ends[1], options.peers).items():
            tell(method, *map(np.array, found))
    return lines


def main() -> None:
    parser = arguments("forecasts", __doc__, data=True)
    parser.add_argument("--series", default="", help="Names, with commas; all if left out.")
    parser.add_argument("--models", type=int, default=len(MODELS), help="How many of them.")
    parser.add_argument("--peers", type=Path, help="A python that has statsforecast.")
    options = read_options(parser, series="births", models=2)
    wanted = [name for name in options.series.split(",") if name]
    lines = []
    for name, series in all_series(options.data):
        if not wanted or name in wanted:
            found = measure(name, series, options)
            for line in found:
                print(*line, sep="\t", flush=True)
            lines += found
    print(machine_line("numpy", "lightgbm", "scikit-learn"))
    write_table(options.out / "forecasts.csv", HEAD, lines)


if __name__ == "__main__":
    main()
