"""What labels have shown to differ from the estimates, carried from batch to batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

LEAST = 0.03
MEMORY = 0.8
LEAPS = (0.0, 0.1, 0.3)
"""Standard deviations by which the level may have moved since the last labels, beyond its step."""
UNTOLD = (1 / 3, 1 / 3, 1 / 3)
"""How likely each is before any label."""
ALMOST_NONE = 1e-12


@dataclass(frozen=True)
class Offset:
    """Quality minus its estimate without labels: a local level (Harvey 1989, section 2.3).

    It is normal with ``mean`` and ``variance``, and moves by ``step`` (standard deviation) from
    batch to batch. ``leaps``: how likely each of ``LEAPS`` is by what labels have shown.

    Before any label it is what back-testing left unexplained (`Trust.offset`). ``labelled``:
    whether any label has been seen.
    """

    mean: float
    variance: float
    step: float
    labelled: bool = False
    leaps: tuple[float, ...] = UNTOLD

    def ahead(self) -> Offset:
        """Return what is known for the next batch: the level drifts away from where it was."""
        return replace(self, variance=self.variance + self.step**2)

    def update(self, seen: float, error: float) -> Offset:
        """Return what is known after labels showed an offset ``seen`` with a standard error.

        That a concept may drift cannot be ruled out by a past without drift. So the level may have
        moved by little, 0.03 at least, or leapt: each of these is a filter of Kalman's, they count
        by how well they foretold what was seen, and their mixture is taken for normal (the
        generalised pseudo-Bayes of first order; Ackerson and Fu 1970, Bar-Shalom, Li and Kirubarajan
        2001, section 11.6.4). With one slow level alone, the first 50 labels of a model that has
        lost .15 at once left the truth out in five of six intervals. Of what is known of leaps, and
        of the step, a fifth is forgotten a batch; labels that are unsure teach less of the step.
        """
        variance = max(self.variance, LEAST**2)
        before = variance + np.square(LEAPS)
        spread = before + error**2
        surprise = (seen - self.mean) ** 2

        expected = MEMORY * np.array(self.leaps) + (1 - MEMORY) * np.array(UNTOLD)
        likely = expected * np.exp(-surprise / (2 * spread)) / np.sqrt(spread)
        # what is far beyond every leap was the greatest of them
        likely[-1] += ALMOST_NONE
        leaps = likely / likely.sum()

        gains = before / spread
        means = self.mean + gains * (seen - self.mean)
        mean = float(leaps @ means)
        learned = (1 - MEMORY) * variance / (variance + error**2)
        moved = (1 - learned) * self.step**2 + learned * (surprise - error**2)
        return Offset(
            mean=mean,
            variance=float(leaps @ ((1 - gains) * before + (means - mean) ** 2)),
            step=max(LEAST, sqrt(max(moved, 0.0))),
            labelled=True,
            leaps=tuple(map(float, leaps)),
        )
