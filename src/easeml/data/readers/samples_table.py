"""An ease.ml dataset as a table: a row a sample, a column a singleton, one column for instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.readers.easeml_dataset import EasemlDataset, read_easeml
from easeml.data.types.cells import GRAPH, json_example, reported, tensor_report, to_arrow
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.graphs import LINKS, graph_of
from easeml.schema import (
    CategoryClass,
    Node,
    Sample,
    Samples,
    Schema,
    SchemaError,
    schema_of_samples,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_Column = tuple["pa.Field", "pa.Array"]


def read_dataset(path: str | Path | bytes, name: str) -> pa.Table:
    """Read a full dataset, or one data set of inputs alone.

    The samples of ``val`` follow those of ``train``. The table's metadata say which column is the
    ``target``. Raises DatasetError, also for outputs of several nodes.
    """
    import pyarrow as pa

    dataset = read_easeml(path)
    columns = _columns(_joined(dataset.input, dataset.val_input), name, ())
    metadata = None
    if dataset.output is not None:
        taken = [field.name for field, _ in columns]
        answers = _columns(_joined(dataset.output, dataset.val_output), name, taken)
        if len(answers) != 1:
            said = ", ".join(field.name for field, _ in answers)
            raise DatasetError(
                f"the output has several nodes: {said}.",
                where=name,
                remedy="Make a dataset of one output each.",
            )
        columns += answers
        metadata = {"target": answers[0][0].name, "note": _note(dataset)}

    fields, arrays = zip(*columns, strict=True)
    return pa.table(list(arrays), schema=pa.schema(fields, metadata=metadata))


def _note(dataset: EasemlDataset) -> str:
    """What is to be said of the two parts of a dataset."""
    assert dataset.val_input is not None
    train = len(dataset.input.samples)
    val = len(dataset.val_input.samples)
    parts = f"{train} samples of train and {val} of val"
    return f"{parts}; how rows are used is for the split to say."


def _joined(first: Samples, second: Samples | None) -> Samples:
    if second is None:
        return first
    train = {f"train/{name}": sample for name, sample in first.samples.items()}
    val = {f"val/{name}": sample for name, sample in second.samples.items()}
    return Samples(first.classes, train | val)


def _columns(data: Samples, place: str, taken: Sequence[str]) -> list[_Column]:
    try:
        schema = schema_of_samples(data)
    except SchemaError as error:
        raise DatasetError(
            error.message,
            where=f"{place}: {error.where}",
            remedy=error.remedy,
        ) from error
    samples = list(data.samples.values())
    made = [_single(node, samples, taken) for node in schema.nodes.values() if node.singleton]
    if len(made) < len(schema.nodes):
        made.append(_graphs(schema, data, samples, taken))
    return made


def _single(node: Node, samples: Sequence[Sample], taken: Sequence[str]) -> _Column:
    import pyarrow as pa

    name = _named(node.name, taken)
    values: list[Any] = [sample.values[node.name] for sample in samples]
    if node.type == "category":
        field = pa.field(name, pa.string(), metadata={"type": "category"})
        labels = [label for (label,) in values]
        return field, pa.array(labels, pa.string())

    arrays: list[np.ndarray] = values
    is_number = prod(map(int, node.dim)) == 1
    if is_number:
        numbers = [repr(float(array.item())) for array in arrays]
        return pa.field(name, pa.string()), pa.array(numbers)
    return reported(tensor_report(name, arrays), to_arrow("tensor", arrays))


def _graphs(
    schema: Schema, data: Samples, samples: Sequence[Sample], taken: Sequence[str]
) -> _Column:
    nodes = {name: node for name, node in schema.nodes.items() if not node.singleton}
    if LINKS in nodes:
        raise DatasetError(
            f"a node is called '{LINKS}'.",
            remedy="Call it otherwise.",
        )

    used: set[str] = set()
    fields = []
    for name, node in nodes.items():
        used.update(field.class_name for field in node.fields if field.class_name)
        names = ", ".join(field.name for field in node.fields)
        fields.append(f"{name} ({names})")
    classes = {}
    for name in sorted(used):
        labels = tuple(data.classes[name])
        classes[name] = CategoryClass(len(labels), labels)

    part = replace(schema, nodes=nodes, classes=classes)
    graphs = list(map(graph_of, samples))
    linked = "in the order of a chain" if graphs[0][LINKS] is None else "with links"
    report = ColumnReport(
        _named(GRAPH, taken),
        "graph",
        "input",
        distinct=len(samples),
        examples=json_example("graph", graphs[0]),
        evidence=f"Instances {linked}: {', '.join(fields)}.",
        content=part.to_json(),
    )
    return reported(report, to_arrow("graph", graphs))


def _named(name: str, taken: Sequence[str]) -> str:
    return f"output {name}" if name in taken else name
