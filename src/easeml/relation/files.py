"""The file form: a Parquet file that any program reads, and the candidates in another beside it.

``wines.parquet`` has the rows as they were given; their ids, roles and what belongs to them stand
in columns and metadata that begin with ``easeml``. ``wines.candidates.parquet`` has a line for each
candidate. Both name the same mark, so that halves of different relations are not taken for one.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from easeml.data import ALL_ROLES, infer_table, read_table, typed_table
from easeml.errors import Damaged, InvalidInput, NotFound
from easeml.relation.blocks import Blocks, CandidateCells, offsets
from easeml.relation.content import Content, Source
from easeml.relation.exchange import role_numbers, with_given_roles

_FORMAT = 1
_KEY = b"easeml"
_ROW, _ROLE, _ORIGIN = "easeml:row", "easeml:role", "easeml:origin"
_CELL = "cell:"


def save(content: Content, path: Path) -> None:
    """Write a relation to a file, and its candidates beside it. Raises InvalidInput."""
    beside = candidates_path(path)
    candidates = _candidates_table(content.blocks)
    mark = _mark(candidates)
    about = {
        "format": _FORMAT,
        "target": content.target,
        "sources": list(map(asdict, content.sources)),
        "range": _range(content.row_ids),
        "index_name": content.row_ids.name,
        "candidates": mark,
    }
    rows = content.table
    if about["range"] is None:
        rows = rows.append_column(_ROW, pa.Array.from_pandas(content.row_ids))
    if content.roles is not None:
        roles = pa.DictionaryArray.from_arrays(pa.array(content.roles), pa.array(ALL_ROLES))
        rows = rows.append_column(_ROLE, roles)
    if content.origins is not None:
        rows = rows.append_column(_ORIGIN, pa.array(content.origins.tolist()))
    metadata = {**(rows.schema.metadata or {}), _KEY: json.dumps(about).encode()}
    try:
        if mark:
            _write(candidates.replace_schema_metadata({_KEY: mark.encode()}), beside)
        _write(rows.replace_schema_metadata(metadata), path)
        if not mark:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot be written: {error.strerror}.", where=str(path)) from error


def load(path: Path) -> Content:
    """Read what ``save`` wrote, or any Parquet file, whose cells are then certain.

    Raises:
        NotFound: where there is no such file.
        InvalidInput: where it is no Parquet file.
        Damaged: where the file of candidates is missing, or belongs to another relation.
    """
    rows = _read(path)
    metadata = dict(rows.schema.metadata or {})
    about = json.loads(metadata.pop(_KEY, b"{}"))
    kept = [name for name in rows.column_names if name not in (_ROW, _ROLE, _ORIGIN)]
    blocks = Blocks.none()
    if about.get("candidates"):
        blocks = _load_blocks(path, about["candidates"])
    return Content(
        table=rows.select(kept).replace_schema_metadata(metadata or None),
        row_ids=_index_of(rows, about),
        roles=_roles_of(rows),
        target=about.get("target"),
        blocks=blocks,
        sources=tuple(Source(**source) for source in about.get("sources", ())),
        origins=_origins_of(rows),
    )


def _roles_of(rows: pa.Table) -> np.ndarray | None:
    """Return the roles of rows as numbers; None where the file says none."""
    if _ROLE not in rows.column_names:
        return None
    return role_numbers(rows.column(_ROLE).to_pylist())


def _origins_of(rows: pa.Table) -> np.ndarray | None:
    """Return of which rows others were made; None where the file says none."""
    if _ORIGIN not in rows.column_names:
        return None
    origins = np.full(rows.num_rows, None, object)
    origins[:] = rows.column(_ORIGIN).to_pylist()
    return origins


def read(path: Path, target: str | None, roles: str | None, table: int | None = None) -> Content:
    """Read any table file, with inferred types; Parquet as ``load`` does. Raises InvalidInput."""
    if path.suffix == ".parquet":
        content = load(path)
    else:
        text = read_table(path, table=table)
        typed = typed_table(text, infer_table(text, target).columns)
        content = Content(typed, pd.RangeIndex(typed.num_rows), None, None, Blocks.none(), ())
    if target is not None:
        content.type_of(target)
        content = replace(content, target=target)
    if roles is not None:
        content = with_given_roles(content, roles)
    return content


def candidates_path(path: Path) -> Path:
    """Return the file of candidates that belongs to a file of rows."""
    return path.with_name(f"{path.stem}.candidates{path.suffix}")


def _candidates_table(blocks: Blocks) -> pa.Table:
    """Return a line for each candidate; its cells are structs, null where it says nothing."""
    columns = {
        "row": blocks.row[blocks.block],
        "block": blocks.block,
        "variable": blocks.variable[blocks.block],
        "weight": blocks.weight,
        "exists": blocks.present,
        "source": blocks.source,
    }
    table = pa.table(columns)
    for name, cells in blocks.cells.items():
        pick = np.zeros(len(blocks.weight), np.int64)
        says = np.zeros(len(blocks.weight), bool)
        pick[cells.place] = np.arange(len(cells.place))
        says[cells.place] = True
        values = cells.values.take(pa.array(pick, mask=~says))
        cell = pa.StructArray.from_arrays([values], ["value"], mask=pa.array(~says))
        table = table.append_column(_CELL + name, cell)
    return table


def _load_blocks(path: Path, mark: str) -> Blocks:
    """Return the blocks in the file of candidates that has a mark. Raises Damaged."""
    table = _candidates_beside(path, mark)
    block = table.column("block").to_numpy()
    leads = np.flatnonzero(np.diff(block, prepend=-1))
    cells = {}
    for name in _cell_columns(table):
        column = table.column(name).combine_chunks()
        place = np.flatnonzero(~column.is_null().to_numpy(zero_copy_only=False))
        values = column.field(0).take(pa.array(place))
        cells[name.removeprefix(_CELL)] = CandidateCells(place, values)
    return Blocks(
        row=table.column("row").to_numpy()[leads],
        variable=table.column("variable").to_numpy()[leads],
        first=offsets(np.bincount(block)),
        weight=table.column("weight").to_numpy(),
        present=table.column("exists").to_numpy(),
        source=table.column("source").to_numpy(),
        cells=cells,
    )


def _candidates_beside(path: Path, mark: str) -> pa.Table:
    """Return the candidates of a file of rows, which have its mark. Raises Damaged."""
    beside = candidates_path(path)
    try:
        table = _read(beside)
    except NotFound as error:
        remedy = "Put it back beside the file of rows; they belong together."
        raise Damaged(
            "The file of candidates is missing.", where=str(beside), remedy=remedy
        ) from error
    written = (table.schema.metadata or {}).get(_KEY, b"").decode()
    if written != mark or _mark(table) != mark:
        remedy = "Bring both files from the same place."
        raise Damaged("belongs to another relation.", where=str(beside), remedy=remedy)
    return table


def _cell_columns(table: pa.Table) -> list[str]:
    """Return the columns of a table of candidates that hold cells."""
    return [name for name in table.column_names if name.startswith(_CELL)]


def _mark(table: pa.Table) -> str:
    """Return a digest of candidates; empty where there are none."""
    if table.num_rows == 0:
        return ""
    digest = blake2b(digest_size=16)
    for name in ("row", "block", "variable", "weight", "exists", "source"):
        digest.update(np.ascontiguousarray(table.column(name).to_numpy()).tobytes())
    for name in _cell_columns(table):
        digest.update(name.encode() + repr(table.column(name).to_pylist()).encode())
    return digest.hexdigest()


def _range(row_ids: pd.Index) -> list[int] | None:
    if isinstance(row_ids, pd.RangeIndex):
        return [row_ids.start, row_ids.stop, row_ids.step]
    return None


def _index_of(rows: pa.Table, about: dict) -> pd.Index:
    """Return the ids of rows; those of a file without any are 0, 1, ..."""
    if _ROW in rows.column_names:
        index = pd.Index(rows.column(_ROW).to_pandas())
    else:
        counted = about.get("range") or [rows.num_rows]
        index = pd.RangeIndex(*counted)
    return index.rename(about.get("index_name"))


def _write(table: pa.Table, path: Path) -> None:
    """Write a file such that others see all of it, or what was there before."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")  # others may write now, too
    try:
        pq.write_table(table, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except FileNotFoundError as error:
        raise NotFound("There is no such file.", where=str(path)) from error
    except (OSError, pa.ArrowInvalid) as error:
        raise InvalidInput(f"is not a Parquet file: {error}.", where=str(path)) from error
