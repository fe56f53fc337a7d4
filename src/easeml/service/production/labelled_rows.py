"""Rows of production with what was true of them, as a table."""

import csv
import io
from collections.abc import Mapping
from itertools import islice
from typing import TypeVar

from easeml.service.production import feedback
from easeml.store import Tables
from easeml.store.records import Application, ProductionRow

Truths = dict[feedback.Named, object]
T = TypeVar("T")
_MOST = 5_000  # the newest


def newest(tables: Tables, application: Application, model_id: str) -> bytes:
    """Return the newest rows that a model answered and whose truth came, as CSV; empty for none.

    What was said to be true and cannot be an answer is left out. Where columns are not kept, there
    are no rows that a model could be asked about again.
    """
    log = tables.request_logs.find(id=application.id)
    if log is None or log.masked:
        return b""
    truths = feedback.answers(tables, application)
    if not truths:
        return b""
    rows = tables.production_rows.list(
        application_id=application.id, model_id=model_id, newest_first=True, limit=None
    )
    usable = (row for row in rows if truth_of(row, truths) is not None)
    found = list(islice(usable, _MOST))
    if not found:
        return b""
    return as_csv(found[::-1], truths, application.target)


def as_csv(rows: list[ProductionRow], truths: Truths, target: str) -> bytes:
    """Return rows of production as a table, with what was true of them where that is known."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row.inputs))
    names.pop(target, None)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*names, target])
    for row in rows:
        cells = map(row.inputs.get, names)
        writer.writerow([*cells, truth_of(row, truths)])
    return text.getvalue().encode()


def truth_of(row: ProductionRow, truths: Mapping[feedback.Named, T]) -> T | None:
    """Return what was true of a row, or else is known of it by its name; None where nobody said."""
    by_request = truths.get((row.request_id, row.row))
    return truths.get(row.key) if by_request is None else by_request
