"""Developers who try to wear a test set out, to see whether a promise holds against them.

The world is the hardest to be honest in: labels are coin tosses, so every model is right half the
time, and whatever looks better is overfitted. A developer can choose his validation score freely
(he may memorise the validation set).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Protocol

import numpy as np

from easeml.lifecycle.overfitting._mechanisms import Thresholdout
from easeml.lifecycle.overfitting._meter import Meter, union_tolerance
from easeml.lifecycle.result import Progress, Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

TRUTH = 0.5


@dataclass(frozen=True)
class Answer:
    """What a developer is shown, as an estimate of the gap, and the interval that is claimed to
    hold the true gap.

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

    def answer(validation_quality: float, test_scores: np.ndarray) -> Answer | None:
        reading = meter.read(validation_quality, test_scores)
        if reading.signal is None:
            return None
        low = reading.low if reading.low > -inf else reading.high - width
        high = reading.high if reading.high < inf else reading.low + width
        claimed = (reading.low - reading.tolerance, reading.high + reading.tolerance)
        return Answer((low + high) / 2, *claimed, of_worst=meter.mode == "monotone")

    return answer


def keep_without_care(examples: int, reports: int, delta: float) -> Keeper:
    """Answer with the test score itself and the interval that holds only for models fixed in
    advance.
    """
    tolerance = union_tolerance(examples, reports, delta)

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
        return f"{self.keeper} {verdict} its promise of {self.delta:g} against the {self.developer}: {self.rate:.4f}."

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            [{key: value for key, value in self.to_json().items() if key != "advice"}]
        )

    def figure(self) -> Figure:
        from easeml.figures.overfitting import attacked

        return attacked([self.to_json()])


Developer = Callable[[Keeper, int, int, float, np.random.Generator], list[tuple[float, Answer]]]
"""Plays ``rounds`` rounds against a keeper; returns the true gap and the answer of each round that
was answered.
"""


def sign_voter(
    keeper: Keeper, examples: int, rounds: int, edge: float, rng: np.random.Generator
) -> list[tuple[float, Answer]]:
    """Ask about random models with a validation score at ``edge`` above the truth, so that each
    answer tells on which side of the truth the test score lies; end with the vote of them all, each
    with the sign of what was shown.

    The boosting attack of Blum and Hardt (2015, section 4), turned against the signal: it moves the
    test score of the last model by about ``0.4 sqrt(rounds / examples)``.
    """
    quality = TRUTH + edge
    played: list[tuple[float, Answer]] = []
    votes = np.zeros(examples)
    right = rng.integers(0, 2, size=(rounds, examples), dtype=np.int8)
    for scores in right[:-1]:
        answer = keeper(quality, scores)
        if answer is None:
            return played
        played.append((edge, answer))
        votes += np.sign(edge - answer.gap) * (2.0 * scores - 1.0)
    final = np.where(votes == 0, right[-1], votes > 0)
    # The vote looks too good on the test set; its gap is hidden best just above the edge.
    answer = keeper(quality, final.astype(np.float64))
    if answer is not None:
        played.append((edge, answer))
    return played


def independent(
    keeper: Keeper, examples: int, rounds: int, edge: float, rng: np.random.Generator
) -> list[tuple[float, Answer]]:
    """Ask about random models with random validation scores and learn nothing."""
    played: list[tuple[float, Answer]] = []
    for scores in rng.integers(0, 2, size=(rounds, examples), dtype=np.int8):
        gap = float(rng.uniform(-edge, 3 * edge))
        answer = keeper(TRUTH + gap, scores)
        if answer is None:
            break
        played.append((gap, answer))
    return played


DEVELOPERS: dict[str, Developer] = {"sign voter": sign_voter, "independent": independent}


def attack(
    name: str,
    make_keeper: Callable[[np.random.Generator], Keeper],
    *,
    examples: int,
    rounds: int,
    delta: float,
    developer: str = "sign voter",
    edge: float = 0.04,
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
        developer: one of ``DEVELOPERS``.
        edge: the gap that the developer sits at.
    """
    from scipy.stats import beta

    play = DEVELOPERS[developer]
    wrong, answered, worst = 0, 0, 0.0
    for run, source in enumerate(np.random.SeedSequence(seed).spawn(runs)):
        rng = np.random.default_rng(source)
        played = play(make_keeper(rng), examples, rounds, edge, rng)
        misses = _misses(played)
        wrong += any(miss > 1e-12 for miss in misses)
        answered += len(played)
        worst += max(misses, default=0.0)
        if progress is not None:
            progress((run + 1) / runs)
    low = float(beta.ppf(0.025, wrong, runs - wrong + 1)) if wrong else 0.0
    high = float(beta.ppf(0.975, wrong + 1, runs - wrong)) if wrong < runs else 1.0
    at_least = float(beta.ppf(0.05, wrong, runs - wrong + 1)) if wrong else 0.0
    return Attacked(
        keeper=name,
        developer=developer,
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
