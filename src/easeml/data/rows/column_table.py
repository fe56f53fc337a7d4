"""Rows as arrays, a column each: what a transform reads, at a tenth of a frame's cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Numbers(Mapping[str, "NDArray[np.float64]"]):
    """Columns of numbers that were read at once; none is missing.

    ``places``: where each stands in ``block``, which has the shape (rows, columns).
    """

    def __init__(self, places: Mapping[str, int], block: NDArray[np.float64]):
        self.places = places
        self.block = block

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.block[:, self.places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def chosen(self, names: Sequence[str]) -> NDArray[np.float64] | None:
        """Return some columns as a new array (rows, names); None where one is not there."""
        try:
            return self.block.take([self.places[name] for name in names], axis=1)
        except KeyError:
            return None


@dataclass(frozen=True)
class ColumnTable:
    """Columns by name, each an array typed as in a frame.

    ``numbers``: those of them that were read at once.
    """

    columns: Mapping[str, Any]
    rows: int
    numbers: Numbers | None = None

    @classmethod
    def joined(cls, tables: Sequence[ColumnTable]) -> ColumnTable:
        """Return the rows of tables with the same columns, one after the other."""
        numbers = _joined_numbers(tables)
        columns = {}
        for name in tables[0].columns:
            if numbers is not None and name in numbers:
                columns[name] = numbers[name]
            else:
                columns[name] = _joined(list(map(itemgetter(name), tables)))
        return cls(columns, sum(map(len, tables)), numbers)

    def numbers_of(self, names: Sequence[str]) -> NDArray[np.float64] | None:
        """Return columns of numbers as a new array (rows, names).

        None where they were not all read at once.
        """
        return None if self.numbers is None else self.numbers.chosen(names)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return self.rows


def _joined_numbers(tables: Sequence[ColumnTable]) -> Numbers | None:
    import numpy as np

    blocks = []
    for table in tables:
        if table.numbers is None:
            return None
        blocks.append(table.numbers)
    return Numbers(blocks[0].places, np.concatenate([numbers.block for numbers in blocks]))


def _joined(arrays: Sequence[Any]) -> Any:
    """Return the arrays of a column as one: numpy's, or pandas' of one type."""
    import numpy as np

    kind = type(arrays[0])
    if kind is np.ndarray:
        return np.concatenate(arrays)
    return kind._concat_same_type(arrays)  # what pandas' extension arrays have to have
