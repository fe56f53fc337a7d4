"""Predictions kept by row id, in one Arrow file a training task.

Columns: ``row`` (int64), ``role`` (validation, test, or train of what folds predicted),
``prediction`` (nested lists of a tensor),
``probabilities`` (list of double, in the order of the classes; null for regression). The classes
are in the schema's metadata, key ``classes``, as JSON; so are their weights in the choice of a
label, key ``class_weights`` (``easeml.modules.decision``). Of rows that may have several labels
``probabilities`` are the chances of these, and key ``choice`` tells how they are chosen
(``easeml.modules.labels``). Key ``scales``: by which several numbers a row are judged. ``widths``
and ``plain`` (double), where predictions have them.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from easeml.optional import if_known

ROLES = ("validation", "test")
_OF_FORECASTS = ("widths", "plain")


def write_predictions(path: Path, rows: dict[str, Any], predictions: dict[str, Any]) -> None:
    """Write what was predicted; ``rows`` and ``predictions`` by role."""
    import pyarrow as pa
    from pyarrow import ipc

    one = next(iter(predictions.values()))
    tables = [_table(role, rows[role], predictions[role]) for role in predictions]
    table = pa.concat_tables(tables, promote_options="permissive")
    classes = None if one.classes is None else list(map(str, one.classes))
    weights = None if one.class_weights is None else one.class_weights.tolist()
    choice = None if one.labels is None else one.labels.choice.to_json()
    scales = None if one.scales is None else one.scales.tolist()
    told = {"classes": classes, "class_weights": weights, "choice": choice, "scales": scales}
    facts = dict(zip(told, map(json.dumps, told.values()), strict=True))
    table = table.replace_schema_metadata(facts)
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def read_predictions(path: Path, role: str) -> tuple[np.ndarray, Any]:
    """Return the row ids and the predictions (``easeml.modules.pipeline.Predictions``) of one role."""
    from pyarrow import ipc

    from easeml.modules import Predictions
    from easeml.modules.labels import LabelChoice

    with ipc.open_file(path) as file:
        table = file.read_all()
    facts = table.schema.metadata or {}
    classes = json.loads(facts.get(b"classes", b"null"))
    weights = json.loads(facts.get(b"class_weights", b"null"))
    scales = json.loads(facts.get(b"scales", b"null"))
    chosen = table.filter(np.asarray(table["role"].to_pylist()) == role)
    values = np.asarray(
        chosen["prediction"].to_pylist(), dtype=object if classes is not None else float
    )
    choice = LabelChoice.from_json(json.loads(facts.get(b"choice", b"null")))
    if choice is not None:
        chances = np.reshape(chosen["probabilities"].to_pylist(), (-1, len(choice.names)))
        said = Predictions.of_labels(chances.astype(float), choice)
        return chosen["row"].to_numpy(), said.with_values(values.reshape(chances.shape))
    known = (
        None if classes is None else np.asarray(chosen["probabilities"].to_pylist(), dtype=float)
    )
    probabilities = known if known is not None and known.ndim == 2 else None
    names = None if classes is None else np.asarray(classes, dtype=object)
    said = Predictions(
        values=values,
        probabilities=probabilities,
        classes=names,
        class_weights=if_known(weights, np.asarray),
        scales=if_known(scales, np.asarray),
    )
    return chosen["row"].to_numpy(), replace(said, **_of_forecasts(chosen))


def _of_forecasts(table: Any) -> dict[str, np.ndarray]:
    """Return what only predictions of forecasts have, by name."""
    names = set(_OF_FORECASTS).intersection(table.column_names)
    return {name: table[name].to_numpy() for name in names}


def roles_in(path: Path) -> set[str]:
    """Return the roles of the rows that were predicted."""
    from pyarrow import ipc

    with ipc.open_file(path) as file:
        return set(file.read_all()["role"].unique().to_pylist())


def _table(role: str, rows: Any, predictions: Any) -> Any:
    import pyarrow as pa

    probabilities = predictions.probabilities
    if predictions.labels is not None:
        probabilities = predictions.labels.chances
    listed = (
        [None] * len(rows)
        if probabilities is None
        else np.asarray(probabilities, dtype=float).tolist()
    )
    values = np.asarray(predictions.values)
    listed_values = (
        values.astype(float).tolist() if predictions.classes is None else list(map(str, values))
    )
    columns = {
        "row": pa.array(np.asarray(rows), pa.int64()),
        "role": pa.array([role] * len(rows)),
        "prediction": pa.array(listed_values),
        "probabilities": pa.array(listed, pa.list_(pa.float64())),
    }
    for name in _OF_FORECASTS:
        found = getattr(predictions, name)
        if found is not None:
            columns[name] = pa.array(found, pa.float64())
    return pa.table(columns)
