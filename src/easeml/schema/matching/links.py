"""The graph of the links between nodes, and what it says about which node can be which.

As a destination and a source have equally many nodes, and paired nodes equally many links, a match
of linked nodes is an isomorphism of the graphs of links. So whatever an isomorphism keeps must be
equal: here the colour, a summary of a node's surroundings (colour refinement), and the colours of
its connected component.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

from easeml.schema.structure import Link, Structure

# Rounds of refinement. More would tell long chains apart further, at a cost that grows with them.
_ROUNDS = 12

_Links = Mapping[str, Mapping[str, Link]]  # by node, then by neighbour
_Colours = Mapping[str, int]

# The end of a link: out, back to the node, the other's colour, lower and upper bound.
End = tuple[bool, bool, int, int, float]


@dataclass(frozen=True)
class Graph:
    """The non-singletons of a schema. ``outgoing`` and ``incoming``: by node, then by neighbour."""

    outgoing: _Links
    incoming: _Links
    colour: _Colours
    components: Sequence[tuple[str, ...]]  # of two nodes and more

    @cached_property
    def joined(self) -> frozenset[str]:
        """The nodes that links join to others."""
        return frozenset(chain.from_iterable(self.components))

    def ends(self, name: str) -> Iterator[End]:
        """The ends of links at a node."""
        for other, link in self.outgoing[name].items():
            yield True, other == name, self.colour[other], link.lower, link.most
        for other, link in self.incoming[name].items():
            yield False, other == name, self.colour[other], link.lower, link.most


UNLINKED = Graph({}, {}, {}, ())  # of a schema without links, or whose links are not looked at


class _Numbers:
    """Numbers for keys, in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        return self.known.setdefault(key, len(self.known))


def graphs(*schemas: Structure) -> list[Graph]:
    """The graphs of several schemas, with colours that can be compared between them."""
    nets = list(map(_Net, schemas))
    numbers = _Numbers()
    colours = _refined_colours(nets, numbers)

    made = []
    for net, colour in zip(nets, colours, strict=True):
        components = list(net.components())
        graph = Graph(
            outgoing=net.outgoing,
            incoming=net.incoming,
            colour=_colours_with_component(colour, components, numbers),
            components=[component for component in components if len(component) > 1],
        )
        made.append(graph)
    return made


class _Net:
    """The links between the non-singletons of one schema."""

    def __init__(self, schema: Structure):
        self.nodes = {node.name: node for node in schema.non_singletons()}
        self.outgoing: defaultdict[str, dict[str, Link]] = defaultdict(dict)
        self.incoming: defaultdict[str, dict[str, Link]] = defaultdict(dict)
        for node, link in schema.links():
            self.outgoing[node.name][link.target] = link
            self.incoming[link.target][node.name] = link

    def first(self, name: str) -> Hashable:
        """What tells a node from others without a look at its neighbours."""
        into = self.incoming[name]
        types = Counter(field.type for field in self.nodes[name].fields)
        links_itself = name in into
        return tuple(sorted(types.items())), len(self.outgoing[name]), len(into), links_itself

    def refined(self, name: str, old: _Colours) -> Hashable:
        """A node's colour with the colours of its neighbours."""
        there = sorted(map(old.__getitem__, self.outgoing[name]))
        back = sorted(map(old.__getitem__, self.incoming[name]))
        return old[name], tuple(there), tuple(back)

    def components(self) -> Iterator[tuple[str, ...]]:
        """The connected components, disregarding directions."""
        seen: set[str] = set()
        for start in self.nodes:
            if start in seen:
                continue
            seen.add(start)

            # The list grows while it is gone through.
            found = [start]
            for name in found:
                neighbours = dict.fromkeys([*self.outgoing[name], *self.incoming[name]])
                new = [other for other in neighbours if other not in seen]
                seen.update(new)
                found += new

            yield tuple(found)


def _refined_colours(nets: Sequence[_Net], numbers: _Numbers) -> list[_Colours]:
    """Colours that tell nodes apart by their surroundings, until another round tells no more."""
    colours = [_numbered(net.nodes, net.first, numbers) for net in nets]
    for _ in range(_ROUNDS):
        finer = []
        for net, old in zip(nets, colours, strict=True):
            finer.append(_numbered(net.nodes, partial(net.refined, old=old), numbers))

        stable = _different(finer) == _different(colours)
        colours = finer
        if stable:
            break

    return colours


def _numbered(names: Iterable[str], key: Callable[[str], Hashable], numbers: _Numbers) -> _Colours:
    """A number for each name, which is equal where what ``key`` says of it is."""
    return {name: numbers.of(key(name)) for name in names}


def _different(colours: Sequence[_Colours]) -> int:
    """How many different colours there are."""
    every = chain.from_iterable(colour.values() for colour in colours)
    return len(set(every))


def _colours_with_component(
    colour: _Colours, components: Sequence[Sequence[str]], numbers: _Numbers
) -> dict[str, int]:
    """Colours that tell also which colours a node's whole component has."""
    final = {}
    for component in components:
        counts = Counter(map(colour.__getitem__, component))
        whole = tuple(sorted(counts.items()))
        for name in component:
            final[name] = numbers.of(("in", colour[name], whole))
    return final
