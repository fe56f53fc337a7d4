"""The graph of the links between nodes, and what it says about which node can be which.

As a destination and a source have equally many nodes, and paired nodes equally many links, a match
of linked nodes is an isomorphism of the graphs of links. So whatever an isomorphism keeps must be
equal: here the colour, a summary of a node's surroundings (colour refinement), and the colours of
its connected component.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from easeml.schema.structure import Link, Node, Structure

# Rounds of refinement. More would tell long chains apart further, at a cost that grows with them.
_ROUNDS = 12

_Links = Mapping[str, Mapping[str, Link]]  # by node, then by neighbour
_Colours = Mapping[str, int]


@dataclass(frozen=True)
class Graph:
    """The non-singletons of a schema. ``outgoing`` and ``incoming``: by node, then by neighbour."""

    outgoing: _Links
    incoming: _Links
    colour: _Colours
    components: Sequence[tuple[str, ...]]  # of two nodes and more

    def ends(self, name: str) -> Iterator[tuple[bool, bool, int, Link]]:
        """The ends of links at a node.

        Each says whether it goes out, whether it leads back to the node itself, the other's
        colour, and the link.
        """
        for other, link in self.outgoing[name].items():
            yield True, other == name, self.colour[other], link
        for other, link in self.incoming[name].items():
            yield False, other == name, self.colour[other], link


class _Numbers:
    """Numbers for keys, in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        return self.known.setdefault(key, len(self.known))


def graphs(*schemas: Structure) -> list[Graph]:
    """The graphs of several schemas, with colours that can be compared between them."""
    outgoing = [_outgoing(schema) for schema in schemas]
    incoming = [_reversed(links) for links in outgoing]
    numbers = _Numbers()
    colours = _refined_colours(schemas, outgoing, incoming, numbers)

    made = []
    for colour, links, into in zip(colours, outgoing, incoming, strict=True):
        components = list(_components(links, into))
        graph = Graph(
            outgoing=links,
            incoming=into,
            colour=_colours_with_component(colour, components, numbers),
            components=[component for component in components if len(component) > 1],
        )
        made.append(graph)
    return made


def _outgoing(schema: Structure) -> dict[str, dict[str, Link]]:
    found = {}
    for node in schema.nodes.values():
        if not node.singleton:
            found[node.name] = {link.target: link for link in node.links}
    return found


def _reversed(links: _Links) -> dict[str, dict[str, Link]]:
    into: dict[str, dict[str, Link]] = {name: {} for name in links}
    for name, targets in links.items():
        for target, link in targets.items():
            into[target][name] = link
    return into


def _refined_colours(
    schemas: Sequence[Structure],
    outgoing: Sequence[_Links],
    incoming: Sequence[_Links],
    numbers: _Numbers,
) -> list[_Colours]:
    """Colours that tell nodes apart by their surroundings, until another round tells no more."""
    colours: list[_Colours] = []
    for schema, links, into in zip(schemas, outgoing, incoming, strict=True):
        first = {name: numbers.of(_first(schema.nodes[name], into[name])) for name in links}
        colours.append(first)

    for _ in range(_ROUNDS):
        finer: list[_Colours] = []
        for old, links, into in zip(colours, outgoing, incoming, strict=True):
            refined = {name: numbers.of(_refined(name, old, links, into)) for name in links}
            finer.append(refined)

        stable = _different(finer) == _different(colours)
        colours = finer
        if stable:
            break

    return colours


def _different(colours: Sequence[_Colours]) -> int:
    """How many different colours there are."""
    found: set[int] = set()
    for colour in colours:
        found.update(colour.values())
    return len(found)


def _first(node: Node, into: Mapping[str, Link]) -> Hashable:
    """What tells a node from others without a look at its neighbours."""
    types = Counter(field.type for field in node.fields)
    links_itself = node.name in into
    return tuple(sorted(types.items())), len(node.links), len(into), links_itself


def _refined(name: str, old: _Colours, links: _Links, into: _Links) -> Hashable:
    """A node's colour with the colours of its neighbours."""
    there = sorted(old[other] for other in links[name])
    back = sorted(old[other] for other in into[name])
    return old[name], tuple(there), tuple(back)


def _colours_with_component(
    colour: _Colours, components: Sequence[Sequence[str]], numbers: _Numbers
) -> dict[str, int]:
    """Colours that tell also which colours a node's whole component has."""
    final = {}
    for component in components:
        counts = Counter(colour[name] for name in component)
        whole = tuple(sorted(counts.items()))
        for name in component:
            final[name] = numbers.of(("in", colour[name], whole))
    return final


def _components(links: _Links, into: _Links) -> Iterator[tuple[str, ...]]:
    """The connected components, disregarding directions."""
    seen: set[str] = set()
    for start in links:
        if start in seen:
            continue
        seen.add(start)

        # The list grows while it is gone through.
        found = [start]
        for name in found:
            for other in (*links[name], *into[name]):
                if other not in seen:
                    seen.add(other)
                    found.append(other)

        yield tuple(found)
