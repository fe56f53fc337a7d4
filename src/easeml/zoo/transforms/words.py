"""A table with texts as sparse numbers: its words and pairs of words, beside the other columns.

A review of 300 words has 600 of 60,000 features that are not 0, so only these are kept. Linear
models learn well from them (Joachims, ECML 1998).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeml.modules import Context
from easeml.modules.files import load_json, save_json
from easeml.zoo.transforms.onehot import FittedOneHot, TableOneHot
from easeml.zoo.transforms.scale import FittedScale, Scale
from easeml.zoo.transforms.table_columns import column_of
from easeml.zoo.transforms.terms import Terms

_FILE = "words.json"
_OTHERS = "others"


@dataclass(frozen=True, slots=True)
class FittedWords:
    """The terms of the texts, and the other columns as complete numbers of like size."""

    terms: tuple[Terms, ...]
    others: FittedOneHot
    scale: FittedScale
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> Any:
        """Return the features as a sparse matrix (CSR): the other columns, then all terms.

        Raises ``InvalidInput`` where a column is not there.
        """
        from scipy import sparse

        dense = self.scale.transform(self.others.transform(data))
        parts = [sparse.csr_matrix(dense)]
        for terms in self.terms:
            column_of(data, terms.column)
            parts.append(terms.transform(data[terms.column]))
        return sparse.hstack(parts, format="csr")

    def save(self, folder: Path) -> None:
        """Write vocabularies and weights, and what was learnt of the other columns."""
        save_json(folder / _FILE, {"texts": len(self.terms)})
        for number, terms in enumerate(self.terms):
            terms.save(folder / f"terms-{number}.npz")
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
        count = load_json(folder / _FILE)["texts"]
        terms = [Terms.load(folder / f"terms-{number}.npz") for number in range(count)]
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
