"""Samples of the language's own kind, and the schema that they have.

Rules: a value has the same type, shape and class in all samples; links are counted over all
samples.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from easeml.schema.schema import Schema
from easeml.schema.structure import (
    CategoryClass,
    Constraints,
    Dim,
    Field,
    Link,
    Node,
    SchemaError,
)

Labels = tuple[str, ...]
Instance = tuple[str, int]  # node, index from 0
SampleLinks = frozenset[tuple[Instance, Instance]]


class Tensor(Protocol):
    """An array, or the shape of one whose numbers were not read."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        ...


@dataclass(frozen=True, slots=True)
class TensorShape:
    """The shape of a tensor whose numbers were not read."""

    shape: tuple[int, ...]


Value = Tensor | Labels  # of a non-singleton: the first axis, or the place, is the instance
Values = Mapping[str, Value]


@dataclass(frozen=True)
class Sample:
    """One sample. ``values``: of a singleton its value, of a non-singleton a mapping of its fields.

    ``links`` None: nothing was said about links, and instances form a chain in their order.
    """

    values: Mapping[str, Value | Values]
    links: SampleLinks | None = None


@dataclass(frozen=True)
class Samples:
    """A data set: the labels of each class, and samples by id."""

    classes: Mapping[str, Labels]
    samples: Mapping[str, Sample]


def schema_of_samples(data: Samples) -> Schema:
    """Infer the one schema that all samples have. It depends on no order but that of the labels.

    Raises: SchemaError: with the sample, node and field in ``where``, joined by dots, if there is
        no such schema.
    """
    if not data.samples:
        raise SchemaError("expected at least one sample, found none.")
    names = _same_names({sample: values.values for sample, values in data.samples.items()}, "node")
    parts = {name: {sample: s.values[name] for sample, s in data.samples.items()} for name in names}
    groups = [name for name in names if _is_group(name, parts[name])]
    counts = {
        sample: {name: _instances(f"{sample}.{name}", s.values[name]) for name in groups}
        for sample, s in data.samples.items()
    }
    links, constraints = _links(data, groups, counts)
    nodes = {}
    for name in names:
        if name in groups:
            made = tuple(_fields(name, parts[name], data.classes))
            nodes[name] = Node(name, fields=made, links=tuple(links[name]))
        else:
            lone = {
                sample: value
                for sample, value in parts[name].items()
                if not isinstance(value, Mapping)
            }
            value = _field(name, name, lone, data.classes, alone=True)
            nodes[name] = Node(name, value.type, dim=value.dim, class_name=value.class_name)
    classes = {name: CategoryClass(len(labels)) for name, labels in sorted(data.classes.items())}
    return Schema.from_json(Schema(nodes, classes, constraints=constraints).to_json())


def _same_names(
    by_sample: Mapping[str, Mapping[str, Value | Values]] | Mapping[str, Values],
    what: str,
    inside: str = "",
) -> list[str]:
    """The names that every sample has, sorted."""
    every = sorted({name for values in by_sample.values() for name in values})
    for name in every:
        for sample, values in by_sample.items():
            if name not in values:
                other = next(s for s, v in by_sample.items() if name in v)
                message = f"expected the {what} '{name}', which sample '{other}' has."
                raise SchemaError(message, where=".".join(filter(None, (sample, inside))))
    return every


def _is_group(name: str, values: Mapping[str, Value | Values]) -> bool:
    kinds = {sample: isinstance(value, Mapping) for sample, value in values.items()}
    first = next(iter(kinds.values()))
    for sample, kind in kinds.items():
        if kind != first:
            raise SchemaError(
                "it is a singleton in some samples and has instances in others.",
                where=f"{sample}.{name}",
            )
    return first


def _instances(path: str, fields: Value | Values) -> int:
    """How many instances a node has in a sample."""
    assert isinstance(fields, Mapping)
    if not fields:
        raise SchemaError("expected at least one field.", where=path)
    counts = {}
    for name, value in fields.items():
        shape = (len(value),) if isinstance(value, tuple) else value.shape
        if not isinstance(value, tuple) and len(shape) < 2:
            message = (
                f"expected an axis of instances and at least one more, found shape {list(shape)}."
            )
            raise SchemaError(message, where=f"{path}.{name}")
        counts[name] = shape[0]
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise SchemaError(f"expected as many instances in each field, found: {said}.", where=path)
    return next(iter(counts.values()))


def _fields(
    node: str, values: Mapping[str, Value | Values], classes: Mapping[str, Labels]
) -> Iterator[Field]:
    by_sample = {sample: fields for sample, fields in values.items() if isinstance(fields, Mapping)}
    for name in _same_names(by_sample, "field", node):
        found = {sample: fields[name] for sample, fields in by_sample.items()}
        yield _field(name, f"{node}.{name}", found, classes, alone=False)


def _field(
    name: str, path: str, values: Values, classes: Mapping[str, Labels], *, alone: bool
) -> Field:
    """The field that has these values in the samples."""
    kinds = {sample: isinstance(value, tuple) for sample, value in values.items()}
    first = next(iter(kinds.values()))
    for sample, kind in kinds.items():
        if kind != first:
            raise SchemaError(
                "it is a tensor in some samples and a category in others.", where=f"{sample}.{path}"
            )
    if not first:
        return Field(name, "tensor", dim=_dim(path, values, alone=alone))
    labels = {sample: value for sample, value in values.items() if isinstance(value, tuple)}
    for sample, found in labels.items():
        if alone and len(found) != 1:
            raise SchemaError(
                f"expected one label for a singleton, found {len(found)}.", where=f"{sample}.{path}"
            )
    return Field(name, "category", class_name=_class_of(path, labels, classes))


def _dim(path: str, values: Values, *, alone: bool) -> tuple[Dim, ...]:
    shapes = {
        sample: tuple(value.shape[0 if alone else 1 :])
        for sample, value in values.items()
        if not isinstance(value, tuple)
    }
    first_sample, first = next(iter(shapes.items()))
    for sample, shape in shapes.items():
        if shape != first:
            message = (
                f"expected shape {list(first)}, as in sample '{first_sample}', found {list(shape)}."
            )
            raise SchemaError(message, where=f"{sample}.{path}")
    if not first or 0 in first:
        raise SchemaError(
            f"expected at least one number, found shape {list(first)}.",
            where=f"{first_sample}.{path}",
        )
    return first


def _class_of(path: str, labels: Mapping[str, Labels], classes: Mapping[str, Labels]) -> str:
    """The first class by name that has all labels of all samples."""
    known = {name: set(members) for name, members in sorted(classes.items())}
    used = {sample: set(found) for sample, found in labels.items()}
    for name, members in known.items():
        if all(found <= members for found in used.values()):
            return name
    for sample, found in used.items():
        if not any(found <= members for members in known.values()):
            odd = sorted(found - set().union(*known.values())) or sorted(found)
            raise SchemaError(
                f"no class has all of its labels, such as {odd[0]!r}.", where=f"{sample}.{path}"
            )
    raise SchemaError(
        "it has labels of one class in some samples and of another class in others.", where=path
    )


def _links(
    data: Samples, groups: Sequence[str], counts: Mapping[str, Mapping[str, int]]
) -> tuple[dict[str, list[Link]], Constraints]:
    said = {sample: s.links for sample, s in data.samples.items()}
    if all(links is None for links in said.values()):
        return {name: [Link(name, 1, 1)] for name in groups}, Constraints(undirected=not groups)
    graphs: list[SampleLinks] = []
    for sample, links in said.items():
        if links is None:
            raise SchemaError("expected links, as other samples have them.", where=sample)
        if not groups:
            raise SchemaError(
                "expected no links, as there is no node with instances.", where=sample
            )
        _check_ends(sample, links, counts[sample])
        graphs.append(links)
    undirected = all((end, start) in links for links in graphs for start, end in links)
    most = 2 if undirected else 1
    fan_in = any(
        count > most for links in graphs for count in Counter(end for _, end in links).values()
    )
    cyclic = any(_has_cycle(links, undirected=undirected) for links in graphs)
    return _bounds(groups, graphs), Constraints(cyclic, undirected, fan_in)


def _check_ends(sample: str, links: SampleLinks, counts: Mapping[str, int]) -> None:
    for name, index in sorted(end for pair in links for end in pair):
        if name not in counts:
            raise SchemaError(
                f"a link names '{name}', which is no node with instances.", where=sample
            )
        if index >= counts[name]:
            message = f"a link names instance {index} of '{name}', which has {counts[name]}, counted from 0."
            raise SchemaError(message, where=sample)


def _bounds(groups: Sequence[str], graphs: Iterable[SampleLinks]) -> dict[str, list[Link]]:
    """Least and most links of a kind at the instances that have one."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for links in graphs:
        for (start, target), count in Counter((start, end[0]) for start, end in links).items():
            found[start[0], target].append(count)
    return {
        name: [
            Link(to, min(numbers), max(numbers))
            for (start, to), numbers in sorted(found.items())
            if start == name
        ]
        for name in groups
    }


def _has_cycle(links: SampleLinks, *, undirected: bool) -> bool:
    return closes(links) if undirected else _returns(links)


def closes(links: SampleLinks) -> bool:
    """Whether undirected links close a ring: some edge joins what is joined already."""
    parent: dict[Instance, Instance] = {}

    def root(end: Instance) -> Instance:
        while (up := parent.get(end, end)) != end:
            parent[end] = parent.get(up, up)
            end = up
        return end

    for start, end in {(min(pair), max(pair)) for pair in links}:
        one, other = root(start), root(end)
        if one == other:
            return True
        parent[one] = other
    return False


def _returns(links: SampleLinks) -> bool:
    """Whether directed links lead back to where they began: not all ends can be taken off in order."""
    following: dict[Instance, list[Instance]] = defaultdict(list)
    incoming = Counter(end for _, end in links)
    for start, end in links:
        following[start].append(end)
    free = [start for start in following if not incoming[start]]
    taken = 0
    for start in free:
        for end in following.get(start, ()):
            taken += 1
            incoming[end] -= 1
            if not incoming[end]:
                free.append(end)
    return taken < len(links)
