"""Uploads with a bar."""

from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from easeml.cli.output import notes
from easeml.client import Client
from easeml.contract.resources import Dataset


def upload_with_progress(client: Client, file: Path, *, quiet: bool) -> Dataset:
    """Upload a file, showing on a terminal's standard error how far it is. Raises like ``Client.upload``."""
    out = notes()
    if quiet or not out.is_terminal:
        return client.upload(file)
    columns = (TextColumn("Uploading {task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task(file.name, total=None)
        return client.upload(file, progress=lambda sent, size: progress.update(task, completed=sent, total=size))
