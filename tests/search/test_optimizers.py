"""Optimizers: what all of them keep, and that guided ones find what chance does not."""

import math

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
