"""Reading a table column by column into arrays: what both table encoders share.

Arrays are read from single columns, so that a request's row need not become a data frame, which
would cost more than most models do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput
from easeml.modules.files import load_json, save_json
from easeml.zoo.transforms.date_features import FEATURES, date_features
from easeml.zoo.transforms.text_features import TextColumn

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import ColumnTable

_LARGEST = 1e30  # beyond, squares and single precision overflow
_FILE = "table.json"


@dataclass(frozen=True, slots=True)
class Table:
    """Which columns are read, and how.

    ``dates``: column and the positions of its features that vary.
    """

    numbers: tuple[str, ...]
    dates: tuple[tuple[str, tuple[int, ...]], ...]
    categories: tuple[tuple[str, Any], ...]  # column, pandas Index of its labels
    texts: tuple[TextColumn, ...]

    @classmethod
    def learn(
        cls, frame: "pd.DataFrame", schema_in: Mapping[str, Any], components: int, seed: int
    ) -> tuple["Table", tuple[str, ...]]:
        """Look at training rows; return the table and notes.

        Columns without any variation are left out.
        """
        every = cls(
            tuple(_columns(schema_in, "tensor")),
            tuple(
                (column, tuple(range(len(FEATURES)))) for column in _columns(schema_in, "timestamp")
            ),
            tuple(_labels(schema_in).items()),
            (),
        )
        varies = [_varies(values) for values in every.numeric(frame).T]
        kept_numbers = tuple(c for c, kept in zip(every.numbers, varies, strict=False) if kept)
        parts = np.reshape(varies[len(every.numbers) :], (-1, len(FEATURES)))
        dates = [
            (c, tuple(np.flatnonzero(kept).tolist()))
            for (c, _), kept in zip(every.dates, parts, strict=True)
        ]
        codes = every.codes(frame)
        categories, notes = [], []
        for (column, labels), values in zip(every.categories, codes.T, strict=True):
            if len(np.unique(values)) > 1:
                categories.append((column, labels))
                notes += _unseen_note(column, values, len(labels))
        texts = [
            TextColumn.fit(c, _column(frame, c), components, seed)
            for c in _columns(schema_in, "text")
        ]
        table = cls(
            kept_numbers,
            tuple(date for date in dates if date[1]),
            tuple(categories),
            tuple(text for text in texts if text is not None),
        )
        ignored = [column for column in _columns(schema_in) if column not in table.columns]
        notes += [
            f"Column {column!r} is constant in the training rows and is ignored."
            for column in ignored
        ]
        return table, tuple(notes)

    @property
    def columns(self) -> set[str]:
        """Return the names of the columns that are read."""
        keyed = {column for column, _ in (*self.dates, *self.categories)}
        return {*self.numbers, *keyed, *(text.column for text in self.texts)}

    @property
    def features(self) -> list[str]:
        """Return the names of the numeric features: number columns, then parts of dates."""
        return [
            *self.numbers,
            *(f"{column} {FEATURES[i]}" for column, kept in self.dates for i in kept),
        ]

    def numeric(self, frame: "pd.DataFrame | ColumnTable") -> NDArray[np.float64]:
        """Return numbers and parts of dates, NaN where missing.

        Raises ``InvalidInput`` without a column.
        """
        parts = [_numbers(frame, self.numbers)]
        for column, kept in self.dates:
            parts.append(
                date_features(np.asarray(_column(frame, column), dtype="datetime64[ms]"))[:, kept]
            )
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def codes(self, frame: "pd.DataFrame | ColumnTable") -> NDArray[np.intp]:
        """Return the positions of the categories' labels, -1 where missing or unknown.

        Raises like ``numeric``.
        """
        made = np.empty((len(frame), len(self.categories)), dtype=np.intp)
        for position, (column, labels) in enumerate(self.categories):
            made[:, position] = _codes(frame, column, labels)
        return made

    def text(self, frame: "pd.DataFrame | ColumnTable") -> list[NDArray[np.float64]]:
        """Return the components of each text column. Raises like ``numeric``."""
        for text in self.texts:
            _column(frame, text.column)
        return [text.transform(frame) for text in self.texts]

    def save(self, folder: Path) -> None:
        """Write the table into a folder, beside other files."""
        document = {
            "numbers": self.numbers,
            "dates": self.dates,
            "categories": [(column, labels.tolist()) for column, labels in self.categories],
            "texts": [(text.column, text.width) for text in self.texts],
        }
        save_json(folder / _FILE, document)
        for number, text in enumerate(self.texts):
            text.save(folder / f"text-{number}.skops")

    @classmethod
    def load(cls, folder: Path) -> "Table":
        """Read what was saved. Raises ``Damaged``."""
        import pandas as pd

        document = load_json(folder / _FILE)
        return cls(
            tuple(document["numbers"]),
            tuple((column, tuple(kept)) for column, kept in document["dates"]),
            tuple((column, pd.Index(labels)) for column, labels in document["categories"]),
            tuple(
                TextColumn.load(column, width, folder / f"text-{number}.skops")
                for number, (column, width) in enumerate(document["texts"])
            ),
        )


def offsets(categories: tuple[tuple[str, Any], ...]) -> NDArray[np.intp]:
    """Return where each column starts in a flat lookup table with an entry for "missing" before its
    labels'.
    """
    return np.cumsum([0, *(len(labels) + 1 for _, labels in categories)], dtype=np.intp)


def _columns(schema_in: Mapping[str, Any], kind: str = "") -> list[str]:
    nodes = schema_in["nodes"].items()
    return [node.get("column", name) for name, node in nodes if not kind or node["type"] == kind]


def _labels(schema_in: Mapping[str, Any]) -> dict[str, Any]:
    import pandas as pd

    return {
        node.get("column", name): pd.Index(schema_in["classes"][node["class"]]["labels"], dtype=str)
        for name, node in schema_in["nodes"].items()
        if node["type"] == "category"
    }


def _column(frame: "pd.DataFrame | ColumnTable", column: str) -> Any:
    """Return the array of a column."""
    try:
        values = frame[column]
    except KeyError:
        remedy = "Give every column of the application's input schema."
        raise InvalidInput(
            "The column is not there.",
            where=column,
            remedy=remedy,
        ) from None
    return getattr(values, "array", values)  # of a Series


def _numbers(frame: "pd.DataFrame | ColumnTable", columns: Sequence[str]) -> NDArray[np.float64]:
    """Return number columns, NaN where missing or infinite."""
    values = np.empty((len(frame), len(columns)))
    for position, column in enumerate(columns):
        values[:, position] = _column(frame, column)
    return np.clip(np.where(np.isinf(values), np.nan, values), -_LARGEST, _LARGEST)


def _codes(frame: "pd.DataFrame | ColumnTable", column: str, labels: Any) -> NDArray[np.intp]:
    import pandas as pd

    values = _column(frame, column)
    if not isinstance(values, pd.Categorical):
        values = pd.Categorical(pd.Series(values).astype(object))
    if len(values.categories) == len(labels) and values.categories.equals(labels):
        return values.codes
    into = np.append(
        labels.get_indexer(values.categories.astype(str)), -1
    )  # a missing value has code -1
    return into[values.codes]


def _varies(values: NDArray[np.float64]) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 0 and (len(known) < len(values) or bool(known.min() < known.max()))


def _unseen_note(column: str, codes: NDArray[np.intp], labels: int) -> list[str]:
    unseen = labels - len(np.unique(codes[codes >= 0]))
    return (
        [f"Column {column!r}: {unseen} of {labels} categories have no training row."]
        if unseen
        else []
    )
