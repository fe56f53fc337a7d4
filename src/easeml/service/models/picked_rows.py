"""Rows of production on which models are compared, with what people say of them."""

import random

from easeml.contract.reports import Report
from easeml.errors import Conflict
from easeml.service.advice import tools
from easeml.service.answers import standing
from easeml.service.production import feedback, labelled_rows
from easeml.store import Tables, records
from easeml.store.records import Application, ProductionRow, WorkItem

FEWEST = 50
_MOST = 500  # rows of a picking, drawn at random
_DRAWN_FROM = 20_000  # the newest


def check_kept(tables: Tables, application: Application) -> None:
    """Raise ``Conflict`` where no requests are kept, or not all of their columns."""
    log = tables.request_logs.find(id=application.id)
    if log is None or log.share == 0 or log.masked:
        raise Conflict(
            "Models are compared on requests that are kept with all their columns.",
            where=application.id,
            remedy=f"Keep them: easeml app log {application.id} --share 1",
        )


def newest(tables: Tables, application: Application, since: float) -> list[ProductionRow]:
    """Return rows that came after a moment, a sample drawn at random, in the order they came.

    Raises ``Conflict`` where there are too few.
    """
    rows = tables.production_rows.list(
        application_id=application.id, since=since, newest_first=True, limit=_DRAWN_FROM
    )
    if len(rows) < FEWEST:
        raise Conflict(
            f"{len(rows)} rows of production came since the last time; {FEWEST} are needed.",
            where=application.id,
            remedy="Try again when more came.",
        )
    sample = random.Random(since).sample(rows, min(_MOST, len(rows)))  # noqa: S311 no secret
    return sorted(sample, key=lambda row: row.id)


def as_csv(
    tables: Tables, application: Application, ids: list[str], items: list[WorkItem]
) -> bytes:
    """Return rows of production as a table, with what people said of them, in the order of ids.

    An id that is empty stands for a row that is left out. Raises ``Conflict`` where some of them
    are not kept any more.
    """
    wanted = list(filter(None, ids))
    found = still_kept(tables, wanted)
    truths = feedback.answers(tables, application)
    said = standing.settled(tables, items)
    for item in items:
        row = found.get(ids[item.row])
        if item.id in said and row is not None:
            truths[(row.request_id, row.row)] = said[item.id]
    return labelled_rows.as_csv([found[id] for id in wanted], truths, application.target)


def still_kept(tables: Tables, ids: list[str]) -> dict[str, ProductionRow]:
    """Return rows of production by id; raises ``Conflict`` where some are not kept any more."""
    found = tables.production_rows.by_id(id=ids)
    if len(found) < len(ids):
        raise Conflict("Rows that models were compared on are not kept any more.")
    return found


def keep_truths(
    tables: Tables, application: Application, ids: list[str], items: list[WorkItem]
) -> None:
    """Keep what people said of rows as feedback, from which watching learns too."""
    found = tables.production_rows.by_id(id=list(filter(None, ids)))
    said = standing.settled(tables, items)
    told = []
    for item in items:
        row = found.get(ids[item.row])
        if item.id in said and row is not None:
            told.append(feedback.word_on(row, said[item.id], chosen=True))
    tables.feedback.add_all(told)


def as_read(value: object) -> str:
    """Return a cell as people read it: whole numbers without a point."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def report_of(tables: Tables, application: Application, task_id: str) -> records.Report | None:
    """Return what a task that compared the models found; None where it failed."""
    reports = tables.reports.list(
        kind=["pick", "prove"], subject=application.id, newest_first=True, limit=None
    )
    for report in reports:
        if tools.Answered.from_json(report.value).task_id == task_id:
            return report
    return None


def standings(answer: Report) -> dict[str, float]:
    """Return how many of the labels each model was right about, by name; the chosen one first."""
    table = next(table for table in answer.tables if table.title == "Models")
    return {str(name): float(str(right)) for name, _, _, _, right in table.rows}


def wanted(answer: Report, ids: list[str]) -> list[int]:
    """Return the places among ``ids`` of the rows whose labels the tool ``pick`` wants next.

    It counts the rows that it was given, from 1: those whose id is not empty.
    """
    known = [place for place, id in enumerate(ids) if id]
    return [known[int(float(str(number))) - 1] for (number,) in answer.tables[0].rows]
