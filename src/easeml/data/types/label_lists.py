"""Cells with several labels each, such as ``politics; economy`` or a list in JSON.

In frames such a cell is an array of a number a label: 1 where the row has it, else 0.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.data.types.bad_cell import BadCell
from easeml.data.types.values import MISSING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

LABELS = "labels"  # the type of a target whose rows have several labels
JSON = ""  # the separator of cells that are lists in JSON
SEPARATORS = (";", "|", ",")
MOST_LABELS = 200  # each is a model of its own


def labels_in(text: str, separator: str) -> list[str]:
    """The labels of a cell, each once, in their order; an empty cell has none.

    Raises ``BadCell`` where a cell is no list, and lists are expected.
    """
    if text.lower() in MISSING:
        return []
    found = _from_json(text) if separator == JSON else text.split(separator.strip())
    stripped = map(str.strip, found)
    return list(dict.fromkeys(filter(None, stripped)))


def labels_of_value(value: Any, separator: str) -> list[str]:
    """The labels of a JSON value: a list of texts, or a text as ``labels_in`` takes it.

    Raises ``BadCell``.
    """
    if isinstance(value, str):
        return labels_in(value.strip(), separator)
    return list(dict.fromkeys(_plain(value)))


def counted(texts: Iterable[str], separator: str) -> Counter[str]:
    """How many of the cells have each label."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update(labels_in(text, separator))
    return found


def array_of(found: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    """The cell of a row with these labels; raises ``BadCell`` for one that is not of ``labels``."""
    import numpy as np

    unknown = [label for label in found if label not in labels]
    if unknown:
        known = ", ".join(labels[:10])
        raise BadCell(f"has the label {unknown[0]!r}, which is none of the known ones ({known})")
    return np.isin(np.asarray(labels, dtype=object), found).astype(np.float64)


def cells_of(array: pa.Array, labels: Sequence[str], separator: str) -> np.ndarray:
    """The cells of a column of text, an object array; each different text is read once.

    Raises ``BadCell`` for a label that is none of ``labels``.
    """
    import numpy as np

    encoded = array.dictionary_encode()
    made = []
    for text in encoded.dictionary.to_pylist():
        made.append(array_of(labels_in(text, separator), labels))
    block = np.reshape(made, (-1, len(labels)))
    cells = np.empty(len(array), dtype=object)
    for row, code in enumerate(encoded.indices.to_pylist()):
        cells[row] = block[code]
    return cells


def in_words(name: str, content: Mapping[str, Any]) -> str:
    """What is said of a column, by the ``content`` of its report."""
    count = len(content["labels"])
    said = f"'{name}' has several labels a row: {count} of them, {content['mean']:.2g} a row."
    if content.get("parts"):
        return f"{said} An empty cell is a no."
    if not content.get("empty"):
        return said
    return (
        f"{said} Empty cells are rows without a label ({content['empty']:,} of them): "
        "leave rows out whose labels are not known."
    )


def told(found: Sequence[str], separator: str) -> str:
    """Labels as cells have them: with their separator between, or as a list in JSON."""
    if separator == JSON:
        return json.dumps(list(found), ensure_ascii=False)
    return separator.join(found)


def _from_json(text: str) -> list[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadCell(f"is no list in JSON ({error})") from error
    return _plain(value)


def _plain(value: Any) -> list[str]:
    """The labels of a list that came as JSON."""
    if not isinstance(value, list):
        raise BadCell('is no list of labels, such as ["one", "another"]')
    plain = [one for one in value if isinstance(one, str | int | float)]
    if len(plain) < len(value):
        raise BadCell("holds what is no label: labels are texts or numbers")
    return list(filter(None, map(str.strip, map(str, plain))))
