"""Folders with a table of qualities, and perhaps one of times, for the commands that simulate."""

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.search.simulator import Workload

QUALITY_FILES = ("accuracy.csv", "quality.csv", "r2_test.csv")
COST_FILES = ("time.csv", "training_time_s.csv")
_PERCENT = 100.0


def read_workload(folder: Path) -> tuple[Workload, bool]:
    """Return the workload of a folder, and whether its costs were measured.

    ``accuracy.csv``, ``quality.csv`` or ``r2_test.csv``: tenants in rows, models in columns, names
    in the first row and column; empty where a model failed. Accuracies of which one is above 1 are
    taken as percent; all are clipped to [0, 1]. ``time.csv`` or ``training_time_s.csv``: device
    seconds.

    Raises:
        InvalidInput: with file, row and column of what is wrong.
    """
    quality_file = _first_there(folder, QUALITY_FILES)
    if quality_file is None:
        names = ", ".join(QUALITY_FILES)
        raise InvalidInput(
            "The folder has no table of qualities.",
            where=str(folder),
            remedy=f"Add one of {names}.",
        )
    quality = _read_table(quality_file)
    if quality_file.name == "accuracy.csv":
        quality["values"] = _shares(quality["values"], quality_file)
    quality["values"] = np.clip(quality["values"], 0.0, 1.0)
    cost_file = _first_there(folder, COST_FILES)
    if cost_file is None:
        return Workload.from_tables(quality, None), False
    return Workload.from_tables(quality, _read_table(cost_file)), True


def _shares(accuracies: np.ndarray, file: Path) -> np.ndarray:
    """Return accuracies as shares; they are percent where one of them is above 1."""
    if np.nanmax(accuracies, initial=0.0) <= 1:
        return accuracies
    shares = accuracies / _PERCENT
    if np.nanmax(shares) > 1:
        raise InvalidInput("An accuracy is above 100 percent.", where=str(file))
    return shares


def _first_there(folder: Path, names: tuple[str, ...]) -> Path | None:
    there = filter(Path.is_file, map(folder.joinpath, names))
    return next(there, None)


def _read_table(path: Path) -> dict[str, Any]:
    head, *rows = _csv_rows(path)
    models = head[1:]
    tenants = [row[0] for row in rows]
    _check_names(models, "model", path)
    _check_names(tenants, "tenant", path)
    values = [_numbers(path, number, row, models) for number, row in enumerate(rows)]
    return {"tenants": tenants, "models": models, "values": np.array(values)}


def _csv_rows(path: Path) -> list[list[str]]:
    """Return the rows of a table that has a header, a tenant and a model at least."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(filter(None, csv.reader(file)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(
            "The file is not a CSV table.", where=str(path), remedy="Save it as UTF-8 CSV."
        ) from error
    if len(rows) < 2 or len(rows[0]) < 2:
        raise InvalidInput("The table needs a header, a tenant and a model.", where=str(path))
    return rows


def _check_names(names: list[str], kind: str, path: Path) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InvalidInput(
            f"The {kind} {name!r} is there twice.", where=str(path), remedy="Name each once."
        )


def _numbers(path: Path, number: int, row: list[str], models: list[str]) -> list[float]:
    cells = row[1:]
    if len(cells) != len(models):
        raise InvalidInput(
            f"The row has {len(row)} cells, not {len(models) + 1}.", where=f"{path}, row {number}"
        )
    return [_number(path, number, model, text) for model, text in zip(models, cells, strict=True)]


def _number(path: Path, number: int, model: str, text: str) -> float:
    if text.strip().lower() in {"", "nan", "na"}:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        where = f"{path}, row {number}, column {model!r}"
        raise InvalidInput(
            f"{text!r} is not a finite number.",
            where=where,
            remedy="Leave it empty if it is missing.",
        )
    return value
