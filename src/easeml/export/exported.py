"""A trained model that was taken elsewhere: frames in, frames out, as its endpoint predicts."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data import CELLS, ColumnTable, kinds_of, parse_rows
from easeml.modules import conformal, row_order
from easeml.modules.ensemble import TrainedEnsemble, load_model
from easeml.modules.labels import SaidLabels
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.row_order import Beyond
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

LABELS = "labels"
"""The fact of a manifest that says what classes are called outside."""
_ARROW = "application/vnd.apache.arrow.stream"


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """A model with the schemas of its rows.

    ``labels``: what classes are called outside, by their names in the model, where these differ.
    """

    trained: TrainedPipeline | TrainedEnsemble
    schema_in: Schema
    schema_out: Schema
    labels: Mapping[str, Any] = field(default_factory=dict)

    def predict(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with the index of ``rows``.

        Its columns: ``prediction``; ``probability_CLASS`` of each class, or ``lower`` and ``upper``
        of numbers. ``rows`` are read as an endpoint reads them: columns that the model does not
        know are not used. Warns of rows that lie after all that it learned from. Raises
        ``DatasetError``, which names row and column.
        """
        import pandas as pd

        if len(rows) == 0:
            return pd.DataFrame({"prediction": []}, index=rows.index)
        read = parse_rows(_arrow(self._written(rows)), _ARROW, self.schema_in, self.schema_out)
        for note in self.notes(self.beyond(read.table)):
            warnings.warn(note, stacklevel=2)
        return pd.DataFrame(self.predict_columns(read.with_values), index=rows.index)

    def beyond(self, rows: ColumnTable) -> Beyond:
        """Count rows that lie before or after all that the model learned from."""
        return row_order.beyond(row_order.kept(self.trained.manifest), rows)

    def notes(self, found: Beyond) -> list[str]:
        """Return what is said of rows that ``beyond`` counted, in a sentence each."""
        return row_order.notes(self.trained.manifest, found)

    def _written(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows with pictures, tensors and graphs as the texts that a table has of them."""
        kinds = kinds_of(self.schema_in)
        cells = [name for name in rows.columns if kinds.get(name) in CELLS]
        return rows.assign(**{name: rows[name].map(_as_text) for name in cells})

    def predict_columns(self, rows: ColumnTable) -> dict[str, list[Any]]:
        """Return what is predicted of rows that were read, one cell a row, by column.

        The columns are those of ``predict``.
        """
        predicted = self.trained.predict(rows)
        if predicted.labels is not None:
            return _columns_of_labels(predicted.values, predicted.labels)
        if predicted.scales is not None:
            names = map("prediction_{}".format, self.schema_out.parts)
            return dict(zip(names, predicted.values.T.tolist(), strict=True))
        values = predicted.values.tolist()
        if self.labels:
            values = [self.labels[name] for name in values]
        columns = {"prediction": values}
        if predicted.probabilities is not None and predicted.classes is not None:
            for place, name in enumerate(predicted.classes):
                label = self.labels.get(name, name)
                columns[f"probability_{label}"] = predicted.probabilities[:, place].tolist()
        band = self.trained.manifest.get(conformal.FACT)
        if band is not None:
            columns["lower"], columns["upper"] = conformal.bounds(band, predicted)
        return columns


def _columns_of_labels(values: Any, said: SaidLabels) -> dict[str, list[Any]]:
    """Return the labels of rows, and the probability of each of all labels, as columns."""
    names = map("probability_{}".format, said.choice.names)
    shares = dict(zip(names, said.chances.T.tolist(), strict=True))
    return {"prediction": said.choice.written(values), **shares}


def load_exported(folder: str | Path) -> ExportedModel:
    """Load a model from its folder, and prove with its sample that it predicts as it did.

    Raises ``Damaged`` where the folder is not whole, or the libraries here predict otherwise.
    """
    trained = load_model(Path(folder))
    trained.check_parity()
    schema_in = Schema.from_json(trained.schema_in)
    schema_out = Schema.from_json(trained.schema_out)
    labels = trained.manifest.get(LABELS, {})
    return ExportedModel(trained, schema_in, schema_out, labels)


def _as_text(cell: Any) -> Any:
    """Return a picture's bytes as base64, an array or a graph as JSON; others as they are."""
    if isinstance(cell, bytes):
        return base64.b64encode(cell).decode()
    if hasattr(cell, "tolist"):
        return json.dumps(cell.tolist())
    if isinstance(cell, list | dict):
        return json.dumps(cell)
    return cell


def _arrow(rows: pd.DataFrame) -> bytes:
    """Return a frame as the bytes of an Arrow stream."""
    import pyarrow as pa

    table = pa.Table.from_pandas(rows, preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
