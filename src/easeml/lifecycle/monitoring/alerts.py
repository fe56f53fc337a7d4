"""When is a score a reason to act?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from easeml.errors import InvalidInput

Status = Literal["ok", "inputs as before", "watch", "alert", "cannot tell"]


@dataclass(frozen=True)
class AlertRules:
    """When a batch is an alert, and when it says nothing.

    ``drop``: an estimate so far below the reference is an alert, if its interval also ends below
    the reference; ``floor``: so is any estimate below this; ``widest``: an interval with a greater
    half width says nothing; ``least_overlap``: fewer reference rows than this (by weight) are too
    few to compare with; ``most_separation``: rows that can be told from the reference better than
    this, and better than any that back-testing tried, are unlike it; ``alpha``: probability of ever
    raising a false alarm of drift; ``level``: of the intervals.
    """

    drop: float = 0.05
    floor: float | None = None
    widest: float = 0.15
    least_overlap: float = 50.0
    most_separation: float = 0.95
    alpha: float = 0.05
    level: float = 0.95

    def __post_init__(self) -> None:
        shares = {
            "drop": self.drop,
            "widest": self.widest,
            "most_separation": self.most_separation,
            "alpha": self.alpha,
            "level": self.level,
        }
        for name, value in shares.items():
            if not 0 < value < 1:
                raise InvalidInput(
                    f"{name} must be between 0 and 1, both excluded, not {value}.", where=name
                )

    @property
    def shown(self) -> float:
        """Fall of quality that the test of the concept is made to find: twice ``drop``."""
        return min(0.5, 2 * self.drop)

    def judge(self, estimate: float, high: float, reference: float) -> bool:
        """Tell whether an estimate is bad enough to act on."""
        dropped = estimate <= reference - self.drop and high < reference
        return dropped or (self.floor is not None and estimate < self.floor)
