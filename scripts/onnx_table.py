"""Writes docs/reference/onnx.md: which models have an ONNX graph, and how well it agrees.

Each model is fitted on tables of numbers, and of numbers and categories with missing values; the
graph and the model then predict rows that neither saw.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes

from easeml.data import declare, infer_table
from easeml.errors import InvalidInput
from easeml.export.graphs import LARGEST, agreement, convert
from easeml.modules import load_registry
from easeml.modules.conformance import schemas, table
from easeml.modules.module import Module
from easeml.modules.pipeline import fit

OUT = Path(__file__).resolve().parents[1] / "docs" / "reference" / "onnx.md"
TYPES = ("tensor", "category")
CHAINS = (("table-onehot", "scale"), ("table-codes",))
HEAD = f"""<!-- Made by scripts/onnx_table.py. Do not edit. -->

# ONNX: models and agreement

What `easeml model export --format onnx` translates, and the largest difference between graph and
model over rows that neither saw: of probabilities, or of numbers as a share of the standard
deviation. `numbers`: scikit-learn's breast cancer or diabetes table. `gaps`: numbers and categories
with missing values. An export is refused where a test row differs by more than {LARGEST:g}.

Networks of the extra `torch`, CatBoost, XGBoost, and models that were brought or run as programs have
no graph: the export is refused with the name of the model, and nothing is written. So it is with
columns of dates, texts, pictures, tensors and graphs, by the name of the column. `python`, `mlflow`
and `oci` take all of them.

| model | numbers | gaps |
| --- | --- | --- |
"""

Rows = tuple[pd.DataFrame, pd.DataFrame, dict[str, Any], dict[str, Any]]


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore")
    registry = load_registry()
    lines = []
    for module in sorted(registry.of_kind("model"), key=lambda module: module.name):
        cells = [measured(module, rows) for rows in (numbers(module), gaps(module))]
        lines.append(f"| {module.name} | {cells[0]} | {cells[1]} |")
        sys.stdout.write(lines[-1] + "\n")
    OUT.write_text(HEAD + "\n".join(lines) + "\n")


def measured(module: Module, rows: Rows) -> str:
    """Return the largest difference over all chains of transforms, or why there is no graph."""
    train, new, schema_in, schema_out = rows
    worst = -1.0
    for chain in CHAINS:
        described = {
            "transforms": [{"module": name} for name in chain],
            "model": {"module": module.name},
        }
        try:
            made = fit(described, train, schema_in, schema_out)
        except ValueError:  # some models take no gaps, which this chain leaves
            continue
        try:
            with TemporaryDirectory() as folder:
                path = Path(folder, "model.onnx")
                path.write_bytes(convert(made).SerializeToString())
                worst = max(worst, agreement(path, new, made.predict(new)).worst)
        except InvalidInput:
            return "no graph"
    told = f"{worst:.0e}"
    return told if worst <= LARGEST else f"{told}, refused"


def numbers(module: Module) -> Rows:
    """Return a table of numbers for a model's kind of target."""
    import pyarrow as pa

    is_classifier = is_for_categories(module)
    loader = load_breast_cancer if is_classifier else load_diabetes
    frame = loader(as_frame=True).frame
    if is_classifier:
        frame["target"] = frame["target"].map({0: "malignant", 1: "benign"})
    frame.columns = [name.replace(" ", "_") for name in frame.columns]
    read = pa.Table.from_pandas(frame.astype(str), preserve_index=False)
    made = declare(read, infer_table(read).columns, "target")
    return made.frames["train"], made.frames["test"], *both(made)


def both(made: Any) -> Iterator[dict[str, Any]]:
    """Yield the schemas of a version."""
    yield made.schema_in.to_json()
    yield made.schema_out.to_json()


def gaps(module: Module) -> Rows:
    """Return the table of the suite that modules have to pass, without dates and texts."""
    registry = load_registry()
    schema_in, schema_out = schemas(module, registry)
    nodes = {name: node for name, node in schema_in["nodes"].items() if node["type"] in TYPES}
    train, new = table(module, rows=400), table(module, seed=3, rows=300)
    return train, new, {**schema_in, "nodes": nodes}, schema_out


def is_for_categories(module: Module) -> bool:
    """Tell whether a model predicts categories."""
    _, schema_out = schemas(module, load_registry())
    return "classes" in schema_out


if __name__ == "__main__":
    main()
