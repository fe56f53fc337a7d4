"""Fidelity: who goes on, and which curves may stop."""

import math

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search.fidelity import Halving, forecast, is_hopeless, worth_returning


def test_levels_end_at_the_most():
    assert Halving(1, 27).levels == pytest.approx((1, 3, 9, 27))
    assert Halving(1, 20, 2).levels == pytest.approx((1.25, 2.5, 5, 10, 20))
    assert Halving(0.1, 1.0).levels == pytest.approx((1 / 9, 1 / 3, 1))
    assert Halving(5, 5).levels == (5,)


@pytest.mark.parametrize("wrong", [(0, 1), (2, 1), (1, math.inf), (1, 9, 1.0), (1, math.nan)])
def test_wrong_ladders_are_refused(wrong):
    with pytest.raises(InvalidInput):
        Halving(*wrong)


def test_asha_by_hand():
    ladder = Halving(1, 9)
    results = {"a": [0.5], "b": [0.6], "c": [0.4]}
    assert ladder.next({"a": [0.5], "b": [0.6]}) is None
    assert ladder.next(results) == ("b", 1, 3.0)
    assert ladder.next(results, running={"b"}) is None
    assert ladder.next({**results, "b": [0.6, 0.7]}) is None
    # more were measured: a, which was not good enough before, returns
    more = {**results, "b": [0.6, 0.7], "d": [0.1], "e": [0.2], "f": [0.3]}
    assert ladder.next(more) == ("a", 1, 3.0)
    top = {"a": [0.5, 0.9], "b": [0.6, 0.7], "c": [0.4, 0.5], "d": [0.1], "e": [0.2], "f": [0.3]}
    assert ladder.next(top) == ("a", 2, 9.0)  # the highest rung first
    assert ladder.next({"a": [math.nan], "b": [math.nan], "c": [math.nan]}) is None
    assert ladder.next({}) is None


def test_survivors_of_a_round():
    assert Halving(1, 9).survivors(
        {"a": 0.1, "b": 0.5, "c": math.nan, "d": 0.5, "e": 0.2, "f": 0.0}
    ) == ["b", "d"]
    assert Halving(1, 9).survivors({"a": 0.1}) == ["a"]
    assert Halving(1, 9).survivors({"a": math.nan}) == []


@pytest.mark.parametrize("seed", range(40))
def test_asha_spends_little_and_finds_the_good(seed):
    """On curves that keep their order, 81 candidates cost a fraction of training all, and a good
    one comes through.
    """
    generator = np.random.default_rng(seed)
    ladder, ends = Halving(1, 27), generator.random(81)
    results: dict[str, list[float]] = {}
    spent = 0.0
    for _ in range(1000):
        step = ladder.next(results)
        if step is None:
            if len(results) == len(ends):
                break
            name = f"{len(results):02}"
            results[name] = [float(ends[len(results)] * 0.6)]
            spent += ladder.levels[0]
        else:
            results[step.candidate].append(
                float(ends[int(step.candidate)] * (1 - 0.4 / (1 + step.number)))
            )
            spent += step.level - ladder.levels[step.number - 1]
        for name, found in results.items():
            assert len(found) <= len(ladder.levels), name
    finished = [int(name) for name, found in results.items() if len(found) == len(ladder.levels)]
    assert int(np.argmax(ends)) in finished
    assert spent < 0.25 * 27 * len(ends)


def test_forecasts_follow_power_laws_with_honest_errors():
    generator = np.random.default_rng(0)
    inside, widths = [], []
    for _ in range(60):
        end, gain, exponent = (
            generator.uniform(0.6, 0.95),
            generator.uniform(0.1, 0.4),
            generator.uniform(0.3, 1.5),
        )
        steps = np.arange(1, 16)
        found = forecast(steps, end - gain * steps**-exponent + generator.normal(0, 0.004, 15), 100)
        truth = end - gain * 100**-exponent
        inside.append(abs(found.mean - truth) <= 2.5 * found.error)
        widths.append(found.error)
    assert np.mean(inside) >= 0.9
    assert np.median(widths) < 0.05


def test_a_hopeless_curve_stops_and_one_that_still_climbs_does_not():
    steps = np.arange(1, 13)
    flat, climbing = 0.6 - 0.3 * steps**-1.5, 0.9 - 0.5 * steps**-0.4
    assert is_hopeless(steps, flat, 100, best=0.8)
    assert not is_hopeless(steps, climbing, 100, best=0.75)
    assert not is_hopeless(steps[:3], flat[:3], 100, best=0.99)  # too early to tell
    assert is_hopeless(steps, climbing, 100, best=0.99)
    stopped = {"flat": (steps, flat), "climbing": (steps, climbing)}
    assert worth_returning(stopped, 100, best=0.75) == ["climbing"]
    assert set(worth_returning(stopped, 100, best=0.5)) == {"flat", "climbing"}


def test_falling_and_constant_curves():
    steps = np.arange(1, 10)
    assert forecast(steps, np.full(9, 0.7), 50).mean == pytest.approx(0.7, abs=1e-6)
    assert forecast(steps, 0.9 - 0.02 * steps, 50).mean <= 0.9
    assert forecast([1], [0.4], 1).mean == 0.4


@pytest.mark.parametrize(
    ("steps", "qualities", "horizon"),
    [([], [], 5), ([1, 2], [0.1], 5), ([2, 1], [0.1, 0.2], 5), ([0, 1], [0.1, 0.2], 5), ([1, 2], [0.1, 0.2], 1),
     ([1, 2], [0.1, math.nan], 5), ([1, 2], [0.1, 0.2], math.inf)],
)  # fmt: skip
def test_what_is_no_curve_is_refused(steps, qualities, horizon):
    with pytest.raises(InvalidInput):
        forecast(steps, qualities, horizon)
