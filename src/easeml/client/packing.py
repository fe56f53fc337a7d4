"""Folders are sent as zip files."""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
