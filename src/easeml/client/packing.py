"""Folders are sent as zip files, and so is a single text or series, which is known by its name."""

import io
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

_ENDINGS = {
    "text": (".txt", ".md", ".text", ".html", ".htm", ".pdf"),
    "tensor": (".csv", ".tsv"),
}
"""Of files that may be one row each, by the type of the only column of such rows."""
_BETWEEN_CELLS = re.compile(r"[,;\t|]")
_AROUND_NAMES = "\ufeff\r\n\"' "


def is_one_row(filename: str, content: bytes, types: Mapping[str, str]) -> bool:
    """Return whether a file is a text or a series that is a row by itself, and no table of rows.

    ``types``: of the columns of a row, by their names. A table names the column in its first line.
    """
    if len(types) != 1:
        return False
    [(column, kind)] = types.items()
    ending = PurePosixPath(filename).suffix.lower()
    first_line = content.partition(b"\n")[0].decode("utf-8", "replace")
    names = [cell.strip(_AROUND_NAMES) for cell in _BETWEEN_CELLS.split(first_line)]
    return ending in _ENDINGS.get(kind, ()) and column not in names


def packed(filename: str, content: bytes) -> bytes:
    """Return a zip file that holds one file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(PurePosixPath(filename).name, content)
    return out.getvalue()


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """Give the file itself, or a zip file of a folder for as long as the context lasts."""
    if not path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="easeml-") as place:
        packed = Path(place) / f"{path.resolve().name}.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(filter(Path.is_file, path.rglob("*"))):
                archive.write(file, file.relative_to(path))
        yield packed
