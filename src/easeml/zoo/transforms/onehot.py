"""A table as complete numbers, for models that measure distances or sum up: imputed, marked and
one-hot.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context, Data
from easeml.modules.files import load_arrays, save_arrays
from easeml.modules.weights import Weights, quantiles
from easeml.zoo.transforms.column_notes import column_notes, missing_notes
from easeml.zoo.transforms.table_columns import Table, offsets
from easeml.zoo.transforms.target_means import TargetMeans, learn_means

_FILE = "onehot.npz"


@dataclass(frozen=True, slots=True)
class FittedOneHot:
    """``fill`` and ``marked`` are of the numeric features; ``slots`` gives each label its
    indicator.

    ``slots`` holds, for each column, the indicator of "missing" and of each label; ``width`` where
    there is none.
    """

    table: Table
    fill: NDArray[np.float64]
    marked: NDArray[np.intp]
    slots: NDArray[np.intp]
    width: int
    offsets: NDArray[np.intp]
    notes: tuple[str, ...] = ()
    means: TargetMeans | None = None

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return the features: numbers and dates, marks of missing ones, indicators of categories,
        texts, means of categories.
        """
        codes = self.table.codes(data)
        numeric = self.table.numeric(data)
        missing = np.isnan(numeric)
        parts = [np.where(missing, self.fill, numeric)]
        if len(self.marked):
            parts.append(missing[:, self.marked].astype(np.float64))
        if self.table.categories:
            indicators = np.zeros((len(data), self.width + 1))
            slots = self.slots[self.offsets[:-1] + 1 + codes]
            indicators[np.arange(len(data))[:, None], slots] = 1.0
            parts.append(indicators[:, : self.width])
        parts += self.table.text(data)
        if self.means is not None:
            parts.append(self.means.of(codes))
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return joined if joined.shape[1] else np.zeros((len(data), 1))

    def save(self, folder: Path) -> None:
        """Write all files."""
        self.table.save(folder)
        width = np.asarray(self.width)
        save_arrays(
            folder / _FILE,
            fill=self.fill,
            marked=self.marked,
            slots=self.slots,
            width=width,
        )
        if self.means is not None:
            self.means.save(folder)


class TableOneHot:
    """Fills missing numbers with the median and marks them; one indicator a category, the rarest
    sharing one.

    A missing or unseen category has no indicator, unless missing ones were met in training.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedOneHot:
        """Learn medians and the categories worth an indicator."""
        table, notes = Table.learn(data, schema_in, config["text_components"], context.seed)
        numeric = table.numeric(data)
        missing = np.isnan(numeric).sum(axis=0)
        fill = _medians(numeric, context.weights)
        medians = {
            name: f"filled with the median {value:g} and marked"
            for name, value in zip(table.numbers, fill, strict=False)  # parts of dates follow
        }
        counts = dict(zip(table.feature_columns, missing, strict=True))
        told = missing_notes(counts, "filled with the median and marked", medians)
        most = config["most_categories"]
        slots, width, rare = _slots(table, table.codes(data), most, context.weights)
        marked = np.flatnonzero(missing)
        return FittedOneHot(
            table, fill, marked, slots, width, offsets(table.categories), (*notes, *told, *rare)
        )

    def fit_transform(
        self, data: Data, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> tuple[FittedOneHot, NDArray[np.float64]]:
        """Learn as ``fit``, and the mean of a number target in each category of columns whose
        rarest share an indicator.
        """
        fitted = self.fit(data.X, schema_in, config, context)
        features = fitted.transform(data.X)
        learnt = learn_means(fitted.table, data, config["most_categories"], context)
        if learnt is None:
            return fitted, features
        means, of_training = learnt
        return replace(fitted, means=means), np.concatenate([features, of_training], axis=1)

    def load(self, folder: Path) -> FittedOneHot:
        """Read what was saved."""
        table = Table.load(folder)
        arrays = load_arrays(folder / _FILE)
        return FittedOneHot(
            table,
            arrays["fill"],
            arrays["marked"],
            arrays["slots"],
            int(arrays["width"]),
            offsets(table.categories),
            means=TargetMeans.load(folder),
        )


def _medians(numeric: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Return the median of each column (columns,), some of which have gaps."""
    has_gaps = np.isnan(numeric).any(axis=0)
    if weights is None and not has_gaps.any():
        return np.median(numeric, axis=0)
    return np.array([_median(column, weights) for column in numeric.T])


def _median(column: NDArray[np.float64], weights: Weights) -> Any:
    """Return the median of a column with gaps."""
    if weights is None:
        return np.nanmedian(column)
    known = ~np.isnan(column)
    return quantiles(column[known], 0.5, weights[known])


def _slots(
    table: Table, codes: NDArray[np.intp], most: int, weights: Weights
) -> tuple[NDArray[np.intp], int, list[str]]:
    starts = offsets(table.categories)
    slots = np.full(starts[-1], -1, dtype=np.intp)
    missing: dict[str, int] = {}
    shared: dict[str, str] = {}
    width = 0
    for position, (column, labels) in enumerate(table.categories):
        found = codes[:, position] + 1
        counts = np.bincount(found, weights, minlength=len(labels) + 1)
        missing[column] = int(np.sum(found == 0))
        own, rare = _frequent(counts, most)
        slots[starts[position] + own] = width + np.arange(len(own))
        width += len(own)
        if len(rare):
            slots[starts[position] + rare] = width
            width += 1
            shared[column] = f": the {len(rare)} rarest categories are taken as one"
    many = "have so many categories that the rarest are taken as one"
    notes = [*missing_notes(missing, "a category of their own"), *column_notes(shared, many)]
    return np.where(slots < 0, width, slots), width, notes


def _frequent(counts: NDArray[Any], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split what occurs into what gets an indicator of its own and what shares one."""
    occurring = np.flatnonzero(counts)
    if len(occurring) <= most:
        return occurring, occurring[:0]
    order = occurring[np.argsort(-counts[occurring], kind="stable")]
    return np.sort(order[: most - 1]), order[most - 1 :]
