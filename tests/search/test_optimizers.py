"""Optimizers: what all of them keep, and that guided ones find what chance does not."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search import spaces
from easeml.search.optimizers import (
    Tried,
    conformance,
    installed_optimizers,
    optimizer_named,
)
from easeml.search.optimizers.conformance import NETWORK

NAMES = sorted(installed_optimizers().by_name)


def quality(config):
    """Best at rate 0.01, 4 layers, convolutions of 32 filters and stride 2."""
    loss = (math.log10(config["rate"]) + 2) ** 2 / 8 + (config["layers"] - 4) ** 2 / 25
    kind = config["kind"]
    if kind["name"] == "convolution":
        loss += (kind["filters"] - 32) ** 2 / 2000 + (kind["stride"] != 2) * 0.1
    else:
        loss += 0.3
    return math.exp(-loss)


def searched(name, count, seed, batch=3):
    tried = []
    while len(tried) < count:
        found = optimizer_named(name).propose(NETWORK, tried, batch, seed)
        tried += [Tried(config, quality(config)) for config in found]
    return tried


@pytest.mark.parametrize("name", NAMES)
def test_conformance(name):
    conformance.check(optimizer_named(name))


class Forgetful:
    """Proposes the same again and again."""

    name = "forgetful"

    def propose(self, space, tried, n, seed):
        return spaces.suggest(space, n, seed)


def test_the_conformance_suite_finds_what_was_tried():
    with pytest.raises(AssertionError, match="was tried"):
        conformance.check(Forgetful())


@pytest.mark.parametrize("name", ["guided", "tpe"])
def test_what_learns_finds_more_than_chance(name):
    seeds = range(6)
    learned = np.mean([max(one.quality for one in searched(name, 36, seed)) for seed in seeds])
    chance = np.mean([max(one.quality for one in searched("random", 36, seed)) for seed in seeds])
    assert 1 - learned < 0.75 * (1 - chance)


def test_the_default_is_guided_and_unknown_ones_are_refused():
    assert optimizer_named().name == "guided"
    with pytest.raises(InvalidInput, match="no optimizer 'best'"):
        optimizer_named("best")


FOREST = {
    "trees": {".int": [20, 540], ".scale": "log", ".resource": True},
    "depth": {".float": [0.0, 1.0]},
}


def grown(count, batch, seed=0):
    """Play Hyperband where depth decides, and trees help a little; return what was tried."""
    tried = []
    for _ in range(count):
        found = optimizer_named("hyperband").propose(FOREST, tried, batch, seed)
        tried += [Tried(one, 1 - (one["depth"] - 0.7) ** 2 - 1 / one["trees"]) for one in found]
    return tried


def test_hyperband_gives_the_best_third_three_times_as_much():
    tried = grown(count=60, batch=2)
    sizes = Counter(one.config["trees"] for one in tried)
    assert sorted(sizes) == [20, 60, 180, 540]
    assert sizes[20] > sizes[180] > sizes[540]
    depths = defaultdict(set)
    for one in tried:
        depths[one.config["trees"]].add(one.config["depth"])
    went_on = [depth for depth in depths[20] if depth in depths[60]]
    stayed = list(depths[20] - set(went_on))
    third = len(depths[20]) // 3
    assert third <= len(went_on) <= third + 2  # some went on before better ones had begun
    assert np.mean(np.abs(np.array(went_on) - 0.7)) < 0.4 * np.mean(np.abs(np.array(stayed) - 0.7))
    assert depths[60] - depths[20]  # another bracket begins there


def test_hyperband_asks_for_nobody_twice_while_he_runs():
    tried = []
    for _ in range(12):
        (config,) = optimizer_named("hyperband").propose(FOREST, tried, 1, 0)
        tried.append(Tried(config, None))  # none has ended
    assert len({one.config["depth"] for one in tried}) == 12


def test_a_resource_is_a_number_above_nothing():
    with pytest.raises(InvalidInput, match="a number above 0"):
        spaces.parse({"steps": {".int": [0, 9], ".resource": True}})
    with pytest.raises(InvalidInput, match="true or false"):
        spaces.parse({"steps": {".int": [1, 9], ".resource": "yes"}})
