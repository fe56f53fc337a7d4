"""What a search in this process is about, and what it finds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.estimators.outcome import Trial
from easeml.modules import Predictions, score
from easeml.modules.ensemble import TrainedEnsemble
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.weights import Weights, of_rows

if TYPE_CHECKING:
    from easeml.estimators.frames import Table


@dataclass(frozen=True)
class Problem:
    """What is searched: a table, how its rows are split, and how quality is measured.

    ``splits``: places of rows to learn from, and of rows to choose by; one, or those of
    cross-validation, whose rows to choose by do not meet. ``limit``: processor seconds in all;
    ``trials``: models to try at most; ``models``: names of those that may be tried, empty: all.
    ``first``: modules and configurations that are tried before others, the most promising first.
    ``weights`` (n,): of the rows; None: each counts once.
    """

    table: Table
    splits: list[tuple[np.ndarray, np.ndarray]]
    objective: str
    limit: float
    trials: int
    threads: int
    seed: int
    models: tuple[str, ...] = ()
    first: tuple[Mapping[str, Any], ...] = ()
    weights: Weights = None

    @property
    def classes(self) -> int:
        """How many classes the answers have; 0 for numbers."""
        answers = self.table.frame[self.table.target]
        if answers.dtype.kind in "iuf":
            return 0
        return len(set(answers))

    @property
    def held(self) -> np.ndarray:
        """The places of the rows to choose by, split after split."""
        return np.concatenate([held for _, held in self.splits])

    @property
    def actual(self) -> Any:
        """The answers of the rows to choose by."""
        return self.table.frame[self.table.target].iloc[self.held]

    @property
    def held_weights(self) -> Weights:
        """The weights of the rows to choose by."""
        return of_rows(self.weights, self.held)

    def quality(self, predictions: Predictions) -> float:
        """Return the quality of what is said of the rows to choose by."""
        return score(self.objective, self.actual, predictions, self.held_weights)


@dataclass(frozen=True)
class Found:
    """What a search found. ``unseen``: predictions of the rows to choose by before the last fit.

    ``members``: the trials that it is made of, with their weights; ``refitted``: whether it has
    learned from all rows.
    """

    model: TrainedPipeline | TrainedEnsemble
    members: list[tuple[Trial, float]]
    unseen: Predictions
    quality: float
    refitted: bool
    trials: list[Trial]


class Clock:
    """Processor seconds of this process, of all its threads."""

    def __init__(self) -> None:
        self._began = time.process_time()

    def used(self) -> float:
        """Return the seconds since this was made."""
        return time.process_time() - self._began
