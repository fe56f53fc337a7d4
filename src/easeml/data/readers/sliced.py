"""Tables that are not held as a whole: read through once, then given part by part."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class SlicedTable:
    """A table of text, of which some rows are held at a time.

    ``batches`` gives all rows in their order, from the first one at each call. ``note``: what was
    unusual, as in the metadata of a whole table. ``delimiter``, ``encoding``: of a
    text table.
    """

    names: tuple[str, ...]
    rows: int
    batches: Callable[[], Iterator[pa.RecordBatch]]
    note: str = ""
    delimiter: str = ","
    encoding: str = ""

    def slices(self, size: int) -> Generator[pa.Table]:
        """The rows in tables of ``size`` rows, the last one of those that are left.

        Raises ``DatasetError`` where the file turns out to be damaged.
        """
        held: list[pa.RecordBatch] = []
        count = 0
        for batch in self.batches():
            rest = batch
            while count + rest.num_rows >= size:
                missing = size - count
                yield self._table([*held, rest.slice(0, missing)])
                rest = rest.slice(missing)
                held = []
                count = 0
            held.append(rest)
            count += rest.num_rows
        if count:
            yield self._table(held)

    def _table(self, batches: list[pa.RecordBatch]) -> pa.Table:
        import pyarrow as pa

        metadata = {"note": self.note} if self.note else None
        table = pa.Table.from_batches(batches).rename_columns(list(self.names))
        return table.replace_schema_metadata(metadata)
