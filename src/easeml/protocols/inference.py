"""The Open Inference Protocol v2 as a translation: tensors to rows, a prediction to tensors.

An input of one value a row is a column and has its name. One with several values a row is a column
of tensors if the data has one of its name, else all columns in the order of the metadata.
https://github.com/kserve/open-inference-protocol/blob/main/specification/protocol/inference_rest.md
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from easeml.data import kinds_of
from easeml.data.types.label_lists import told
from easeml.errors import InvalidInput
from easeml.protocols.columns import rows_of_columns
from easeml.protocols.json_body import name_of, read_json
from easeml.protocols.tensors import BYTES, Tensor, packed, read_tensor
from easeml.schema import Schema
from easeml.version import __version__

HEADER_LENGTH = "inference-header-content-length"
EXTENSIONS = ["binary_tensor_data"]

PREDICTION, PROBABILITIES, LOWER, UPPER = "prediction", "probabilities", "lower", "upper"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its tensors, and how the answer is wanted.

    ``outputs``: name to parameters; empty means all outputs.
    """

    id: str
    inputs: list[Tensor]
    outputs: dict[str, dict[str, Any]]
    in_bytes: bool

    @property
    def needs_columns(self) -> bool:
        """Whether the names of the data's columns decide what an input means."""
        return any(tensor.is_wide for tensor in self.inputs)


def read_request(body: bytes, header_length: str | None) -> Asked:
    """Read a request; ``header_length``: bytes of the JSON, before those of binary tensors.

    Raises ``InvalidInput``.
    """
    end = _header_end(body, header_length)
    told = read_json(body[:end])
    if not isinstance(told, dict):
        raise InvalidInput("The body is not a JSON object.", where="body")

    parameters = told.get("parameters") or {}
    return Asked(
        id=str(told.get("id") or ""),
        inputs=_inputs(told.get("inputs"), memoryview(body)[end:]),
        outputs=_outputs(told.get("outputs") or []),
        in_bytes=bool(parameters.get("binary_data_output", False)),
    )


def rows_of(asked: Asked, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows that the tensors hold; ``columns``: of the data, where they decide.

    Raises ``InvalidInput`` where the tensors have different numbers of rows.
    """
    cells: dict[str, list[Any]] = {}
    counts: dict[str, int] = {}
    for tensor in asked.inputs:
        cells |= _columns_of(tensor, columns)
        counts[tensor.name] = tensor.rows
    if len(set(counts.values())) > 1:
        raise InvalidInput(f"The inputs have different numbers of rows: {counts}.", where="inputs")
    return rows_of_columns(cells)


def answer_of(asked: Asked, application_id: str, prediction: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer as JSON values, all outputs in it. Raises ``InvalidInput`` for an output
    that there is not.
    """
    return _answer(asked, application_id, prediction, _wanted(asked, prediction))


def _answer(
    asked: Asked, application_id: str, prediction: Mapping[str, Any], tensors: Sequence[Tensor]
) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "model_name": application_id,
        "model_version": prediction["model_id"],
        "outputs": [{**tensor.described(), "data": tensor.values} for tensor in tensors],
    }
    if asked.id:
        answer["id"] = asked.id
    if prediction["notes"]:
        answer["parameters"] = {"notes": " ".join(prediction["notes"])}
    return answer


def encode_answer(
    asked: Asked, application_id: str, prediction: Mapping[str, Any]
) -> tuple[bytes, int | None]:
    """Return the body of the answer, and the bytes of its JSON where binary tensors follow it."""
    tensors = _wanted(asked, prediction)
    answer = _answer(asked, application_id, prediction, tensors)
    parts = []
    for described, tensor in zip(answer["outputs"], tensors, strict=True):
        parameters = asked.outputs.get(tensor.name, {})
        if parameters.get("binary_data", asked.in_bytes):
            content = packed(tensor)
            del described["data"]
            described["parameters"] = {**tensor.parameters, "binary_data_size": len(content)}
            parts.append(content)

    head = json.dumps(answer).encode()
    length = len(head) if parts else None
    return b"".join([head, *parts]), length


def server() -> dict[str, Any]:
    """Tell name and version of the server, and the extensions of the protocol that it knows."""
    return {"name": "easeml", "version": __version__, "extensions": EXTENSIONS}


def live() -> dict[str, bool]:
    """Tell that the server answers; needs no key."""
    return {"live": True}


def metadata(
    name: str, versions: Sequence[str], schema_in: Schema, schema_out: Schema
) -> dict[str, Any]:
    """Return the metadata of an endpoint; ``versions``: ids of the models that it serves."""
    inputs = []
    for column, kind in kinds_of(schema_in).items():
        datatype = "FP64" if kind == "number" else BYTES
        inputs.append(_described(column, datatype, [-1]))
    return {
        "name": name,
        "versions": list(versions),
        "platform": "easeml",
        "inputs": inputs,
        "outputs": _described_outputs(_labels(schema_out)),
    }


def _described_outputs(labels: Sequence[str]) -> list[dict[str, Any]]:
    """Tell the outputs for classes with these ``labels``; for numbers, where there are none."""
    if labels:
        return [
            _described(PREDICTION, BYTES, [-1]),
            _described(PROBABILITIES, "FP64", [-1, len(labels)]),
        ]
    return [_described(output, "FP64", [-1]) for output in (PREDICTION, LOWER, UPPER)]


def _described(name: str, datatype: str, shape: list[int]) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": shape}


def _labels(target: Schema) -> tuple[str, ...]:
    """Return the classes, or labels, that may be predicted; none for numbers."""
    name, kind = next(iter(kinds_of(target).items()))
    if kind != "category":
        return target.labels_of_rows
    return target.labels(target.columns[name].name)


def _inputs(told: Any, binary: memoryview) -> list[Tensor]:
    """Read the tensors of a request, of which some take their bytes from ``binary`` in turn."""
    if not isinstance(told, list) or not told:
        raise InvalidInput("A request has a list of inputs.", where="inputs")
    tensors = []
    for number, entry in enumerate(told):
        tensor, binary = read_tensor(entry, binary, f"input {number}")
        tensors.append(tensor)
    return tensors


def _header_end(body: bytes, told: str | None) -> int:
    if told is None:
        return len(body)
    if not told.isdecimal() or int(told) > len(body):
        raise InvalidInput(f"{told!r} is not a length within the body.", where=HEADER_LENGTH)
    return int(told)


def _outputs(told: Any) -> dict[str, dict[str, Any]]:
    named: dict[str, dict[str, Any]] = {}
    for entry in told:
        name = name_of(entry, "Each output has a name.", "outputs")
        named[name] = entry.get("parameters") or {}
    return named


def _columns_of(tensor: Tensor, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns that a tensor holds, by name."""
    cells = tensor.cells()
    is_one_column = tensor.name in columns or not tensor.is_wide
    if is_one_column:
        return {tensor.name: cells}
    if tensor.shape[1:] != (len(columns),):
        raise InvalidInput(
            f"There is no column of this name, and {list(tensor.shape)} is not the shape of all "
            f"{len(columns)} columns.",
            where=f"input '{tensor.name}'",
            remedy="Send one input for each column; the metadata names them.",
        )
    cells_of_columns = map(list, zip(*cells, strict=True))
    return dict(zip(columns, cells_of_columns, strict=True))


def _wanted(asked: Asked, prediction: Mapping[str, Any]) -> list[Tensor]:
    """Return the outputs that were asked for, in that order."""
    given = _all_outputs(prediction)
    try:
        return [given[name] for name in asked.outputs or given]
    except KeyError as missing:
        raise InvalidInput(
            f"There is no output {missing.args[0]!r}.",
            where="outputs",
            remedy=f"There are: {', '.join(given)}.",
        ) from missing


def _all_outputs(prediction: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return everything that a prediction says by its name, a tensor each."""
    values = _values(prediction)
    probabilities = prediction.get("probabilities")
    rows = len(values)
    first = next(iter(values), 0.0)
    are_texts = probabilities is not None or isinstance(first, str)
    datatype = BYTES if are_texts else "FP64"
    tensors = {PREDICTION: Tensor(PREDICTION, datatype, (rows,), values, {})}
    targets = prediction.get("targets")
    if targets:
        told_of = {"targets": json.dumps(targets)}
        numbers = list(chain.from_iterable(values))
        shape = (rows, len(targets))
        tensors = {PREDICTION: Tensor(PREDICTION, "FP64", shape, numbers, told_of)}
    if probabilities:
        tensors[PROBABILITIES] = _probability_tensor(probabilities)
    for name in (LOWER, UPPER):
        bound = prediction.get(name)
        if bound is not None:
            tensors[name] = Tensor(name, "FP64", (rows,), bound, {})
    return tensors


def _values(prediction: Mapping[str, Any]) -> list[Any]:
    """Return what is predicted of each row: one value; several labels are one text."""
    values = prediction["predictions"]
    separator = prediction.get("separator")
    if separator is None:
        return values
    return [told(labels, separator) for labels in values]


def _probability_tensor(probabilities: Sequence[Mapping[str, float]]) -> Tensor:
    """Return probabilities as a tensor of shape (rows, classes); its parameters name these."""
    classes = list(probabilities[0])
    flat = [row[name] for row in probabilities for name in classes]  # one pass: each answer waits
    shape = (len(probabilities), len(classes))
    return Tensor(PROBABILITIES, "FP64", shape, flat, {"classes": json.dumps(classes)})
