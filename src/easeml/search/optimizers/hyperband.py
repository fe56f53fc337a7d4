"""Hyperband: many configurations with little of a resource, few with much."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from easeml.search import spaces
from easeml.search.fidelity import Halving
from easeml.search.optimizers.base import Tried, fresh
from easeml.search.optimizers.plain import random_draws
from easeml.search.spaces import Config, Number

_FACTOR = 3


class Hyperband:
    """Draws configurations uniformly, and gives the best third of each rung three times as much.

    The resource is the number of a space that says ``.resource``, such as the trees of a forest. How
    little a configuration begins with differs between brackets, which get new ones in the shares of
    the source. Nobody waits for a rung to be whole. Spaces without a resource are drawn from.

    Source: Li and others, Hyperband (JMLR 2018), algorithm 1; rungs as in ASHA (``Halving``).
    """

    name = "hyperband"

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """See ``Optimizer``."""
        draws = random_draws(space, np.random.default_rng([seed, len(tried)]))
        resource = _resource(space)
        if resource is not None:
            draws = _by_brackets(draws, _Brackets(*resource), tried)
        return fresh(draws, tried, n)


def _resource(space: Mapping[str, Any]) -> tuple[str, Number] | None:
    """Return name and range of the number that is a space's resource; ``None`` where it has none."""
    for name, part in spaces.parse(space).items.items():
        if isinstance(part, Number) and part.is_resource:
            return name, part
    return None


def _by_brackets(
    draws: Iterator[Config], brackets: "_Brackets", tried: Sequence[Tried]
) -> Iterator[Config]:
    """Yield who goes on with more, or else a draw that begins; each counts as running at once."""
    for one in tried:
        brackets.note(one)
    for draw in draws:
        config = brackets.going_on() or brackets.beginning(draw)
        yield config
        brackets.note(Tried(config, None))


class _Brackets:
    """What was tried, by bracket: the rung on which a configuration began."""

    def __init__(self, name: str, number: Number):
        self._name = name
        self._number = number
        self._halving = Halving(number.low, number.high, _FACTOR)
        self._configs: dict[str, Config] = {}
        self._reached: defaultdict[str, dict[int, float | None]] = defaultdict(dict)

    @cached_property
    def _levels(self) -> list[Any]:
        """The resource of each rung, as the space allows it."""
        levels = self._halving.levels
        return [round(level) if self._number.whole else level for level in levels]

    def note(self, one: Tried) -> None:
        """Take in what was tried; more than a rung has, and less than the next, counts as the rung."""
        given = one.config[self._name]
        others = {name: value for name, value in one.config.items() if name != self._name}
        key = json.dumps(others, sort_keys=True)
        rung = max(0, sum(level <= given for level in self._levels) - 1)
        self._configs[key] = one.config
        self._reached[key][rung] = one.quality

    def going_on(self) -> Config | None:
        """Return who is to have more: of the bracket that begins with the least, if it has one."""
        for first, members in sorted(self._members().items()):
            ladder = Halving(self._halving.levels[first], self._halving.most, _FACTOR)
            results = {key: self._results(key, first) for key in members}
            running = [key for key in members if None in self._reached[key].values()]
            rung = ladder.next(results, running)
            if rung is not None:
                level = self._levels[first + rung.number]
                return {**self._configs[rung.candidate], self._name: level}
        return None

    def beginning(self, draw: Config) -> Config:
        """Return a draw with what its bracket begins with: the bracket that lacks most of its share."""
        members = self._members()

        def filled(first: int) -> float:
            return len(members[first]) / self._share(first)

        first = min(range(len(self._levels)), key=filled)
        return {**draw, self._name: self._levels[first]}

    def _members(self) -> defaultdict[int, list[str]]:
        members: defaultdict[int, list[str]] = defaultdict(list)
        for key, rungs in self._reached.items():
            members[min(rungs)].append(key)
        return members

    def _share(self, first: int) -> int:
        """Return how many begin in a bracket, of all brackets of one round."""
        most = len(self._levels) - 1
        rungs = most - first
        return math.ceil((most + 1) / (rungs + 1) * _FACTOR**rungs)

    def _results(self, key: str, first: int) -> list[float]:
        """Return the qualities of the rungs one after the other, as far as they are known."""
        found = []
        rungs = self._reached[key]
        while (quality := rungs.get(first + len(found))) is not None:
            found.append(quality)
        return found


OPTIMIZERS = (Hyperband(),)
