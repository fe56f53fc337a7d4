"""Stored tables in parts of a fixed number of rows, an Arrow file each.

Stored files are named by their content, so versions share the parts that are the same: one that gained
rows at the end brings only its last part and what comes after (decision 0082).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 8_192
"""Rows of a part: few enough that the last one is small, many enough that there are few files.

A multiple of 512: Arrow does not cut what is below 64 bytes, and a bit a row then takes that many.
"""


def write_parts(folder: Path, name: str, table: pa.Table) -> None:
    """Write a table as ``NAME.arrow``, ``NAME.1.arrow``, and so on; at least the first."""
    for number, start in enumerate(range(0, max(table.num_rows, 1), ROWS)):
        write_arrow(folder / _part(name, number), table.slice(start, ROWS))


def read_parts(names: Collection[str], name: str, read: Callable[[str], pa.Table]) -> pa.Table:
    """Return the table of which ``names`` has the parts; ``read``: reads a file by its name.

    Raises what ``read`` does where there is no first part.
    """
    import pyarrow as pa

    further = map(partial(_part, name), count(1))
    there = [_part(name, 0), *takewhile(names.__contains__, further)]
    return pa.concat_tables(list(map(read, there)))


def is_there(names: Collection[str], name: str) -> bool:
    """Whether there is a table of this name."""
    return _part(name, 0) in names


def write_arrow(path: Path, table: pa.Table) -> None:
    """Write a table as an Arrow file, which ``read_table`` knows whatever its name is."""
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _part(name: str, number: int) -> str:
    return f"{name}.{number}.arrow" if number else f"{name}.arrow"
