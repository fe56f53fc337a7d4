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

from .contract import Context, Data, Model
from .files import load_json, save_json

_FILE, _SAME = "answers.json", "same.json"


@dataclass(frozen=True, slots=True)
class Same:
    """An answer that is the same in every row: 1 or 0 of a label, or a number."""

    value: float
    notes: tuple[str, ...] = ()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return it for each row."""
        return np.full(X.shape[0], self.value)

    def save(self, folder: Path) -> None:
        """Write it."""
        save_json(folder / _SAME, self.value)


@dataclass(frozen=True, slots=True)
class TrainedEachAnswer:
    """A trained model an answer."""

    parts: tuple[Any, ...]
    notes: tuple[str, ...] = ()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the chance of each label, or each number (rows, k)."""
        said = [_having(part.predict(X)) for part in self.parts]
        return np.stack(said, axis=1)

    def save(self, folder: Path) -> None:
        """Write a numbered folder a trained model."""
        save_json(folder / _FILE, len(self.parts))
        for place, part in enumerate(self.parts):
            own = folder / str(place)
            own.mkdir()
            part.save(own)


@dataclass(frozen=True, slots=True)
class EachAnswer:
    """Learns several answers a row by a model that learns one; ``classes``: 2 of labels, else 0."""

    model: Model
    classes: int

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedEachAnswer:
        """Fit the model once an answer; ``data.y`` (rows, k): 1 or 0 of labels, or numbers."""
        parts = []
        notes: dict[str, None] = {}
        own = replace(context, checkpoint=None)
        for answers in data.y.T:
            fitted = self._fitted(replace(data, y=answers, classes=self.classes), config, own)
            parts.append(fitted)
            notes.update(dict.fromkeys(fitted.notes))
        return TrainedEachAnswer(tuple(parts), tuple(notes))

    def _fitted(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        if data.y.min() == data.y.max():
            return Same(float(data.y[0]))
        if self.classes:
            data = replace(data, y=data.y.astype(np.intp))
        return self.model.fit(data, config, context)

    def load(self, folder: Path) -> TrainedEachAnswer:
        """Read what was saved."""
        count = load_json(folder / _FILE)
        folders = map(folder.joinpath, map(str, range(count)))
        return TrainedEachAnswer(tuple(map(self._loaded, folders)))

    def _loaded(self, folder: Path) -> Any:
        if (folder / _SAME).exists():
            return Same(load_json(folder / _SAME))
        return self.model.load(folder)


def _having(said: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of having a label (rows,), or a number as it is."""
    return said[:, 1] if said.ndim == 2 else said
