"""Does data of one shape fit another schema? A complete and deterministic search.

Nodes whose variables and classes no other node shares are a bipartite matching problem, solved by augmenting
paths; only nodes that share a variable or a class need a search with backtracking.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from easeml.schema._model import Node, Schema

Bindings = Mapping[str, int | str]  # variable -> size, and "class <name>" -> source class
_WORDS = {"category": "a category", "text": "text", "timestamp": "a timestamp"}


@dataclass(frozen=True)
class Match:
    """How a source fits a destination.

    ``nodes``: source node -> destination node. ``classes`` and ``variables``: what the destination's classes and
    variables stand for; those of repeated nodes are each copy's own and are left out.
    """

    nodes: dict[str, str]
    classes: dict[str, str] = field(default_factory=dict)
    variables: dict[str, int | str] = field(default_factory=dict)


def match(destination: Schema, source: Schema) -> Match | None:
    """Map every source node to a destination node so that all values fit, or return None.

    A destination node takes exactly one source node; a repeated one any number of them. A node takes a source
    node of its type and shape; an optional source node needs an optional destination node. A variable has one
    value in the whole destination; a class stands for one source class.
    """
    problem = _Problem(destination, source)
    if problem.assign({}) is None:  # no assignment even with every variable on its own
        return None
    for chosen, bindings in problem.tied_choices():
        rest = problem.assign(chosen)
        if rest is not None:
            return problem.result({**rest, **chosen}, bindings)
    return None


def why_not(destination: Schema, source: Schema) -> str:
    """Return one sentence that says why ``source`` does not fit ``destination``; empty if it fits."""
    if match(destination, source) is not None:
        return ""
    problem = _Problem(destination, source)
    for name, node in source.nodes.items():
        if not problem.slots_of[name] and not problem.homes[name]:
            return _why_unfit(destination, source, node)
    for slot, candidates in problem.candidates.items():
        if not candidates:
            return f"It needs {_describe(destination, destination.nodes[slot])}, and there is none."
    if not any(node.repeat for node in destination.nodes.values()):
        wanted, found = len(destination.nodes), len(source.nodes)
        if wanted != found:
            return f"It takes exactly {wanted} {'value' if wanted == 1 else 'values'}, and there are {found}."
    if problem.assign({}) is None:
        return "There are more or fewer values of a type than it takes."
    return "Sizes that have to be equal are not."


class _Problem:
    """What can go where: ``candidates`` by required destination node, ``homes`` (repeated nodes) by source node."""

    def __init__(self, destination: Schema, source: Schema):
        self.destination, self.source = destination, source
        fits = {
            (slot.name, node.name): _unify(destination, slot, source, node, {}) is not None
            for slot in destination.nodes.values()
            for node in source.nodes.values()
        }
        self.required = [slot for slot in destination.nodes.values() if slot.repeat != "*"]
        self.candidates = {
            slot.name: [name for name in source.nodes if fits[slot.name, name]] for slot in self.required
        }
        self.homes = {
            name: [slot.name for slot in destination.nodes.values() if slot.repeat and fits[slot.name, name]]
            for name in source.nodes
        }
        self.slots_of = {name: [slot.name for slot in self.required if fits[slot.name, name]] for name in source.nodes}
        self.tied = self._tied_slots()

    def _tied_slots(self) -> list[Node]:
        singles = [slot for slot in self.required if not slot.repeat]
        counts = Counter(key for slot in singles for key in set(_keys(self.destination, slot)))
        tied = [slot for slot in singles if any(counts[key] > 1 for key in _keys(self.destination, slot))]
        return sorted(tied, key=lambda slot: len(self.candidates[slot.name]))

    def assign(self, chosen: Mapping[str, str]) -> dict[str, str] | None:
        """Give every required slot but the ``chosen`` ones (slot -> source) a source of its own.

        Every source that no repeated node takes gets a slot. First those sources are covered, then the slots:
        an augmenting path never uncovers what is covered, so both hold in the end if they can
        (Mendelsohn and Dulmage 1958).
        """
        used = set(chosen.values())
        slots = {
            slot: [name for name in names if name not in used]
            for slot, names in self.candidates.items()
            if slot not in chosen
        }
        sources = {
            name: [slot for slot in names if slot not in chosen]
            for name, names in self.slots_of.items()
            if name not in used
        }
        slot_of: dict[str, str] = {}
        source_of: dict[str, str] = {}
        for name in sources:
            if not self.homes[name] and not _augment(name, sources, slot_of, source_of):
                return None
        for slot in slots:
            if slot not in source_of and not _augment(slot, slots, source_of, slot_of):
                return None
        return source_of

    def tied_choices(self) -> Iterator[tuple[dict[str, str], Bindings]]:
        """Every choice of sources for the tied slots that agrees on variables and classes, alike ones once."""
        yield from self._choose(0, {}, {})

    def _choose(
        self, depth: int, chosen: dict[str, str], bindings: Bindings
    ) -> Iterator[tuple[dict[str, str], Bindings]]:
        if depth == len(self.tied):
            yield dict(chosen), bindings
            return
        slot = self.tied[depth]
        seen = set()
        for name in self.candidates[slot.name]:
            node = self.source.nodes[name]
            alike = (node.type, node.dim, node.class_name, node.optional)
            if name in chosen.values() or alike in seen:
                continue
            seen.add(alike)
            bound = _unify(self.destination, slot, self.source, node, bindings)
            if bound is not None:
                yield from self._choose(depth + 1, {**chosen, slot.name: name}, bound)

    def result(self, source_of: Mapping[str, str], bindings: Bindings) -> Match:
        """The whole match, once every required slot has its source."""
        for slot in self.required:
            if not slot.repeat:
                node = self.source.nodes[source_of[slot.name]]
                bindings = _unify(self.destination, slot, self.source, node, bindings) or bindings
        slot_of = {name: slot for slot, name in source_of.items()}
        nodes = {name: slot_of.get(name) or self.homes[name][0] for name in self.source.nodes}
        classes = {key[6:]: str(value) for key, value in bindings.items() if key.startswith("class ")}
        variables = {key: value for key, value in bindings.items() if not key.startswith("class ")}
        return Match(nodes, classes, variables)


def _augment(start: str, edges: Mapping[str, list[str]], partner: dict[str, str], partner_back: dict[str, str]) -> bool:
    """Match ``start`` along a shortest augmenting path. ``partner``: this side -> other; ``partner_back``: reverse."""
    reached_from: dict[str, str] = {}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for there in edges[here]:
            if there in reached_from:
                continue
            reached_from[there] = here
            if there in partner_back:
                queue.append(partner_back[there])
                continue
            step: str | None = there
            while step is not None:
                owner = reached_from[step]
                before = partner.get(owner)
                partner[owner], partner_back[step] = step, owner
                step = before
            return True
    return False


def _keys(schema: Schema, node: Node) -> list[str]:
    """The variables and the class of a destination node."""
    if node.type == "category":
        size = schema.classes[node.class_name].dim
        return [f"class {node.class_name}", *([size] if isinstance(size, str) else [])]
    return [dim for dim in node.dim if isinstance(dim, str)]


def _unify(
    destination: Schema, slot: Node, source: Schema, node: Node, bindings: Bindings
) -> dict[str, int | str] | None:
    """The bindings under which ``slot`` takes ``node``, or None."""
    if slot.type != node.type or (node.optional and not slot.optional):
        return None
    if node.repeat and slot.repeat not in (node.repeat, "*"):
        return None
    bound = dict(bindings)
    if slot.type == "category":
        if bound.setdefault(f"class {slot.class_name}", node.class_name) != node.class_name:
            return None
        pairs = [(destination.classes[slot.class_name].dim, source.classes[node.class_name].dim)]
    elif len(slot.dim) != len(node.dim):
        return None
    else:
        pairs = list(zip(slot.dim, node.dim, strict=True))
    for wanted, found in pairs:
        if (bound.setdefault(wanted, found) if isinstance(wanted, str) else wanted) != found:
            return None
    return bound


def _why_unfit(destination: Schema, source: Schema, node: Node) -> str:
    """Why no destination node takes ``node``: the nearest miss."""
    what = _describe(source, node)
    alike = [slot for slot in destination.nodes.values() if slot.type == node.type]
    if not alike:
        taken = ", ".join(dict.fromkeys(_describe(destination, slot) for slot in destination.nodes.values()))
        return f"'{node.label}' is {what}, and it takes only: {taken}."
    if node.optional and not any(slot.optional for slot in alike):
        return f"'{node.label}' has missing values, and it takes none in {what}."
    taken = ", ".join(dict.fromkeys(_describe(destination, slot) for slot in alike))
    return f"'{node.label}' is {what}, and it takes: {taken}."


def _describe(schema: Schema, node: Node) -> str:
    if node.type == "category":
        size = schema.classes[node.class_name].dim
        return f"a category of {size} classes" if isinstance(size, int) else "a category"
    if node.type == "tensor":
        return "a number" if node.dim == (1,) else f"a tensor of shape {list(node.dim)}"
    return _WORDS[node.type]
