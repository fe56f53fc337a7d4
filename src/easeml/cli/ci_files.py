"""Predictions and labels in files, and the ledger beside the configuration."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import filterfalse
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.cli.named_files import reading, writing
from easeml.cli.output import say_aside
from easeml.cli.row_names import NAMES, place_of_ids, places_by_id
from easeml.errors import InvalidInput
from easeml.lifecycle.ci import Ledger

if TYPE_CHECKING:
    import pandas as pd

_HEADS = ("prediction", "predictions", "predicted", "label", "labels", "target", "y", "y_pred", "y_true", "class",
          "score", "value", "truth", "oracle", "old", "new")  # fmt: skip
_NO_LABEL = {"", "na", "nan", "null", "?"}
_LARGEST = 2_000_000_000


@dataclass(frozen=True)
class Column:
    """Values of a file, with the ids of its rows where it has a column of them."""

    values: list[Any]
    ids: list[str] | None
    path: Path

    def by_id(self) -> dict[str, Any]:
        """Return the values by the ids of their rows; nothing without ids."""
        if self.ids is None:
            return {}
        return dict(zip(self.ids, self.values, strict=True))


def read_column(path: Path, *, labels: bool = False) -> Column:
    """Read one value a row.

    Of text or CSV (one column, or ids and a column), JSON (a list, or ids to values), or .npy.
    Empty cells are None; among labels, NA, NaN, null and ? too.

    Raises:
        InvalidInput: naming file and row, if the file cannot be read or is not of that kind.
    """
    cells, ids = _cells_of(path)
    if ids is not None:
        _check_ids(ids, path)
    is_missing = _is_missing if labels else _is_empty
    values = [None if is_missing(cell) else cell for cell in cells]
    return Column(values, ids, path)


def _cells_of(path: Path) -> tuple[list[Any], list[str] | None]:
    """Return the cells of a file as they are, and the ids of its rows. Raises ``InvalidInput``."""
    read = _READERS.get(path.suffix.lower(), _read_csv)
    try:
        with reading(path):
            if path.stat().st_size > _LARGEST:
                raise InvalidInput("The file is larger than 2 GB.", where=str(path))
            return read(path)
    except UnicodeDecodeError as error:
        raise InvalidInput("The file is not UTF-8 text.", where=str(path)) from error


def _check_ids(ids: list[str], path: Path) -> None:
    seen: set[str] = set()
    for row, each in enumerate(ids):
        if each in seen:
            raise InvalidInput(f"The id '{each}' stands there twice.", where=f"{path}, row {row}")
        seen.add(each)


def align(labels: Column, *others: Column) -> tuple[list[str] | None, list[list[Any]]]:
    """Return the ids (sorted; None without) and the columns in one order, ``labels`` first.

    By id where all files have ids (labels may then lack some rows: they are not labelled yet), else
    by place.

    Raises:
        InvalidInput: naming what does not fit together.
    """
    columns = (labels, *others)
    if any(column.ids is None for column in columns):
        return _aligned_by_place(labels, others)
    ids = sorted(others[0].by_id())
    _check_known(labels, ids)
    for column in others:
        _check_known(column, ids)
        _check_complete(column, ids)
    ordered = [list(map(column.by_id().get, ids)) for column in columns]
    return ids, ordered


def _aligned_by_place(
    labels: Column, others: Sequence[Column]
) -> tuple[list[str] | None, list[list[Any]]]:
    """Return the ids that a file has, and the columns as they are; all must be equally long."""
    for column in others:
        if len(column.values) != len(labels.values):
            raise InvalidInput(
                f"{column.path} has {len(column.values):,} rows, "
                f"and {labels.path} {len(labels.values):,}.",
                where=str(column.path),
                remedy="Give one row an example everywhere, an empty label where there is none "
                "yet, or ids.",
            )
    columns = (labels, *others)
    with_ids = [str(column.path) for column in columns if column.ids is not None]
    if with_ids:
        say_aside(
            f"{' and '.join(with_ids)} name their rows and the others do not: "
            "rows are compared in their order."
        )
    named = filter(None, map(attrgetter("ids"), columns))
    return next(named, None), [column.values for column in columns]


def _check_known(column: Column, ids: Sequence[str]) -> None:
    """Refuse rows that the new predictions, whose ids are given, do not have."""
    strange = set(column.by_id()) - set(ids)
    if strange:
        raise InvalidInput(
            f"The example '{min(strange)}' is not in the new predictions.", where=str(column.path)
        )


def _check_complete(column: Column, ids: Sequence[str]) -> None:
    """Refuse predictions that lack a row of the new ones."""
    lacking = set(ids) - set(column.by_id())
    if lacking:
        raise InvalidInput(f"The example '{min(lacking)}' is missing.", where=str(column.path))


def read_rows(path: Path, labels: Path, ids: list[str] | None, examples: int) -> pd.DataFrame:
    """Read the columns of the examples, in the order of their ``ids``, or as they stand.

    ``labels``: the file whose ``examples`` these are. An empty cell is None.

    Raises:
        InvalidInput: if it lacks an example, or has one that is none.
    """
    from easeml.data import read_table

    with reading(path):
        table = read_table(path)
    frame = table.to_pandas()
    frame = frame.astype(object).where(frame != "", None)
    place = place_of_ids(table.column_names)
    own = None if place is None else frame.iloc[:, place].tolist()
    places = places_by_id(ids, own, labels, path)
    if places is None:
        places = list(range(len(frame)))
    if None in places or len(places) != examples:
        raise InvalidInput(
            f"It has {len(frame):,} rows, not those of the {examples:,} examples.", where=str(path)
        )
    return frame.take(places)


def ledger_path(config: Path) -> Path:
    """Return where the ledger of a configuration is kept: beside it."""
    return config.with_name(f"{config.stem}.ledger.json")


def load_ledger(path: Path) -> Ledger | None:
    """Return the ledger in a file; None if there is no file.

    Raises:
        InvalidInput: if the file is no ledger.
    """
    try:
        return Ledger.from_json(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "The ledger cannot be read.", where=str(path), remedy="Restore it from a copy."
        ) from error
    except InvalidInput as error:
        raise InvalidInput(error.message, where=str(path), remedy=error.remedy) from error


def save_json(document: Any, path: Path) -> None:
    """Replace a file by a document: after a power cut there is the old one or the new one, whole."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with writing(path):
            with draft.open("w", encoding="utf-8") as file:
                json.dump(document, file, indent=1, allow_nan=False)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)  # where it did not take the place of the file


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time change the file at ``path``; others wait."""
    import fcntl

    with writing(path):
        file = path.with_name(f".{path.name}.lock").open("a")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read_csv(path: Path) -> tuple[list[Any], list[str] | None]:
    rows = _csv_rows(path)
    width = max(map(len, rows))
    if width > 1:
        return _read_two_columns(rows, width, path)
    cells = list(map("".join, rows))
    if _is_head(cells):
        del cells[0]
    return cells, None


def _csv_rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        sample = file.read(4096)
        file.seek(0)
        rows = list(csv.reader(file, delimiter=_delimiter(sample)))
    if not rows:
        raise InvalidInput("The file is empty.", where=str(path))
    return rows


def _read_two_columns(rows: list[list[str]], width: int, path: Path) -> tuple[list[Any], list[str]]:
    """Return the values and the ids of a file whose heading says which column has the ids."""
    head = [cell.strip().lower() for cell in rows[0]]
    places = [place for place, name in enumerate(head) if name in NAMES]
    if width != 2 or not places:
        raise InvalidInput(
            "The file must have one column, or two with a heading: id, and the values.",
            where=f"{path}, line 1",
        )
    return _split(rows[1:], places[0], path)


def _split(rows: list[list[str]], place: int, path: Path) -> tuple[list[Any], list[str]]:
    """Return the values and the ids of rows of two cells, of which ``place`` has the ids."""
    values, ids = [], []
    for number, row in enumerate(rows):
        if len(row) != 2:
            raise InvalidInput(
                f"The row has {len(row)} columns, not 2.", where=f"{path}, row {number}"
            )
        values.append(row[1 - place])
        ids.append(row[place].strip())
    return values, ids


def _delimiter(sample: str) -> str:
    """Return what stands between the columns of a file that begins with ``sample``."""
    found = filter(sample.__contains__, "\t,;")
    return next(found, ",")


def _is_head(cells: Sequence[str]) -> bool:
    """Tell whether the first cell names the column.

    By a usual name, or as the only one that is no number.
    """
    first = cells[0].strip().lower()
    if first in _HEADS:
        return True
    if not first or _is_number(first):
        return False
    values = list(filterfalse(_is_missing, cells[1:]))
    return bool(values) and all(map(_is_number, values))


def _read_json(path: Path) -> tuple[list[Any], list[str] | None]:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"This is not JSON: {error}.", where=str(path)) from error
    ids = None
    values = document
    if isinstance(document, dict):
        ids = list(map(str, document))
        values = list(document.values())
    if not _are_plain(values):
        raise InvalidInput("The file must be a list of values, or ids to values.", where=str(path))
    return values, ids


def _are_plain(values: Any) -> bool:
    """Tell whether this is a list without lists or objects in it."""
    if not isinstance(values, list):
        return False
    return not any(isinstance(each, dict | list) for each in values)


def _read_npy(path: Path) -> tuple[list[Any], None]:
    import numpy as np

    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InvalidInput("This is not a plain array.", where=str(path)) from error
    if values.ndim != 1:
        raise InvalidInput(f"The array has {values.ndim} dimensions, not 1.", where=str(path))
    return values.tolist(), None


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in _NO_LABEL
    return value is None or value != value  # noqa: PLR0124 (not a number)


def _is_empty(value: Any) -> bool:
    return value == ""


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


_READERS = {".json": _read_json, ".npy": _read_npy}
