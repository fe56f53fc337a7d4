"""A model fitted once an answer: for rows that may have several labels, or have several numbers.

Of labels it is what is called binary relevance (G. Tsoumakas and I. Katakis, Multi-label
classification: an overview, IJDWM 3, 2007, section 2.1). All have the same features and the same
configuration. What is the same in all training rows is so in every row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Context, Data, Model, Trained
from .files import load_json, save_json

_FILE = "answers.json"


@dataclass(frozen=True, slots=True)
class TrainedEachAnswer:
    """A trained model an answer; in its place what is the same in all rows."""

    parts: tuple[Trained | float, ...]
    notes: tuple[str, ...] = ()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the chance of each label, or each number (rows, k)."""
        said = np.empty((X.shape[0], len(self.parts)))
        for place, part in enumerate(self.parts):
            said[:, place] = part if isinstance(part, float) else _having(part.predict(X))
        return said

    def save(self, folder: Path) -> None:
        """Write a numbered folder a trained model, and what has none."""
        constants: list[float | None] = []
        for place, part in enumerate(self.parts):
            if isinstance(part, float):
                constants.append(part)
                continue
            constants.append(None)
            own = folder / str(place)
            own.mkdir()
            part.save(own)
        save_json(folder / _FILE, constants)


@dataclass(frozen=True, slots=True)
class EachAnswer:
    """Learns several answers a row by a model that learns one; ``classes``: 2 of labels, else 0."""

    model: Model
    classes: int

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedEachAnswer:
        """Fit the model once an answer; ``data.y`` (rows, k): 1 or 0 of labels, or numbers."""
        parts: list[Trained | float] = []
        notes: dict[str, None] = {}
        own = replace(context, checkpoint=None)
        for answers in data.y.T:
            if answers.min() == answers.max():
                parts.append(float(answers[0]))
                continue
            y = answers.astype(np.intp) if self.classes else answers
            fitted = self.model.fit(replace(data, y=y, classes=self.classes), config, own)
            parts.append(fitted)
            notes.update(dict.fromkeys(fitted.notes))
        return TrainedEachAnswer(tuple(parts), tuple(notes))

    def load(self, folder: Path) -> TrainedEachAnswer:
        """Read what was saved."""
        parts: list[Trained | float] = []
        for place, constant in enumerate(load_json(folder / _FILE)):
            parts.append(self.model.load(folder / str(place)) if constant is None else constant)
        return TrainedEachAnswer(tuple(parts))


def _having(said: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of having a label (rows,), or a number as it is."""
    return said[:, 1] if said.ndim == 2 else said
