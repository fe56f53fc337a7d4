"""A table with texts as sparse numbers: TF-IDF of words beside the other columns, one-hot.

A review of 300 words has 300 of 100,000 features that are not 0, so only these are kept. Linear
models learn well from them (Joachims, ECML 1998).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from easeml.modules import Context
from easeml.modules.files import load_arrays, load_json, save_arrays, save_json
from easeml.zoo.transforms.onehot import FittedOneHot, TableOneHot
from easeml.zoo.transforms.scale import FittedScale, Scale
from easeml.zoo.transforms.table_columns import column_of
from easeml.zoo.transforms.text_features import as_texts

_COLUMNS = "words.json"
_OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Terms:
    """The weighted terms of a text column: words and pairs of words, or pieces of words.

    ``kind``: "words" or "characters". ``vectorizer`` is scikit-learn's, fitted.
    """

    column: str
    kind: str
    vectorizer: Any

    @classmethod
    def learn(cls, column: str, kind: str, texts: Any, least_rows: int) -> "Terms | None":
        """Learn terms from a Series of texts; None where no term is in enough rows."""
        vectorizer = _vectorizer(kind, min_df=min(least_rows, len(texts)))
        try:
            vectorizer.fit(as_texts(texts))
        except ValueError as error:
            if "empty vocabulary" in str(error) or "no terms remain" in str(error):
                return None
            raise
        return cls(column, kind, vectorizer)

    def transform(self, frame: Any) -> Any:
        """Return a sparse matrix of shape (rows, terms). Raises ``InvalidInput``."""
        column_of(frame, self.column)
        return self.vectorizer.transform(as_texts(frame[self.column]))


def _vectorizer(kind: str, **settings: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    if kind == "characters":
        return TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, dtype=np.float64, **settings
        )
    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, dtype=np.float64, **settings)


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
            vocabulary = terms.vectorizer.get_feature_names_out().tolist()
            documents.append({"column": terms.column, "kind": terms.kind, "terms": vocabulary})
            save_arrays(folder / f"weights-{number}.npz", idf=terms.vectorizer.idf_)
        save_json(folder / _COLUMNS, documents)
        others = folder / _OTHERS
        others.mkdir()
        self.others.save(others)
        self.scale.save(others)


class TableWords:
    """TF-IDF of words and pairs of words (and of pieces of words, where asked for), sparse.

    Terms in fewer than ``least_rows`` training rows are left out.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedWords:
        """Learn the vocabulary of each text column, and medians and categories of the others."""
        texts, without = _apart(schema_in)
        kinds = ["words", "characters"] if config["characters"] == "yes" else ["words"]
        terms = []
        notes = []
        for column in texts:
            found = [
                Terms.learn(column, kind, data[column], config["least_rows"]) for kind in kinds
            ]
            kept = [one for one in found if one is not None]
            terms += kept
            if not kept:
                notes.append(f"Column {column!r} has no words that occur in several training rows.")
        settings = {"most_categories": config["most_categories"], "text_components": 2}
        others = TableOneHot().fit(data, without, settings, context)
        scale = Scale().fit(others.transform(data), without, {"method": "standard"}, context)
        return FittedWords(tuple(terms), others, scale, (*notes, *others.notes))

    def load(self, folder: Path) -> FittedWords:
        """Read what was saved. Raises ``Damaged``."""
        terms = []
        for number, told in enumerate(load_json(folder / _COLUMNS)):
            vectorizer = _vectorizer(told["kind"], vocabulary=told["terms"])
            vectorizer.idf_ = load_arrays(folder / f"weights-{number}.npz")["idf"]
            terms.append(Terms(told["column"], told["kind"], vectorizer))
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
