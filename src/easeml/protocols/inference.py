"""The Open Inference Protocol v2 as a translation: tensors to rows, a prediction to tensors.

An input of one value a row is a column and has its name. One with several values a row is a column
of tensors if the data has one of its name, else all columns in the order of the metadata.
https://github.com/kserve/open-inference-protocol/blob/main/specification/protocol/inference_rest.md
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import easeml
from easeml.data import kinds_of
from easeml.errors import InvalidInput
from easeml.protocols.tensors import BYTES, Tensor, packed, read_tensor
from easeml.schema import Schema

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
        return any(len(tensor.values) > tensor.rows for tensor in self.inputs)


def read_request(body: bytes, header_length: str | None) -> Asked:
    """Read a request; ``header_length``: bytes of the JSON, before those of binary tensors.

    Raises ``InvalidInput``.
    """
    end = _header_end(body, header_length)
    told = _json(body[:end])
    inputs = told.get("inputs")
    if not isinstance(inputs, list) or not inputs:
        raise InvalidInput("A request has a list of inputs.", where="inputs")
    binary = memoryview(body)[end:]
    tensors = []
    for number, entry in enumerate(inputs):
        tensor, binary = read_tensor(entry, binary, f"input {number}")
        tensors.append(tensor)
    outputs = _outputs(told.get("outputs") or [])
    in_bytes = bool((told.get("parameters") or {}).get("binary_data_output", False))
    return Asked(str(told.get("id") or ""), tensors, outputs, in_bytes)


def rows_of(asked: Asked, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows that the tensors hold; ``columns``: of the data, where they decide.

    Raises ``InvalidInput`` where the tensors have different numbers of rows.
    """
    cells: dict[str, list[Any]] = {}
    for tensor in asked.inputs:
        cells |= _columns_of(tensor, columns)
    counts = {tensor.name: tensor.rows for tensor in asked.inputs}
    if len(set(counts.values())) > 1:
        raise InvalidInput(f"The inputs have different numbers of rows: {counts}.", where="inputs")
    names = list(cells)
    return [dict(zip(names, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def answer_of(asked: Asked, application_id: str, prediction: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer as JSON values, all outputs in it. Raises ``InvalidInput`` for an output
    that there is not.
    """
    answer: dict[str, Any] = {
        "model_name": application_id,
        "model_version": prediction["model_id"],
        "outputs": [],
    }
    if asked.id:
        answer["id"] = asked.id
    if prediction["notes"]:
        answer["parameters"] = {"notes": " ".join(prediction["notes"])}
    for tensor in _wanted(asked, prediction):
        answer["outputs"].append({**tensor.described(), "data": tensor.values})
    return answer


def encode_answer(
    asked: Asked, application_id: str, prediction: Mapping[str, Any]
) -> tuple[bytes, int | None]:
    """Return the body of the answer, and the bytes of its JSON where binary tensors follow it."""
    answer = answer_of(asked, application_id, prediction)
    parts = []
    for described, tensor in zip(answer["outputs"], _wanted(asked, prediction), strict=True):
        parameters = asked.outputs.get(tensor.name, {})
        if not parameters.get("binary_data", asked.in_bytes):
            continue
        content = packed(tensor)
        del described["data"]
        described["parameters"] = {**tensor.parameters, "binary_data_size": len(content)}
        parts.append(content)
    head = json.dumps(answer).encode()
    if not parts:
        return head, None
    return b"".join([head, *parts]), len(head)


def server() -> dict[str, Any]:
    """Tell name and version of the server, and the extensions of the protocol that it knows."""
    return {"name": "easeml", "version": easeml.__version__, "extensions": EXTENSIONS}


def live() -> dict[str, bool]:
    """Tell that the server answers; needs no key."""
    return {"live": True}


def metadata(
    name: str, versions: Sequence[str], schema_in: Schema, schema_out: Schema
) -> dict[str, Any]:
    """Return the metadata of an endpoint; ``versions``: ids of the models that it serves."""
    labels = _labels(schema_out)
    outputs = [_described(PREDICTION, BYTES if labels else "FP64", [-1])]
    if labels:
        outputs.append(_described(PROBABILITIES, "FP64", [-1, len(labels)]))
    else:
        outputs += [_described(name, "FP64", [-1]) for name in (LOWER, UPPER)]
    inputs = []
    for column, kind in kinds_of(schema_in).items():
        inputs.append(_described(column, "FP64" if kind == "number" else BYTES, [-1]))
    return {
        "name": name,
        "versions": list(versions),
        "platform": "easeml",
        "inputs": inputs,
        "outputs": outputs,
    }


def _described(name: str, datatype: str, shape: list[int]) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": shape}


def _labels(target: Schema) -> tuple[str, ...]:
    """Return the classes that may be predicted; none for numbers."""
    name, kind = next(iter(kinds_of(target).items()))
    return target.labels(target.columns[name].name) if kind == "category" else ()


def _header_end(body: bytes, told: str | None) -> int:
    if told is None:
        return len(body)
    if not told.isdecimal() or int(told) > len(body):
        raise InvalidInput(f"{told!r} is no length within the body.", where=HEADER_LENGTH)
    return int(told)


def _json(text: bytes) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The body is not JSON: {error}.", where="body") from error
    if not isinstance(told, dict):
        raise InvalidInput("The body is no JSON object.", where="body")
    return told


def _outputs(told: Any) -> dict[str, dict[str, Any]]:
    named: dict[str, dict[str, Any]] = {}
    for entry in told:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise InvalidInput("Each output has a name.", where="outputs")
        named[entry["name"]] = entry.get("parameters") or {}
    return named


def _columns_of(tensor: Tensor, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns that a tensor holds, by name."""
    cells = tensor.cells()
    if len(tensor.values) <= tensor.rows or tensor.name in columns:
        return {tensor.name: cells}
    width = tensor.shape[1]
    if len(tensor.shape) != 2 or width != len(columns):
        raise InvalidInput(
            f"There is no column of this name, and {list(tensor.shape)} is not the shape of all "
            f"{len(columns)} columns.",
            where=f"input '{tensor.name}'",
            remedy="Send an input a column; the metadata names them.",
        )
    return {name: [row[place] for row in cells] for place, name in enumerate(columns)}


def _wanted(asked: Asked, prediction: Mapping[str, Any]) -> list[Tensor]:
    """Return the outputs that were asked for, in that order."""
    given = {tensor.name: tensor for tensor in _all_outputs(prediction)}
    missing = [name for name in asked.outputs if name not in given]
    if missing:
        known = ", ".join(given)
        said = f"There is no output {missing[0]!r}."
        raise InvalidInput(said, where="outputs", remedy=f"There are: {known}.")
    return [given[name] for name in asked.outputs or given]


def _all_outputs(prediction: Mapping[str, Any]) -> list[Tensor]:
    values = prediction["predictions"]
    rows = len(values)
    are_texts = prediction.get("probabilities") is not None or isinstance(
        next(iter(values), 0.0), str
    )
    tensors = [Tensor(PREDICTION, BYTES if are_texts else "FP64", (rows,), values, {})]
    shares = prediction.get("probabilities")
    if shares:
        classes = list(shares[0])
        flat = [row[name] for row in shares for name in classes]
        said = {"classes": json.dumps(classes)}
        tensors.append(Tensor(PROBABILITIES, "FP64", (rows, len(classes)), flat, said))
    for name in (LOWER, UPPER):
        bound = prediction.get(name)
        if bound is not None:
            tensors.append(Tensor(name, "FP64", (rows,), bound, {}))
    return tensors
