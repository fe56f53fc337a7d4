"""The one schema that all samples of a data set have.

Rules: a value has the same type, shape and class in all samples; links are counted over all
samples (``links_of_samples``).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import chain
from typing import TypeVar

from easeml.schema.samples.links_of_samples import bounds_and_constraints
from easeml.schema.samples.sample import Labels, Samples, Tensor, Value, Values
from easeml.schema.schema import Schema
from easeml.schema.structure import CategoryClass, Dim, Field, Node, SchemaError

_Classes = Mapping[str, Labels]
_OfSamples = Mapping[str, Value | Values]  # by sample: what it has of one node
_Content = TypeVar("_Content")


def schema_of_samples(data: Samples) -> Schema:
    """Infer the one schema that all samples have. It depends on no order but that of the labels.

    Raises:
        SchemaError: with the sample, node and field in ``where``, joined by dots, if there is no
            such schema.
    """
    if not data.samples:
        raise SchemaError("expected at least one sample, found none.")

    groups: dict[str, Mapping[str, Values]] = {}
    singletons: dict[str, Mapping[str, Value]] = {}
    nodes_of = {sample: content.values for sample, content in data.samples.items()}
    for name, values in _by_name(nodes_of, "node").items():
        with_instances, alone = _divided(name, values)
        if with_instances:
            groups[name] = with_instances
        else:
            singletons[name] = alone

    counts = {sample: _counts_of_instances(sample, groups) for sample in data.samples}
    links, constraints = bounds_and_constraints(data, list(groups), counts)
    nodes = {name: _singleton(name, values, data.classes) for name, values in singletons.items()}
    for name, values in groups.items():
        fields = _fields(name, values, data.classes)
        nodes[name] = Node(name, fields=fields, links=tuple(links.get(name, ())))

    classes = {name: CategoryClass(len(labels)) for name, labels in sorted(data.classes.items())}
    inferred = Schema(dict(sorted(nodes.items())), classes, constraints=constraints)
    return Schema.from_json(inferred.to_json())  # checks the rules of the language


def _by_name(
    by_sample: Mapping[str, Mapping[str, _Content]], what: str, path: str = ""
) -> dict[str, dict[str, _Content]]:
    """By name, sorted, and by sample: the nodes of all samples, or the fields of one node.

    ``path``: behind the sample's name, where one lacks what another has.
    """
    by_name: dict[str, dict[str, _Content]] = {}
    for name in sorted(set(chain.from_iterable(by_sample.values()))):
        found = {sample: values[name] for sample, values in by_sample.items() if name in values}
        lacking = [sample for sample in by_sample if sample not in found]
        if lacking:
            raise SchemaError(
                f"expected the {what} '{name}', which sample '{next(iter(found))}' has.",
                where=f"{lacking[0]}{path}",
            )
        by_name[name] = found
    return by_name


def _odd_sample(facts: Mapping[str, object]) -> str | None:
    """The first sample of which something else holds than of the very first; None: none is odd."""
    usual = next(iter(facts.values()))
    return next((sample for sample, fact in facts.items() if fact != usual), None)


def _check_all_or_none(path: str, some: Container[str], samples: Iterable[str], fault: str) -> None:
    """Refuse what is so in some samples and not in others."""
    odd = _odd_sample({sample: sample in some for sample in samples})
    if odd is not None:
        raise SchemaError(fault, where=f"{odd}.{path}")


def _divided(node: str, values: _OfSamples) -> tuple[Mapping[str, Values], Mapping[str, Value]]:
    """The samples that have instances of a node, and those for which it is a singleton.

    Raises:
        SchemaError: if there are both.
    """
    groups: dict[str, Values] = {}
    singletons: dict[str, Value] = {}
    for sample, value in values.items():
        if isinstance(value, Mapping):
            groups[sample] = value
        else:
            singletons[sample] = value

    fault = "it is a singleton in some samples and has instances in others."
    _check_all_or_none(node, groups, values, fault)
    return groups, singletons


def _counts_of_instances(sample: str, groups: Mapping[str, Mapping[str, Values]]) -> dict[str, int]:
    """How many instances of each node a sample has."""
    counts = {}
    for node, values in groups.items():
        counts[node] = _instances(f"{sample}.{node}", values[sample])
    return counts


def _instances(path: str, fields: Values) -> int:
    """How many instances a node has in a sample."""
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


def _fields(node: str, values: Mapping[str, Values], classes: _Classes) -> tuple[Field, ...]:
    """The fields of a non-singleton."""
    made = []
    for name, found in _by_name(values, "field", f".{node}").items():
        made.append(_field(name, f"{node}.{name}", found, classes, own_axis=1))
    return tuple(made)


def _singleton(name: str, values: Mapping[str, Value], classes: _Classes) -> Node:
    """The singleton that has these values in the samples."""
    field = _field(name, name, values, classes, own_axis=0)
    return Node(name, field.type, dim=field.dim, class_name=field.class_name)


def _field(
    name: str, path: str, values: Mapping[str, Value], classes: _Classes, *, own_axis: int
) -> Field:
    """The field that has these values in the samples.

    ``own_axis``: the first axis of one value; before it, a non-singleton has that of instances.
    """
    labels: dict[str, Labels] = {}
    tensors: dict[str, Tensor] = {}
    for sample, value in values.items():
        if isinstance(value, tuple):
            labels[sample] = value
        else:
            tensors[sample] = value

    fault = "it is a tensor in some samples and a category in others."
    _check_all_or_none(path, labels, values, fault)
    if tensors:
        shapes = {sample: tuple(value.shape[own_axis:]) for sample, value in tensors.items()}
        return Field(name, "tensor", dim=_dim(path, shapes))

    if own_axis == 0:
        _check_single_labels(path, labels)
    return Field(name, "category", class_name=_class_of(path, labels, classes))


def _check_single_labels(path: str, labels: Mapping[str, Labels]) -> None:
    for sample, found in labels.items():
        if len(found) != 1:
            raise SchemaError(
                f"expected one label for a singleton, found {len(found)}.",
                where=f"{sample}.{path}",
            )


def _dim(path: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[Dim, ...]:
    """The shape that the tensors of all samples have."""
    first_sample, first = next(iter(shapes.items()))
    odd = _odd_sample(shapes)
    if odd is not None:
        expected = f"shape {list(first)}, as in sample '{first_sample}'"
        raise SchemaError(
            f"expected {expected}, found {list(shapes[odd])}.",
            where=f"{odd}.{path}",
        )

    if not first or 0 in first:
        raise SchemaError(
            f"expected at least one number, found shape {list(first)}.",
            where=f"{first_sample}.{path}",
        )
    return first


def _class_of(path: str, labels: Mapping[str, Labels], classes: _Classes) -> str:
    """The first class by name that has all labels of all samples."""
    used = set(chain.from_iterable(labels.values()))
    for name, members in sorted(classes.items()):
        if used.issubset(members):
            return name

    for sample, found in labels.items():
        _check_one_class(f"{sample}.{path}", set(found), classes)
    raise SchemaError(
        "it has labels of one class in some samples and of another class in others.",
        where=path,
    )


def _check_one_class(path: str, labels: set[str], classes: _Classes) -> None:
    """Refuse labels of one sample that are not all of one class."""
    if any(map(labels.issubset, classes.values())):
        return
    unknown = labels.difference(*classes.values())
    odd = min(unknown or labels, default="")
    raise SchemaError(
        f"no class has all of its labels, such as {odd!r}.",
        where=path,
    )
