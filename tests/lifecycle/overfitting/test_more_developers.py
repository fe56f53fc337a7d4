"""Developers who adapt to the readings of the meter as people do, in worlds of coin tosses."""

import numpy as np
import pytest

from easeml.lifecycle.overfitting import (
    Answer,
    Keeper,
    Meter,
    World,
    attack,
    keep_with_meter,
    keep_without_care,
    plan,
)

Played = list[tuple[float, Answer]]
Heard = tuple[np.ndarray, float]  # where a model is right, and the gap that was shown for it
EDGES, TOLERANCE, DELTA = (0.04, 0.1, 0.16, 0.22), 0.1, 0.1


def asked(keeper: Keeper, world: World, edge: float, right: np.ndarray, played: Played) -> float:
    """Ask about a model that looks better than it is by ``edge``; return the gap that is shown.

    NaN where nothing is answered any more.
    """
    answer = keeper(world.truth + edge, right.astype(np.float64))
    if answer is None:
        return float("nan")
    played.append((edge, answer))
    return answer.gap


def submitted(keeper: Keeper, world: World, right: np.ndarray, played: Played) -> Played:
    asked(keeper, world, world.aim, right, played)
    return played


def vote(world: World, heard: list[Heard], rng: np.random.Generator) -> np.ndarray:
    """Return a vote of models, each by how much better it was shown to be than the others."""
    votes = rng.normal(0, 1e-9, world.examples)
    gaps = np.array([gap for _, gap in heard])
    for right, gap in heard:
        votes += (np.nanmean(gaps) - gap if np.isfinite(gap) else 0.0) * (2.0 * right - 1.0)
    return votes > 0


def threshold_chooser(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Try thresholds of one score; take of each stretch between two what their answers prefer."""
    place = rng.permutation(world.examples) / world.examples
    labels = rng.random(world.examples) < 0.5
    played: Played = []
    cuts = np.linspace(0, 1, world.rounds)
    final = np.zeros(world.examples, dtype=bool)
    before = float("nan")
    for number, cut in enumerate(cuts[:-1]):
        gap = asked(keeper, world, world.edge, (place > cut) == labels, played)
        if number and gap > before:  # saying yes in this stretch was better
            final |= (place > cuts[number - 1]) & (place <= cut)
        before = gap
    return submitted(keeper, world, final == labels, played)


def feature_chooser(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Ask about a rule a feature, in the middle of all ranges, and boost those that look best."""
    played: Played = []
    heard: list[Heard] = []
    middle = (EDGES[1] + EDGES[2]) / 2
    for right in world.models(rng, world.rounds - 1):
        heard.append((right, asked(keeper, world, middle, right, played)))
    return submitted(keeper, world, vote(world, heard, rng), played)


def greedy_ensembler(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Add a model to the ensemble where the ensemble with it is not shown to be worse."""
    played: Played = []
    total = np.zeros(world.examples)
    least = float("inf")
    for right in world.models(rng, world.rounds - 1):
        tried = total + (2.0 * right - 1.0) + rng.normal(0, 1e-9, world.examples)
        gap = asked(keeper, world, world.edge, tried > 0, played)
        if gap <= least:
            total, least = tried, gap
    return submitted(keeper, world, total > 0, played)


def several_people(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Three in turn: one votes by signs, one changes blocks, one asks the others' models again."""
    played: Played = []
    heard: list[Heard] = []
    base, other = world.models(rng, 2)
    for turn, right in enumerate(world.models(rng, world.rounds - 2)):
        who = turn % 3
        if who == 0:
            heard.append((right, asked(keeper, world, world.edge, right, played)))
        elif who == 1:
            tried = np.where(rng.random(world.examples) < 0.2, other, base)
            gap = asked(keeper, world, world.edge, tried, played)
            base = tried if gap <= world.edge else base
        else:
            again = heard[-1][0]
            heard.append((again, asked(keeper, world, world.edge + 0.03, again, played)))
    played = submitted(keeper, world, vote(world, [*heard, (base, 0.0)], rng), played)
    return submitted(keeper, world, vote(world, heard, rng), played)


PEOPLE = [threshold_chooser, feature_chooser, greedy_ensembler, several_people]


@pytest.mark.parametrize("developer", PEOPLE)
@pytest.mark.parametrize("mode", ["coded", "monotone", "plain"])
def test_the_promise_holds_against_people_who_choose(mode, developer):
    rounds = 12
    options = plan(5, rounds, TOLERANCE, DELTA).options
    examples = next(option.size for option in options if option.mode == mode)
    found = attack(
        mode,
        lambda rng: keep_with_meter(Meter(examples, EDGES, TOLERANCE, DELTA, rounds, mode)),
        examples=examples,
        rounds=rounds,
        delta=DELTA,
        developer=developer,
        aim=EDGES[0] + 1.001 * TOLERANCE,
        runs=60,
    )
    assert found.developer == developer.__name__.replace("_", " ")
    assert not found.refuted
    assert found.answered >= 2


def test_who_boosts_breaks_an_interval_that_takes_no_care():
    """The attacks are ones: test scores that are shown as they are do not stand them."""
    found = attack(
        "test score",
        lambda rng: keep_without_care(120, 120, DELTA),
        examples=120,
        rounds=120,
        delta=DELTA,
        developer=feature_chooser,
        aim=0.0,
        runs=40,
    )
    assert found.refuted
