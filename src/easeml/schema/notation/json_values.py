"""Values of the JSON form, each read with a check: a fault is reported with its path."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from math import inf
from typing import Any

from easeml.schema.notation import keys
from easeml.schema.structure import Dim, SchemaError, is_wildcard

NAME = re.compile(r"[a-z_][0-9a-z_]*")
_IN_WORDS = {bool: "true or false", str: "a string"}
_WILD_NAME = re.compile(r"[a-z_][0-9a-z_]*[?+*]?")


def count(value: Any, least: int, path: str, other: str = "") -> int:
    """An integer of at least ``least``; ``other``: what else may stand there, for the message."""
    if _is_integer(value, least):
        return value
    raise SchemaError(
        f"expected an integer of at least {least}{other}, found {shown(value)}.",
        where=path,
    )


def dims(body: Mapping[str, Any], path: str) -> tuple[Dim, ...]:
    """The dimensions of a tensor."""
    place = f"{path}.dim"
    value = required(body, "dim", keys.value_keys("tensor"), path, "a list of dimensions")
    if not isinstance(value, list | tuple) or not value:
        raise SchemaError(
            f"expected a list with at least one dimension, found {shown(value)}.",
            where=place,
        )

    found = _dim_list(value, place)
    _check_wildcards(found, place)
    return found


def _check_wildcards(dims: tuple[Dim, ...], path: str) -> None:
    """A tensor has one wildcard at most, and may not come to nothing."""
    wild = [str(size) for size in dims if is_wildcard(size)]
    if len(wild) > 1:
        raise SchemaError(
            f"expected at most one of ? + * in a tensor, found {', '.join(wild)}.",
            where=path,
        )
    if wild == list(dims) and not wild[0].endswith("+"):
        name = wild[0][:-1]
        raise SchemaError(
            f"expected '{name}+' or '{name}': a tensor has at least one dimension.",
            where=path,
        )


def src_dim(body: Mapping[str, Any], path: str) -> tuple[Dim, ...]:
    """The dimensions of the tensor that this one was matched with; empty if it was not."""
    value = body.get("src-dim", [])
    if not isinstance(value, list | tuple):
        raise SchemaError(
            f"expected a list of dimensions, found {shown(value)}.",
            where=f"{path}.src-dim",
        )
    return _dim_list(value, f"{path}.src-dim")


def _dim_list(value: Collection[Any], path: str) -> tuple[Dim, ...]:
    expected = "a positive integer, or the name of a variable with at most one of ? + * behind it"
    return tuple(dim(item, f"{path}.{i}", _WILD_NAME, expected) for i, item in enumerate(value))


def dim(value: Any, path: str, pattern: re.Pattern[str], expected: str) -> Dim:
    """A size, or the name of a variable in the form of ``pattern``."""
    if _is_integer(value, 1) or _is_text(value, pattern):
        return value
    raise SchemaError(
        f"expected {expected}, found {shown(value)}.",
        where=path,
    )


def src_dims(value: Any) -> dict[str, Dim]:
    """What the variables stand for, after a match."""
    sizes = optional_mapping(value, "src-dims")
    for name, size in sizes.items():
        if not isinstance(size, str) and not _is_integer(size):
            raise SchemaError(
                f"expected an integer or a name, found {shown(size)}.",
                where=f"src-dims.{name}",
            )
    return dict(sizes)


def src_name(body: Mapping[str, Any], path: str) -> str:
    """The name of what this was matched with; empty if it was not."""
    name = body.get("src-name", "")
    if "src-name" in body:
        check_name(name, f"{path}.src-name")
    return name


def class_name(body: Mapping[str, Any], path: str) -> str:
    """The name of a category's class."""
    value = required(body, "class", keys.value_keys("category"), path, "the name of a class")
    if not isinstance(value, str):
        raise SchemaError(
            f"expected the name of a class, found {shown(value)}.",
            where=f"{path}.class",
        )
    check_name(value, f"{path}.class")
    return value


def required(
    body: Mapping[str, Any], key: str, known: Collection[str], path: str, expected: str
) -> Any:
    """The value of a key that has to be there; ``known``: the keys that have a meaning."""
    if key in body:
        return body[key]
    raise SchemaError(
        f"expected {expected}, found nothing.",
        where=f"{path}.{key}",
        remedy=keys.meant_by(body, key, known),
    )


def check_name(name: Any, path: str) -> None:
    """Refuse what is no name."""
    if not _is_text(name, NAME):
        raise SchemaError(
            f"expected a name, found {shown(name)}.",
            where=path,
            remedy="Use a-z, 0-9 and _, not starting with a digit.",
        )


def mapping(value: Any, path: str) -> Mapping[str, Any]:
    """A mapping."""
    if not isinstance(value, Mapping):
        raise SchemaError(
            f"expected a mapping, found {shown(value)}.",
            where=path,
        )
    return value


def optional_mapping(value: Any, path: str) -> Mapping[str, Any]:
    """A mapping that may be absent or null, which count as empty."""
    return {} if value is None else mapping(value, path)


def strings(value: Any, path: str) -> tuple[str, ...]:
    """A list of strings."""
    is_list = isinstance(value, list | tuple)
    if is_list and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise SchemaError("expected a list of strings.", where=path)


def of_type(node: Mapping[str, Any], key: str, kind: type, default: Any, path: str) -> Any:
    """The value of a key that is a text, or true or false; ``default`` if it is not there."""
    value = node.get(key, default)
    if not isinstance(value, kind):
        raise SchemaError(
            f"expected {_IN_WORDS[kind]}, found {shown(value)}.",
            where=f"{path}.{key}",
        )
    return value


def _is_integer(value: Any, least: float = -inf) -> bool:
    """Whether a value is an integer of at least ``least``; a truth value is none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_text(value: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def shown(value: Any) -> str:
    """A value as it may stand in a message."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple) and len(value) > 4:
        return f"a list of {len(value)}"
    if isinstance(value, bool | None):
        return json.dumps(value)

    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
