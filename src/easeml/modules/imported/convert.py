"""A file of a model, to a trained pipeline of an application, checked on its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data import kinds_of
from easeml.errors import EasemlError, InvalidInput
from easeml.modules.contract import Predictions
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.target import Target
from easeml.schema import Schema

from . import estimators, graphs
from .archives import model_in
from .faults import told_as_failure
from .labels import agreeing, matched
from .model import Estimator, Graph, Imported
from .pickles import as_skops

if TYPE_CHECKING:
    import pandas as pd

_CHECKED = 200  # rows
_SAMPLE = 5  # rows, which are predicted again where it is loaded
_NOT_KNOWN = (
    "It was trained elsewhere: if it has seen validation or test rows, its qualities flatter it."
)
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)
_PLAIN = ("number", "category", "text", "timestamp")
_SOURCE = """\
name = "{name}"
kind = "model"
version = "1.0"
contract = 1
title = "{title}"
accepts = "classification"

[runtime]
kind = "python"
entry = "easeml.modules.imported:{entry}"
libraries = {{ {libraries} }}
"""
_GRAPH = _SOURCE.format(
    name="imported-graph",
    title="Imported graph",
    entry="ImportedGraph",
    libraries='onnxruntime = "onnxruntime"',
)
_ESTIMATOR = _SOURCE.format(
    name="imported-estimator",
    title="Imported estimator",
    entry="ImportedEstimator",
    libraries="",
)
_MODULES = {"onnx": ("imported-graph", _GRAPH), "skops": ("imported-estimator", _ESTIMATOR)}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a model has to fit: kinds of columns, which are written as numbers, rows, target."""

    kinds: Mapping[str, str]
    written: list[str]
    rows: pd.DataFrame
    target: Target


def convert(
    path: Path,
    filename: str,
    train: pd.DataFrame,
    schemas: tuple[dict[str, Any], dict[str, Any]],
    objective: str,
) -> TrainedPipeline:
    """Return the model in a file as a pipeline that predicts rows of ``train``.

    ``schemas``: of input and output. ``objective``: by whose measure labels are chosen.
    Raises ``InvalidInput`` with column or class where the model is not one of this application.
    """
    content, form = model_in(path, filename)
    came_as = form
    if form == "pickle":
        content, form = as_skops(content, filename), "skops"
    schema_in, schema_out = schemas
    kinds = _kinds(schema_in)
    written = _written_numbers(Schema.from_json(schema_in), kinds)
    target = Target.learn(train, schema_out).deciding_for(objective)
    wanted = _Wanted(kinds, written, train.head(_CHECKED), target)
    read = _graph if form == "onnx" else _estimator
    model, classes = read(content, filename, wanted)
    order, target = matched(classes, target)
    model = replace(model, order=order)
    name, source = _MODULES[form]
    description = {"transforms": [], "model": {"module": name, "config": {}, "source": source}}
    notes = [f"Imported from {filename} ({came_as}). {_NOT_KNOWN}", *target.notes]
    if model.written:
        columns = ", ".join(model.written)
        notes.append(f"Categories of digits are given to it as numbers: {columns}.")
    trained = TrainedPipeline(
        description,
        schema_in,
        schema_out,
        (),
        model,
        target,
        tuple(notes),
        train.head(_SAMPLE).copy(),
    )
    predictions_of(trained, wanted.rows, "train")
    return trained


def predictions_of(trained: TrainedPipeline, rows: pd.DataFrame, role: str) -> Predictions:
    """Predict the rows of a role. Raises ``InvalidInput`` with what keeps the model from it."""
    try:
        return trained.predict(rows)
    except EasemlError as error:
        where = f"{role} {error.where}".strip()
        raise InvalidInput(error.message, where=where, remedy=error.remedy) from error


def _kinds(schema_in: dict[str, Any]) -> dict[str, str]:
    """Return the kinds of the columns. Raises ``InvalidInput`` where one is no table's."""
    kinds = dict(kinds_of(Schema.from_json(schema_in)))
    for name, kind in kinds.items():
        if kind not in _PLAIN:
            raise InvalidInput(
                f"Models are imported for tables; this column holds {kind}s.", where=name
            )
    return kinds


def _written_numbers(schema: Schema, kinds: Mapping[str, str]) -> list[str]:
    """Return the categories all of whose labels are numbers."""
    categories = [name for name, kind in kinds.items() if kind == "category"]
    found = []
    for name in categories:
        column = schema.columns[name]
        labels = schema.labels(column.name)
        if all(map(_NUMBER.fullmatch, labels)):
            found.append(name)
    return found


def _estimator(content: bytes, filename: str, wanted: _Wanted) -> tuple[Imported, list[Any] | None]:
    """Return an estimator of skops, and its classes (None of a regressor)."""
    loaded = estimators.read_skops(content, filename)
    columns = estimators.wanted_columns(loaded, list(wanted.kinds), filename)
    _check_known(columns, wanted.kinds)
    model = Estimator(content, {"": columns}, wanted.written, None, loaded)
    return model, estimators.classes_of(loaded)


def _check_known(columns: Sequence[str], kinds: Mapping[str, str]) -> None:
    unknown = list(filterfalse(kinds.__contains__, columns))
    if unknown:
        raise InvalidInput(
            f"The model takes {len(unknown)} columns that the application has not: "
            f"{', '.join(unknown[:5])}.",
            where=unknown[0],
            remedy=f"Fit it on the inputs alone, by their names: {', '.join(kinds)}.",
        )


def _graph(content: bytes, filename: str, wanted: _Wanted) -> tuple[Imported, list[Any] | None]:
    """Return a graph, and its classes (None of one that gives numbers)."""
    graphs.check_whole(content, filename)
    session = graphs.open_graph(content, filename)
    inputs = graphs.inputs_of(session, wanted.kinds, filename)
    as_text = graphs.given_as_text(session, inputs)
    written = list(filterfalse(as_text.__contains__, wanted.written))
    model = Graph(content, inputs, written, None, session)
    rows = model.frame_of(wanted.rows)
    with told_as_failure():
        found = graphs.run(session, inputs, rows)
        labels, probabilities, classes = graphs.scores_of(found)
    expected = wanted.target.classes
    if expected is None:
        return model, None if probabilities is None else []
    if probabilities is None:
        remedy = "Export it with an output of probabilities (rows, classes)."
        raise InvalidInput("The graph gives no probabilities.", where=filename, remedy=remedy)
    if classes:
        guesses = [classes]
    else:
        guesses = [graphs.named_in_nodes(content), expected.tolist()]
    return model, agreeing(guesses, labels, probabilities, filename)
