"""Why a source does not fit: the first reason, from the most to the least obvious, that no other
makes needless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from easeml.schema.matching.budget import LIMIT, Budget, Undecided
from easeml.schema.matching.cover import cover
from easeml.schema.matching.match import forbidden_flags, match
from easeml.schema.matching.patterns import Member, class_prefix
from easeml.schema.matching.problem import Problem
from easeml.schema.matching.shapes import alternatives, shape_of
from easeml.schema.structure import Field, Link, Node, Structure

_WORDS = {
    "category": "a category",
    "text": "text",
    "document": "a document",
    "timestamp": "a timestamp",
}
_SHOWN = 4  # names in a list; the rest is counted


def why_not(destination: Structure, source: Structure, *, limit: int = LIMIT) -> str:
    """Return one sentence that says why ``source`` does not fit ``destination``; empty if it fits.

    Looked at in this order: what links may form, a node that nothing takes, a place that nothing
    fills, numbers of like nodes, and at last a least set of variables, classes and links that
    cannot all hold: without any one of them there would be a match. Where ``match`` is undecided
    within ``limit``, the sentence says that.
    """
    try:
        if match(destination, source, limit=limit) is not None:
            return ""
    except Undecided as error:
        return f"It could not be decided: {error}"
    flags = forbidden_flags(destination, source)
    if flags:
        return f"The data is not of the form it takes: {' and '.join(flags)}."
    budget = Budget(limit)
    try:
        alone = Problem(
            [(destination, source)], budget, loose=_shared_keys(destination), linked=False
        )
        return (
            _misfit(alone, destination, source)
            or _miscount(alone, destination, source)
            or _wide_links(alone, destination, source)
            or _conflict(destination, source, budget)
        )
    except Undecided:
        return "There is no match; the reason was not found within the limit of work."


def _misfit(problem: Problem, destination: Structure, source: Structure) -> str:
    """A node that nothing takes, or a place that nothing fills."""
    taken = {j for found in problem.fitting for j in found}
    for j, item in enumerate(problem.items):
        if j not in taken:
            return _why_unfit(destination, source, source.nodes[problem.given[item][0].name])
    for i, slot in enumerate(problem.slots):
        if not problem.fitting[i] and slot.repeat != "*":
            needed = destination.nodes[problem.wanted[slot][0].name]
            return f"It needs {_describe(destination, needed)}, and there is none."
    return ""


def _miscount(problem: Problem, destination: Structure, source: Structure) -> str:
    """More or fewer nodes than places, in all or of a kind."""
    wanted, found = len(destination.nodes), len(source.nodes)
    if wanted != found and not any(node.repeat for node in destination.nodes.values()):
        return f"It takes exactly {wanted} {'value' if wanted == 1 else 'values'}, and there are {found}."
    slots = problem.assignment.slots
    given = [len(members) for members in problem.given.values()]
    homeless = [not homes for homes in problem.homes]
    if (
        cover([slot.wanted for slot in slots], given, [slot.candidates for slot in slots], homeless)
        is not None
    ):
        return ""
    return (
        _crowded(problem, source)
        or _empty_places(problem, destination)
        or "There are more or fewer values of a type than it takes."
    )


def _crowded(problem: Problem, source: Structure) -> str:
    """Nodes with fewer places than there are of them (a violation of Hall's condition)."""
    slots = problem.assignment.slots
    places: dict[int, set[int]] = {j: set() for j, homes in enumerate(problem.homes) if not homes}
    for i, slot in enumerate(slots):
        for j in slot.candidates:
            if j in places:
                places[j].add(i)
    for own in dict.fromkeys(map(frozenset, places.values())):
        members = [
            m
            for j, found in places.items()
            if found <= own
            for m in problem.given[problem.items[j]]
        ]
        room = sum(slots[i].wanted for i in own)
        if len(members) > room:
            what = _describe(source, source.nodes[members[0].name])
            return f"It has room for {room} such as {what}, and there are {len(members)}: {_names(source, members)}."
    return ""


def _empty_places(problem: Problem, destination: Structure) -> str:
    """Places with fewer nodes that could fill them than there are of them."""
    slots = problem.assignment.slots
    fills = {i: frozenset(slot.candidates) for i, slot in enumerate(slots) if slot.wanted}
    for fill in dict.fromkeys(fills.values()):
        alike = [i for i, found in fills.items() if found <= fill]
        needed = sum(slots[i].wanted for i in alike)
        found = sum(len(problem.given[problem.items[j]]) for j in fill)
        if needed > found:
            what = _describe(
                destination, destination.nodes[problem.wanted[problem.slots[alike[0]]][0].name]
            )
            return f"It needs {needed} such as {what}, and there are {found}."
    return ""


def _conflict(destination: Structure, source: Structure, budget: Budget) -> str:
    """A least set of demands that cannot all hold, in words."""
    keys, linked = _least_conflict(destination, source, budget)
    prefix = class_prefix(0)
    categories, sizes = [], []
    for key in keys:
        if key.startswith(prefix):
            categories.append(_class_users(destination, key.removeprefix(prefix)))
        else:
            sizes.append(_sizes(destination, source, key))
    if not linked and not categories:
        return f"Sizes that have to be equal are not: {'; '.join(sizes)}."
    if not linked and not sizes:
        return f"Categories that have to be of one class are not: {'; '.join(categories)}."
    if linked and not keys:
        return "Its nodes are linked in another way: there is no pairing of nodes under which links meet links."
    said = [*sizes, *(f"{users} are of one class" for users in categories)]
    if linked:
        said.append("links meet links")
    return f"These cannot all hold: {'; '.join(said)}."


def _least_conflict(
    destination: Structure, source: Structure, budget: Budget
) -> tuple[list[str], bool]:
    """The keys that have to agree and cannot, and whether links are part of the conflict.

    Each demand is dropped in turn, and stays dropped where that helps not.
    """
    sides = [(destination, source)]
    keys = _shared_keys(destination)
    linked = any(node.links for node in destination.nodes.values())
    loose: list[str] = []
    try:
        linked = linked and Problem(sides, budget, linked=False).solution() is not None
        for key in keys:
            if Problem(sides, budget, loose=[*loose, key], linked=linked).solution() is None:
                loose.append(key)
    except Undecided:
        pass  # what is left is a reason, but may not be the least
    return [key for key in keys if key not in loose], linked


def _shared_keys(schema: Structure) -> list[str]:
    """The keys that more than one value uses: classes first, as they say more than sizes."""
    shapes = [
        shape_of(schema, v, class_prefix(0))
        for n in schema.nodes.values()
        if not n.repeat
        for v in n.values
    ]
    uses = Counter(key for shape in shapes for key in dict.fromkeys(shape.used_keys()))
    return sorted(
        (key for key, count in uses.items() if count > 1),
        key=lambda key: not key.startswith(class_prefix(0)),
    )


def _class_users(destination: Structure, name: str) -> str:
    return _listed(
        [_place(node, value) for node, value in _values(destination) if value.class_name == name]
    )


def _sizes(destination: Structure, source: Structure, key: str) -> str:
    """What the places of a variable would make of it."""
    given = dict.fromkeys(
        (node.singleton, shape_of(source, value)) for node, value in _values(source)
    )
    places, said = 0, []
    for node, value in _values(destination):
        shape = shape_of(destination, value)
        if key not in shape.used_keys():
            continue
        places += 1
        if places > _SHOWN:
            continue
        found = dict.fromkeys(
            str(bound[key])
            for singleton, other in given
            if singleton == node.singleton
            for bound in alternatives(shape, other)
            if key in bound
        )
        said.append(f"{' or '.join(list(found)[:_SHOWN]) or 'free'} in {_place(node, value)}")
    more = f" and {places - _SHOWN} more places" if places > _SHOWN else ""
    return f"'{key}' is {', '.join(said)}{more}"


def _values(schema: Structure) -> Iterable[tuple[Node, Field]]:
    return (
        (node, value) for node in schema.nodes.values() if not node.repeat for value in node.values
    )


def _place(node: Node, value: Field) -> str:
    return f"'{node.name}'" if node.singleton else f"'{node.name}.{value.name}'"


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def _names(schema: Structure, members: list[Member]) -> str:
    return _listed([f"'{schema.nodes[member.name].label}'" for member in members])


def _why_unfit(destination: Structure, source: Structure, node: Node) -> str:
    """Why no destination node takes ``node``: the nearest miss."""
    what = _describe(source, node)
    alike = [slot for slot in destination.nodes.values() if slot.type == node.type]
    if not alike:
        taken = ", ".join(
            dict.fromkeys(_describe(destination, slot) for slot in destination.nodes.values())
        )
        return f"'{node.label}' is {what}, and it takes only: {taken}."
    if node.repeat and not any(slot.repeat in (node.repeat, "*") for slot in alike):
        many = "any number of times" if node.repeat == "*" else "once or more"
        return f"'{node.label}' is {what}, {many}, and it takes a fixed number."
    if node.optional and not any(slot.optional for slot in alike):
        return f"'{node.label}' has missing values, and it takes none in {what}."
    taken = ", ".join(dict.fromkeys(_describe(destination, slot) for slot in alike))
    return f"'{node.label}' is {what}, and it takes: {taken}."


def _wide_links(alone: Problem, destination: Structure, source: Structure) -> str:
    """A node with links of its own that none of the nodes that take its fields has room for."""
    for j, item in enumerate(alone.items):
        slots = [slot for i, slot in enumerate(alone.slots) if j in alone.fitting[i]]
        takers = [destination.nodes[member.name] for slot in slots for member in alone.wanted[slot]]
        for node in (source.nodes[member.name] for member in alone.given[item]):
            if not node.singleton and not any(_bounds_fit(slot, node) for slot in takers):
                taken = list(dict.fromkeys(_described_links(slot.links) for slot in takers))
                return f"'{node.name}' has {_described_links(node.links)}, and it takes: {_listed(taken)}."
    return ""


def _bounds_fit(slot: Node, node: Node) -> bool:
    """Whether the links of one node, wherever they lead, find room in those of the other."""
    candidates = [
        [j for j, link in enumerate(node.links) if wide.holds(link)] for wide in slot.links
    ]
    ones = [1] * len(node.links)
    return (
        len(slot.links) == len(ones)
        and cover(ones, ones, candidates, [True] * len(ones)) is not None
    )


def _described_links(links: tuple[Link, ...]) -> str:
    bounds = [
        f"{link.target} {link.lower}..{'inf' if link.upper is None else link.upper}"
        for link in links
    ]
    return f"links to {_listed(bounds)}" if bounds else "no links"


def _describe(schema: Structure, value: Field) -> str:
    if isinstance(value, Node) and not value.singleton:
        return f"any number of instances of ({', '.join(_describe(schema, field) for field in value.fields)})"
    if value.type == "category":
        size = schema.classes[value.class_name].dim
        return f"a category of {size} classes" if isinstance(size, int) else "a category"
    if value.type == "tensor":
        return "a number" if value.dim == (1,) else f"a tensor of shape {list(value.dim)}"
    return _WORDS[value.type]
