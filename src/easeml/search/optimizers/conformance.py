"""What every optimizer must keep, as checks that any optimizer can be run through.

``check(optimizer)`` plays small searches with fixed seeds; an ``AssertionError`` says what was
broken.
"""

from typing import Any

from easeml.search import spaces
from easeml.search.optimizers.base import Optimizer, Tried

NETWORK: dict[str, Any] = {
    "rate": {".float": [1e-5, 1.0], ".scale": "log"},
    "layers": {".int": [1, 6], ".resource": True},
    "kind": {
        ".choice": [
            {"name": "dense", "width": {".int": [4, 512], ".scale": "log"}},
            {"name": "convolution", "filters": {".int": [4, 64]}, "stride": {".choice": [1, 2, 3]}},
        ]
    },
    "seed": 7,
}
_SMALL: dict[str, Any] = {"k": {".int": [1, 3]}, "how": {".choice": ["a", "b"]}}
_TURNS, _BATCH, _STILL_RUNNING = 5, 4, 2


def check(optimizer: Optimizer) -> None:
    """Run all checks."""
    check_proposals(optimizer)
    check_used_up(optimizer)
    check_equal_qualities(optimizer)


def check_proposals(optimizer: Optimizer) -> None:
    """Proposals are of the space, new, different, and the same when asked again."""
    tried: list[Tried] = []
    for turn in range(_TURNS):
        found = optimizer.propose(NETWORK, tried, _BATCH, seed=3)
        where = f"{optimizer.name}, turn {turn}"
        assert found == optimizer.propose(NETWORK, tried, _BATCH, seed=3), f"{where}: differs"
        assert len(found) == _BATCH, f"{where}: proposes {len(found)} of {_BATCH}"
        for config in found:
            assert spaces.complete(NETWORK, config) == config, f"{where}: {config} is not whole"
            known = [one.config for one in tried]
            assert config not in known, f"{where}: {config} was tried"
            quality = None if turn == _STILL_RUNNING else 1 / config["layers"]
            tried.append(Tried(config, quality))


def check_suggestions(optimizer: Optimizer) -> None:
    """Some proposals are new, turn after turn; all are of the space.

    Of an optimizer that draws anew each time, no more can be asked.
    """
    tried: list[Tried] = []
    for turn in range(_TURNS):
        found = optimizer.propose(NETWORK, tried, _BATCH, seed=3)
        assert found, f"{optimizer.name}, turn {turn}: proposes nothing new"
        tried += [Tried(config, 1 / config["layers"]) for config in found]
    assert optimizer.propose({}, [Tried({}, 0.1)], 3, seed=0) == []


def check_used_up(optimizer: Optimizer) -> None:
    """A space that has no more gives no more, and none are given where none are wanted."""
    tried: list[Tried] = []
    for _ in range(6):
        found = optimizer.propose(_SMALL, tried, 2, seed=0)
        tried += [Tried(config, 0.5) for config in found]
    assert len(tried) == 6, f"{optimizer.name}: found {len(tried)} of 6 configurations"
    assert optimizer.propose(_SMALL, tried, 2, seed=0) == []
    assert optimizer.propose({"c": 1}, [], 3, seed=0) == [{"c": 1}]
    assert optimizer.propose({}, [Tried({}, 0.1)], 3, seed=0) == []
    assert optimizer.propose(NETWORK, [], 0, seed=0) == []


def check_equal_qualities(optimizer: Optimizer) -> None:
    """Where all qualities are equal, it goes on."""
    tried = [Tried(config, 0.7) for config in spaces.suggest(NETWORK, 12, seed=0)]
    assert len(optimizer.propose(NETWORK, tried, 3, seed=0)) == 3
