"""What every search is asked and what it answers, in this process or at a service.

A search takes ``Rows`` and a ``Wish``, tells a ``Listener`` of each model that was tried, and returns
an ``Outcome``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from easeml.modules import Predictions
from easeml.modules.pipeline import TrainedPipeline
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Trial:
    """A model that was tried. ``quality``: on validation rows, None where it failed.

    ``seconds``: of the processor. ``error``: why it failed. ``temperature``: of its probabilities.
    """

    name: str
    pipeline: dict[str, Any]
    seconds: float
    quality: float | None = None
    error: str = ""
    trained: tuple[TrainedPipeline, ...] = field(default=(), repr=False)  # one a split
    predictions: Predictions | None = field(default=None, repr=False)
    temperature: float = 1.0

    @property
    def merit(self) -> float:
        """What sorts trials: the quality, 0 where there is none."""
        return self.quality or 0.0


Listener = Callable[[Trial], None]


@dataclass(frozen=True)
class Rows:
    """Rows to learn from: a frame, an answer each (n,), and a group and a weight each (n,), where
    there are any.
    """

    frame: pd.DataFrame
    answers: np.ndarray
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    def with_more(self, new: Rows) -> Rows:
        """Return these rows and then new ones, whose columns are the same in the same order.

        Raises ``ValueError`` where only one of the two has groups or weights, or answers of another
        type.
        """
        import pandas as pd

        if _is_text(self.answers) != _is_text(new.answers):
            raise ValueError("The new answers are of another type than those before.")
        named = new.frame.set_axis(self.frame.columns, axis=1)
        frame = pd.concat([self.frame, named], ignore_index=True)
        answers = np.concatenate([self.answers, new.answers])
        groups = _together("Groups", self.groups, new.groups)
        weights = _together("Weights", self.weights, new.weights)
        return Rows(frame, answers, groups, weights)

    def that_count(self) -> Rows:
        """Return the rows whose weight is not 0."""
        if self.weights is None or self.weights.all():
            return self
        kept = self.weights > 0
        groups = None if self.groups is None else self.groups[kept]
        return Rows(self.frame.loc[kept], self.answers[kept], groups, self.weights[kept])


def _together(what: str, before: np.ndarray | None, new: np.ndarray | None) -> np.ndarray | None:
    """Return one array of two, None of none. Raises ``ValueError`` where only one is there."""
    if before is None and new is None:
        return None
    if before is None or new is None:
        raise ValueError(f"{what} have to be given for all rows or for none.")
    return np.concatenate([before, new])


def _is_text(answers: np.ndarray) -> bool:
    return answers.dtype.kind in "OUS"


@dataclass(frozen=True)
class Wish:
    """What a caller asks of a search.

    ``kind`` of the answers: category or number. ``labels``: what classes are called outside, by
    their names in the rows; empty for numbers. ``objective``: empty for what fits the answers.
    ``limit``: seconds; ``trials``: models to try at most; ``models``: names of those that may be
    tried, empty: all. ``first``: modules and configurations that are tried before others.
    """

    kind: str
    labels: Mapping[str, Any]
    objective: str
    limit: float
    trials: int
    models: tuple[str, ...]
    threads: int
    seed: int
    first: Sequence[Mapping[str, Any]] = ()


def leaderboard(trials: Sequence[Trial]) -> pd.DataFrame:
    """Return a frame of trials, the best first: ``model``, ``quality``, ``seconds``, ``config``,
    ``error``.
    """
    import pandas as pd

    rows = []
    for trial in trials:
        config = trial.pipeline["model"]["config"]
        rows.append((trial.name, trial.quality, trial.seconds, config, trial.error))
    columns = ["model", "quality", "seconds", "config", "error"]
    found = pd.DataFrame(rows, columns=columns)
    return found.sort_values("quality", ascending=False, ignore_index=True)


class FoundModel(Protocol):
    """What predicts after a search."""

    @property
    def schema_in(self) -> Schema:
        """The columns that it reads."""
        ...

    def predict(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return ``prediction``, and ``probability_NAME`` of each class by its name in the rows, or
        ``lower`` and ``upper`` of numbers.
        """
        ...

    def save(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Write it into a new folder. ``facts``: what is to be told with it."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What a search came to. ``quality``: a score (1 is best) on rows that the model had not seen.

    ``seconds`` it took; ``members``: names of the models that predict, with their weights;
    ``refitted``: whether these have learned from all rows.
    """

    model: FoundModel
    objective: str
    quality: float
    seconds: float
    members: list[tuple[str, float]]
    refitted: bool
    trials: list[Trial]
