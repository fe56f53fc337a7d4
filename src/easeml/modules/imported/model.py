"""Imported models as the contract has them: rows in, probabilities or values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.modules.files import load_json, save_json
from easeml.modules.programs import ProgramFailed

from . import estimators, graphs
from .faults import told_as_failure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from easeml.modules.contract import Context, Data

_FILE, _ABOUT = "model", "about.json"
_SLACK = 1e-3  # of probabilities beyond 0 and 1


@dataclass(slots=True)
class Imported:
    """A model and what it is given. ``columns``: kind of each; ``inputs``: columns of each input.

    ``written``: columns whose labels are numbers, which it is given as numbers, as who reads the file
    by pandas has them. ``order``: places of its scores that are used, in the order of the classes;
    None of a number.
    """

    content: bytes
    inputs: Mapping[str, Sequence[str]]
    written: Sequence[str]
    order: Sequence[int] | None
    loaded: Any
    notes: tuple[str, ...] = ()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of the classes in ``order``, or values; ``X``: a table.

        Raises ``ProgramFailed`` where the model fails, or does not give them for each row.
        """
        frame = self.frame_of(X)
        with told_as_failure():
            scores = self._scores(frame)
        if self.order is None:
            return _values(scores, len(frame))
        return _shares(scores, (len(frame), len(self.order)))[:, list(self.order)]

    def frame_of(self, table: Any) -> Any:
        """Return a frame with the columns that the model takes, as it takes them."""
        import pandas as pd

        found = {}
        for columns in self.inputs.values():
            for name in columns:
                found[name] = self._column(pd.Series(table[name]), name)
        return pd.DataFrame(found)

    def _column(self, column: Any, name: str) -> Any:
        column = column.reset_index(drop=True)
        if column.dtype != "category":
            return column
        cells = column.astype(object).where(column.notna(), np.nan)
        if name in self.written:
            return cells.astype(np.float64)
        return cells

    def _scores(self, frame: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        """Write the model as it came, and what it is given."""
        (folder / _FILE).write_bytes(self.content)
        about = {"inputs": self.inputs, "written": self.written, "order": self.order}
        save_json(folder / _ABOUT, about)


def _values(scores: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Return one finite number a row. Raises ``ProgramFailed``."""
    if scores.size != rows:
        raise _misshapen(scores, (rows,))
    values = scores.reshape(-1)
    _check_rows(np.isfinite(values), values, "number")
    return values


def _shares(scores: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return probabilities (rows, classes) that add up to 1. Raises ``ProgramFailed``."""
    if scores.shape != shape:
        raise _misshapen(scores, shape)
    are_shares = (scores >= -_SLACK) & (scores <= 1 + _SLACK)
    _check_rows(are_shares.all(axis=1) & (scores.sum(axis=1) > _SLACK), scores, "probability")
    shares = scores.clip(0.0, 1.0)
    return shares / shares.sum(axis=1, keepdims=True)


def _misshapen(scores: NDArray[np.float64], expected: tuple[int, ...]) -> ProgramFailed:
    said = f"The model gives scores of shape {scores.shape}; {expected} is expected."
    return ProgramFailed(said, remedy="Fit it on this one target.")


def _check_rows(good: NDArray[np.bool_], scores: NDArray[np.float64], what: str) -> None:
    """Raise ``ProgramFailed`` with the first row that is not good."""
    if good.all():
        return
    row = int(np.flatnonzero(~good)[0])
    raise ProgramFailed(
        f"The model gives what is not a {what}: {scores[row].tolist()}.",
        where=f"row {row}",
        remedy="Impute missing values in the pipeline, and end it with a fitted model.",
    )


class Estimator(Imported):
    """An estimator of scikit-learn."""

    def _scores(self, frame: Any) -> NDArray[np.float64]:
        return estimators.predicted(self.loaded, frame)


class Graph(Imported):
    """An ONNX graph."""

    def _scores(self, frame: Any) -> NDArray[np.float64]:
        labels, probabilities, _ = graphs.scores_of(graphs.run(self.loaded, self.inputs, frame))
        found = labels if self.order is None else probabilities
        return np.asarray(found, dtype=np.float64)


class ImportedEstimator:
    """The module that loads an estimator."""

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> Imported:
        """Raise: it was trained elsewhere."""
        raise InvalidInput("An imported model is not trained here.")

    def load(self, folder: Path) -> Imported:
        """Read what was saved. Raises ``InvalidInput``, ``Damaged``."""
        content = (folder / _FILE).read_bytes()
        loaded = estimators.read_skops(content, _FILE)
        return Estimator(content, **load_json(folder / _ABOUT), loaded=loaded)


class ImportedGraph(ImportedEstimator):
    """The module that loads an ONNX graph."""

    def load(self, folder: Path) -> Imported:
        """Read what was saved. Raises ``InvalidInput``, ``Damaged``."""
        content = (folder / _FILE).read_bytes()
        loaded = graphs.open_graph(content, _FILE)
        return Graph(content, **load_json(folder / _ABOUT), loaded=loaded)
