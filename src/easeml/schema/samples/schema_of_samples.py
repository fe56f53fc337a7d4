"""The one schema that all samples of a data set have.

Rules: a value has the same type, shape and class in all samples; links are counted over all
samples (``links_of_samples``).
"""

from __future__ import annotations

from collections.abc import Mapping

from easeml.schema.samples.links_of_samples import Counts, bounds_and_constraints
from easeml.schema.samples.sample import Labels, Samples, Value, Values
from easeml.schema.schema import Schema
from easeml.schema.structure import CategoryClass, Dim, Field, Node, SchemaError

_Classes = Mapping[str, Labels]
_OfSamples = Mapping[str, Value | Values]  # by sample: what it has of one node


def schema_of_samples(data: Samples) -> Schema:
    """Infer the one schema that all samples have. It depends on no order but that of the labels.

    Raises:
        SchemaError: with the sample, node and field in ``where``, joined by dots, if there is no
            such schema.
    """
    if not data.samples:
        raise SchemaError("expected at least one sample, found none.")

    nodes_of = {sample: content.values for sample, content in data.samples.items()}
    names = _same_names(nodes_of, "node")
    by_node: dict[str, _OfSamples] = {}
    for name in names:
        by_node[name] = {sample: nodes[name] for sample, nodes in nodes_of.items()}

    groups = [name for name in names if _has_instances(name, by_node[name])]
    counts = _counts_of_instances(data, groups)
    links, constraints = bounds_and_constraints(data, groups, counts)

    nodes = {}
    for name in names:
        if name in groups:
            fields = _fields(name, by_node[name], data.classes)
            nodes[name] = Node(name, fields=fields, links=tuple(links[name]))
        else:
            nodes[name] = _singleton(name, by_node[name], data.classes)

    classes = {name: CategoryClass(len(labels)) for name, labels in sorted(data.classes.items())}
    inferred = Schema(nodes, classes, constraints=constraints)
    return Schema.from_json(inferred.to_json())  # checks the rules of the language


def _same_names(
    by_sample: Mapping[str, Mapping[str, object]], what: str, node: str = ""
) -> list[str]:
    """The names that every sample has, sorted; of its nodes, or of the fields of one node."""
    every: set[str] = set()
    for values in by_sample.values():
        every.update(values)

    for name in sorted(every):
        lacking = [sample for sample, values in by_sample.items() if name not in values]
        if lacking:
            having = next(sample for sample, values in by_sample.items() if name in values)
            raise SchemaError(
                f"expected the {what} '{name}', which sample '{having}' has.",
                where=f"{lacking[0]}.{node}" if node else lacking[0],
            )
    return sorted(every)


def _has_instances(name: str, values: _OfSamples) -> bool:
    """Whether a node is a non-singleton, which it is in all samples or in none."""
    kinds = {sample: isinstance(value, Mapping) for sample, value in values.items()}
    first = next(iter(kinds.values()))
    for sample, kind in kinds.items():
        if kind != first:
            raise SchemaError(
                "it is a singleton in some samples and has instances in others.",
                where=f"{sample}.{name}",
            )
    return first


def _counts_of_instances(data: Samples, groups: list[str]) -> Counts:
    """By sample and node: how many instances there are."""
    counts = {}
    for sample, content in data.samples.items():
        counts[sample] = {
            name: _instances(f"{sample}.{name}", content.values[name]) for name in groups
        }
    return counts


def _instances(path: str, fields: Value | Values) -> int:
    """How many instances a node has in a sample."""
    assert isinstance(fields, Mapping)
    if not fields:
        raise SchemaError(
            "expected at least one field.",
            where=path,
        )

    counts = {name: _length(f"{path}.{name}", value) for name, value in fields.items()}
    first, *others = dict.fromkeys(counts.values())
    if others:
        said = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise SchemaError(
            f"expected as many instances in each field, found: {said}.",
            where=path,
        )
    return first


def _length(path: str, value: Value) -> int:
    """How many instances a field has values for."""
    if isinstance(value, tuple):
        return len(value)

    if len(value.shape) < 2:
        found = list(value.shape)
        raise SchemaError(
            f"expected an axis of instances and at least one more, found shape {found}.",
            where=path,
        )
    return value.shape[0]


def _fields(node: str, values: _OfSamples, classes: _Classes) -> tuple[Field, ...]:
    """The fields of a non-singleton."""
    by_sample: dict[str, Values] = {}
    for sample, fields in values.items():
        assert isinstance(fields, Mapping)
        by_sample[sample] = fields

    made = []
    for name in _same_names(by_sample, "field", node):
        found = {sample: fields[name] for sample, fields in by_sample.items()}
        made.append(_field(name, f"{node}.{name}", found, classes))
    return tuple(made)


def _singleton(name: str, values: _OfSamples, classes: _Classes) -> Node:
    """The singleton that has these values in the samples."""
    by_sample: dict[str, Value] = {}
    for sample, value in values.items():
        assert not isinstance(value, Mapping)
        by_sample[sample] = value

    field = _field(name, name, by_sample, classes, alone=True)
    return Node(
        name,
        field.type,
        dim=field.dim,
        class_name=field.class_name,
    )


def _field(
    name: str, path: str, values: Values, classes: _Classes, *, alone: bool = False
) -> Field:
    """The field that has these values in the samples; ``alone``: that of a singleton."""
    labels = {sample: value for sample, value in values.items() if isinstance(value, tuple)}
    if not labels:
        return Field(name, "tensor", dim=_dim(path, values, alone=alone))

    if len(labels) < len(values):
        raise SchemaError(
            "it is a tensor in some samples and a category in others.",
            where=f"{_first_odd(labels, values)}.{path}",
        )
    for sample, found in labels.items():
        if alone and len(found) != 1:
            raise SchemaError(
                f"expected one label for a singleton, found {len(found)}.",
                where=f"{sample}.{path}",
            )
    return Field(name, "category", class_name=_class_of(path, labels, classes))


def _first_odd(labels: Mapping[str, Labels], values: Values) -> str:
    """The first sample whose value is not of the kind that the first sample's has."""
    samples = list(values)
    first_is_category = samples[0] in labels
    return next(sample for sample in samples if (sample in labels) != first_is_category)


def _dim(path: str, values: Values, *, alone: bool) -> tuple[Dim, ...]:
    """The shape of a tensor; of a non-singleton without the axis of instances."""
    first_axis = 0 if alone else 1
    shapes = {}
    for sample, value in values.items():
        assert not isinstance(value, tuple)
        shapes[sample] = tuple(value.shape[first_axis:])

    first_sample, first = next(iter(shapes.items()))
    for sample, shape in shapes.items():
        if shape != first:
            expected = f"shape {list(first)}, as in sample '{first_sample}'"
            raise SchemaError(
                f"expected {expected}, found {list(shape)}.",
                where=f"{sample}.{path}",
            )

    if not first or 0 in first:
        raise SchemaError(
            f"expected at least one number, found shape {list(first)}.",
            where=f"{first_sample}.{path}",
        )
    return first


def _class_of(path: str, labels: Mapping[str, Labels], classes: _Classes) -> str:
    """The first class by name that has all labels of all samples."""
    known = {name: set(members) for name, members in sorted(classes.items())}
    used: set[str] = set()
    for found in labels.values():
        used.update(found)

    for name, members in known.items():
        if used <= members:
            return name

    for sample, found in labels.items():
        own = set(found)
        if any(own <= members for members in known.values()):
            continue
        unknown = own.difference(*known.values())
        odd = min(unknown or own, default="")
        raise SchemaError(
            f"no class has all of its labels, such as {odd!r}.",
            where=f"{sample}.{path}",
        )

    raise SchemaError(
        "it has labels of one class in some samples and of another class in others.",
        where=path,
    )
