"""Uploads with a bar; a folder goes as a zip file of it."""

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from easeml.cli.output import notes
from easeml.client import Client
from easeml.contract.datasets import Dataset

T = TypeVar("T")
Told = Callable[[int, int], None]


def upload_with_progress(
    client: Client,
    file: Path,
    *,
    quiet: bool,
    header: bool | None = None,
    table: int | None = None,
) -> Dataset:
    """Upload a file or folder, showing on a terminal's standard error how far it is.

    ``header``, ``table`` and what is raised: as for ``Client.upload``.
    """

    def send(told: Told | None) -> Dataset:
        return client.upload(packed, progress=told, header=header, table=table)

    with as_file(file) as packed:
        return with_bar(send, packed, quiet=quiet)


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """Give the file itself, or a zip file of a folder for as long as the context lasts."""
    if not path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as place:
        packed = Path(place) / f"{path.resolve().name}.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(filter(Path.is_file, path.rglob("*"))):
                archive.write(file, file.relative_to(path))
        yield packed


def with_bar(send: Callable[[Told | None], T], file: Path, *, quiet: bool) -> T:
    """Return ``send(told)``, which sends a file.

    On a terminal a bar shows the bytes sent and in all it tells of.
    """
    out = notes()
    if quiet or not out.is_terminal:
        return send(None)
    columns = (
        TextColumn("Uploading {task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task(file.name, total=None)
        return send(lambda sent, size: progress.update(task, completed=sent, total=size))
