"""Do intervals of predicted numbers hold nine answers of ten, of small and of large predictions?

    python benchmarks/prediction_intervals.py [--seeds 4] [--tables diamonds,wage] [--out DIR] [--short]

LightGBM learns from three fifths of the rows of a table; the intervals are told by a fifth that it
has not seen, and judged by the rest. Beside easeml's stand intervals of one width, the plain split
conformal ones (easeml's before decision 0166), and "conformalized quantile regression" (Romano,
Patterson and Candes, NeurIPS 2019), which trains two models more, for the quantiles.

``held``: the share of answers within, .9 is stated. ``least``: the same in the fifth of the rows,
by the size of their predictions, in which fewest are. ``score``: the interval score (Gneiting and
Raftery, JASA 2007, equation 43), the width and twenty times what an answer lies outside, as a share
of that of the one width: less is better. Tables that begin with ``law_`` are drawn.
"""

from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from common import arguments, machine_line, read_options, write_table
from easeml.modules import Predictions, conformal

TABLES = {
    "abalone": ("abalone/abalone.csv", "Rings"),
    "ames_housing": ("ames_housing/ames_housing.csv", "SalePrice"),
    "auto_mpg": ("auto_mpg/auto_mpg.csv", "mpg"),
    "bike": ("bike_sharing_hourly/bike_sharing_hourly.csv", "count"),
    "diamonds": ("diamonds/diamonds.csv", "price"),
    "wage": ("more_tables/Wage.csv", "wage"),
    "wine_quality_red": ("wine_quality_red/wine_quality_red.csv", "quality"),
}
LEAKS = ["casual", "registered", "logwage"]
MOST_ROWS = 12_000
HEAD = ["table", "seed", "rows that told it", "method", "held", "least", "score"]
MISSED = 0.1
_Numbers = NDArray[np.float64]
Ends = tuple[_Numbers, _Numbers]


def even(rows: int, random: np.random.Generator) -> tuple[_Numbers, _Numbers]:
    level = random.normal(size=rows)
    return level, level + random.normal(size=rows)


def growing(rows: int, random: np.random.Generator) -> tuple[_Numbers, _Numbers]:
    level = random.normal(size=rows)
    return level, np.exp(level + 0.5 * random.normal(size=rows))


def counts(rows: int, random: np.random.Generator) -> tuple[_Numbers, _Numbers]:
    level = random.normal(size=rows)
    return level, random.poisson(np.exp(level)).astype(float)


def one_sided(rows: int, random: np.random.Generator) -> tuple[_Numbers, _Numbers]:
    level = random.normal(size=rows)
    return level, level + random.exponential(size=rows)


LAWS = {"law_even": even, "law_growing": growing, "law_counts": counts, "law_one_sided": one_sided}


def rows_of(name: str, data: Path, random: np.random.Generator) -> tuple[pd.DataFrame, _Numbers]:
    """Return inputs and answers in a random order."""
    if name in LAWS:
        level, answers = LAWS[name](2000, random)
        return pd.DataFrame({"level": level, "chance": random.normal(size=2000)}), answers
    path, target = TABLES[name]
    table = pd.read_csv(data / path, sep=None, engine="python").dropna(subset=[target])
    table = table.sample(min(MOST_ROWS, len(table)), random_state=random).reset_index(drop=True)
    inputs = table.drop(columns=[target, *LEAKS], errors="ignore")
    for column in inputs.select_dtypes(exclude="number"):
        inputs[column] = inputs[column].astype("category")
    return inputs, table[target].to_numpy(dtype=np.float64)


def model(**settings: object) -> lightgbm.LGBMRegressor:
    return lightgbm.LGBMRegressor(n_estimators=150, num_leaves=15, verbose=-1, n_jobs=1, **settings)


def of_one_width(said: _Numbers, answers: _Numbers, new: _Numbers) -> Ends:
    width = above_most(np.abs(answers - said))
    return new - width, new + width


def of_easeml(said: _Numbers, answers: _Numbers, new: _Numbers) -> Ends:
    interval = conformal.describe(answers, Predictions(said, None, None))
    assert interval is not None
    lower, upper = conformal.bounds(interval, Predictions(new, None, None))
    return np.asarray(lower), np.asarray(upper)


def above_most(errors: _Numbers) -> float:
    """Return what a new error exceeds with the chance ``MISSED``."""
    place = int(np.ceil((len(errors) + 1) * (1 - MISSED))) - 1
    return float(np.sort(errors)[place])


def line_of(ends: Ends, answers: _Numbers, said: _Numbers) -> tuple[float, float, float]:
    """Return the share held, the least of a fifth of the rows, and the mean interval score."""
    lower, upper = ends
    is_held = (lower <= answers) & (answers <= upper)
    fifth = np.searchsorted(np.quantile(said, [0.2, 0.4, 0.6, 0.8]), said)
    least = min(float(np.mean(is_held[fifth == one])) for one in np.unique(fifth))
    outside = np.maximum(lower - answers, 0) + np.maximum(answers - upper, 0)
    score = float(np.mean(upper - lower + 2 / MISSED * outside))
    return float(np.mean(is_held)), least, score


def measure(name: str, seed: int, data: Path) -> list[list[object]]:
    """Return a line a method for one split of a table."""
    inputs, answers = rows_of(name, data, np.random.default_rng(seed))
    learned = slice(0, int(0.6 * len(answers)))
    telling = slice(learned.stop, int(0.8 * len(answers)))
    judged = slice(telling.stop, None)

    def fitted(one: lightgbm.LGBMRegressor) -> Callable[[slice], _Numbers]:
        one.fit(inputs[learned], answers[learned])
        return lambda part: np.asarray(one.predict(inputs[part]))

    said = fitted(model())
    low = fitted(model(objective="quantile", alpha=MISSED / 2))
    high = fitted(model(objective="quantile", alpha=1 - MISSED / 2))
    outside = np.maximum(low(telling) - answers[telling], answers[telling] - high(telling))
    slack = above_most(outside)
    known = said(telling), answers[telling], said(judged)
    found = {
        "one width": of_one_width(*known),
        "easeml": of_easeml(*known),
        "quantiles": (low(judged) - slack, high(judged) + slack),
    }
    one_width = line_of(found["one width"], answers[judged], said(judged))[2]
    lines: list[list[object]] = []
    for method, ends in found.items():
        held, least, score = line_of(ends, answers[judged], said(judged))
        told = [round(held, 4), round(least, 4), round(score / one_width, 4)]
        lines.append([name, seed, telling.stop - telling.start, method, *told])
    return lines


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--tables", default=",".join([*TABLES, *LAWS]))
    options = read_options(parser, seeds=1, tables="law_growing")
    print(machine_line("lightgbm", "numpy"))
    lines = []
    for name in options.tables.split(","):
        for seed in range(options.seeds):
            lines += measure(name, seed, options.data)
        write_table(options.out / "intervals.csv", HEAD, lines)
    found = pd.DataFrame(lines, columns=HEAD)
    by_table = found.groupby(["table", "method"], sort=False)[["held", "least", "score"]].mean()
    print(by_table.round(3).to_string())
    print(
        found.groupby("method", sort=False)[["held", "least", "score"]].mean().round(3).to_string()
    )


if __name__ == "__main__":
    main()
