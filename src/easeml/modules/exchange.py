"""Tables of numbers that programs are given, and what they answer: Parquet or CSV."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .programs import LARGEST_OUTPUT, ProgramFailed

_MOST_COLUMNS = 10_000
_SHAPES = {
    "predict": "Write one row for each row of features, and a column for each class.",
    "transform": "Write one row for each row of features, with the same columns at each call.",
    "eval": "Write one column, and a row for each table of the folder that --data names.",
}


def write_numbers(path: Path, values: NDArray[np.float64], names: list[str]) -> None:
    """Write an array of shape (rows, columns) as a table with a header."""
    import pyarrow as pa

    columns = {name: values[:, place] for place, name in enumerate(names)}
    table = pa.table(columns)
    if path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, path, csv.WriteOptions(quoting_style="none"))
        return

    from pyarrow import parquet

    parquet.write_table(table, path)


def read_numbers(
    path: Path, name: str, rows: int, columns: int | None, program: str = "predict"
) -> NDArray[np.float64]:
    """Return what a program answered, of shape (rows, columns), all finite.

    ``columns`` None: as many as there are, at least one. ``name``: of the module; ``program``: that
    wrote it. Raises ``ProgramFailed`` for anything else.
    """
    if path.is_symlink() or not path.is_file():
        remedy = f"Let {program} write {path.name} into the folder that --output names."
        raise ProgramFailed(f"{program} wrote no {path.stem}.", where=name, remedy=remedy)
    if path.stat().st_size > LARGEST_OUTPUT:
        raise ProgramFailed(f"{program} wrote more than may be read.", where=name)
    table = _read(path, name, program)
    if columns is None:
        columns = min(max(1, table.num_columns), _MOST_COLUMNS)
    if (table.num_rows, table.num_columns) != (rows, columns):
        raise ProgramFailed(
            f"{program} answered {table.num_rows} rows of {table.num_columns} columns; "
            f"{rows} rows of {columns} were to be.",
            where=name,
            remedy=_SHAPES[program],
        )
    values = np.empty((rows, columns))
    for place in range(columns):
        values[:, place] = _numbers(table.column(place), name, program)
    if not np.isfinite(values).all():
        raise ProgramFailed(f"{program} answered what is not a finite number.", where=name)
    return values


def _read(path: Path, name: str, program: str) -> Any:
    from pyarrow import ArrowException, csv, parquet

    try:
        if path.suffix == ".csv":
            return csv.read_csv(path)
        file = parquet.ParquetFile(path, pre_buffer=False)
        return file.read()
    except (ArrowException, OSError, ValueError) as error:
        raise ProgramFailed(
            f"{path.name} of {program} cannot be read: {error}", where=name
        ) from error


def _numbers(column: Any, name: str, program: str) -> NDArray[np.float64]:
    from pyarrow import ArrowException

    try:
        return column.cast("float64").to_numpy()
    except (ArrowException, ValueError) as error:
        raise ProgramFailed(f"{program} answered what is not a number.", where=name) from error
