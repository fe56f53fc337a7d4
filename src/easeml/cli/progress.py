"""A progress bar for the long work of a command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress

from easeml.cli.output import notes


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on standard error while the block runs, where a person looks.

    Yields what moves it to a share.
    """
    out = notes()
    with Progress(console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda share: bar.update(task, completed=share)
