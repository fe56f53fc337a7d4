"""A table as codes, for models of trees: numbers as they are, categories numbered, missing values
NaN.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context, Data
from easeml.modules.files import load_arrays, save_arrays
from easeml.zoo.transforms.column_notes import missing_notes
from easeml.zoo.transforms.table_columns import Table, offsets
from easeml.zoo.transforms.target_means import TargetMeans, learn_means

_FILE = "codes.npz"
_MOST_PLAIN = 9  # categories that a few splits of codes tell apart (decision 0083)


@dataclass(frozen=True, slots=True)
class FittedCodes:
    """``lookup`` holds, for each column, NaN for "missing" and the value of each label (NaN where
    unseen).

    ``fill`` holds, for each number, its median where no training row lacked one, else NaN: a split
    that met no missing value says nothing on where one belongs, and LightGBM takes it as 0. None:
    fitted before medians were kept.
    """

    table: Table
    lookup: NDArray[np.float64]
    offsets: NDArray[np.intp]
    notes: tuple[str, ...] = ()
    means: TargetMeans | None = None
    fill: NDArray[np.float64] | None = None

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return the features: numbers, dates, categories, texts, means of categories."""
        codes = self.table.codes(data)
        parts = [self._filled(self.table.numeric(data))]
        if self.table.categories:
            parts.append(self.lookup[self.offsets[:-1] + 1 + codes])
        parts += self.table.text(data)
        if self.means is not None:
            parts.append(self.means.of(codes))
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return joined if joined.shape[1] else np.zeros((len(data), 1))

    def _filled(self, numeric: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.fill is None:
            return numeric
        missing = np.isnan(numeric)
        return np.where(missing, self.fill, numeric) if missing.any() else numeric

    def place_of(self, column: str) -> int | None:
        """Return which feature a column of numbers is; None for one that is no feature."""
        numbers = self.table.numbers
        return numbers.index(column) if column in numbers else None

    def save(self, folder: Path) -> None:
        """Write all files."""
        self.table.save(folder)
        kept = {} if self.fill is None else {"fill": self.fill}
        save_arrays(folder / _FILE, lookup=self.lookup, **kept)
        if self.means is not None:
            self.means.save(folder)


class TableCodes:
    """Encodes a table as codes in the order of the labels; categories without a training row count
    as missing.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedCodes:
        """Learn which columns vary and which categories occur."""
        table, notes = Table.learn(data, schema_in, config["text_components"], context.seed)
        starts = offsets(table.categories)
        lookup = np.full(starts[-1], np.nan)
        codes = table.codes(data)
        for position, start in enumerate(starts[:-1]):
            seen = np.unique(codes[:, position])
            lookup[start + 1 + seen[seen >= 0]] = seen[seen >= 0]
        numeric = table.numeric(data)
        missing = np.isnan(numeric).sum(axis=0)
        names = [*table.feature_columns, *(column for column, _ in table.categories)]
        counts = [*missing, *(codes < 0).sum(axis=0)]
        told = missing_notes(dict(zip(names, counts, strict=True)), "kept as such")
        fill = np.median(numeric, axis=0)  # NaN where one is missing
        return FittedCodes(table, lookup, starts, (*notes, *told), fill=fill)

    def fit_transform(
        self, data: Data, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> tuple[FittedCodes, NDArray[np.float64]]:
        """Learn as ``fit``, and the mean of a number target in each category."""
        fitted = self.fit(data.X, schema_in, config, context)
        features = fitted.transform(data.X)
        learnt = learn_means(fitted.table, data, _MOST_PLAIN, context)
        if learnt is None:
            return fitted, features
        means, of_training = learnt
        return replace(fitted, means=means), np.concatenate([features, of_training], axis=1)

    def load(self, folder: Path) -> FittedCodes:
        """Read what was saved."""
        table = Table.load(folder)
        arrays = load_arrays(folder / _FILE)
        starts = offsets(table.categories)
        means = TargetMeans.load(folder)
        return FittedCodes(table, arrays["lookup"], starts, means=means, fill=arrays.get("fill"))
