"""The words of texts and the pairs of words, weighted by how rare they are (TF-IDF), sparse."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.files import load_arrays, save_arrays

_WORD = re.compile(r"\b\w\w+\b")
_UNKNOWN = -1


def filled(texts: Any) -> list[str]:
    """Return the texts of an array or a Series; a missing one is empty."""
    missing = texts.isna()
    if not missing.any():
        return list(map(str, texts))
    return ["" if gone else str(text) for text, gone in zip(texts, missing, strict=True)]


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a text column, and the pairs of words that follow each other.

    ``words`` gives each word its place. ``pairs`` holds the sorted codes of the pairs: the place of
    the first word times the number of words, plus the place of the second. ``rarity`` is the
    inverse document frequency of each word, then of each pair: ln((1 + rows) / (1 + rows with the
    term)) + 1.

    What is made equals scikit-learn's ``TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)``,
    in a fraction of its time: pairs are numbers here, and never texts.
    """

    column: str
    words: Mapping[str, int]
    pairs: NDArray[np.int64]
    rarity: NDArray[np.float64]

    @classmethod
    def learn(cls, column: str, texts: Any, least_rows: int) -> "Terms":
        """Learn the terms that occur in ``least_rows`` of a Series of texts, or more."""
        seen: defaultdict[str, int] = defaultdict()
        seen.default_factory = seen.__len__  # each new word gets the next place
        rows, places = _places(texts, seen)
        word_rows = _rows_with(rows, places, len(seen))
        kept = [word for word, place in seen.items() if word_rows[place] >= least_rows]
        words = {word: place for place, word in enumerate(sorted(kept))}

        moved = np.full(len(seen), _UNKNOWN)
        moved[[seen[word] for word in words]] = np.arange(len(words))
        pair_rows, codes = _pairs(rows, moved[places], len(words))
        every_pair, positions = np.unique(codes, return_inverse=True)
        rows_with_pair = _rows_with(pair_rows, positions, len(every_pair))
        is_kept = rows_with_pair >= least_rows

        rows_with = np.r_[word_rows[[seen[word] for word in words]], rows_with_pair[is_kept]]
        rarity = np.log((1 + len(texts)) / (1 + rows_with)) + 1
        return cls(column, words, every_pair[is_kept], rarity)

    def transform(self, texts: Any) -> Any:
        """Return a Series of texts as a sparse matrix (CSR): (rows, terms), of rows of length 1."""
        from scipy import sparse

        rows, places = _places(texts, self.words)
        pair_rows, codes = _pairs(rows, places, len(self.words))
        positions = np.searchsorted(self.pairs, codes)
        is_kept = np.zeros(len(codes), dtype=bool)
        inside = positions < len(self.pairs)
        is_kept[inside] = self.pairs[positions[inside]] == codes[inside]

        known = places != _UNKNOWN
        every_row = np.concatenate([rows[known], pair_rows[is_kept]])
        every_term = np.concatenate([places[known], len(self.words) + positions[is_kept]])
        counted, counts = np.unique(every_row * len(self.rarity) + every_term, return_counts=True)
        row, term = np.divmod(counted, max(1, len(self.rarity)))
        weights = (1 + np.log(counts)) * self.rarity[term]
        lengths = np.sqrt(np.bincount(row, weights**2, minlength=len(texts)))
        ends = np.cumsum(np.bincount(row, minlength=len(texts)))
        starts = np.concatenate([[0], ends])
        shape = (len(texts), len(self.rarity))
        return sparse.csr_matrix((weights / lengths[row], term, starts), shape=shape)

    def save(self, file: Path) -> None:
        """Write one file, an ``.npz``."""
        words = np.array(list(self.words), dtype=np.str_)
        column = np.array(self.column)
        save_arrays(file, column=column, words=words, pairs=self.pairs, rarity=self.rarity)

    @classmethod
    def load(cls, file: Path) -> "Terms":
        """Read what was saved. Raises ``Damaged``."""
        arrays = load_arrays(file)
        words = {word: place for place, word in enumerate(arrays["words"].tolist())}
        return cls(str(arrays["column"]), words, arrays["pairs"], arrays["rarity"])


def _places(texts: Any, words: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row and the place of each word of a Series of texts, as they follow each other."""
    places: list[int] = []
    lengths = []
    is_learning = isinstance(words, defaultdict)
    for text in filled(texts):
        found = _WORD.findall(text.lower())
        lengths.append(len(found))
        if is_learning:
            places += [words[word] for word in found]
        else:
            places += [words.get(word, _UNKNOWN) for word in found]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return rows, np.array(places, dtype=np.int64)


def _pairs(
    rows: NDArray[np.int64], places: NDArray[np.int64], words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row and the code of each pair of known words that follow each other in a row."""
    first, second = places[:-1], places[1:]
    in_one_row = rows[:-1] == rows[1:]
    both_known = (first != _UNKNOWN) & (second != _UNKNOWN)
    chosen = in_one_row & both_known
    return rows[:-1][chosen], first[chosen] * words + second[chosen]


def _rows_with(rows: NDArray[np.int64], terms: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return in how many rows each of ``count`` terms occurs."""
    each_once = np.unique(rows * max(1, count) + terms)
    return np.bincount(each_once % max(1, count), minlength=count)
