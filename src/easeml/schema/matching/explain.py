"""Why a source does not fit: the most obvious reason that no other makes needless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from easeml.schema.matching.budget import LIMIT, Budget, Undecided
from easeml.schema.matching.cover import cover
from easeml.schema.matching.match import forbidden_flags, match
from easeml.schema.matching.patterns import Member, class_prefix
from easeml.schema.matching.problem import Problem
from easeml.schema.matching.shapes import Shape, alternatives, shape_of
from easeml.schema.matching.wording import (
    SHOWN,
    described,
    described_links,
    described_once,
    listed,
    place,
)
from easeml.schema.structure import Field, Node, Structure


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

    try:
        return next(_reasons(destination, source, Budget(limit)))
    except Undecided:
        return "There is no match; the reason was not found within the limit of work."


def _reasons(destination: Structure, source: Structure, budget: Budget) -> Iterator[str]:
    """The reasons that hold, the most obvious first. Looking for the next costs more each time."""
    # Each node for itself: no variables or classes that others share, and no links.
    alone = Problem(
        [(destination, source)],
        budget,
        loose=_shared_keys(destination),
        linked=False,
    )
    found = (
        _misfit(alone, destination, source)
        or _miscount(alone, destination, source)
        or _wide_links(alone, destination, source)
    )
    if found:
        yield found
    yield _conflict(destination, source, budget)


def _misfit(problem: Problem, destination: Structure, source: Structure) -> str:
    """A node that nothing takes, or a place that nothing fills."""
    taken: set[int] = set()
    for fits in problem.fitting:
        taken.update(fits)

    for j, item in enumerate(problem.items):
        if j not in taken:
            member = problem.given[item][0]
            return _why_unfit(destination, source, source.nodes[member.name])

    for slot, fits in zip(problem.slots, problem.fitting, strict=True):
        if not fits and slot.repeat != "*":
            member = problem.wanted[slot][0]
            needed = described(destination, destination.nodes[member.name])
            return f"It needs {needed}, and there is none."

    return ""


def _why_unfit(destination: Structure, source: Structure, node: Node) -> str:
    """Why no destination node takes ``node``: the nearest miss."""
    what = described(source, node)
    slots = list(destination.nodes.values())
    alike = [slot for slot in slots if slot.type == node.type]
    if not alike:
        taken = described_once(destination, slots)
        return f"'{node.label}' is {what}, and it takes only: {taken}."

    repeatable = any(slot.repeat in (node.repeat, "*") for slot in alike)
    if node.repeat and not repeatable:
        many = "any number of times" if node.repeat == "*" else "once or more"
        return f"'{node.label}' is {what}, {many}, and it takes a fixed number."

    missing_is_taken = any(slot.optional for slot in alike)
    if node.optional and not missing_is_taken:
        return f"'{node.label}' has missing values, and it takes none in {what}."

    taken = described_once(destination, alike)
    return f"'{node.label}' is {what}, and it takes: {taken}."


def _miscount(problem: Problem, destination: Structure, source: Structure) -> str:
    """More or fewer nodes than places, in all or of a kind."""
    wanted = len(destination.nodes)
    found = len(source.nodes)
    repeated = any(node.repeat for node in destination.nodes.values())
    if wanted != found and not repeated:
        values = "value" if wanted == 1 else "values"
        return f"It takes exactly {wanted} {values}, and there are {found}."

    slots = problem.assignment.slots
    flow = cover(
        wanted=[slot.wanted for slot in slots],
        given=[len(members) for members in problem.given.values()],
        candidates=[slot.candidates for slot in slots],
        homeless=[not homes for homes in problem.homes],
    )
    if flow is not None:
        return ""
    return (
        _crowded(problem, source)
        or _empty_places(problem, destination)
        or "There are more or fewer values of a type than it takes."
    )


def _crowded(problem: Problem, source: Structure) -> str:
    """Nodes with fewer places than there are of them (a violation of Hall's condition)."""
    slots = problem.assignment.slots
    places_of = _places_of_homeless(problem)

    for places in dict.fromkeys(map(frozenset, places_of.values())):
        # All nodes that have no place but these.
        members: list[Member] = []
        for j, own in places_of.items():
            if own <= places:
                members += problem.given[problem.items[j]]

        room = sum(slots[i].wanted for i in places)
        if len(members) > room:
            nodes = [source.nodes[member.name] for member in members]
            what = described(source, nodes[0])
            names = listed([f"'{node.label}'" for node in nodes])
            return f"It has room for {room} such as {what}, and there are {len(members)}: {names}."

    return ""


def _places_of_homeless(problem: Problem) -> dict[int, set[int]]:
    """By item group that no repeated node takes: the slot groups that take it."""
    places_of: dict[int, set[int]] = {}
    for j, homes in enumerate(problem.homes):
        if not homes:
            places_of[j] = set()

    for i, slot in enumerate(problem.assignment.slots):
        for j in slot.candidates:
            if j in places_of:
                places_of[j].add(i)
    return places_of


def _empty_places(problem: Problem, destination: Structure) -> str:
    """Places with fewer nodes that could fill them than there are of them."""
    slots = problem.assignment.slots
    fills_of = {i: frozenset(slot.candidates) for i, slot in enumerate(slots) if slot.wanted}

    for fills in dict.fromkeys(fills_of.values()):
        # All places that nothing but these nodes could fill.
        alike = [i for i, own in fills_of.items() if own <= fills]
        needed = sum(slots[i].wanted for i in alike)
        found = sum(len(problem.given[problem.items[j]]) for j in fills)
        if needed > found:
            member = problem.wanted[problem.slots[alike[0]]][0]
            what = described(destination, destination.nodes[member.name])
            return f"It needs {needed} such as {what}, and there are {found}."

    return ""


def _wide_links(alone: Problem, destination: Structure, source: Structure) -> str:
    """A node with links of its own that none of the nodes that take its fields has room for."""
    for j, item in enumerate(alone.items):
        if item.singleton:
            continue
        takers = _takers(alone, destination, j)
        for member in alone.given[item]:
            node = source.nodes[member.name]
            if any(_bounds_fit(taker, node) for taker in takers):
                continue
            has = described_links(node.links)
            taken = dict.fromkeys(described_links(taker.links) for taker in takers)
            return f"'{node.name}' has {has}, and it takes: {listed(list(taken))}."
    return ""


def _takers(problem: Problem, destination: Structure, j: int) -> list[Node]:
    """The nodes of the destination that may take those of item group j."""
    takers = []
    for slot, fits in zip(problem.slots, problem.fitting, strict=True):
        if j in fits:
            takers += [destination.nodes[member.name] for member in problem.wanted[slot]]
    return takers


def _bounds_fit(taker: Node, node: Node) -> bool:
    """Whether the links of one node, wherever they lead, find room in those of the other."""
    if len(taker.links) != len(node.links):
        return False

    candidates = []
    for wide in taker.links:
        inside = [j for j, link in enumerate(node.links) if wide.holds(link)]
        candidates.append(inside)

    ones = [1] * len(node.links)
    homeless = [True] * len(node.links)
    return cover(ones, ones, candidates, homeless) is not None


def _conflict(destination: Structure, source: Structure, budget: Budget) -> str:
    """A least set of demands that cannot all hold, in words."""
    keys, linked = _least_conflict(destination, source, budget)
    prefix = class_prefix(0)
    categories = []
    sizes = []
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
        return (
            "Its nodes are linked in another way: "
            "there is no pairing of nodes under which links meet links."
        )

    demands = [*sizes, *(f"{users} are of one class" for users in categories)]
    if linked:
        demands.append("links meet links")
    return f"These cannot all hold: {'; '.join(demands)}."


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
        if linked:
            # Links are part of the conflict if there is a match without them.
            linked = Problem(sides, budget, linked=False).solution() is not None
        for key in keys:
            without_it = Problem(sides, budget, loose=[*loose, key], linked=linked)
            if without_it.solution() is None:
                loose.append(key)
    except Undecided:
        pass  # what is left is a reason, but may not be the least

    return [key for key in keys if key not in loose], linked


def _shared_keys(schema: Structure) -> list[str]:
    """The keys that more than one value uses: classes first, as they say more than sizes."""
    prefix = class_prefix(0)
    uses: Counter[str] = Counter()
    for _, value in _fixed_values(schema):
        shape = shape_of(schema, value, prefix)
        uses.update(dict.fromkeys(shape.used_keys(), 1))

    shared = [key for key, count in uses.items() if count > 1]
    return sorted(shared, key=lambda key: not key.startswith(prefix))


def _fixed_values(schema: Structure) -> Iterable[tuple[Node, Field]]:
    """The values of nodes that are not repeated: a repeated node's keys are each copy's own."""
    return [(node, value) for node, value in schema.values() if not node.repeat]


def _class_users(destination: Structure, name: str) -> str:
    """The places of a class, in words."""
    users = []
    for node, value in _fixed_values(destination):
        if value.class_name == name:
            users.append(place(node, value))
    return listed(users)


def _sizes(destination: Structure, source: Structure, key: str) -> str:
    """What the places of a variable would make of it, in words."""
    given = dict.fromkeys(
        (node.singleton, shape_of(source, value)) for node, value in _fixed_values(source)
    )

    said = []
    for node, value in _fixed_values(destination):
        shape = shape_of(destination, value)
        if key not in shape.used_keys():
            continue
        others = [other for singleton, other in given if singleton == node.singleton]
        sizes = _possible_sizes(shape, others, key)[:SHOWN]
        said.append(f"{' or '.join(sizes) or 'free'} in {place(node, value)}")

    more = f" and {len(said) - SHOWN} more places" if len(said) > SHOWN else ""
    return f"'{key}' is {', '.join(said[:SHOWN])}{more}"


def _possible_sizes(shape: Shape, others: Sequence[Shape], key: str) -> list[str]:
    """The values that a variable of a shape gets from others that it takes, each once."""
    sizes: dict[str, None] = {}
    for other in others:
        for bound in alternatives(shape, other):
            if key in bound:
                sizes[str(bound[key])] = None
    return list(sizes)
