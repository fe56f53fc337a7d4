"""What labels have shown to differ from the estimates, carried from batch to batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

SURPRISE = 2.5
LEAST = 0.03
MEMORY = 0.8


@dataclass(frozen=True)
class Offset:
    """Quality minus its estimate without labels: a local level (Harvey 1989, section 2.3).

    It is normal with ``mean`` and ``variance``, and moves by ``step`` (standard deviation) from
    batch to batch.

    Before any label it is what back-testing left unexplained (`Trust.offset`). ``labelled``:
    whether any label has been seen.
    """

    mean: float
    variance: float
    step: float
    labelled: bool = False

    def ahead(self) -> Offset:
        """Return what is known for the next batch: the level drifts away from where it was."""
        return replace(self, variance=self.variance + self.step**2)

    def update(self, seen: float, error: float, beyond: float = 0.0) -> Offset:
        """Return what is known after labels showed an offset ``seen`` with a standard error.

        That a concept may drift cannot be ruled out by a past without drift, so 0.03 is the least
        that the level may have moved; ``beyond`` is what an untried shift adds to that. A surprise
        beyond 2.5 standard deviations means that the level has jumped: the past then counts no more
        than so great a jump allows. How far it moves is learned from what surprises, forgetting a
        fifth a batch.
        """
        prior = max(self.variance, LEAST**2 + beyond**2)
        surprise = (seen - self.mean) ** 2
        moved = MEMORY * self.step**2 + (1 - MEMORY) * (surprise - error**2)
        if surprise > SURPRISE**2 * (prior + error**2):
            prior = surprise
        gain = prior / (prior + error**2)
        return Offset(
            mean=self.mean + gain * (seen - self.mean),
            variance=(1 - gain) * prior,
            step=max(LEAST, sqrt(max(moved, 0.0))),
            labelled=True,
        )
