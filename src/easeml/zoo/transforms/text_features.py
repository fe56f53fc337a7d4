"""Numbers of a text: TF-IDF, reduced by a singular value decomposition. Of long texts words and
pairs of words are counted, of short ones character n-grams (skrub's StringEncoder).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.files import load_arrays, load_estimator, save_arrays, save_estimator
from easeml.zoo.transforms.terms import Terms, as_texts, filled

_LONG_WORDS = 10.0  # words of a text, at the mean, from which words tell more than their pieces
_LEAST_ROWS = 2  # that a term has to occur in
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
        """Return the components of a frame's column, as the encoder does by way of data frames."""
        from sklearn import config_context

        encoder = self.encoder
        with config_context(skip_parameter_validation=True):
            weights = encoder.vectorizer_.transform(filled(frame[self.column])).astype(np.float32)
        if hasattr(encoder, "tsvd_"):
            reduced = weights @ encoder.tsvd_.components_.T
        else:  # so few pieces that none is left out
            reduced = weights[:, : encoder.n_components].toarray()
        return (reduced / encoder.scaling_factor_).astype(np.float64)

    def save(self, path: Path) -> None:
        """Write the encoder."""
        save_estimator(path, self.encoder)

    @classmethod
    def load(cls, column: str, width: int, path: Path) -> "TextColumn":
        """Read what was saved. Raises ``Damaged``."""
        return cls(column, load_estimator(path, _TRUSTED), width)


@dataclass(frozen=True, slots=True)
class LongTextColumn:
    """A fitted column of long texts: its words and pairs of words, reduced to few components.

    Character n-grams of long texts take minutes and tell less; ``axes`` has the shape
    (components, terms), and lies in memory term by term, as a sparse text meets them.
    """

    terms: Terms
    axes: NDArray[np.float64]

    @classmethod
    def fit(cls, column: str, texts: Any, components: int, seed: int) -> "LongTextColumn | None":
        """Learn from a Series; None where texts share no words."""
        from sklearn.decomposition import TruncatedSVD

        terms = Terms.learn(column, texts, _LEAST_ROWS)
        if len(terms.rarity) <= components:
            return None
        made = terms.transform(texts)
        reduced = TruncatedSVD(components, random_state=seed).fit(made)
        return cls(terms, np.asfortranarray(reduced.components_, dtype=np.float64))

    @property
    def column(self) -> str:
        """Name of the column."""
        return self.terms.column

    @property
    def width(self) -> int:
        """How many components there are."""
        return len(self.axes)

    def transform(self, frame: Any) -> NDArray[np.float64]:
        """Return the components of a frame's column."""
        return self.terms.transform(frame[self.column]) @ self.axes.T

    def save(self, path: Path) -> None:
        """Write two files beside each other: ``path`` and that of the terms."""
        save_arrays(path, axes=self.axes)
        self.terms.save(path.with_suffix(".terms.npz"))

    @classmethod
    def load(cls, path: Path) -> "LongTextColumn":
        """Read what was saved. Raises ``Damaged``."""
        terms = Terms.load(path.with_suffix(".terms.npz"))
        return cls(terms, np.asfortranarray(load_arrays(path)["axes"]))


def fit_text(
    column: str, texts: Any, components: int, seed: int
) -> TextColumn | LongTextColumn | None:
    """Learn the components of a text column, by its words where texts are long.

    Names, titles and codes are short: there pieces of words tell. Returns None where no text holds
    anything to learn from.
    """
    filled = as_texts(texts)
    words = [text.count(" ") + 1 for text in filled]
    if np.mean(words) >= _LONG_WORDS:
        found = LongTextColumn.fit(column, texts, components, seed)
        if found is not None:
            return found
    return TextColumn.fit(column, texts, components, seed)
