"""What a refit on all rows but the test rows brings: test quality after it and before it.

    python benchmarks/refit.py [--seeds 3]

Each public table is declared as easeml does (train 60 %, validation 20 %, test 20 %). Models with
their default configuration are fitted on the train rows, as a search does, and on train and
validation rows, as what serves in the end. Qualities are on the test rows, scaled so that 1 is
best.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.modules import Context, load_registry, score
from easeml.modules.pipeline import fit

TABLES = {
    "titanic": "Survived",
    "german_credit": "",
    "wine_quality_red": "quality",
    "abalone": "",
    "telco_churn": "Churn",
    "auto_mpg": "mpg",
    "pima_diabetes": "",
    "heart_disease": "",
    "ionosphere": "",
    "sonar": "",
}
"""Folders of the data, each with the target of its table; empty: the last column."""
MODELS = ("lightgbm", "extra-trees", "logistic", "ridge")


def targets_of(data: Path) -> dict[Path, str]:
    """Return the file of each table with its target."""
    found = {}
    for name, target in TABLES.items():
        (file,) = (data / name).glob("*.csv")
        found[file] = target or read_table(file).column_names[-1]
    return found


def measure(file: Path, target: str, seed: int) -> list[tuple[str, float, float]]:
    """Return for each model its name, and the test quality before and after a refit."""
    table = read_table(file)
    declared = declare(table, infer_table(table, target).columns, target, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        write_version(folder, declared)
        version = read_version(folder)
    schema_in, schema_out = version.schema_in.to_json(), version.schema_out.to_json()
    registry = load_registry()
    objective = registry.objectives_for(schema_out)[0].name
    more = pd.concat([version.train, version.validation], ignore_index=True)
    found = []
    for match in registry.models_for(schema_in, schema_out):
        if not match.fits or not match.module.name.startswith(MODELS):
            continue
        chain = [each.choice() for each in registry.candidates(match.module, schema_in)]
        pipeline = {"transforms": chain, "model": match.module.choice()}
        scores = []
        for rows in (version.train, more):
            trained = fit(pipeline, rows, schema_in, schema_out, Context(seed=seed))
            predicted = trained.predict(version.test)
            scores.append(score(objective, version.test[version.target], predicted))
        found.append((match.module.name, scores[0], scores[1]))
    return found


def main() -> None:
    """Print and write the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tables", type=int, default=len(TABLES), help="how many")
    options = read_options(parser, seeds=1, tables=1)
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    print(f"{'table':20} {'model':28} {'before':>8} {'after':>8} {'gain':>8}")
    rows = []
    gains = []
    for file, target in list(targets_of(options.data).items())[: options.tables]:
        runs = [measure(file, target, seed) for seed in range(options.seeds)]
        for of_model in zip(*runs, strict=True):
            before = float(np.mean([one[1] for one in of_model]))
            after = float(np.mean([one[2] for one in of_model]))
            gains.append(after - before)
            rows.append([file.stem, of_model[0][0], f"{before:.4f}", f"{after:.4f}"])
            print(
                f"{file.stem:20} {of_model[0][0]:28} {before:8.4f} {after:8.4f} {gains[-1]:+8.4f}"
            )
    error = np.std(gains) / np.sqrt(len(gains))
    print(
        f"mean gain {np.mean(gains):+.4f} +- {error:.4f}; better in {np.mean(np.array(gains) > 0):.0%}"
    )
    write_table(options.out / "refit.csv", ["table", "model", "before", "after"], rows)


if __name__ == "__main__":
    main()
