"""A table beside pictures that says what each of them is: a column of their names, and another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, first_of
from easeml.data.readers.file_tree import Tree

if TYPE_CHECKING:
    import pyarrow as pa

_TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".json", ".xlsx", ".xls", ".arff")
_LARGEST = 64 << 20  # bytes of the table
_MOST_UNNAMED = 0.5  # share of the rows that may name no file, in the column of the names
_SHOWN = 3  # names in a message
_Places = dict[str, list[str]]  # by a name in lower case: the files that it may mean


@dataclass(frozen=True)
class LabelsBeside:
    """What a table says: ``labels`` of ``files``, from its ``column``; empty for none.

    ``note``: rows that are of no file, and files that have no row.
    """

    files: list[str]
    labels: list[str]
    column: str
    note: str


def is_table(file: str) -> bool:
    """Whether a file is called like a table."""
    return file.lower().endswith(_TABLES)


def labels_beside(
    tree: Tree, suffixes: tuple[str, ...], read: Callable[[bytes, str], pa.Table]
) -> LabelsBeside | None:
    """The labels that the only table of a tree has for the files with these endings.

    The table has two columns: the file, by its path, name, or name without ending, and its label.
    None where there is no such table. ``read`` makes a table of its bytes and its name. Raises
    DatasetError where it has more columns.
    """
    samples = list(filter(partial(_ends_with, suffixes), tree.files))
    tables = list(filter(is_table, tree.files))
    if (bool(samples), len(tables)) != (True, 1):
        return None
    name = tables[0]
    table = read(tree.read(name, _LARGEST), name)
    files = _files_by_name(samples)
    naming = list(filter(partial(_names_files, table, files), table.column_names))
    if not naming:
        return None
    others = list(filter(naming[0].__ne__, table.column_names))
    if len(others) != 1:
        raise DatasetError(
            f"beside the pictures it has to have two columns, '{naming[0]}' and one of labels; it has "
            f"{len(table.column_names)}: {first_of(table.column_names, 8)}.",
            where=name,
            remedy="Keep the column of the names and that of the labels.",
        )
    return _labels(table, naming[0], others[0], files)


def _ends_with(suffixes: tuple[str, ...], file: str) -> bool:
    return file.lower().endswith(suffixes)


def _files_by_name(files: list[str]) -> _Places:
    """The files by path, its ends, and name without ending, each in lower case."""
    found: _Places = defaultdict(list)
    for file in files:
        path = PurePosixPath(file)
        ends = accumulate(reversed(path.parts), "{1}/{0}".format)
        for name in dict.fromkeys((*ends, path.stem)):
            found[name.lower()].append(file)
    return found


def _meant(files: _Places, name: str) -> str:
    """The file that a name means; empty for none, or for one of several."""
    found = files.get(name.replace("\\", "/").removeprefix("./").lower(), [])
    return found[0] if len(found) == 1 else ""


def _names_files(table: pa.Table, files: _Places, column: str) -> bool:
    """Whether most cells of a column name a file."""
    names = list(map(str, table.column(column).to_pylist()))
    named = list(filter(None, map(partial(_meant, files), names)))
    return len(named) > _MOST_UNNAMED * len(names)


def _labels(table: pa.Table, naming: str, column: str, files: _Places) -> LabelsBeside:
    """The labels of the files; a file that is not named has none, and may be labelled later.

    Raises DatasetError where a file has two labels.
    """
    given = zip(table.column(naming).to_pylist(), table.column(column).to_pylist(), strict=True)
    label_of = dict.fromkeys(chain.from_iterable(files.values()), "")
    unknown = []
    for name, label in given:
        file = _meant(files, name)
        if not file:
            unknown.append(name)
            continue
        if label_of[file] not in ("", label):
            raise _two_labels(name, label_of[file], label)
        label_of[file] = label
    unnamed = [*label_of.values()].count("")
    return LabelsBeside([*label_of], [*label_of.values()], column, _note(unknown, unnamed))


def _two_labels(name: str, *labels: str) -> DatasetError:
    return DatasetError(
        f"'{name}' has two labels: {first_of(list(map(repr, labels)), 2)}.",
        where="the table beside the pictures",
        remedy="Keep one row for each picture.",
    )


def _note(unknown: list[str], unnamed: int) -> str:
    """What is unusual; empty where nothing is."""
    said = []
    if unknown:
        names = first_of(list(map(repr, unknown)), _SHOWN, ", ...")
        said.append(f"Rows of the table whose file is not there: {len(unknown):,} ({names}).")
    if unnamed:
        said.append(f"Files without a label in the table: {unnamed:,}.")
    return " ".join(said)
