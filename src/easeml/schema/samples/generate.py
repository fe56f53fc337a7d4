"""Random samples of a schema, for trying out modules: uniform tensors, random labels and links."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import TYPE_CHECKING

from easeml.schema.samples.generate_links import Linker
from easeml.schema.samples.sample import Labels, Sample, Samples, Value, Values
from easeml.schema.samples.schema_of_samples import schema_of_samples
from easeml.schema.schema import Schema
from easeml.schema.structure import Field, Node, SchemaError, path_of

if TYPE_CHECKING:
    import numpy as np

_ALPHABET = string.ascii_lowercase + string.digits
_LABEL = 16  # characters
_TRIES = 20


def generate(
    schema: Schema, rng: np.random.Generator, *, samples: int = 10, instances: int = 10
) -> Samples:
    """Return random samples, with ``instances`` of every non-singleton, that fit ``schema``.

    Every declared link occurs. An instance has either as many links of a kind as the bounds say, or
    none: the last instance of a chain has no follower.

    Raises:
        SchemaError: if the schema has variables, types of tables only, or bounds that cannot be
            met.
    """
    _check(schema, samples, instances)
    for _ in range(_TRIES):
        made = _attempt(schema, rng, samples, instances)
        # By chance a kind of link may have other bounds in few samples.
        if schema.match(schema_of_samples(made)) is not None:
            return made
    raise SchemaError(
        f"no samples with {instances} instances of each node were found that keep all bounds.",
        where="nodes",
        remedy="Ask for more instances, or widen the bounds of the links.",
    )


def _attempt(schema: Schema, rng: np.random.Generator, samples: int, instances: int) -> Samples:
    labels = {}
    for name, value in schema.classes.items():
        labels[name] = value.labels or _labels(int(value.dim), rng)

    digits = len(str(samples - 1))
    made = {}
    for number in range(samples):
        name = f"sample{number:0{digits}d}"
        made[name] = _sample(schema, labels, instances, rng)
    return Samples(labels, made)


def _check(schema: Schema, samples: int, instances: int) -> None:
    if samples < 1 or instances < 1:
        raise SchemaError("expected at least one sample and one instance.")

    for node, value in schema.values():
        if node.repeat:
            raise SchemaError(
                "expected no repeated node: samples have a fixed number.",
                where=f"nodes.{node.name}",
            )
        _check_value(schema, value, path_of(node, value))


def _check_value(schema: Schema, value: Field, path: str) -> None:
    if value.type not in ("tensor", "category"):
        raise SchemaError(
            f"expected a tensor or a category, found {value.type}.",
            where=path,
        )

    for size in schema.sizes(value):
        if isinstance(size, str):
            raise SchemaError(
                f"expected constant sizes, found the variable '{size}'.",
                where=path,
                remedy="Put a number in its place.",
            )


def _labels(count: int, rng: np.random.Generator) -> Labels:
    """Random labels that differ."""
    found: dict[str, None] = {}
    while len(found) < count:
        missing = count - len(found)
        places = rng.integers(len(_ALPHABET), size=(missing, _LABEL))
        for row in places:
            label = "".join(map(_ALPHABET.__getitem__, row))
            found[label] = None
    return tuple(found)


def _sample(
    schema: Schema, labels: Mapping[str, Labels], instances: int, rng: np.random.Generator
) -> Sample:
    values = {name: _values(node, labels, instances, rng) for name, node in schema.nodes.items()}
    if not schema.non_singletons():
        return Sample(values)

    links = Linker(schema, instances, rng).links()
    return Sample(values, links)


def _values(
    node: Node, labels: Mapping[str, Labels], instances: int, rng: np.random.Generator
) -> Value | Values:
    if not node.singleton:
        return {field.name: _value(field, labels, instances, rng) for field in node.fields}
    if node.type == "category":
        return _value(node, labels, 1, rng)
    return rng.random(_sizes(node))


def _value(
    value: Field, labels: Mapping[str, Labels], instances: int, rng: np.random.Generator
) -> Value:
    if value.type == "category":
        known = labels[value.class_name]
        drawn = rng.integers(len(known), size=instances)
        return tuple(map(known.__getitem__, drawn))
    return rng.random((instances, *_sizes(value)))


def _sizes(value: Field) -> tuple[int, ...]:
    """The dims of a tensor, which have been checked to be numbers."""
    return tuple(map(int, value.dim))
