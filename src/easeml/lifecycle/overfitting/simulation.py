"""Developers who try to wear a test set out, to see whether a promise holds against them.

Every model is right with the same known probability, so whatever looks better is overfitted; one
half is the hardest to be honest in. Developers can choose their validation score freely (they may
memorise the validation set).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, Protocol

import numpy as np

from easeml.lifecycle.exact_shares import exact_interval
from easeml.lifecycle.overfitting.mechanisms import Thresholdout
from easeml.lifecycle.overfitting.meter import Meter
from easeml.lifecycle.overfitting.sizes import hoeffding_deviation
from easeml.lifecycle.result import Progress, Result, listener

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure


@dataclass(frozen=True)
class Answer:
    """What a developer is shown: an estimate of the gap, and an interval.

    The interval is claimed to hold the true gap.

    ``of_worst``: the claim is about the worst gap so far.
    """

    gap: float
    low: float
    high: float
    of_worst: bool = False


class Keeper(Protocol):
    """Guards a test set: answers a developer, or returns None when it must not."""

    def __call__(self, validation_quality: float, test_scores: np.ndarray) -> Answer | None:
        """Answer about a model."""
        ...


def keep_with_meter(meter: Meter) -> Keeper:
    """Answer with the readings of a meter; the middle of a range is its estimate."""
    width = max(meter.tolerance, 1e-9)
    now = meter

    def answer(validation_quality: float, test_scores: np.ndarray) -> Answer | None:
        nonlocal now
        reading, now = now.read(validation_quality, test_scores)
        if reading.signal is None:
            return None
        low = reading.low if reading.low > -inf else reading.high - width
        high = reading.high if reading.high < inf else reading.low + width
        claimed = (reading.low - reading.tolerance, reading.high + reading.tolerance)
        return Answer((low + high) / 2, *claimed, of_worst=meter.mode == "monotone")

    return answer


def keep_without_care(examples: int, reports: int, delta: float) -> Keeper:
    """Answer with the test score itself, and an interval for models that are fixed in advance."""
    tolerance = hoeffding_deviation(log(reports), examples, delta)

    def answer(validation_quality: float, test_scores: np.ndarray) -> Answer:
        gap = validation_quality - float(test_scores.mean())
        return Answer(gap, gap - tolerance, gap + tolerance)

    return answer


def keep_with_thresholdout(mechanism: Thresholdout, tolerance: float) -> Keeper:
    """Answer with Thresholdout, claiming ``tolerance``: it has no sharp promise of its own."""

    def answer(validation_quality: float, test_scores: np.ndarray) -> Answer | None:
        estimate = mechanism.ask(validation_quality, float(test_scores.mean()))
        if estimate is None:
            return None
        gap = validation_quality - estimate
        return Answer(gap, gap - tolerance, gap + tolerance)

    return answer


@dataclass(frozen=True)
class Attacked(Result):
    """How a way to keep a test set stood an attack in ``runs`` independent worlds.

    ``wrong``: runs in which any claimed interval missed the true gap; ``rate`` and its 95 %
    Clopper-Pearson interval; ``answered``: mean number of answers a run; ``worst``: mean of the
    greatest distance from interval to truth (0 if inside); ``refuted``: whether a one-sided test at
    5 % rejects "at most delta".
    """

    keeper: str
    developer: str
    runs: int
    delta: float
    wrong: int
    rate: float
    rate_low: float
    rate_high: float
    answered: float
    worst: float
    refuted: bool

    @property
    def advice(self) -> str:
        verdict = "does not keep" if self.refuted else "is not seen to break"
        promise = f"{self.keeper} {verdict} its promise of {self.delta:g}"
        return f"{promise} against the {self.developer}: {self.rate:.4f}."

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([self.to_json()]).drop(columns="advice")

    def figure(self) -> Figure:
        from easeml.figures.overfitting import attacked

        return attacked([self.to_json()])


@dataclass(frozen=True)
class World:
    """What a developer plays in: ``rounds`` questions about a test set of ``examples``.

    Every model is right with probability ``truth``. ``edge`` is an edge of the meter's ranges;
    ``aim`` is the true gap at which a final, overfitted model is submitted.
    """

    examples: int
    rounds: int
    edge: float
    aim: float
    truth: float

    def models(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return where ``count`` independent models are right: (count, examples) of 0 and 1."""
        return (rng.random((count, self.examples)) < self.truth).astype(np.int8)


Played = list[tuple[float, Answer]]
Developer = Callable[[Keeper, World, np.random.Generator], Played]
"""Plays against a keeper; returns the true gap and the answer of each round that was answered."""


def sign_voter(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Ask about random models near an edge, and end with a vote of them all.

    Each has a validation score at ``edge`` above the truth, so that the answer tells on which side
    of the truth its test score lies. It votes with the sign of what was shown.

    The boosting attack of Blum and Hardt (2015, section 4), turned against the signal: it moves the
    test score of the last model by about ``0.4 sqrt(rounds / examples)``. A vote of models that are
    right more often than not is right more often still: for one half only.
    """
    right = world.models(rng, world.rounds)
    played: Played = []
    votes = np.zeros(world.examples)
    for scores in right[:-1]:
        answer = keeper(world.truth + world.edge, scores)
        if answer is None:
            break
        played.append((world.edge, answer))
        votes += np.sign(world.edge - answer.gap) * (2.0 * scores - 1.0)
    final = np.where(votes == 0, right[-1], votes > 0)
    return _submitted(keeper, world, final, played)


def quiet_voter(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Stay below an edge, where a quiet signal is cheap, and learn from the silence.

    Each model sits so far below the edge that about one of all rounds shows another signal; those
    that stay silent are a little better on the test set than they should be. For one half only.
    """
    from scipy.stats import norm

    spread = (world.truth * (1 - world.truth) / world.examples) ** 0.5
    below = world.edge - float(norm.isf(1 / world.rounds)) * spread
    right = world.models(rng, world.rounds)
    played: Played = []
    votes = np.zeros(world.examples)
    for scores in right[:-1]:
        answer = keeper(world.truth + below, scores)
        if answer is None:
            break
        played.append((below, answer))
        votes += 2.0 * scores - 1.0 if answer.gap <= world.edge else 0.0
    final = np.where(votes == 0, right[-1], votes > 0)
    return _submitted(keeper, world, final, played)


def bisector(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Ask about the same model at other validation scores, to read its test score bit by bit.

    Vote with the models' measured advantages. For one half only.
    """
    bits = 4
    spread = (world.truth * (1 - world.truth) / world.examples) ** 0.5
    played: Played = []
    votes = np.zeros(world.examples)
    for scores in world.models(rng, max(1, (world.rounds - 1) // bits)):
        low, high = -3 * spread, 3 * spread
        for _ in range(bits):
            middle = (low + high) / 2
            answer = keeper(world.truth + world.edge + middle, scores)
            if answer is None:
                break
            played.append((world.edge + middle, answer))
            low, high = (middle, high) if answer.gap <= world.edge else (low, middle)
        votes += (low + high) / 2 * (2.0 * scores - 1.0)
    final = np.where(votes == 0, world.models(rng, 1)[0], votes > 0)
    return _submitted(keeper, world, final, played)


def block_chooser(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Put a model together from blocks, of two variants each, whichever shows the lower signal.

    Each block is a part of the examples. The model is right as often as its parts, at any truth.
    """
    blocks = np.array_split(rng.permutation(world.examples), max(1, world.rounds - 1))
    base, other = world.models(rng, 2)
    played: Played = []
    for block in blocks:
        tried = base.copy()
        tried[block] = other[block]
        answer = keeper(world.truth + world.edge, tried)
        if answer is None:
            break
        played.append((world.edge, answer))
        if answer.gap <= world.edge:
            base = tried
    return _submitted(keeper, world, base, played)


def independent(keeper: Keeper, world: World, rng: np.random.Generator) -> Played:
    """Ask about random models with random validation scores and learn nothing."""
    played: Played = []
    for scores in world.models(rng, world.rounds):
        gap = float(rng.uniform(-world.edge, 3 * world.edge))
        answer = keeper(min(1.0, world.truth + gap), scores)
        if answer is None:
            break
        played.append((min(1.0, world.truth + gap) - world.truth, answer))
    return played


def _submitted(keeper: Keeper, world: World, final: np.ndarray, played: Played) -> Played:
    """Return what was played, with the answer about the final model at the gap that is aimed at."""
    answer = keeper(world.truth + world.aim, final.astype(np.float64))
    return played if answer is None else [*played, (world.aim, answer)]


DEVELOPERS: dict[str, Developer] = {
    "sign voter": sign_voter,
    "quiet voter": quiet_voter,
    "bisector": bisector,
    "block chooser": block_chooser,
    "independent": independent,
}


def attack(
    name: str,
    make_keeper: Callable[[np.random.Generator], Keeper],
    *,
    examples: int,
    rounds: int,
    delta: float,
    developer: str | Developer = "sign voter",
    edge: float = 0.04,
    aim: float | None = None,
    truth: float = 0.5,
    runs: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Attacked:
    """Let a developer attack a keeper of a test set in ``runs`` independent worlds.

    Args:
        name: what to call the keeper.
        make_keeper: gives a fresh keeper, with its source of noise.
        examples, rounds: size of the test set, and questions.
        delta: the probability that the keeper promises.
        developer: one of ``DEVELOPERS``, or one of your own.
        edge: the gap that the developer sits at.
        aim: the gap of the final model; ``edge`` if None. Just above an edge by the tolerance is
            where a promise is the easiest to break.
        truth: how often every model is right.
    """
    play = DEVELOPERS[developer] if isinstance(developer, str) else developer
    world = World(examples, rounds, edge, edge if aim is None else aim, truth)
    tell = listener(progress)
    wrong, answered, worst = 0, 0, 0.0
    for run, source in enumerate(np.random.SeedSequence(seed).spawn(runs)):
        rng = np.random.default_rng(source)
        played = play(make_keeper(rng), world, rng)
        misses = _misses(played)
        wrong += any(miss > 1e-12 for miss in misses)
        answered += len(played)
        worst += max(misses, default=0.0)
        tell((run + 1) / runs)
    low, high = exact_interval(wrong, runs, tail=0.025)
    at_least, _ = exact_interval(wrong, runs, tail=0.05)
    return Attacked(
        keeper=name,
        developer=developer if isinstance(developer, str) else developer.__name__.replace("_", " "),
        runs=runs,
        delta=delta,
        wrong=wrong,
        rate=wrong / runs,
        rate_low=low,
        rate_high=high,
        answered=answered / runs,
        worst=worst / runs,
        refuted=at_least > delta,
    )


def _misses(played: list[tuple[float, Answer]]) -> list[float]:
    """Return how far each claimed interval is from what it is about; 0 where it holds it."""
    worst, misses = -inf, []
    for gap, answer in played:
        worst = max(worst, gap)
        truth = worst if answer.of_worst else gap
        misses.append(max(answer.low - truth, truth - answer.high, 0.0))
    return misses
