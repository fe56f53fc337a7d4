"""Demands of a destination that cannot all hold: variables, classes and links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from easeml.schema.matching.budget import Budget, Undecided
from easeml.schema.matching.patterns import class_prefix
from easeml.schema.matching.problem import Problem
from easeml.schema.matching.shapes import Shape, alternatives, shape_of
from easeml.schema.matching.solution import solve
from easeml.schema.matching.wording import SHOWN, listed, place
from easeml.schema.structure import Field, Node, Structure

_CLASS = class_prefix(0)  # starts the keys of classes; the others are variables


def conflict(destination: Structure, source: Structure, budget: Budget) -> str:
    """A least set of demands that cannot all hold, in words."""
    keys, linked = _least_conflict(destination, source, budget)
    sizes = []
    categories = []
    for key in keys:
        if key.startswith(_CLASS):
            categories.append(_class_users(destination, key.removeprefix(_CLASS)))
        else:
            sizes.append(_sizes(destination, source, key))

    match bool(sizes), bool(categories), linked:
        case True, False, False:
            return f"Sizes that have to be equal are not: {'; '.join(sizes)}."
        case False, True, False:
            return f"Categories that have to be of one class are not: {'; '.join(categories)}."
        case False, False, _:
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

    Each demand is dropped in turn, and stays dropped where that helps not. Where the budget does
    not suffice, what is left is a reason, but may not be the least.
    """
    sides = [(destination, source)]
    needed = shared_keys(destination)
    linked = any(destination.links())
    loose: list[str] = []
    with suppress(Undecided):
        if linked:
            # Links are part of the conflict if there is a match without them.
            linked = solve(Problem(sides, budget, linked=False)) is not None

        for key in list(needed):
            without_it = Problem(sides, budget, loose=[*loose, key], linked=linked)
            if solve(without_it) is None:
                loose.append(key)
                needed.remove(key)

    return needed, linked


def shared_keys(schema: Structure) -> list[str]:
    """The keys that more than one value uses: classes first, as they say more than sizes."""
    uses: Counter[str] = Counter()
    for _, value in _fixed_values(schema):
        shape = shape_of(schema, value, _CLASS)
        uses.update(shape.used_keys())

    shared = [key for key, count in uses.items() if count > 1]
    return sorted(shared, key=lambda key: not key.startswith(_CLASS))


def _fixed_values(schema: Structure) -> Iterator[tuple[Node, Field]]:
    """The values of nodes that are not repeated: a repeated node's keys are each copy's own."""
    for node, value in schema.values():
        if not node.repeat:
            yield node, value


def _class_users(destination: Structure, name: str) -> str:
    """The places of a class, in words."""
    pairs = _fixed_values(destination)
    return listed([place(node, value) for node, value in pairs if value.class_name == name])


def _sizes(destination: Structure, source: Structure, key: str) -> str:
    """What the places of a variable would make of it, in words."""
    given: dict[bool, dict[Shape, None]] = {True: {}, False: {}}  # of singletons, of others
    for node, value in _fixed_values(source):
        given[node.singleton][shape_of(source, value)] = None

    said = []
    for node, value in _fixed_values(destination):
        shape = shape_of(destination, value)
        if key in shape.used_keys():
            sizes = _possible_sizes(shape, given[node.singleton], key)[:SHOWN]
            said.append(f"{' or '.join(sizes)} in {place(node, value)}")
    return f"'{key}' is {listed(said, 'more places')}"


def _possible_sizes(shape: Shape, others: Iterable[Shape], key: str) -> list[str]:
    """The values that a variable of a shape gets from others that it takes, each once."""
    sizes: dict[str, None] = {}
    for other in others:
        for bound in alternatives(shape, other):
            if key in bound:
                sizes[str(bound[key])] = None
    return list(sizes) or ["free"]
