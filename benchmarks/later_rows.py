"""Do intervals hold fewer answers where a prediction is told to be later than all learned rows?

    python benchmarks/later_rows.py [--shares 0.5,0.6,0.7,0.8] [--out DIR] [--short]

Four public series of days or months, of which a model knows the date alone. Of each, a share of the
rows is known: these are divided at random or by time, and learned from as a search does it (a first
fit whose held-out errors tell the intervals, then a fit on all rows but the test rows). Judged are
the test rows of the division by time, and the rows of the next fifth of the series. ``told``: what
the intervals of rows hold that are told to be beyond what was measured (``easeml.modules.row_order``,
decision 0168); ``others``: what those of the others do. .9 is stated.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.modules import conformal, row_order
from easeml.modules.pipeline import Context, fit

SERIES = (
    "monthly_sunspots",
    "daily_female_births",
    "airline_passengers",
    "daily_min_temperatures",
)
MODELS = {"lightgbm-regressor": "table-codes", "ridge": "table-onehot"}
SPLITS = ("random", "time:date")
HEAD = ["series", "model", "split", "told rows", "told held", "other rows", "others held"]
NEXT = 0.2  # of the series is judged after what is known


def version_of(known: pd.DataFrame, split: str) -> Any:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        known.to_csv(folder / "rows.csv", index=False)
        table = read_table(folder / "rows.csv")
        columns = infer_table(table, "value").columns
        write_version(folder / "version", declare(table, columns, "value", split=split))
        return read_version(folder / "version")


def held(
    known: pd.DataFrame, later: pd.DataFrame, model: str, split: str
) -> tuple[list[bool], list[bool]]:
    """Return of each row that is told, and of each other one, whether its interval holds."""
    version = version_of(known, split)
    sides = version.schema_in.to_json(), version.schema_out.to_json()
    pipeline = {"transforms": [{"module": MODELS[model]}], "model": {"module": model}}
    context = Context(objective="r2")
    first = fit(pipeline, version.train, *sides, context)
    said = first.predict(version.validation)
    band = conformal.describe(version.validation["value"], said)
    assert band is not None
    learned = pd.concat([version.train, version.validation], ignore_index=True)
    serves = fit(pipeline, learned, *sides, context)
    until = row_order.describe(learned, version)["date"]["until"]

    judged = later.assign(date=pd.to_datetime(later["date"]))
    if split != "random":
        judged = pd.concat([version.test[["date", "value"]], judged], ignore_index=True)
    lower, upper = conformal.bounds(band, serves.predict(judged[["date"]]))
    answers = judged["value"].to_numpy(dtype=float)
    is_held = (np.asarray(lower) <= answers) & (answers <= np.asarray(upper))
    is_told = judged["date"].to_numpy() > np.datetime64(until)
    return is_held[is_told].tolist(), is_held[~is_told].tolist()


def share(found: list[bool]) -> float | str:
    return round(float(np.mean(found)), 3) if found else ""


def measure(series: pd.DataFrame, model: str, split: str, shares: list[float]) -> list[object]:
    told: list[bool] = []
    others: list[bool] = []
    for one in shares:
        end = int(one * len(series))
        later = series[end : end + int(NEXT * len(series))]
        first, second = held(series[:end], later, model, split)
        told += first
        others += second
    return [model, split, len(told), share(told), len(others), share(others)]


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--shares", default="0.5,0.6,0.7,0.8")
    parser.add_argument("--series", default=",".join(SERIES))
    options = read_options(parser, shares="0.8", series="airline_passengers")
    print(machine_line("lightgbm", "numpy", "scikit-learn"))
    lines = []
    shares = list(map(float, options.shares.split(",")))
    for name in options.series.split(","):
        series = pd.read_csv(options.data / "ts_forecast_small" / f"{name}.csv")
        for model in MODELS:
            for split in SPLITS:
                lines.append([name, *measure(series, model, split, shares)])
        write_table(options.out / "held.csv", HEAD, lines)
    print(pd.DataFrame(lines, columns=HEAD).to_string(index=False))


if __name__ == "__main__":
    main()
