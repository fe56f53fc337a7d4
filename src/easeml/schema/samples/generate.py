"""Random samples of a schema, for trying out modules: uniform tensors, random labels, links within
their bounds.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from easeml.schema.samples.generate_links import Linker
from easeml.schema.samples.values import Sample, Samples, Value, Values, schema_of_samples
from easeml.schema.schema import Schema
from easeml.schema.structure import Field, Node, SchemaError

if TYPE_CHECKING:
    import numpy as np

_ALPHABET = string.ascii_lowercase + string.digits
_LABEL = 16  # characters
_TRIES = 20


def generate(
    schema: Schema, rng: np.random.Generator, *, samples: int = 10, instances: int = 10
) -> Samples:
    """Return ``samples`` random samples, with ``instances`` of every non-singleton, whose schema
    fits ``schema``.

    Every declared link occurs. An instance has either as many links of a kind as the bounds say, or
    none: the last instance of a chain has no follower.

    Raises: SchemaError: if the schema has variables, types of tables only, or bounds that cannot be
        met.
    """
    _check(schema, samples, instances)
    for _ in range(_TRIES):
        labels = {
            name: value.labels or _labels(value.dim, rng) for name, value in schema.classes.items()
        }
        width = len(str(samples - 1))
        made = Samples(
            labels,
            {
                f"sample{i:0{width}d}": _sample(schema, labels, instances, rng)
                for i in range(samples)
            },
        )
        if schema.match(schema_of_samples(made)) is not None:
            return made
    raise SchemaError(
        f"no samples with {instances} instances of each node were found that keep all bounds.",
        where="nodes",
        remedy="Ask for more instances, or widen the bounds of the links.",
    )


def _check(schema: Schema, samples: int, instances: int) -> None:
    if samples < 1 or instances < 1:
        raise SchemaError("expected at least one sample and one instance.")
    for node in schema.nodes.values():
        if node.singleton and node.repeat:
            raise SchemaError(
                "expected no repeated node: samples have a fixed number.",
                where=f"nodes.{node.name}",
            )
        for value in node.values:
            _check_value(
                schema,
                value,
                f"nodes.{node.name}"
                if node.singleton
                else f"nodes.{node.name}.fields.{value.name}",
            )


def _check_value(schema: Schema, value: Field, path: str) -> None:
    if value.type not in ("tensor", "category"):
        raise SchemaError(f"expected a tensor or a category, found {value.type}.", where=path)
    sizes = value.dim if value.type == "tensor" else (schema.classes[value.class_name].dim,)
    for size in sizes:
        if isinstance(size, str):
            remedy = "Put a number in its place."
            raise SchemaError(
                f"expected constant sizes, found the variable '{size}'.", where=path, remedy=remedy
            )


def _labels(count: int | str, rng: np.random.Generator) -> tuple[str, ...]:
    found: dict[str, None] = {}
    while len(found) < int(count):
        letters = rng.integers(len(_ALPHABET), size=(int(count) - len(found), _LABEL))
        found.update(dict.fromkeys("".join(_ALPHABET[i] for i in row) for row in letters))
    return tuple(found)


def _sample(
    schema: Schema, labels: dict[str, tuple[str, ...]], instances: int, rng: np.random.Generator
) -> Sample:
    groups = [node for node in schema.nodes.values() if not node.singleton]
    values = {name: _values(node, labels, instances, rng) for name, node in schema.nodes.items()}
    return Sample(values, Linker(schema, instances, rng).links() if groups else None)


def _values(
    node: Node, labels: dict[str, tuple[str, ...]], instances: int, rng: np.random.Generator
) -> Value | Values:
    if node.singleton:
        return _value(node, labels, 1, rng) if node.type == "category" else rng.random(_sizes(node))
    return {field.name: _value(field, labels, instances, rng) for field in node.fields}


def _value(
    value: Field, labels: dict[str, tuple[str, ...]], instances: int, rng: np.random.Generator
) -> Value:
    if value.type == "category":
        known = labels[value.class_name]
        return tuple(known[i] for i in rng.integers(len(known), size=instances))
    return rng.random((instances, *_sizes(value)))


def _sizes(value: Field) -> tuple[int, ...]:
    """The dims of a tensor, which have been checked to be numbers."""
    return tuple(int(size) for size in value.dim)
