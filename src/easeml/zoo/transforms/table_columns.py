"""Reading a table column by column into arrays: what both table encoders share.

Arrays are read from single columns, so that a request's row need not become a data frame, which
would cost more than most models do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.data import ColumnTable
from easeml.errors import InvalidInput
from easeml.modules.files import load_json, save_json
from easeml.zoo.transforms.column_notes import column_notes
from easeml.zoo.transforms.date_features import FEATURES, date_features
from easeml.zoo.transforms.text_features import LongTextColumn, TextColumn, fit_text

if TYPE_CHECKING:
    import pandas as pd

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
    texts: tuple[TextColumn | LongTextColumn, ...]

    @classmethod
    def learn(
        cls, frame: "pd.DataFrame", schema_in: Mapping[str, Any], components: int, seed: int
    ) -> tuple["Table", tuple[str, ...]]:
        """Look at training rows; return the table and notes.

        Columns without any variation are left out.
        """
        every_feature = tuple(range(len(FEATURES)))
        every = cls(
            numbers=tuple(_columns(schema_in, "tensor")),
            dates=tuple((name, every_feature) for name in _columns(schema_in, "timestamp")),
            categories=tuple(_labels(schema_in).items()),
            texts=(),
        )
        categories, notes = every._varying_categories(frame)
        numbers, dates = every._varying_numbers(frame)

        texts = []
        for column in _columns(schema_in, "text"):
            text = fit_text(column, column_of(frame, column), components, seed)
            if text is not None:
                texts.append(text)

        table = cls(numbers, dates, categories, tuple(texts))
        read = table.columns
        constant = [column for column in _columns(schema_in) if column not in read]
        told = dict.fromkeys(constant, " is constant in the training rows and is ignored")
        notes += column_notes(told, "are constant in the training rows and are ignored")
        return table, tuple(notes)

    def _varying_numbers(
        self, frame: "pd.DataFrame"
    ) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[int, ...]], ...]]:
        """Return the number columns, and the features of dates, that vary in training rows."""
        varies = _varies(self.numeric(frame))
        of_numbers = varies[: len(self.numbers)]
        of_dates = varies[len(self.numbers) :].reshape(-1, len(FEATURES))

        numbers = compress(self.numbers, of_numbers)
        dates = []
        for (column, _), kept in zip(self.dates, of_dates, strict=True):
            features = np.flatnonzero(kept).tolist()
            if features:
                dates.append((column, tuple(features)))
        return tuple(numbers), tuple(dates)

    def _varying_categories(
        self, frame: "pd.DataFrame"
    ) -> tuple[tuple[tuple[str, Any], ...], list[str]]:
        """Return the categories that vary in training rows, and notes on labels without a row."""
        categories = []
        unseen = {}
        for (column, labels), codes in zip(self.categories, self.codes(frame).T, strict=True):
            if len(np.unique(codes)) > 1:
                categories.append((column, labels))
                count = len(labels) - len(np.unique(codes[codes >= 0]))
                if count:
                    unseen[column] = f": {count} of {len(labels)} categories have no training row"
        return tuple(categories), column_notes(unseen, "have categories without a training row")

    @property
    def columns(self) -> set[str]:
        """Return the names of the columns that are read."""
        keyed = {column for column, _ in (*self.dates, *self.categories)}
        return {*self.numbers, *keyed, *(text.column for text in self.texts)}

    @property
    def feature_columns(self) -> list[str]:
        """Return the column of each numeric feature: number columns, then dates, once a part."""
        names = list(self.numbers)
        for column, kept in self.dates:
            names += [column] * len(kept)
        return names

    def numeric(self, frame: "pd.DataFrame | ColumnTable") -> NDArray[np.float64]:
        """Return numbers and parts of dates, NaN where missing.

        Raises ``InvalidInput`` without a column.
        """
        parts = [_numbers(frame, self.numbers)]
        for column, kept in self.dates:
            times = np.asarray(column_of(frame, column), dtype="datetime64[ms]")
            parts.append(date_features(times)[:, kept])

        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts, axis=1)

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
            column_of(frame, text.column)
        return [text.transform(frame) for text in self.texts]

    def save(self, folder: Path) -> None:
        """Write the table into a folder, beside other files."""
        document = {
            "numbers": self.numbers,
            "dates": self.dates,
            "categories": [(column, labels.tolist()) for column, labels in self.categories],
            "texts": [(text.column, text.width) for text in self.texts],
            "long": [text.column for text in self.texts if isinstance(text, LongTextColumn)],
        }
        save_json(folder / _FILE, document)
        for number, text in enumerate(self.texts):
            text.save(_text_file(folder, number, isinstance(text, LongTextColumn)))

    @classmethod
    def load(cls, folder: Path) -> "Table":
        """Read what was saved. Raises ``Damaged``."""
        import pandas as pd

        document = load_json(folder / _FILE)
        long = document.get("long", [])  # older releases knew none
        texts = []
        for number, (column, width) in enumerate(document["texts"]):
            file = _text_file(folder, number, column in long)
            if column in long:
                texts.append(LongTextColumn.load(file))
            else:
                texts.append(TextColumn.load(column, width, file))

        return cls(
            numbers=tuple(document["numbers"]),
            dates=tuple((column, tuple(kept)) for column, kept in document["dates"]),
            categories=tuple((column, pd.Index(names)) for column, names in document["categories"]),
            texts=tuple(texts),
        )


def _text_file(folder: Path, number: int, is_long: bool) -> Path:
    return folder / f"text-{number}.{'npz' if is_long else 'skops'}"


def offsets(categories: tuple[tuple[str, Any], ...]) -> NDArray[np.intp]:
    """Return where each column starts in a flat lookup table.

    There an entry for "missing" stands before those of its labels.
    """
    sizes = [len(labels) + 1 for _, labels in categories]
    return np.cumsum([0, *sizes], dtype=np.intp)


def _columns(schema_in: Mapping[str, Any], kind: str = "") -> list[str]:
    """Return the columns of a type; of all types, where none is given."""
    columns = []
    for name, node in schema_in["nodes"].items():
        if kind in ("", node["type"]):
            columns.append(node.get("column", name))
    return columns


def _labels(schema_in: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels of each category column, as a pandas Index."""
    import pandas as pd

    found = {}
    for name, node in schema_in["nodes"].items():
        if node["type"] == "category":
            labels = schema_in["classes"][node["class"]]["labels"]
            found[node.get("column", name)] = pd.Index(labels, dtype=str)
    return found


def column_of(frame: "pd.DataFrame | ColumnTable", column: str) -> Any:
    """Return the array of a column. Raises ``InvalidInput`` where it is not there."""
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


def _numbers(frame: "pd.DataFrame | ColumnTable", columns: tuple[str, ...]) -> NDArray[np.float64]:
    """Return number columns, NaN where missing or infinite."""
    if isinstance(frame, ColumnTable):
        values = frame.numbers_of(columns)
    else:
        values = _float_columns(frame, columns)
    if values is None:
        rows = [column_of(frame, column) for column in columns]
        values = np.array(rows, dtype=float).reshape(len(columns), len(frame)).T
    if (abs(values) <= _LARGEST).all():  # which NaN is not
        return values
    return np.clip(np.where(np.isinf(values), np.nan, values), -_LARGEST, _LARGEST)


def _float_columns(frame: "pd.DataFrame", columns: tuple[str, ...]) -> NDArray[np.float64] | None:
    """Return columns of a frame at once, if they are floats of numpy; None where they are not.

    One by one takes longer than many a small model.
    """
    if not columns or not frame.columns.is_unique:
        return None
    places = frame.columns.get_indexer(list(columns))
    if (places < 0).any():
        return None
    chosen = frame.take(places, axis=1)
    if any(kind != np.float64 for kind in chosen.dtypes):
        return None
    return np.array(chosen.to_numpy())


def _codes(frame: "pd.DataFrame | ColumnTable", column: str, labels: Any) -> NDArray[np.intp]:
    import pandas as pd

    values = column_of(frame, column)
    if not isinstance(values, pd.Categorical):
        values = pd.Categorical(pd.Series(values).astype(object))
    if values.categories.equals(labels):
        return values.codes

    # A missing value has code -1, which is the last place.
    places = labels.get_indexer(values.categories.astype(str))
    into = np.append(places, -1)
    return into[values.codes]


def _varies(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return by column (columns,) whether it holds two values, or a value and a gap."""
    is_gap = np.isnan(values)
    any_gap = is_gap.any(axis=0)
    any_known = ~is_gap.all(axis=0)
    least = np.where(is_gap, np.inf, values).min(axis=0, initial=np.inf)
    most = np.where(is_gap, -np.inf, values).max(axis=0, initial=-np.inf)
    return any_known & (any_gap | (least < most))
