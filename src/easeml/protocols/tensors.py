"""Tensors of the Open Inference Protocol v2: in JSON, and as bytes after it (Triton's extension
"binary tensor data").

https://github.com/kserve/open-inference-protocol and
https://github.com/triton-inference-server/server (docs/protocol/extension_binary_data.md).
"""

import base64
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from easeml.errors import InvalidInput
from easeml.protocols.json_body import name_of

BYTES = "BYTES"
_LENGTH = struct.Struct("<I")
_LETTERS = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT16": "H",
    "UINT32": "I",
    "UINT64": "Q",
    "INT8": "b",
    "INT16": "h",
    "INT32": "i",
    "INT64": "q",
    "FP16": "e",
    "FP32": "f",
    "FP64": "d",
}
_DATATYPES = (BYTES, *_LETTERS)


@dataclass(frozen=True, slots=True)
class Tensor:
    """Values of a shape, row by row. ``parameters``: what else is said of it."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    values: list[Any]
    parameters: dict[str, Any]

    @property
    def rows(self) -> int:
        """Its first dimension."""
        return self.shape[0]

    @property
    def is_wide(self) -> bool:
        """Whether a row has more than one value."""
        return len(self.values) > self.rows

    def cells(self) -> list[Any]:
        """Return one entry a row: a value, or a nested list where a row has more than one."""
        inner = self.shape[1:]
        if math.prod(inner) == 1:
            return self.values
        return _nested(self.values, self.shape)

    def described(self) -> dict[str, Any]:
        """Return name, type and shape as JSON values."""
        said = {"name": self.name, "datatype": self.datatype, "shape": list(self.shape)}
        if self.parameters:
            said["parameters"] = self.parameters
        return said


def read_tensor(told: Any, binary: memoryview, where: str) -> tuple[Tensor, memoryview]:
    """Return a tensor of a request, and the bytes that belong to those after it.

    Raises ``InvalidInput`` where shape, type and values do not fit together.
    """
    name = name_of(told, "A tensor has name, shape, datatype and data.", where)
    where = f"{where} '{name}'"
    datatype = _datatype(told.get("datatype"), where)
    shape = _shape(told.get("shape"), where)
    parameters = told.get("parameters") or {}
    size = parameters.get("binary_data_size")
    if size is None:
        values = list(_flat(told.get("data")))
    else:
        own, binary = _taken(binary, size, where)
        values = _unpacked(own, datatype, where)

    needed = math.prod(shape)
    if len(values) != needed:
        said = f"The shape {list(shape)} needs {needed} values; {len(values)} came."
        raise InvalidInput(said, where=where)
    plain = list(map(_plain, values))
    return Tensor(name, datatype, shape, plain, parameters), binary


def _datatype(told: Any, where: str) -> str:
    if told in _DATATYPES:
        return told
    known = ", ".join(_DATATYPES)
    raise InvalidInput(f"{told!r} is not a datatype.", where=where, remedy=f"Known: {known}.")


def packed(tensor: Tensor) -> bytes:
    """Return the values as bytes, little-endian; texts with their lengths before them."""
    if tensor.datatype != BYTES:
        return struct.pack(f"<{len(tensor.values)}{_LETTERS[tensor.datatype]}", *tensor.values)
    parts = []
    for value in tensor.values:
        text = str(value).encode()
        parts += [_LENGTH.pack(len(text)), text]
    return b"".join(parts)


def _shape(told: Any, where: str) -> tuple[int, ...]:
    is_shape = isinstance(told, list) and told != [] and all(map(_is_size, told))
    if is_shape:
        return tuple(told)
    remedy = "Give the number of rows first, as in [3] or [3, 1]."
    raise InvalidInput("The shape is not a list of sizes.", where=where, remedy=remedy)


def _is_size(told: Any) -> bool:
    return type(told) is int and told >= 0  # a truth value is an int, too, and no size


def _flat(data: Any) -> Iterator[Any]:
    """Yield the values of nested lists, row by row."""
    if not isinstance(data, list):
        yield data
        return
    for entry in data:
        yield from _flat(entry)


def _taken(binary: memoryview, size: Any, where: str) -> tuple[memoryview, memoryview]:
    if type(size) is not int or not 0 <= size <= len(binary):
        said = f"binary_data_size is {size!r}; {len(binary)} bytes are left."
        raise InvalidInput(said, where=where)
    return binary[:size], binary[size:]


def _unpacked(binary: memoryview, datatype: str, where: str) -> list[Any]:
    if datatype == BYTES:
        return list(_texts(binary, where))
    letter = _LETTERS[datatype]
    count, rest = divmod(len(binary), struct.calcsize(f"<{letter}"))
    if rest:
        raise InvalidInput(f"The bytes end within a value of {datatype}.", where=where)
    return list(struct.unpack(f"<{count}{letter}", binary))


def _texts(binary: memoryview, where: str) -> Iterator[str]:
    while len(binary) > 0:
        if len(binary) < _LENGTH.size:
            raise InvalidInput("The bytes end within a length.", where=where)
        size = _LENGTH.unpack(binary[: _LENGTH.size])[0]
        own, binary = _taken(binary[_LENGTH.size :], size, where)
        yield _text(bytes(own))


def _text(value: bytes) -> str:
    """Return bytes as JSON has them: text, or base64 of what is none, such as a picture."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def _plain(value: Any) -> Any:
    """Return a value as rows have it: a number that is none is missing."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def _nested(values: Sequence[Any], shape: Sequence[int]) -> list[Any]:
    """Return values row by row as lists of lists."""
    rows, *inner = shape
    if not inner:
        return list(values)
    step = math.prod(inner)
    nested = []
    for row in range(rows):
        start = row * step
        nested.append(_nested(values[start : start + step], inner))
    return nested
