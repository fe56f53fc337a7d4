"""Predictions of long files: a task reads them, and neither side holds more than a part."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypedDict

from easeml.cli.output import print_done, say_aside
from easeml.cli.predicted_table import write_as, written_to
from easeml.cli.progress import progress
from easeml.client import Client
from easeml.contract.task_progress import share_done
from easeml.contract.task_views import Task
from easeml.errors import EasemlError, InvalidInput

LONG = 16 << 20  # bytes of a file from which a task predicts it
_HEAD = 1 << 12


class Permitted(TypedDict):
    """What rows may lack, as ``Client.predict`` takes it."""

    fill_absent: bool
    fill_empty: bool


def send(client: Client, application_id: str, file: Path, permitted: Permitted) -> Task:
    """Send a file to be predicted by a task; ``permitted``: what its rows may lack."""
    with progress("Uploading") as move:
        return client.predict_file(
            application_id,
            file,
            **permitted,
            progress=lambda sent, size: move(sent / max(1, size)),
        )


def detach(
    application_id: str,
    file: Path,
    out: Path | None,
    permitted: Permitted,
    *,
    as_json: bool,
) -> None:
    """Send a file to be predicted by a task, and say how the result is fetched."""
    with Client() as client:
        task = send(client, application_id, file, permitted)
    name = out or file.with_name(f"{file.stem}.predicted.csv")
    sentence = f"{task.id} predicts {file.name}. When it is done: easeml task fetch {task.id}"
    print_done(task, f"{sentence} --out {name}", as_json=as_json)


def predict(
    application_id: str,
    file: Path,
    out: Path | None,
    permitted: Permitted,
    *,
    keep_formulas: bool,
) -> None:
    """Have a file predicted by a task, wait for it, and write the rows with their predictions.

    The task is cancelled where the command is interrupted. Raises what the service says, and
    ``InvalidInput`` where there is no folder to write into.
    """
    if out is not None and not out.parent.is_dir():
        raise InvalidInput("There is no such folder.", where=str(out.parent))
    with Client() as client:
        task = send(client, application_id, file, permitted)
        say_aside(f"{task.id} predicts {file.name}.")
        try:
            rows = fetch(client, task.id, out, keep_formulas=keep_formulas)
        except KeyboardInterrupt:
            with suppress(EasemlError):
                client.cancel_task(task.id)
            raise
    say_aside(f"{rows:,} predictions of {task.subject}{written_to(out)}.")


def fetch(
    client: Client,
    task_id: str,
    out: Path | None,
    *,
    keep_formulas: bool,
    timeout: float | None = None,
) -> int:
    """Wait for a task that predicts a file, and write what it brought; return the number of rows.

    What was unusual is told on standard error. ``out`` None: CSV to standard output. Raises
    ``Conflict`` saying why the task failed.
    """
    with progress("Predicting") as move:
        done = client.wait_task(
            task_id, timeout=timeout, on_look=lambda task: _look(client, task, move)
        )
    say_aside(*done.result.get("notes", []))
    with tempfile.TemporaryDirectory(prefix="easeml-") as folder:
        path = Path(folder) / "rows.parquet"
        client.save_predictions(task_id, path)
        return write_as(path, out, keep_formulas=keep_formulas)


def _look(client: Client, task: Task, move: Callable[[float], None]) -> None:
    """Move the bar to where a task says it is."""
    with suppress(EasemlError):  # it waits still, or the service is away for a moment
        share = share_done(client.task_log(task.id).text)
        if share is not None:
            move(share)


@contextmanager
def given(file: Path) -> Iterator[Path]:
    """Give a file itself; for ``-``, one with what comes over standard input."""
    if str(file) != "-":
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="easeml-") as folder:
        head = sys.stdin.buffer.read(_HEAD)
        path = Path(folder) / f"stdin{_ending(head)}"
        with path.open("wb") as copy:
            copy.write(head)
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield path


def _ending(head: bytes) -> str:
    """Return the ending of a table's name by how it begins."""
    if head.startswith(b"PAR1"):
        return ".parquet"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return ".jsonl" if start.startswith((b"{", b"[")) else ".csv"
