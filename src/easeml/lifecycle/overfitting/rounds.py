"""How far validation quality can have drifted after k adaptive rounds, by the way of answering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import expm1, inf, log, sqrt
from typing import TYPE_CHECKING

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting.histories import log_models
from easeml.lifecycle.overfitting.sizes import (
    check_promise,
    first_where,
    grid_levels,
    hoeffding_deviation,
)
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

STEPS = (0.2, 0.1, 0.07, 0.05, 0.04, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.002, 0.001)
"""Grids of scores among which the best is taken for the Ladder."""


@dataclass(frozen=True)
class RoundBound:
    """A bound on the answers of adaptive rounds.

    With probability 1 - delta, after ``rounds`` rounds, every answer is within ``bound`` of the
    truth.
    """

    answers: str
    rounds: int
    bound: float


@dataclass(frozen=True)
class RoundBounds(Result):
    """Bounds for a validation set of ``examples`` examples, by kind of answer and number of rounds."""

    examples: int
    delta: float
    bounds: tuple[RoundBound, ...]

    @property
    def advice(self) -> str:
        last = max(bound.rounds for bound in self.bounds)
        found = {bound.answers: bound.bound for bound in self.bounds if bound.rounds == last}
        best = min(
            (name for name in found if name != "fixed in advance"), key=lambda name: found[name]
        )
        return (
            f"After {last:,} adaptive rounds on {self.examples:,} examples, plain scores are "
            f"guaranteed to ±{found['full scores']:.3f} only; answers by {best} to "
            f"±{found[best]:.3f}."
        )

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            [(b.answers, b.rounds, b.bound) for b in self.bounds],
            columns=["answers", "rounds", "±"],
        )

    def figure(self) -> Figure:
        from easeml.figures.overfitting import round_bounds

        return round_bounds(self.to_json())


def bounds_after(
    examples: int,
    rounds: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 500, 1000),
    delta: float = 0.05,
) -> RoundBounds:
    """Bound the drift of validation quality after adaptive rounds, for each way to answer.

    - fixed in advance: the models did not depend on the answers (union bound; here to show the
    price of adaptivity); - full scores: each answer is one of examples + 1 values, ``(examples +
    1)**(k - 1)`` histories; - sample splitting: each round has its own ``examples / k`` examples; -
    ladder: `Ladder` with the best grid (see `ladder_bound`); - gaussian noise: see `noise_bound`.
    """
    check_promise(0.5, delta)
    if examples < 1 or not rounds or min(rounds) < 1:
        raise InvalidInput(
            "There must be at least one example and one round.", where="examples, rounds"
        )
    kinds: dict[str, Callable[[int], float]] = {
        "fixed in advance": lambda k: hoeffding_deviation(log(k), examples, delta),
        "full scores": lambda k: hoeffding_deviation(
            log_models("plain", examples + 1, k), examples, delta
        ),
        "sample splitting": lambda k: min(1.0, sqrt(k * log(2 * k / delta) / (2 * examples))),
        "ladder": lambda k: ladder_bound(examples, k, delta)[0],
        "gaussian noise": lambda k: noise_bound(examples, k, delta),
    }
    bounds = []
    for name, bound in kinds.items():
        bounds += [RoundBound(name, k, bound(k)) for k in rounds]
    return RoundBounds(examples=examples, delta=delta, bounds=tuple(bounds))


def ladder_bound(examples: int, rounds: int, delta: float) -> tuple[float, float]:
    """Return a bound on the released quality of a `Ladder` after ``rounds`` rounds.

    With it comes the best step of the ladder's grid.

    The release never falls and lies on the grid, so the histories are those of a monotone meter
    with as many signals as the grid has levels: ``C(k + L - 1, L)`` models. Error: deviation of
    those means, plus the step that a better model must gain to be released (rounding is half a
    step, and does not add to it). This is theorem 3.1 of Blum and Hardt (2015) with its count of
    histories kept exact in place of the O().
    """

    def bound(step: float) -> float:
        models = log_models("monotone", grid_levels(step), rounds)
        return min(
            1.0,
            step + hoeffding_deviation(models, examples, delta),
        )

    best = min(STEPS, key=bound)
    return bound(best), best


def noise_bound(examples: int, rounds: int, delta: float) -> float:
    """Bound the error of answers with the best Gaussian noise.

    Differential privacy carries over to the truth.

    Noise sigma on k means of n scores is rho-zCDP with ``rho = k / (2 n**2 sigma**2)`` (Bun and
    Steinke 2016, proposition 1.6 and lemma 2.3), hence (eps, d)-private with ``eps = rho + 2
    sqrt(rho ln(1 / d))`` (their proposition 1.3). An (eps, d)-private mechanism that is off its
    sample's means by more than a with probability b at most is, for all c, e > 0, off the true
    means by ``a + exp(eps) - 1 + c + 2 e`` with probability ``b / c + d / e`` at most (Jung et al.
    2020, transfer theorem). Free constants are searched on a grid.
    """
    best = inf
    shares = [10 ** (i / 4) for i in range(-16, 1)]  # c and e, from 1e-4 to 1
    spreads = [10 ** (i / 6) for i in range(-30, 1)]  # sigma, from 1e-5 to 1
    for sigma in spreads:
        rho = rounds / (2 * examples**2 * sigma**2)
        for c in shares:
            beta = c * delta / 2
            alpha = sigma * sqrt(2 * log(2 * rounds / beta))
            if alpha + c >= best:
                continue
            for e in shares:
                eps = rho + 2 * sqrt(rho * log(2 / (e * delta)))
                if eps < log(2):  # beyond it the bound is above 1
                    best = min(best, alpha + c + 2 * e + expm1(eps))
    return min(1.0, best)


def ladder_size(rounds: int, tolerance: float, delta: float) -> int:
    """Return the least validation set on which a `Ladder` with the best grid keeps the tolerance."""
    return _least(lambda n: ladder_bound(n, rounds, delta)[0] <= tolerance)


def scores_size(rounds: int, tolerance: float, delta: float) -> int:
    """Return the least validation set that may answer with full scores for so many rounds."""
    return _least(
        lambda n: hoeffding_deviation(log_models("plain", n + 1, rounds), n, delta) <= tolerance
    )


def _least(enough: Callable[[int], bool]) -> int:
    """Return the least n that is enough, for a condition that stays true once it is."""
    high = 1
    while not enough(high):
        high *= 2
    return first_where(enough, high // 2, high)
