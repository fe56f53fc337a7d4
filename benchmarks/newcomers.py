"""What a model brings to others that have their defaults: alone, and in a mean of all.

    python benchmarks/newcomers.py [--model gaussian-process-regressor] [--seeds 5] [--tables wage]

A fifth of each public table of numbers is unseen. LightGBM, extremely randomised trees, a random
forest and the model learn from the other rows; R2 is of the unseen ones. ``without``: of the mean of
the three; ``with``: of all four. A search of some seconds tells less of one model for its cost: the
rows that judge a small table are few, and what else it tries differs.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from common import arguments, machine_line, read_options, write_table
from easeml.estimators.frames import typed
from easeml.modules import Context, load_registry
from easeml.modules.pipeline import fit
from estimators import judged, split

TABLES = "auto_mpg,sacramento,wine_quality_red,abalone,pbc,sensory,meta,lowbwt,auto_horse,bodyfat"
TABLES += ",strike,cholesterol,fishcatch,servo,wage,ames_housing"
PEERS = ["lightgbm-regressor", "extra-trees-regressor", "random-forest-regressor"]
COLUMNS = ["table", "rows", "seed", "model", *PEERS, "without", "with"]


def measure(options: argparse.Namespace, name: str, seed: int) -> list[Any]:
    """Return a row of results."""
    registry = load_registry()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        kind, actual = split(options.data, name, seed, folder)
        rows, unseen, told = (
            pd.read_parquet(folder / f"{part}.parquet") for part in ("X", "unseen", "y")
        )
    table = typed(rows, told["answer"].to_numpy(float), "number")
    schemas = table.schema_in.to_json(), table.schema_out.to_json()
    said = []
    for model in (options.model, *PEERS):
        chain = registry.candidates(registry.get(model), table.schema_in)
        pipeline = {
            "transforms": [{"module": one.name, "config": {}} for one in chain],
            "model": {"module": model, "config": {}},
        }
        trained = fit(pipeline, table.frame, *schemas, Context(seed=seed))
        said.append(trained.predict(unseen).values)
    means = [np.mean(said[1:], axis=0), np.mean(said, axis=0)]
    values = [round(judged(kind, actual, one), 4) for one in (*said, *means)]
    return [name, len(rows), seed, *values]


def main() -> None:
    """Measure, and print what the model brings."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--model", default="gaussian-process-regressor")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", default=TABLES)
    options = read_options(parser, seeds=1, tables="bodyfat")
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    rows = []
    with threadpool_limits(1):
        for name in options.tables.split(","):
            for seed in range(options.seeds):
                rows.append(measure(options, name, seed))
                print(*rows[-1], flush=True)
            write_table(options.out / f"{options.model}.csv", COLUMNS, rows)
    frame = pd.DataFrame(rows, columns=pd.Index(COLUMNS))
    means: Any = frame.groupby("table", sort=False)[COLUMNS[3:]].mean()
    print(means.round(4).to_string())
    gain = means["with"] - means["without"]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else float("nan")
    wins = int((gain > 0).sum())
    print(f"with: {gain.mean():+.4f} +- {error:.4f}, better on {wins} of {len(gain)} tables")
    best = int((means["model"] > means[PEERS].max(axis=1)).sum())
    print(f"alone: better than the best of the others on {best} of {len(gain)} tables")


if __name__ == "__main__":
    main()
