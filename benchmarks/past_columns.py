"""What do columns bring that a forecast knows up to its origin only, and nobody ahead?

    python benchmarks/past_columns.py [--rows 8000] [--out DIR] [--short]

Three public series with columns of numbers beside the target, each forecast a short and a long way
ahead. The last fifth of the rows is judged, from origins that are as far apart. ``without``: mean
absolute error where these columns are left out; then the error as a share of it: ``past only``
(``--past-only``), and ``known``, where each row has its own values, as if they were known ahead: no
forecast can know them, so this flatters.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml.modules.contract import Context
from easeml.modules.pipeline import fit
from forecasts import pipeline, schema_of

MODELS = ("lightgbm-regressor", "ridge")
SCHEMA_OUT = {
    "nodes": {"value": {"singleton": True, "type": "tensor", "dim": [1], "column": "value"}}
}
HEAD = ["series", "ahead", "model", "without", "past only", "known"]
JUDGED = 0.2  # of the rows


class Table(NamedTuple):
    """``rows``: time, value, and the columns beside; forecast ``ahead`` steps."""

    rows: pd.DataFrame
    ahead: tuple[int, ...]


def tables(data: Path) -> dict[str, Table]:
    bikes = pd.read_csv(data / "bike_sharing_hourly" / "bike_sharing_hourly.csv")
    bikes = bikes.rename(columns={"count": "value"}).assign(time=pd.to_datetime(bikes["datetime"]))
    air = pd.read_csv(data / "beijing_pm25" / "beijing_pm25.csv").rename(columns=str.lower)
    air = air.assign(time=pd.to_datetime(air[["year", "month", "day", "hour"]]))
    air = air.rename(columns={"pm2.5": "value"}).dropna(subset=["value"])
    power = pd.read_csv(data / "stream_elec2" / "elec2.csv").rename(columns={"nswprice": "value"})
    half_hours = pd.date_range("1996-05-07", periods=len(power), freq="30min")
    power = power.assign(time=half_hours)
    return {
        "bikes": Table(bikes[["time", "temp", "humidity", "windspeed", "value"]], (3, 24)),
        "air": Table(air[["time", "dewp", "temp", "pres", "iws", "value"]], (6, 24)),
        "power": Table(power[["time", "nswdemand", "vicdemand", "transfer", "value"]], (6, 48)),
    }


def error_of(rows: pd.DataFrame, ahead: int, model: str, past_only: list[str]) -> float:
    """Return the mean absolute error on the last rows."""
    first = int(len(rows) * (1 - JUDGED))
    schema = schema_of(rows)
    rule = {"time": "time", "ahead": ahead, "series": [], "past_only": past_only}
    description = {**pipeline(model, schema), "forecast": rule}
    context = Context(history=rows, threads=1)
    trained = fit(description, rows[:first], schema, SCHEMA_OUT, context)
    judged = rows[first:]
    said = trained.predict(judged.drop(columns="value")).values
    return float(np.abs(said - judged["value"].to_numpy()).mean())


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=8000)
    options = read_options(parser, rows=600)
    print(machine_line("lightgbm", "numpy", "scikit-learn"))
    lines = []
    for name, table in tables(options.data).items():
        rows = table.rows[: options.rows].reset_index(drop=True)
        beside = list(rows.columns.drop(["time", "value"]))
        for ahead in table.ahead:
            for model in MODELS:
                without = error_of(rows[["time", "value"]], ahead, model, [])
                past_only = error_of(rows, ahead, model, beside) / without
                known = error_of(rows, ahead, model, []) / without
                lines.append([name, ahead, model, without, past_only, known])
        write_table(options.out / "errors.csv", HEAD, lines)
    print(pd.DataFrame(lines, columns=HEAD).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
