"""Numbers of a text: TF-IDF of character n-grams, reduced by a singular value decomposition
(skrub's StringEncoder).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.files import load_estimator, save_estimator

_TRUSTED = ("skrub._string_encoder.StringEncoder", "skrub._to_str.ToStr")


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A fitted text column; a missing text counts as an empty one."""

    column: str
    encoder: Any
    width: int

    @classmethod
    def fit(cls, column: str, texts: Any, components: int, seed: int) -> "TextColumn | None":
        """Learn from a Series; None where no text holds anything to learn from."""
        from skrub import StringEncoder

        filled = as_texts(texts)
        encoder = StringEncoder(n_components=components, random_state=seed)
        try:
            made = encoder.fit_transform(filled)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            return None
        return cls(column, encoder, made.shape[1])

    def transform(self, frame: Any) -> NDArray[np.float64]:
        """Return the components of a frame's column."""
        return self.encoder.transform(as_texts(frame[self.column])).to_numpy(dtype=np.float64)

    def save(self, path: Path) -> None:
        """Write the encoder."""
        save_estimator(path, self.encoder)

    @classmethod
    def load(cls, column: str, width: int, path: Path) -> "TextColumn":
        """Read what was saved. Raises ``Damaged``."""
        return cls(column, load_estimator(path, _TRUSTED), width)


def as_texts(texts: Any) -> Any:
    """Return a Series of texts in which a missing one is empty."""
    import pandas as pd

    values = [
        "" if missing else str(text) for text, missing in zip(texts, texts.isna(), strict=True)
    ]
    return pd.Series(values, name="text", dtype=object)
