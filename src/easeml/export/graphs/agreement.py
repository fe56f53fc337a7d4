"""Whether an ONNX model predicts what the trained model predicts, row by row."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Predictions

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 1e-5


@dataclass(frozen=True, slots=True)
class Agreement:
    """The largest difference over ``rows`` rows, and where it is.

    Of probabilities as they are; of numbers as a share of the predictions' standard deviation.
    """

    rows: int
    worst: float
    row: int
    expected: Any
    found: Any


def agreement(path: Path, rows: "pd.DataFrame", expected: Predictions) -> Agreement:
    """Compare the ONNX model in a file with predictions of typed ``rows``, by ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = {one.name: _input(rows[one.name], one.type) for one in session.get_inputs()}
    wanted = [one.name for one in session.get_outputs()]
    outputs = dict(zip(wanted, session.run(wanted, given), strict=True))
    if expected.probabilities is None:
        truth = np.asarray(expected.values, dtype=np.float64)
        found = np.asarray(outputs["prediction"])
        spread = float(truth.std()) or 1.0
        return _compared(np.abs(found - truth) / spread, truth, found)
    found = np.asarray(outputs["probabilities"])
    differences = np.abs(found - expected.probabilities).max(axis=1)
    return _compared(differences, expected.probabilities, found)


def _compared(differences: NDArray[Any], truth: NDArray[Any], found: NDArray[Any]) -> Agreement:
    # A row that is no number on one side only is the worst there can be.
    seen = np.where(np.isnan(differences), np.inf, differences)
    row = int(seen.argmax())
    return Agreement(len(seen), float(seen[row]), row, truth[row].tolist(), found[row].tolist())


def _input(column: Any, kind: str) -> NDArray[Any]:
    """Return a column as ONNX takes it: a missing category is an empty text."""
    if kind == "tensor(string)":
        texts = column.astype(object).where(column.notna(), "").astype(str)
        return texts.to_numpy(dtype=object)[:, None]
    return column.to_numpy(dtype=np.float64)[:, None]
