"""Uploads with a bar; a folder goes as a zip file of it."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from easeml.cli.output import notes
from easeml.client import Client
from easeml.client.packing import as_file
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
