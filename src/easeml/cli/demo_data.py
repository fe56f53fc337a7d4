"""The tables of the demo: scikit-learn's, written out as CSV files."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class DemoTable:
    """A table, the tenant who brings it, and the column to predict."""

    tenant: str
    name: str
    target: str


TABLES = (
    DemoTable("oncology", "breast_cancer", "diagnosis"),
    DemoTable("cellar", "wine", "cultivar"),
    DemoTable("clinic", "diabetes", "progression"),
)


def write_table(table: DemoTable, folder: Path) -> Path:
    """Write a table as CSV, if it is not there yet, and return its path."""
    path = folder / f"{table.name}.csv"
    if path.exists():
        return path
    from sklearn import datasets

    options: dict[str, Any] = {"scaled": False} if table.name == "diabetes" else {}
    bunch = getattr(datasets, f"load_{table.name}")(as_frame=True, **options)
    frame = bunch.frame.rename(columns={"target": table.target})
    if "target_names" in bunch:
        frame[table.target] = bunch.target_names[bunch.target]
    folder.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    frame.to_csv(temporary, index=False)
    temporary.replace(path)
    return path


def first_row(path: Path, target: str) -> tuple[dict[str, float], str]:
    """Return the inputs of a table's first row, and its label as written."""
    with path.open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    actual = row.pop(target)
    return {name: float(value) for name, value in row.items()}, actual
