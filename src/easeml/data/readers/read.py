"""Table files of all formats: bytes to an Arrow table of text."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, refusing
from easeml.data.readers.sliced import SlicedTable
from easeml.data.readers.source import Source, format_of
from easeml.data.types.text_tables import noted

if TYPE_CHECKING:
    import pyarrow as pa

_READERS = {  # imported when used: some of their libraries take long to load
    "csv": ("delimited", "read_csv"),
    "parquet": ("columnar", "read_parquet"),
    "arrow": ("columnar", "read_arrow"),
    "arrow stream": ("columnar", "read_arrow_stream"),
    "json": ("json_rows", "read_json"),
    "excel": ("workbooks", "read_excel"),
    "arff": ("arff_files", "read_arff"),
    "npy": ("numpy_files", "read_arrays"),
    "npz": ("numpy_files", "read_arrays"),
    "series": ("series", "read_series"),
    "zip": ("read", "read_zip"),
    "pdf": ("documents", "read_pdf"),
    "html": ("documents", "read_html"),
}
_OPENERS = {  # of tables that need not be held as a whole
    "csv": ("delimited", "open_csv"),
    "parquet": ("columnar", "open_parquet"),
    "json": ("json_rows", "open_json"),
}


def read_table(
    path: str | Path,
    filename: str | None = None,
    *,
    header: bool | None = None,
    table: int | None = None,
) -> pa.Table:
    """Read a table of any format, from a file, a folder, or an archive.

    A file is CSV, TSV, JSON (lines or a list), ARFF or ``.ts`` series, each plain or gzip; or
    Parquet, Arrow, Excel, OpenDocument or NumPy; or a document, HTML or PDF. A folder, zip or tar
    file holds texts, documents, pictures or series (CSV files) in a folder for each class, or an
    ease.ml dataset. A zip file may hold one table.

    The format is found out by the bytes, then by the ending. Every column is a string column of
    stripped values, but for those of pictures, tensors and graphs (``easeml.data.types.cells``);
    what the file says about types is in the metadata of its fields (``type``), what was found in
    that of the table (``encoding``, ``delimiter``, ``note``). ``filename`` is the user's name of
    the file, for messages and its ending. ``header``: whether the first row of a text table holds
    the names; None: that is found out. ``table``: which one, from 1, of a file that has several: a
    sheet of a workbook, or a table of a document, whose text is 0; None: a workbook's first, a
    document's largest.

    Raises:
        DatasetError: if it is no table with names, at least one row, and as many cells in each row.
    """
    path = Path(path)
    name = filename or path.name
    if path.is_dir() or name.lower().endswith((".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")):
        return _read_tree(path, name)
    return _read(Source(name, path, header=header, table=table))


def open_table(
    path: str | Path, filename: str | None = None, *, header: bool | None = None
) -> SlicedTable:
    """As ``read_table``, of a table that is given in parts.

    CSV, Parquet and JSON lines are not held: some MiB of them are, however long they are. Files of
    other formats are read as a whole. Raises as ``read_table``.
    """
    path = Path(path)
    name = filename or path.name
    if path.is_file():
        source = Source(name, path, header=header)
        form = format_of(source)
        if form in _OPENERS:
            return _function(*_OPENERS[form])(source)
    table = read_table(path, filename, header=header)
    note = noted(table.schema, b"note")
    return SlicedTable(tuple(table.column_names), table.num_rows, partial(_batches, table), note)


def is_one_of_several(table: pa.Table) -> bool:
    """Has the file of a table others, or a text, one of which could be read instead?"""
    return bool(noted(table.schema, b"several"))


def _batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    return iter(table.to_batches())


def table_from_bytes(data: bytes, name: str, *, header: bool | None = None) -> pa.Table:
    """As ``read_table``, from bytes of one file; ``name`` is the place named in errors."""
    return _read(Source(name, data=data, header=header))


def _read(source: Source) -> pa.Table:
    return _function(*_READERS[format_of(source)])(source)


def _function(module: str, name: str) -> Callable[[Source], Any]:
    """The reader of this name in a module of this room."""
    return getattr(import_module(f"easeml.data.readers.{module}"), name)


def _read_tree(path: Path, name: str) -> pa.Table:
    """The samples of a folder or an archive: an ease.ml dataset, or samples by class."""
    from easeml.data.readers.by_class import read_samples
    from easeml.data.readers.easeml_dataset import is_easeml
    from easeml.data.readers.samples_table import read_dataset

    if is_easeml(path):
        return read_dataset(path, name)
    return read_samples(path, name, table_from_bytes)


def read_zip(source: Source) -> pa.Table:
    """The table of a zip file that holds one file, or samples. Raises DatasetError."""
    with source.open() as handle, zipfile.ZipFile(handle) as archive:
        names = list(filter(_is_users_file, archive.namelist()))
        is_one_file = len(names) == 1 and not names[0].lower().endswith(".zip")
        if is_one_file:
            return table_from_bytes(_unpacked(archive, names[0], source.name), names[0])
    if source.path is None:
        raise DatasetError(
            "the zip file holds several files.",
            where=source.name,
            remedy="Send one table.",
        )
    return _read_tree(source.path, source.name)


def _is_users_file(name: str) -> bool:
    """Whether a member of an archive is a file, and none that a Mac adds."""
    # Not ZipInfo.is_dir, which fails for a name of no letters.
    return not name.endswith("/") and "__MACOSX" not in name


def _unpacked(archive: zipfile.ZipFile, member: str, where: str) -> bytes:
    from easeml.data.readers.file_tree import BROKEN

    with refusing(BROKEN, "the zip file is damaged ({error}).", where):
        return archive.read(member)
