"""What a picking returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

REASONS = {
    "certified": "no other model is better by more than the tolerance, at the confidence asked for",
    "budget": "the budget of labels is spent",
    "settled": "no label that is left can change the choice",
    "stream ended": "every example of the stream was offered once",
    "paused": "more labels may still be told",
}


_WHAT_NEXT = {
    "settled": "More labels from this pool cannot change the choice.",
    "paused": "Another model may still be better: tell more labels to be sure.",
}


@dataclass(frozen=True)
class Standing:
    """What is known of one model: its labels right, and its estimated accuracy on the pool.

    ``low`` and ``high`` bound the accuracy of all models at once, at the confidence of the picking.
    ``same_as`` names an earlier model with the same predictions everywhere.
    """

    model: str
    right: int
    accuracy: float
    low: float
    high: float
    same_as: str | None


@dataclass(frozen=True)
class Asked:
    """One label that was asked for, and the model that led once it was known."""

    row: int
    label: Any
    leader: str


@dataclass(frozen=True)
class Picking(Result):
    """The chosen model, how accurate it is, what was asked, and why the asking stopped.

    ``low`` and ``high`` bound its accuracy on the whole pool, at ``confidence``, valid after any
    number of labels. ``certified`` tells whether no model is better by more than ``tolerance``, at
    the same confidence.
    """

    method: str
    model: str
    accuracy: float
    low: float
    high: float
    labels: int
    examples: int
    stopped: str
    certified: bool
    tolerance: float
    confidence: float
    models: tuple[Standing, ...]
    asked: tuple[Asked, ...]

    @property
    def needed_none(self) -> bool:
        """Do all models say the same, so that nothing had to be asked?"""
        return self.certified and not self.labels

    @property
    def advice(self) -> str:
        """Say which model to use, and whether more labels are needed."""
        if self.labels and not any(standing.right for standing in self.models):
            return (
                f"No model has any of {self.labels} labels right: check that labels and predictions name the classes "
                "alike and have the same order of rows."
            )
        if self.needed_none:
            return (
                f"All models say the same of the {self.examples:,} rows: any serves as well, and no label "
                "is needed. How accurate they are here is not known."
            )
        head = (
            f"Use {self.model}: its accuracy is about {self.accuracy:.1%} "
            f"({self.low:.1%} to {self.high:.1%}) after {self.labels} of {self.examples} labels."
        )
        if self.certified:
            return f"{head} No model is better by more than {self.tolerance:.1%}, at {self.confidence:.0%} confidence."
        if self.stopped in _WHAT_NEXT:
            return f"{head} {_WHAT_NEXT[self.stopped]}"
        return f"{head} Stopped because {REASONS[self.stopped]}; another model may be better: label more to be sure."

    def to_frame(self) -> pd.DataFrame:
        """Return one row a model, the best first."""
        import pandas as pd

        rows = [
            {
                "model": standing.model,
                "chosen": standing.model == self.model,
                "accuracy": standing.accuracy,
                "low": standing.low,
                "high": standing.high,
                "right": standing.right,
                "same as": standing.same_as,
            }
            for standing in self.models
        ]
        frame = pd.DataFrame(rows)
        return frame.sort_values(
            ["chosen", "accuracy"], ascending=False, kind="stable"
        ).reset_index(drop=True)

    def figure(self) -> Figure:
        """Draw the models with their intervals."""
        from easeml.figures.picking import standings

        return standings(self.to_json())
