"""A bar for what takes long: on standard error, or below the cell of a notebook."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from easeml.contract.task_progress import share_done
from easeml.errors import EasemlError

if TYPE_CHECKING:
    from easeml.client._sync.client import Client
    from easeml.contract.applications import Application
    from easeml.contract.jobs import Job
    from easeml.contract.task_views import Task


class ProgressBar:
    """Shows how far an upload, a search, a prediction or a task is, as long as its block runs.

        with ProgressBar() as bar:
            dataset = client.upload(frame, progress=bar.sent)
            ...
            client.wait(application.id, until="converged", on_look=bar.searched)
            found = client.predict(application.id, frame, progress=bar.predicted)
            client.wait_task(task.id, on_look=bar.works(client))

    A notebook needs ``ipywidgets``, which the extra ``notebook`` brings. Where nobody looks, as in a
    pipe, nothing is printed.
    """

    def __init__(self, console: Console | None = None):
        """``console``: where to show it, by default standard error, or the notebook."""
        console = console or Console(stderr=True)
        is_seen = console.is_terminal or console.is_jupyter
        text = TextColumn("{task.description}")
        columns = (text, BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._shown = Progress(*columns, console=console, disable=not is_seen)
        self._bar = self._shown.add_task("Waiting", total=None)

    def __enter__(self) -> Self:
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()

    def sent(self, done: int, size: int) -> None:
        """Show how many bytes of an upload are sent; then the service reads them."""
        text = "Reading" if done >= size else f"Uploading {size / 2**20:,.1f} MB"
        self._show(text, None if done >= size else done / size)

    def predicted(self, done: int, rows: int) -> None:
        """Show how many rows of a table in memory are predicted."""
        self._show(f"Predicting {rows:,} rows", done / max(1, rows))

    def searched(self, application: Application) -> None:
        """Show what a search has tried and found, and how much of its limits it has used."""
        job = application.job
        if job is None:
            self._show(f"{application.name}: preparing", None)
            return
        found = "" if job.best_quality is None else f", best score {job.best_quality:.4f}"
        tried = job.tasks_done + job.tasks_failed
        self._show(f"{application.name}: {tried:,} tried{found}", _share_of_limits(job))

    def works(self, client: Client) -> Callable[[Task], None]:
        """Return what shows how many rows a task has done, such as one that predicts a file."""

        def look(task: Task) -> None:
            with suppress(EasemlError):  # it waits still, or the service is away for a moment
                self._show(task.kind.capitalize(), share_done(client.task_log(task.id).text))

        return look

    def _show(self, text: str, share: float | None) -> None:
        """``share``: in [0, 1]; None where nothing tells it."""
        total = None if share is None else 1.0
        self._shown.update(self._bar, description=text, total=total, completed=share or 0.0)


def _share_of_limits(job: Job) -> float | None:
    """Return how much a search has used of the limit that it reaches first; None without limits."""
    limits = job.limits
    shares = []
    if limits.get("tasks"):
        shares.append((job.tasks_done + job.tasks_failed) / limits["tasks"])
    if limits.get("seconds"):
        shares.append(job.cost / limits["seconds"])
    return min(1.0, max(shares)) if shares else None
