"""Answers to the parts of a long table, told of the whole table."""

import re
from collections.abc import Sequence

from easeml.contract.applications import Prediction
from easeml.errors import EasemlError

_ROW_PLACE = re.compile(r"row (\d+)")  # how a place begins
_COUNT = re.compile(r"([\d,]+) rows? (?:is|are) ")  # how a note on some of the rows begins
_A_ROW = re.compile(r"\brow \d")


def error_in_table(error: EasemlError, start: int) -> EasemlError:
    """Return an error in a part of a table as one of the table.

    ``start``: the row of the table that the part begins with.
    """
    message, where = in_table(error.message, error.where, start)
    return type(error)(message, remedy=error.remedy, where=where)


def in_table(message: str, where: str, start: int) -> tuple[str, str]:
    """Return a message on a part of a table, and its place, with rows of the table.

    ``start``: the row of the table that the part begins with. Rows within the text of a message are
    those of the part, and it says so.
    """
    if start == 0:
        return message, where
    row = _ROW_PLACE.match(where)
    if row is not None:
        where = f"row {int(row[1]) + start}{where[row.end() :]}"
    if _A_ROW.search(message):
        message = f"{message.rstrip()} Here rows are counted from row {start:,} of the table."
    return message, where


def notes_of(answers: Sequence[Prediction]) -> list[str]:
    """Return the notes of all parts, each once, and which models answered from some row on.

    Notes that differ by the number of rows alone are one, of all these rows.
    """
    found: dict[str, int] = {}
    start = 0
    for answer in answers:
        for note in answer.notes:
            said, _ = in_table(note, "", start)
            rows, said = _counted(said)
            found[said] = found.get(said, 0) + rows
        if answer.model_id != answers[0].model_id:
            said = f"From some row on the model was {answer.model_name}: it went live."
            found[said] = 0
        start += len(answer.predictions)
    return list(map(_with_count, found.values(), found))


def _counted(note: str) -> tuple[int, str]:
    """Return how many rows a note says that it is of, and the rest; 0 where it does not say so."""
    begins = _COUNT.match(note)
    if begins is None:
        return 0, note
    return int(begins[1].replace(",", "")), note[begins.end() :]


def _with_count(rows: int, said: str) -> str:
    if rows == 0:
        return said
    if rows == 1:
        return f"1 row is {said}"
    return f"{rows:,} rows are {said}"
