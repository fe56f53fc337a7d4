"""Numbers of a text: TF-IDF, reduced by a singular value decomposition. Of long texts words and
pairs of words are counted, of short ones n-grams of characters.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.files import load_arrays, load_estimator, save_arrays, save_estimator
from easeml.zoo.transforms.terms import Terms, filled

_LONG_WORDS = 10.0  # words of a text, at the mean, from which words tell more than their pieces
_LEAST_ROWS = 2  # that a term has to occur in
_LEAST_SCALE = np.finfo(np.float32).eps


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A fitted text column; a missing text counts as an empty one.

    ``vectorizer``: of the n-grams. ``axes`` (components, n-grams): None where there are so few
    n-grams that the first of them are the components. ``scale``: divides all components.
    """

    column: str
    vectorizer: Any
    axes: NDArray[np.float32] | None
    scale: float
    width: int

    @classmethod
    def fit(cls, column: str, texts: Any, components: int, seed: int) -> "TextColumn | None":
        """Learn from a Series; None where no text holds anything to learn from.

        What is made equals skrub's ``StringEncoder``: n-grams of 3 and 4 characters within words,
        reduced, and divided by the root of the sum of the variances.
        """
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(ngram_range=(3, 4), analyzer="char_wb")
        try:
            counted: Any = vectorizer.fit_transform(filled(texts))
            weights = counted.astype(np.float32)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            return None
        axes = None
        if min(weights.shape) > components:
            reducer = TruncatedSVD(components, random_state=seed)
            made = reducer.fit_transform(weights)
            axes = reducer.components_
        else:
            made = weights[:, :components].toarray()
        scale = max(float(np.sqrt(made.var(axis=0).sum())), float(_LEAST_SCALE))
        return cls(column, vectorizer, axes, scale, made.shape[1])

    def transform(self, frame: Any) -> NDArray[np.float64]:
        """Return the components of a frame's column."""
        from sklearn import config_context

        with config_context(skip_parameter_validation=True):
            weights = self.vectorizer.transform(filled(frame[self.column])).astype(np.float32)
        if self.axes is None:
            reduced = weights[:, : self.width].toarray()
        else:
            reduced = weights @ self.axes.T
        return (reduced / self.scale).astype(np.float64)

    def save(self, path: Path) -> None:
        """Write two files beside each other: ``path`` and that of the components."""
        axes = np.zeros((0, 0), np.float32) if self.axes is None else self.axes
        save_estimator(path, self.vectorizer)
        save_arrays(path.with_suffix(".axes.npz"), axes=axes, scale=np.array(self.scale))

    @classmethod
    def load(cls, column: str, width: int, path: Path) -> "TextColumn":
        """Read what was saved. Raises ``Damaged``."""
        arrays = load_arrays(path.with_suffix(".axes.npz"))
        axes = arrays["axes"] if arrays["axes"].size else None
        return cls(column, load_estimator(path, ()), axes, float(arrays["scale"]), width)


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
    words = [text.count(" ") + 1 for text in filled(texts)]
    if np.mean(words) >= _LONG_WORDS:
        found = LongTextColumn.fit(column, texts, components, seed)
        if found is not None:
            return found
    return TextColumn.fit(column, texts, components, seed)
