"""Optimizers: what all of them keep, and that guided ones find what chance does not."""

import math

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search import spaces
from easeml.search.optimizers import OPTIMIZERS, Tried, optimizer_named

NETWORK = {
    "rate": {".float": [1e-5, 1.0], ".scale": "log"},
    "layers": {".int": [1, 6]},
    "kind": {
        ".choice": [
            {"name": "dense", "width": {".int": [4, 512], ".scale": "log"}},
            {"name": "convolution", "filters": {".int": [4, 64]}, "stride": {".choice": [1, 2, 3]}},
        ]
    },
    "seed": 7,
}
NAMES = sorted(OPTIMIZERS)


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
def test_proposals_are_allowed_new_different_and_repeatable(name):
    optimizer, tried = OPTIMIZERS[name], []
    for turn in range(5):
        found = optimizer.propose(NETWORK, tried, 4, seed=3)
        assert found == optimizer.propose(NETWORK, tried, 4, seed=3)
        assert len(found) == 4
        for config in found:
            assert spaces.complete(NETWORK, config) == config
            assert config not in [one.config for one in tried]
            tried.append(Tried(config, None if turn == 2 else quality(config)))  # some run still
    assert len({repr(one.config) for one in tried}) == 20


@pytest.mark.parametrize("name", NAMES)
def test_a_space_that_is_used_up_gives_no_more(name):
    optimizer = OPTIMIZERS[name]
    small = {"k": {".int": [1, 3]}, "how": {".choice": ["a", "b"]}}
    tried = []
    for _ in range(6):
        for config in optimizer.propose(small, tried, 2, seed=0):
            tried.append(Tried(config, 0.5))
    assert len(tried) == 6
    assert optimizer.propose(small, tried, 2, seed=0) == []
    assert optimizer.propose({"c": 1}, [], 3, seed=0) == [{"c": 1}]
    assert optimizer.propose({}, [Tried({}, 0.1)], 3, seed=0) == []
    assert optimizer.propose(NETWORK, [], 0, seed=0) == []


@pytest.mark.parametrize("name", NAMES)
def test_equal_qualities_are_no_problem(name):
    tried = [Tried(config, 0.7) for config in spaces.suggest(NETWORK, 12, seed=0)]
    assert len(OPTIMIZERS[name].propose(NETWORK, tried, 3, seed=0)) == 3


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
