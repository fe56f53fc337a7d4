"""What fields of forms hold: choices, numbers that somebody typed, and files that were chosen."""

import math
import shutil
from collections.abc import AsyncIterator, Container
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from easeml.decimals import with_point
from easeml.errors import InvalidInput

_LARGEST = 1e300  # beyond what anybody means; times a unit it is still a number


def one_of(choices: Container[str], said: str, usual: str = "") -> str:
    """Return what a field says if that is one of its choices, else the usual one."""
    return said if said in choices else usual


def typed_number(text: str) -> float:
    """Return a number that somebody typed, with a decimal point or comma; NaN for what is none.

    Raises ``InvalidInput`` for a comma that may be one of thousands.
    """
    number = with_point(text.strip(), "number")
    try:
        return float(number)
    except ValueError:
        return math.nan


def positive_number(
    text: str, problem: InvalidInput, below: float = _LARGEST, unit: float = 1.0
) -> float | None:
    """Return a number above 0, times its unit; None for an empty field.

    Raises ``problem`` for all else.
    """
    if not text.strip():
        return None
    number = typed_number(text)
    if not 0 < number < below:
        raise problem
    return unit * number


def steps_ahead(text: str, where: str) -> int:
    """Return how many steps are to be forecast.

    Raises ``InvalidInput`` for all but a whole number above 0.
    """
    is_number = text.isascii() and text.isdigit()
    if is_number and text.strip("0"):
        return int(text)
    raise InvalidInput(
        f"{text!r} is no number of steps.",
        where=where,
        remedy="Write a whole number: of months, days, or whatever lies between rows.",
    )


def chosen_file(field: UploadFile | str | None) -> UploadFile | None:
    """Return the file of a field; browsers send a nameless one where none was chosen."""
    if isinstance(field, UploadFile) and field.filename:
        return field
    return None


@asynccontextmanager
async def copied(file: UploadFile) -> AsyncIterator[Path]:
    """Give the path of a copy of a file, which has its name, for as long as it is needed."""
    with TemporaryDirectory() as folder:
        path = Path(folder, Path(str(file.filename)).name)
        with path.open("wb") as copy:
            await run_in_threadpool(shutil.copyfileobj, file.file, copy)
        yield path
