"""Digests of contents, parameters and functions: equal ones have equal digests, whatever made them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from decimal import Decimal
from functools import cached_property, singledispatch
from hashlib import blake2b
from operator import attrgetter
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.data.types.arrow import arrow_compute
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from easeml.relation import Content, Relation
    from easeml.relation.blocks import Blocks

_SIZE = 16  # bytes
_WRITTEN = (datetime.date, datetime.timedelta, Decimal, type(pd.NA))  # told apart as they print


@runtime_checkable
class Digested(Protocol):
    """A parameter that has a digest of its own, such as the bytes of a file."""

    @property
    def digest(self) -> str: ...


class Held:
    """A relation as a parameter: its key is that of its content, digested once."""

    def __init__(self, relation: Relation):
        self.relation = relation

    @cached_property
    def digest(self) -> str:
        """The digest of the content."""
        return content_digest(self.relation.content)

    def __repr__(self) -> str:
        return repr(self.relation)


def digest_of(*parts: str) -> str:
    """Return a digest of texts, in hexadecimal digits."""
    digest = blake2b(digest_size=_SIZE)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def content_digest(content: Content) -> str:
    """Return the digest of a relation's cells, ids, roles, target and candidates."""
    digest = blake2b(digest_size=_SIZE)
    _add_rows(digest, content)
    _add_blocks(digest, content.blocks)
    digest.update(repr(content.sources).encode() + content.blocks.source.tobytes())
    return digest.hexdigest()


def _add_rows(digest: Any, content: Content) -> None:
    """Add ids, roles and cells of rows."""
    digest.update(repr((content.target, content.row_ids.name)).encode())
    if _is_counted(content.row_ids):
        digest.update(f"0..{len(content.row_ids)}".encode())
    else:
        _add_column(digest, pa.Array.from_pandas(content.row_ids))
    if content.roles is not None:
        digest.update(b"roles" + content.roles.tobytes())
    if content.origins is not None:
        digest.update(b"origins" + repr(content.origins.tolist()).encode())
    for name in content.table.column_names:
        column = content.table.column(name)
        digest.update(repr((name, str(column.type))).encode())
        _add_column(digest, column)


def _add_blocks(digest: Any, blocks: Blocks) -> None:
    """Add the candidates of cells."""
    for array in (blocks.row, blocks.variable, blocks.first, blocks.weight, blocks.present):
        digest.update(np.ascontiguousarray(array).tobytes())
    for name in sorted(blocks.cells):
        cells = blocks.cells[name]
        digest.update(name.encode() + cells.place.tobytes())
        _add_column(digest, cells.values)


def value_digest(value: Any) -> str:
    """Return the digest of what a step gives: of a relation its content, else of JSON values."""
    content = getattr(value, "content", None)
    if content is None:
        return digest_of(canonical(value))
    return content_digest(content)


def canonical(value: Any, where: str = "parameter") -> str:
    """Return a parameter as text that is equal for equal values. Raises InvalidInput."""
    return json.dumps(_plain(value, where), sort_keys=True, ensure_ascii=False)


def function_digest(function: Any) -> str:
    """Return the digest of what a function does: its own code, constants and defaults.

    What it calls is not looked into. Raises InvalidInput for what is no Python function.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        raise InvalidInput(
            f"{function!r} is not a Python function.",
            remedy="Give a function made by def or lambda.",
        )
    defaults = function.__defaults__ or ()
    named_defaults = function.__kwdefaults__ or {}
    kept = list(map(attrgetter("cell_contents"), function.__closure__ or ()))
    extra = canonical([defaults, named_defaults, kept], f"function {function.__name__}")
    return digest_of(_code_text(code), extra)


def _code_text(code: CodeType) -> str:
    constants = map(_constant_text, code.co_consts)
    return repr((code.co_code.hex(), code.co_names, code.co_varnames, list(constants)))


def _constant_text(constant: Any) -> str:
    """Return a constant of a function's code, which may be the code of a function within it."""
    if isinstance(constant, CodeType):
        return _code_text(constant)
    return repr(constant)


@singledispatch
def _plain(value: Any, where: str) -> Any:
    """Return JSON values that are equal for equal values. Raises InvalidInput."""
    return {type(value).__name__: _plain_object(value, where)}


@_plain.register
def _plain_single(value: bool | int | str | None, where: str) -> Any:
    return value


@_plain.register
def _plain_number(value: np.generic, where: str) -> Any:
    return _plain(value.item(), where)


@_plain.register
def _plain_list(value: list | tuple, where: str) -> Any:
    return [_plain(each, where) for each in value]


@_plain.register
def _plain_mapping(value: Mapping, where: str) -> Any:
    # In an order that does not depend on that of the mapping.
    pairs = [[_plain(key, where), _plain(each, where)] for key, each in value.items()]
    return {"mapping": sorted(pairs, key=repr)}


def _plain_object(value: Any, where: str) -> Any:
    """Return what tells an object from others of its type, as JSON values. Raises InvalidInput."""
    is_record = is_dataclass(value) and not isinstance(value, type)
    if is_record:
        return _plain(vars(value), where)
    return _text_of(value, where)


def _text_of(value: Any, where: str) -> str:
    """Return what tells a value from others of its type. Raises InvalidInput."""
    if isinstance(value, float | bytes):
        return value.hex()
    if isinstance(value, Digested):
        return value.digest
    if isinstance(value, _WRITTEN):
        return str(value)
    if callable(value):
        return function_digest(value)
    raise InvalidInput(
        f"A value of type {type(value).__name__} has no lasting name.",
        where=where,
        remedy="Use numbers, text, lists, mappings or functions.",
    )


def _is_counted(row_ids: pd.Index) -> bool:
    """Tell whether ids are 0, 1, 2, ..., which take no memory."""
    if not isinstance(row_ids, pd.RangeIndex):
        return False
    return (row_ids.start, row_ids.step) == (0, 1)


def _add_column(digest: Any, column: pa.ChunkedArray | pa.Array) -> None:
    """Add a column to a digest; how it is cut into pieces does not matter."""
    whole = column
    if isinstance(column, pa.ChunkedArray):
        whole = column.combine_chunks()
    if pa.types.is_dictionary(whole.type):
        _add_column(digest, whole.dictionary)
        whole = whole.indices
    if whole.null_count:
        missing = whole.is_null().to_numpy(zero_copy_only=False)
        digest.update(np.packbits(missing).tobytes())
    digest.update(_cell_bytes(whole))


def _cell_bytes(whole: pa.Array) -> np.ndarray | pa.Buffer:
    """Return the cells of an array: numbers as they lie in memory, others as Arrow writes them."""
    is_number = pa.types.is_integer(whole.type) or pa.types.is_floating(whole.type)
    if is_number:
        return _numbers(whole)
    return _written(whole)


def _numbers(whole: pa.Array) -> np.ndarray:
    """Return numbers with 0 for missing ones, whose places are told apart."""
    if whole.null_count:
        whole = arrow_compute().fill_null(whole, 0)
    return np.ascontiguousarray(whole.to_numpy(zero_copy_only=False))


def _written(whole: pa.Array) -> pa.Buffer:
    """Return an array as Arrow writes it, without what lies before and after a slice."""
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([pa.concat_arrays([whole])], ["column"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()
