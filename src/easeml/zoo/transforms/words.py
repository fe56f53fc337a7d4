"""A table with texts as sparse numbers: its words and pairs of words, beside the other columns.

A review of 300 words has 600 of 60,000 features that are not 0, so only these are kept. Linear
models learn well from them (Joachims, ECML 1998).
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context
from easeml.modules.files import load_arrays, load_json, save_arrays, save_json
from easeml.zoo.transforms.onehot import FittedOneHot, TableOneHot
from easeml.zoo.transforms.scale import FittedScale, Scale
from easeml.zoo.transforms.table_columns import column_of
from easeml.zoo.transforms.text_features import as_texts

_COLUMNS = "words.json"
_OTHERS = "others"
_WORD = re.compile(r"\b\w\w+\b")
_UNKNOWN = -1


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

    def transform(self, frame: Any) -> Any:
        """Return a sparse matrix (CSR) of shape (rows, terms), of rows of length 1.

        Raises ``InvalidInput`` where the column is not there.
        """
        from scipy import sparse

        column_of(frame, self.column)
        rows, places = _places(frame[self.column], self.words)
        pair_rows, codes = _pairs(rows, places, len(self.words))
        positions = np.searchsorted(self.pairs, codes)
        is_kept = np.zeros(len(codes), dtype=bool)
        inside = positions < len(self.pairs)
        is_kept[inside] = self.pairs[positions[inside]] == codes[inside]

        known = places != _UNKNOWN
        every_row = np.r_[rows[known], pair_rows[is_kept]]
        every_term = np.r_[places[known], len(self.words) + positions[is_kept]]
        counted, counts = np.unique(every_row * len(self.rarity) + every_term, return_counts=True)
        row, term = np.divmod(counted, max(1, len(self.rarity)))
        weights = (1 + np.log(counts)) * self.rarity[term]
        lengths = np.sqrt(np.bincount(row, weights**2, minlength=len(frame)))
        shape = (len(frame), len(self.rarity))
        return sparse.csr_matrix((weights / lengths[row], (row, term)), shape=shape)


def _places(texts: Any, words: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row and the place of each word of a Series of texts, as they follow each other."""
    places: list[int] = []
    lengths = []
    is_learning = isinstance(words, defaultdict)
    for text in as_texts(texts):
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


@dataclass(frozen=True, slots=True)
class FittedWords:
    """The terms of the texts, and the other columns as complete numbers of like size."""

    terms: tuple[Terms, ...]
    others: FittedOneHot
    scale: FittedScale
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> Any:
        """Return the features as a sparse matrix (CSR): the other columns, then all terms."""
        from scipy import sparse

        dense = self.scale.transform(self.others.transform(data))
        parts = [sparse.csr_matrix(dense)]
        parts += [terms.transform(data) for terms in self.terms]
        return sparse.hstack(parts, format="csr")

    def save(self, folder: Path) -> None:
        """Write vocabularies and weights, and what was learnt of the other columns."""
        documents = []
        for number, terms in enumerate(self.terms):
            documents.append({"column": terms.column, "words": list(terms.words)})
            file = folder / f"terms-{number}.npz"
            save_arrays(file, pairs=terms.pairs, rarity=terms.rarity)
        save_json(folder / _COLUMNS, documents)
        others = folder / _OTHERS
        others.mkdir()
        self.others.save(others)
        self.scale.save(others)


class TableWords:
    """TF-IDF of words and of pairs of words, sparse, beside the other columns of like size.

    Terms in fewer than ``least_rows`` training rows are left out.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedWords:
        """Learn the vocabulary of each text column, and medians and categories of the others."""
        texts, without = _apart(schema_in)
        terms = []
        notes = []
        for column in texts:
            found = Terms.learn(column, data[column], config["least_rows"])
            if len(found.rarity):
                terms.append(found)
            else:
                notes.append(f"Column {column!r} has no words that training rows share.")
        settings = {"most_categories": config["most_categories"], "text_components": 2}
        others = TableOneHot().fit(data, without, settings, context)
        scale = Scale().fit(others.transform(data), without, {"method": "standard"}, context)
        return FittedWords(tuple(terms), others, scale, (*notes, *others.notes))

    def load(self, folder: Path) -> FittedWords:
        """Read what was saved. Raises ``Damaged``."""
        terms = []
        for number, told in enumerate(load_json(folder / _COLUMNS)):
            words = {word: place for place, word in enumerate(told["words"])}
            arrays = load_arrays(folder / f"terms-{number}.npz")
            terms.append(Terms(told["column"], words, arrays["pairs"], arrays["rarity"]))
        others = folder / _OTHERS
        return FittedWords(tuple(terms), TableOneHot().load(others), Scale().load(others))


def _apart(schema_in: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the text columns, and the schema of the other columns."""
    texts = []
    others = {}
    for name, node in schema_in["nodes"].items():
        if node["type"] == "text":
            texts.append(node.get("column", name))
        else:
            others[name] = node
    return texts, {**schema_in, "nodes": others}
