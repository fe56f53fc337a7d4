"""A classifier fitted once a label: for rows that may have several labels.

It is what is called binary relevance (G. Tsoumakas and I. Katakis, Multi-label classification: an
overview, IJDWM 3, 2007, section 2.1). All have the same features and the same configuration. A label
that all training rows have, or none, has the chance 1 or 0 in every row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Context, Data, Model, Trained
from .files import load_json, save_json

_FILE = "labels.json"


@dataclass(frozen=True, slots=True)
class TrainedEachLabel:
    """A trained model a label; in its place the chance of a label that was not learned."""

    parts: tuple[Trained | float, ...]
    notes: tuple[str, ...] = ()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the chance of each label (rows, k)."""
        chances = np.empty((X.shape[0], len(self.parts)))
        for place, part in enumerate(self.parts):
            is_constant = isinstance(part, float)
            chances[:, place] = part if is_constant else part.predict(X)[:, 1]
        return chances

    def save(self, folder: Path) -> None:
        """Write a numbered folder a trained model, and which labels have none."""
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
class EachLabel:
    """Learns several labels a row by a model that learns one."""

    model: Model

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedEachLabel:
        """Fit the model once a label; ``data.y`` (rows, k) says which rows have each."""
        parts: list[Trained | float] = []
        notes: dict[str, None] = {}
        own = replace(context, checkpoint=None)
        for answers in data.y.T:
            codes = answers.astype(np.intp)
            if codes.min() == codes.max():
                parts.append(float(codes[0]))
                continue
            fitted = self.model.fit(replace(data, y=codes, classes=2), config, own)
            parts.append(fitted)
            notes.update(dict.fromkeys(fitted.notes))
        return TrainedEachLabel(tuple(parts), tuple(notes))

    def load(self, folder: Path) -> TrainedEachLabel:
        """Read what was saved."""
        parts: list[Trained | float] = []
        for place, constant in enumerate(load_json(folder / _FILE)):
            parts.append(self.model.load(folder / str(place)) if constant is None else constant)
        return TrainedEachLabel(tuple(parts))
