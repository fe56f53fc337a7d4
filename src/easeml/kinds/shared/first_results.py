"""A result that is kept while a better one is made: what remains where the attempt is stopped."""

import shutil
from pathlib import Path

from easeml.contract.tasks import RESULT, TaskResult


def keep_first(outputs: Path, result: TaskResult) -> None:
    """Keep a result whose outputs lie in ``outputs`` already."""
    written = outputs.parent / f"{RESULT}.first"
    written.write_text(result.model_dump_json())
    written.replace(outputs.parent / RESULT)


def put_whole(made: Path, outputs: Path) -> None:
    """Put what lies in ``made`` in the place of what was kept first.

    Nobody may take the first result together with other outputs, so that goes before.
    """
    (outputs.parent / RESULT).unlink()
    shutil.rmtree(outputs)
    made.rename(outputs)
