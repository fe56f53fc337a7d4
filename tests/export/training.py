"""Models for the tests of this folder, fitted on rows that their modules' schemas allow."""

from pathlib import Path
from typing import Any

import pandas as pd

from easeml.data import kinds_of
from easeml.export import ModelFacts
from easeml.modules import conformal, load_registry
from easeml.modules.conformance import schemas, table
from easeml.modules.ensemble import TrainedEnsemble, member_folder, seal
from easeml.modules.pipeline import fit, save
from easeml.schema import Schema

REGISTRY = load_registry()
CHAINS = {
    "logistic": ["table-onehot", "scale"],
    "lightgbm-classifier": ["table-codes"],
    "ridge": ["table-onehot", "scale"],
}
FACTS = ModelFacts(
    "app_1", "Irises", "mod_1", "logistic 0", "data_1", 3, "accuracy", 0.9, notes=["a note"]
)


def trained(name: str, folder: Path) -> tuple[Any, pd.DataFrame]:
    """Fit and save a model; return it with its rows, which have an index of their own."""
    module = REGISTRY.get(name)
    chain = {
        "transforms": [{"module": one} for one in CHAINS[name]],
        "model": {"module": name},
    }
    rows = table(module)
    schema_in, schema_out = schemas(module, REGISTRY)
    made = fit(chain, rows, schema_in, schema_out)
    target = next(iter(kinds_of(Schema.from_json(schema_out))))
    band = conformal.describe(rows[target], made.predict(rows))
    save(made, folder, quality=0.9, interval=band)
    return made, rows.drop(columns=target)


def ensemble(folder: Path) -> tuple[TrainedEnsemble, pd.DataFrame]:
    """Fit two models, put them together and save that; return it with its rows."""
    first, rows = trained("logistic", member_folder(folder, 0))
    second, _ = trained("lightgbm-classifier", member_folder(folder, 1))
    made = TrainedEnsemble((first, second), (0.7, 0.3))
    seal(made, folder, first.sample, quality=0.9)
    return made, rows
