"""Who takes whom: the pairs of nodes and of their values that solve a problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain

from easeml.schema.matching.assignment import Domains, State
from easeml.schema.matching.cover import dealt
from easeml.schema.matching.embedding import Candidates, pair_components
from easeml.schema.matching.patterns import Groups, Member
from easeml.schema.matching.problem import Problem
from easeml.schema.structure import Dim

_Pair = tuple[Member, Member]  # a destination's node and the source's node that it takes
_Place = tuple[int, str]  # side and name of a node
_Values = tuple[list[tuple[int, int]], Domains]  # pairs of values, and what local keys may be


@dataclass(frozen=True, slots=True)
class Pair:
    """A destination's node (``taker``) and the source's node that it takes.

    ``values``: the pairs of their values, as places in ``fields``. ``decided``: the values of keys,
    of local ones under their real names.
    """

    taker: Member
    taken: Member
    values: list[tuple[int, int]]
    decided: Mapping[str, object]


def solve(problem: Problem) -> list[Pair] | None:
    """A match of all nodes, always the same for the same schemas; None if there is none.

    Raises:
        Undecided: if the budget does not suffice.
    """
    for state in problem.assignment.solutions():
        pairing = _Pairing(problem, state)
        linked = pairing.linked()
        if linked is not None:
            return pairing.with_values([*pairing.unlinked(), *linked])
    return None


class _Pairing:
    """Pairs of nodes under a state of the assignment, which says how many of a group go where."""

    def __init__(self, problem: Problem, state: State):
        self.problem = problem
        self.state = state
        self.slot_of = _groups_of(problem.wanted)
        self.item_of = _groups_of(problem.given)

    def linked(self) -> list[_Pair] | None:
        """Pairs of the nodes in connected components, or None if links do not meet links."""
        pairs: list[_Pair] = []
        given = list(self.problem.given.values())
        takers = _members(self.problem.wanted)
        taken = _members(self.problem.given)

        @cache
        def candidates(i: int) -> Candidates:
            """The names of what slot group i may become."""
            members = chain.from_iterable(given[j] for j in self.state.candidates[i])
            return dict.fromkeys(member.name for member in members)

        for side, (wanted_graph, given_graph) in enumerate(self.problem.graphs):

            def allowed(name: str, side: int = side) -> Candidates:
                return candidates(self.slot_of[side, name])

            mapping = pair_components(wanted_graph, given_graph, allowed, self.problem.budget)
            if mapping is None:
                return None
            for name, other in mapping.items():
                pair = (takers[side, name], taken[side, other])
                pairs.append(pair)

        return pairs

    def unlinked(self) -> Iterator[_Pair]:
        """Pairs of the nodes that no link joins to others, as the flow shares them out."""
        problem = self.problem
        takers = [self._not_joined(members, 0) for members in problem.wanted.values()]
        left = [self._not_joined(members, 1) for members in problem.given.values()]
        yield from dealt(takers, left, self.state.flow)

        # What is left goes to the repeated nodes that take it.
        for j, rest in enumerate(left):
            for member in rest:
                home = problem.slots[problem.homes[j]]
                yield problem.wanted[home][0], member

    def _not_joined(self, members: list[Member], end: int) -> Iterator[Member]:
        """The members that no link joins to others; ``end``: 0 for destinations, 1 for sources."""
        joined = self.problem.graphs[members[0].side][end].joined
        return (member for member in members if member.name not in joined)

    def with_values(self, pairs: list[_Pair]) -> list[Pair]:
        """The pairs of nodes with those of their values, and with what is decided."""
        decided = _only_values(self.state.domains)

        @cache
        def values_of(i: int, j: int) -> _Values:
            if self.problem.slots[i].singleton:
                return [(0, 0)], {}
            return self.problem.fields(i, j).pairs(self.state.domains)

        solved = []
        for taker, taken in pairs:
            i = self.slot_of[taker.side, taker.name]
            j = self.item_of[taken.side, taken.name]
            values, domains = values_of(i, j)
            local = {taker.local[key]: value for key, value in _only_values(domains).items()}
            all_keys = {**decided, **local} if local else decided
            solved.append(Pair(taker, taken, values, all_keys))
        return solved


def _only_values(domains: Domains) -> dict[str, Dim]:
    """What keys are decided to be: a solution leaves each of them one value."""
    return {key: next(iter(domain)) for key, domain in domains.items()}


def _groups_of(groups: Groups) -> dict[_Place, int]:
    """The number of the group of each node."""
    numbers: dict[_Place, int] = {}
    for number, members in enumerate(groups.values()):
        for member in members:
            numbers[member.side, member.name] = number
    return numbers


def _members(groups: Groups) -> dict[_Place, Member]:
    """The members by side and name."""
    members = chain.from_iterable(groups.values())
    return {(member.side, member.name): member for member in members}
