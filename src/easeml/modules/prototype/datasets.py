"""The prototype's folders of samples: a folder for each row, with a file for its value."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.data.errors import DatasetError
from easeml.data.readers.easeml_dataset import read_easeml
from easeml.data.readers.easeml_values import write_samples
from easeml.modules.programs import ProgramFailed
from easeml.schema import Sample, Samples, Value

MOST_ROWS = 100_000
FILES_A_ROW = 6
"""Folders and files of a row: of its input, of its output, and of what is predicted."""
BYTES_A_ROW = 1000
_DIGITS = 20  # of a label that may be the code of a class


def write_vectors(folder: Path, node: str, rows: Any) -> None:
    """Write the data set of numbers: a vector for each row of an array, which may be sparse."""
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    vectors = np.asarray(dense, dtype=np.float64).reshape(len(dense), -1)
    _write(folder, {}, node, vectors)


def write_labels(folder: Path, node: str, of_class: str, codes: NDArray[Any], classes: int) -> None:
    """Write the data set of categories: a row's label is its code."""
    labels = tuple(map(str, range(classes)))
    _write(folder, {of_class: labels}, node, [(str(int(code)),) for code in codes])


def _write(
    folder: Path, classes: dict[str, tuple[str, ...]], node: str, values: Iterable[Value]
) -> None:
    samples = {name_of_row(row): Sample({node: value}) for row, value in enumerate(values)}
    write_samples(folder, Samples(classes, samples))


def name_of_row(row: int) -> str:
    """Return the name of a sample."""
    return f"{row:06}"


def read_predictions(
    folder: Path, name: str, rows: int, width: int, classes: int
) -> NDArray[np.float64]:
    """Return what ``predict`` wrote into a data set, of shape (rows, width).

    Of a category a row is 1 for the predicted class. ``name``: of the module. Raises
    ``ProgramFailed`` for anything but one label or finite vector a row; links are not followed.
    """
    predicted = _read(folder, name)
    found = np.zeros((rows, width))
    for row in range(rows):
        values = predicted.get(name_of_row(row), [])
        if len(values) != 1:
            raise _wrong(f"row {row} has {len(values)} values; one was to be", name)
        if classes:
            found[row, _code(values[0], classes, name)] = 1
        else:
            found[row] = _vector(values[0], width, name)
    return found


def _read(folder: Path, name: str) -> dict[str, list[Any]]:
    """Return the values of each sample, by its name."""
    try:
        samples = read_easeml(folder).input.samples
    except DatasetError as error:
        raise _wrong(f"{error.where}: {error.message}", name) from error
    return {sample: list(held.values.values()) for sample, held in samples.items()}


def _code(value: Any, classes: int, name: str) -> int:
    match value:
        case (str(label),) if _is_code(label, classes):
            return int(label)
    raise _wrong("a prediction is not a label of the data set that was learnt from", name)


def _is_code(label: str, classes: int) -> bool:
    is_number = label.isdecimal() and len(label) <= _DIGITS  # Python reads none of any length
    return is_number and int(label) < classes


def _vector(value: Any, width: int, name: str) -> NDArray[np.float64]:
    if not isinstance(value, np.ndarray) or value.size != width or not np.isfinite(value).all():
        raise _wrong(f"a prediction is not a vector of {width} finite numbers", name)
    return value.reshape(width)


def _wrong(what: str, name: str) -> ProgramFailed:
    return ProgramFailed(
        f"predict wrote no whole data set: {what}.",
        where=name,
        remedy="Write a sample for each sample of input, into the folder output of --output.",
    )
