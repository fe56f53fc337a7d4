"""What the links of samples say: bounds by kind of link, and what they form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain, starmap

from easeml.schema.samples.sample import Instance, SampleLinks, Samples
from easeml.schema.structure import Constraints, Link, SchemaError

Counts = Mapping[str, Mapping[str, int]]  # by sample and node: how many instances there are


def bounds_and_constraints(
    data: Samples, groups: Sequence[str], counts: Counts
) -> tuple[Mapping[str, list[Link]], Constraints]:
    """The links of each node with their bounds, and the constraints that all samples keep.

    ``groups``: the nodes with instances.

    Raises:
        SchemaError: if a link leads to no instance, or only some samples have links.
    """
    said = {sample: content.links for sample, content in data.samples.items()}
    if all(links is None for links in said.values()):
        # Nothing was said about links: instances form a chain.
        chain_of = {name: [Link(name, 1, 1)] for name in groups}
        return chain_of, Constraints(undirected=not groups)

    graphs: list[SampleLinks] = []
    for sample, links in said.items():
        if links is None:
            raise SchemaError(
                "expected links, as other samples have them.",
                where=sample,
            )
        if not groups:
            raise SchemaError(
                "expected no links, as there is no node with instances.",
                where=sample,
            )
        _check_ends(sample, links, counts[sample])
        graphs.append(links)

    return _bounds(graphs), _constraints(graphs)


def _constraints(graphs: Sequence[SampleLinks]) -> Constraints:
    """What the links of all samples form."""
    undirected = all(map(_is_undirected, graphs))
    has_cycle = closes if undirected else _returns
    usual = Constraints(undirected=undirected).most_incoming
    return Constraints(
        cyclic=any(map(has_cycle, graphs)),
        undirected=undirected,
        fan_in=max(map(_most_incoming, graphs)) > usual,
    )


def _check_ends(sample: str, links: SampleLinks, counts: Mapping[str, int]) -> None:
    ends = set(chain.from_iterable(links))
    for name, index in sorted(ends):
        if name not in counts:
            raise SchemaError(
                f"a link names '{name}', which is not a node with instances.",
                where=sample,
            )
        if index >= counts[name]:
            has = f"which has {counts[name]}, counted from 0"
            raise SchemaError(
                f"a link names instance {index} of '{name}', {has}.",
                where=sample,
            )


def _bounds(graphs: Iterable[SampleLinks]) -> Mapping[str, list[Link]]:
    """By node, sorted by target: least and most links of a kind at the instances that have one."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for links in graphs:
        at_instances = Counter((start, target) for start, (target, _) in links)
        for ((node, _), target), count in at_instances.items():
            found[node, target].append(count)

    bounds: dict[str, list[Link]] = defaultdict(list)
    for (node, target), counts in sorted(found.items()):
        link = Link(target, min(counts), max(counts))
        bounds[node].append(link)
    return bounds


def _is_undirected(links: SampleLinks) -> bool:
    """Whether every link has its reverse."""
    return links == {(end, start) for start, end in links}


def _most_incoming(links: SampleLinks) -> int:
    """The most links that lead to one instance."""
    incoming = Counter(end for _, end in links)
    return max(incoming.values(), default=0)


def closes(links: SampleLinks) -> bool:
    """Whether undirected links close a ring: some edge joins what is joined already."""
    joined = _Joined()
    edges = {(min(pair), max(pair)) for pair in links}
    return not all(starmap(joined.join, edges))


class _Joined:
    """Which instances are joined: a forest in which joined ones have one root (union-find)."""

    def __init__(self) -> None:
        self.parent: dict[Instance, Instance] = {}

    def root(self, end: Instance) -> Instance:
        """The root of the tree, with paths halved on the way."""
        parent = self.parent
        while parent.get(end, end) != end:
            up = parent[end]
            parent[end] = parent.get(up, up)
            end = up
        return end

    def join(self, start: Instance, end: Instance) -> bool:
        """Join two instances; False if they have been joined before."""
        one = self.root(start)
        other = self.root(end)
        if one == other:
            return False
        self.parent[one] = other
        return True


def _returns(links: SampleLinks) -> bool:
    """Whether directed links lead back to where they began."""
    sorter = TopologicalSorter[Instance]()
    for start, end in links:
        sorter.add(start, end)
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False
