"""A declared version out: its rows with their roles, in every format that can hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.readers.easeml_dataset import EasemlDataset, write_easeml
from easeml.data.types.pictures import pixels, shape_of
from easeml.data.types.table_schemas import kinds_of
from easeml.data.types.text_tables import ROW
from easeml.data.types.together import written_out
from easeml.data.versions.folders import read_declared, read_version
from easeml.data.versions.row_weights import beside
from easeml.data.versions.table_files import FORMATS, refuse_cells, write_typed
from easeml.schema import Node, Sample, Samples, Schema, Value

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

ROLE_COLUMN = "easeml.role"
ROW_COLUMN = "easeml.row"
CELLS_COLUMN = "easeml.cells"
"""Which columns a row of a file of differences brings: their names as JSON; nothing: all."""
OFF = "off"
"""The role that a file of differences gives to rows that are not there any more."""
VERSION_FORMATS = (*FORMATS, ".zip", ".tar", ".tar.gz")  # the last three: the ease.ml dataset


def export_version(
    folder: str | Path, out: str | Path, since: str | Path | None = None, *, cells: bool = False
) -> int:
    """Write the rows of the version in ``folder`` to ``out``; return how many.

    The format is that of the ending of ``out``. ``since``: the folder of another version; only what
    differs from it is written, to a table: rows that are new or have another cell, weight or role,
    and below them rows of the role ``off``, without cells, for those that are not there any more.
    ``cells``: rows that were there before bring only the columns in which one of them differs; the
    column ``easeml.cells`` names these, and the other cells are empty.

    A table gets two columns more, the row's id and its role; rows that are switched off are left
    out. An archive (.zip, .tar, .tar.gz) is an ease.ml dataset: train rows, and validation rows as
    ``val``.

    Raises: DatasetError: for another ending, for a file that is there, and if the format cannot
        hold the rows.
    """
    out = Path(out)
    if out.suffix in FORMATS:
        return _write_rows(folder, out, since, cells)
    if since is not None:
        raise DatasetError(
            "only a table holds what differs.", where=str(out), remedy="Export to Parquet."
        )
    if not out.name.endswith(VERSION_FORMATS):
        raise DatasetError(
            f"{out.suffix!r} cannot be written.",
            where=str(out),
            remedy=f"One of {', '.join(VERSION_FORMATS)}.",
        )
    tables = read_version(folder)
    if tables.weights is not None:
        raise DatasetError(
            "an ease.ml dataset cannot hold weights of rows.",
            where=f"column '{tables.weights.name}'",
            remedy="Export a table.",
        )
    dataset = EasemlDataset(
        input=_samples(tables.train, tables.schema_in),
        output=_samples(tables.train, tables.schema_out),
        val_input=_samples(tables.validation, tables.schema_in),
        val_output=_samples(tables.validation, tables.schema_out),
    )
    write_easeml(out, dataset)
    return len(tables.train) + len(tables.validation)


def _write_rows(folder: str | Path, out: Path, since: str | Path | None, cells: bool) -> int:
    import pyarrow as pa

    frame = _rows_of(folder)
    if since is not None:
        before = _rows_of(since)
        frame = _differing(frame, before)
        if cells:
            frame = _without_same_columns(frame, before)
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    write_typed(out, table)
    return len(frame)


def _rows_of(folder: str | Path) -> pd.DataFrame:
    """The rows of a version that are on, in the order of their ids, with ids and roles."""
    import pandas as pd

    version = read_declared(folder)
    answer = next(iter(version.schema_out.nodes.values()))
    has_several = bool(answer.labels or answer.parts)
    kinds = kinds_of(version.schema_in)
    if not has_several:
        kinds |= kinds_of(version.schema_out)
    refuse_cells(kinds)
    parts = [
        beside(frame, version.weights).assign(**{ROLE_COLUMN: role})
        for role, frame in version.frames.items()
        if len(frame)
    ]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.loc[~rows[ROW].isin(version.off)].sort_values(ROW)
    # Its id and its role stand behind the row.
    frame = rows.drop(columns=[ROW, ROLE_COLUMN])
    if has_several:
        answers = written_out(frame.pop(answer.label).to_numpy(), answer)
        frame = frame.assign(**answers)
    return frame.assign(**{ROW_COLUMN: rows[ROW], ROLE_COLUMN: rows[ROLE_COLUMN]})


def _without_same_columns(rows: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Rows that differ, those that were there with the columns in which one of them does."""
    own = [ROW_COLUMN, ROLE_COLUMN]
    old = before.set_index(ROW_COLUMN)
    if list(old.columns) != list(rows.columns.drop(ROW_COLUMN)):
        return rows
    was_there = rows[ROW_COLUMN].isin(old.index.tolist()) & (rows[ROLE_COLUMN] != OFF)
    had = old.loc[rows.loc[was_there, ROW_COLUMN]]
    has = rows.loc[was_there].set_index(ROW_COLUMN)
    cells = rows.columns.drop(own)
    same = list(filter(lambda name: _is_same(had[name], has[name]).all(), cells))
    made = rows.assign(**{CELLS_COLUMN: ""})
    made.loc[was_there, CELLS_COLUMN] = json.dumps(list(cells.drop(same)))
    made[same] = rows[same].where(~was_there, axis=0)
    return made


def _is_same(left: Any, right: Any) -> np.ndarray:
    """Tell for each row whether the cells of two columns are the same; missing ones are."""
    one, other = left.astype(object), right.astype(object)
    is_same = (one == other) | (one.isna() & other.isna())
    return is_same.to_numpy(dtype=bool)


def _differing(rows: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """The rows that are new or other than before, and those that are gone, of the role ``off``.

    All are others where the columns are.
    """
    import numpy as np
    import pandas as pd

    old = before.set_index(ROW_COLUMN)
    new = rows.set_index(ROW_COLUMN)
    is_other = np.ones(len(new), dtype=bool)
    if list(old.columns) == list(new.columns):
        aligned = old.reindex(new.index)
        is_other = ~new.index.isin(old.index)
        for name in new.columns:
            is_other |= ~_is_same(aligned[name], new[name])
    changed = new.loc[is_other]
    gone = old.index.difference(new.index)
    if gone.empty:
        return changed.reset_index()[list(rows.columns)]
    without_cells = new.iloc[:0].reindex(gone).assign(**{ROLE_COLUMN: OFF})
    both = pd.concat([changed, without_cells]).reset_index()
    return both.reindex(columns=rows.columns)


def _samples(rows: pd.DataFrame, schema: Schema) -> Samples:
    classes = {name: one.labels for name, one in schema.classes.items()}
    columns: Mapping[str, Node] = schema.columns
    made = {}
    for row in rows.to_dict("records"):
        number = int(row[ROW])
        values = {}
        for name, node in columns.items():
            values[node.name] = _value(row[name], name, number, node)
        made[f"row{number}"] = Sample(values)
    return Samples(classes, made)


def _tensor(cell: bytes | np.ndarray) -> np.ndarray:
    """The numbers of a cell; of a picture its pixels."""
    if isinstance(cell, bytes):
        height, width, channels = shape_of(cell)
        return pixels(cell, (height, width), grey=channels == 1)
    return cell


def _value(value: Any, column: str, row: int, node: Node) -> Value:
    """A cell as a sample of an ease.ml dataset has it. Raises DatasetError where it cannot."""
    import numpy as np
    import pandas as pd

    where = f"row {row}, column '{column}'"
    if node.type not in ("tensor", "category"):
        raise DatasetError(
            f"an ease.ml dataset cannot hold {node.type}.",
            where=where,
            remedy="Export a table.",
        )
    if isinstance(value, bytes | np.ndarray):
        return _tensor(value)
    if pd.isna(value):
        raise DatasetError(
            "an ease.ml dataset cannot hold a missing value.",
            where=where,
            remedy="Export a table.",
        )
    return np.array([float(value)]) if node.type == "tensor" else (str(value),)
