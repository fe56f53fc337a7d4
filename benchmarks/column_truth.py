"""Read the hand-written truth about columns, ``truth/columns.txt``."""

import re
from dataclasses import dataclass
from pathlib import Path

TRUTH = Path(__file__).resolve().parent / "truth" / "columns.txt"


@dataclass(frozen=True)
class TrueColumn:
    """What a column is. ``types`` and ``roles``: the strict answer first, then what is as right."""

    name: str
    types: tuple[str, ...]
    roles: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class TrueTable:
    """A table: its file below the data folder, which half it belongs to, and its columns by name."""

    name: str
    file: str
    half: str
    columns: dict[str, TrueColumn]


def read_truth(path: Path = TRUTH) -> list[TrueTable]:
    """Return the tables in their order.

    Raises ValueError for a line that is none, or a column given twice.
    """
    tables: list[TrueTable] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if head := re.fullmatch(r"\[(\w+)\] (\S+) (tuning|final)", line):
            tables.append(TrueTable(head[1], head[2], head[3], {}))
            continue
        found = re.fullmatch(r"(\S+) (\S+?)(?: missing=(\S+))?: (.+)", line)
        if found is None:
            raise ValueError(f"this line says nothing: {line!r}")
        for name in found[4].split(" ; "):
            if name in tables[-1].columns:
                raise ValueError(f"{tables[-1].name}: column {name!r} twice")
            missing = tuple(found[3].split(",")) if found[3] else ()
            column = TrueColumn(
                name, tuple(found[1].split("|")), tuple(found[2].split("|")), missing
            )
            tables[-1].columns[name] = column
    return tables
