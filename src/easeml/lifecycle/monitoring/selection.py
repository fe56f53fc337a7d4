"""What may be hidden where truths come for some rows only: the others may all be right, or wrong."""

from __future__ import annotations

from dataclasses import dataclass

from easeml.lifecycle.monitoring.alerts import AlertRules

REASON = (
    "rows whose truth came are right less often than their inputs let expect, but truth came for "
    "{share:.0%} of the newest rows with any, and the others may be right"
)


SURE = (1.0, 1.0)
"""The best that is possible where nothing is known."""


@dataclass(frozen=True)
class Selection:
    """For which rows truth came. Nothing is hidden where they were drawn at random.

    ``answered``: the share of rows with a truth among those that the estimate learned from.
    ``suspect``: the share of the newest rows with a truth, where those are right less often than
    expected and the others may be the reason; None where they are not. ``best``: the quality in the
    newest look that is bad though these are all right, and the upper end of its interval.
    """

    answered: float = 1.0
    suspect: float | None = None
    best: tuple[float, float] = SURE

    def at_best(self, quality: float) -> float:
        """Return a quality that was learned from answered rows, if all others are right."""
        return self.answered * quality + 1 - self.answered

    def at_worst(self, quality: float) -> float:
        """Return a quality that was learned from answered rows, if all others are wrong."""
        return self.answered * quality

    def is_alert(self, rules: AlertRules, score: float, high: float, reference: float) -> bool:
        """Tell whether a quality is bad enough to act on, though all others are right."""
        return rules.judge(self.at_best(score), self.at_best(high), reference)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the rows whose truth came do not tell how good the model is."""
        if self.suspect is None:
            return ()
        return (REASON.format(share=self.suspect),)
