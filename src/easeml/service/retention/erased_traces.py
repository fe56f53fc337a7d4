"""What rows of a data set left in the database: requests, answers, analyses, logs."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from easeml.service.models.predicted_files import KIND as PREDICTED
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Dataset, ProductionRow
from easeml.store.shapes import Operation

_KEY = "key"  # the column by which an owner knows a row of production
_ERASURE = "erasure"  # reports that say what was erased stay
_AT_ONCE = 500


@dataclass(slots=True)
class Found:
    """What there is of the rows, beside the tables: ids by table, and the ids of tasks.

    ``versions``: what the body said of each version that has them.
    """

    versions: Mapping[str, Any]
    applications: list[Application]
    production_rows: list[str] = field(default_factory=list)
    feedback: list[str] = field(default_factory=list)
    work_items: list[str] = field(default_factory=list)
    work_answers: list[str] = field(default_factory=list)
    analyses: list[str] = field(default_factory=list)
    predicted: list[str] = field(default_factory=list)
    attempts: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many, by the names of ``Erasure``."""
        return {
            "production_rows": len(self.production_rows),
            "told": len(self.feedback),
            "questions": len(self.work_items),
            "answers": len(self.work_answers),
            "analyses": len(self.analyses),
            "predicted_files": len(self.predicted),
            "logs": len(self.attempts),
        }


def find(
    tables: Tables, dataset: Dataset, where: Mapping[str, str], versions: Mapping[str, Any]
) -> Found:
    """Return what there is of rows in all applications of a data set."""
    found = Found(versions, tables.applications.list(dataset_id=dataset.id, limit=None))
    for application in found.applications:
        _find_production(tables, application, where, found)
        _find_work(tables, application, found)
    _find_results(tables, dataset, found)
    return found


def remove(tx: Transaction, tables: Tables, found: Found) -> None:
    """Let the database have nothing of it any more."""
    later = tx.now() + 1.0
    rows = (
        (tables.production_rows, found.production_rows),
        (tables.feedback, found.feedback),
        (tables.work_items, found.work_items),
        (tables.work_answers, found.work_answers),
        (tables.reports, found.analyses),
        (tables.reports, found.predicted),
    )
    for table, ids in rows:
        for start in range(0, len(ids), _AT_ONCE):
            table.forget(later, id=ids[start : start + _AT_ONCE])
    tx.old_logs.forget(found.attempts)
    erased = set[int]().union(*(said["ids"] for said in found.versions.values()))
    for id, payload in tables.tasks.pick("id", "payload", id=found.tasks):
        tables.tasks.update(id, payload=_told_without(payload, erased))


def without_rows(operation: Operation, ids: Collection[int]) -> Operation:
    """Return how a version was made, without what it says of some rows."""
    return Operation(operation.name, _told_without(operation.told, ids))


def _told_without(told: Mapping[str, Any], ids: Collection[int]) -> dict[str, Any]:
    """Return what a task or a version was told without labels and cells of rows, and without files."""
    kept = dict(told)
    for name in _WITHOUT.keys() & told:
        kept[name] = _WITHOUT[name](told[name], ids)
    if isinstance(kept.get("source"), str):
        kept["source"] = ""  # a digest: while it is named, the bytes of the file stay
    if kept.get("origin"):
        kept["origin"] = {**kept["origin"], "digest": ""}
    return kept


def _labels_without(labels: Mapping[str, Any], ids: Collection[int]) -> dict[str, Any]:
    return {row: label for row, label in labels.items() if int(row) not in ids}


def _cells_without(cells: list[Any], ids: Collection[int]) -> list[Any]:
    return [cell for cell in cells if int(cell["row"]) not in ids]


def _rows_without(rows: Any, ids: Collection[int]) -> Any:
    """Return ids of rows without some; what other tasks call so stays as it is."""
    if not isinstance(rows, list):
        return rows
    return [row for row in rows if row not in ids]


_WITHOUT: dict[str, Callable[[Any, Collection[int]], Any]] = {
    "labels": _labels_without,
    "cells": _cells_without,
    "off": _rows_without,
    "on": _rows_without,
}
"""What a task or a version may be told of single rows, and how they are left out of it."""


def _find_production(
    tables: Tables, application: Application, where: Mapping[str, str], found: Found
) -> None:
    requests = set[tuple[str, int]]()
    keys = set[str]()
    for row in _production_rows(tables, application):
        if _is_meant(row, where):
            found.production_rows.append(row.id)
            requests.add((row.request_id, row.row))
            keys.add(row.key)
    if set(where) == {_KEY}:
        keys.add(where[_KEY])
    keys.discard("")
    for told in tables.feedback.list(application_id=application.id, limit=None):
        if (told.request_id, told.row) in requests or told.key in keys:
            found.feedback.append(told.id)


def _production_rows(tables: Tables, application: Application) -> Iterator[ProductionRow]:
    """Give the rows of production of an application, some at once: they may be very many."""
    after = None
    while page := tables.production_rows.list(
        application_id=application.id, after=after, limit=_AT_ONCE
    ):
        yield from page
        after = page[-1].id


def _is_meant(row: ProductionRow, where: Mapping[str, str]) -> bool:
    known = {_KEY: row.key, **row.inputs}
    return all(name in known and _is(known[name], value) for name, value in where.items())


def _is(cell: object, value: str) -> bool:
    if str(cell).strip() == value.strip():
        return True
    try:
        return float(str(cell)) == float(value)
    except ValueError:
        return False


def _find_work(tables: Tables, application: Application, found: Found) -> None:
    items: list[str] = []
    for version_id, said in found.versions.items():
        asked = tables.work_items.pick(
            "id", "row", application_id=application.id, version_id=version_id
        )
        items += [id for id, row in asked if row in said["ids"]]
    found.work_items += items
    found.work_answers += tables.work_answers.column("id", item_id=items)


def _find_results(tables: Tables, dataset: Dataset, found: Found) -> None:
    """Find what was said of the data, as a whole: what it shows of single rows is not looked for."""
    if not found.versions and not found.production_rows:
        return
    applications = [one.id for one in found.applications]
    job_ids = tables.jobs.column("id", application_id=applications)
    version_ids = tables.versions.column("id", dataset_id=dataset.id)
    of_data = tables.tasks.column("id", subject=[*applications, *version_ids])
    of_jobs = tables.tasks.column("id", job_id=job_ids)
    found.tasks = sorted({*of_data, *of_jobs})
    models = tables.models.column("id", application_id=applications)
    subjects = [*applications, *version_ids, *found.tasks, *models]
    found.predicted = tables.reports.column("id", subject=subjects, kind=PREDICTED)
    others = [*found.predicted, *tables.reports.column("id", subject=subjects, kind=_ERASURE)]
    reports = tables.reports.column("id", subject=subjects)
    found.analyses = sorted(set(reports).difference(others))
    attempts = tables.attempts.pick("id", "log", "trace", task_id=found.tasks)
    found.attempts = [id for id, *texts in attempts if any(texts)]
