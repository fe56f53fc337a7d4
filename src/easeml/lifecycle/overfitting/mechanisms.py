"""Two other ways to answer questions about held-out data many times: Thresholdout and the Ladder."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, inf

import numpy as np

from easeml.errors import InvalidInput


@dataclass
class Ladder:
    """Shows the best score so far, and a new one only where it is better by a step.

    Blum and Hardt 2015, figure 1.

    What it shows lies on the grid of multiples of ``step``; `ladder_bound` says how far from the
    truth that may be.
    """

    step: float = 0.01
    best: float = -inf

    def __post_init__(self) -> None:
        if not 0 < self.step <= 1:
            raise InvalidInput(f"The step must be in (0, 1], not {self.step}.", where="step")

    def submit(self, quality: float) -> float:
        """Return the best score on the grid after a model of this quality (mean score in [0, 1]).

        Raises ``InvalidInput`` for a quality outside of [0, 1].
        """
        if not 0 <= quality <= 1:
            raise InvalidInput(f"Quality must be in [0, 1], not {quality}.", where="quality")
        if quality >= self.best + self.step * (1 - 1e-9):
            self.best = min(1.0, floor(quality / self.step + 0.5) * self.step)
        return self.best


@dataclass
class Thresholdout:
    """Answers with the validation score unless it is off the test score.

    Dwork et al. 2015, Science 349, figure 1.

    Args: rng: source of the Laplace noise. threshold: difference from which an answer counts as
        overfitted. noise: scale sigma of the noise on an answer; the comparison is noised by 4
        sigma, the threshold by 2 sigma. budget: how many overfitted answers it may give.
    """

    rng: np.random.Generator
    threshold: float = 0.04
    noise: float = 0.01
    budget: int = 100
    _noisy: float = field(init=False)

    def __post_init__(self) -> None:
        if not (self.threshold >= 0 and self.noise > 0 and self.budget >= 0):
            raise InvalidInput(
                "Threshold and budget must not be negative, and noise must be positive."
            )
        self._noisy = self.threshold + self.rng.laplace(scale=2 * self.noise)

    def ask(self, validation_quality: float, test_quality: float) -> float | None:
        """Return an estimate of the true quality; None once the budget is spent."""
        if self.budget < 1:
            return None
        difference = abs(test_quality - validation_quality)
        noise = self.rng.laplace(scale=4 * self.noise)
        if difference <= self._noisy + noise:
            return validation_quality
        # An overfitted answer: it costs one of the budget, and the threshold is drawn anew.
        self.budget -= 1
        self._noisy = self.threshold + self.rng.laplace(scale=2 * self.noise)
        return test_quality + self.rng.laplace(scale=self.noise)
