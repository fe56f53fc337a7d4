"""What tasks, versions, models and events say of rows in words and lists: told without them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from easeml.contract.states import RetrievalState, VersionState
from easeml.service.retention.erased_traces import Found
from easeml.store import Tables, Transaction
from easeml.store.shapes import Operation

_UNSAID = "What was said here may have quoted rows that were erased since."
_IN_NAMES = "erased"
_SCHEMAS = ("schema_in", "schema_out")
_SHOWS_CELLS = frozenset({"columns", "summary", "notes", *_SCHEMAS})  # in the result of a task


_FAILURES = (
    "dataset.failed",
    "dataset.stale",
    "application.failed",
    "job.failed",
    "predictions.failed",
)
"""The events that say why something failed, which may quote a cell."""


def remove(tx: Transaction, tables: Tables, found: Found) -> None:
    """Let nothing say what only erased rows had, as far as it is known where that stands."""
    _change_tasks(tables, found)
    _change_failed_versions(tables, found)
    _change_models(tables, found)
    _change_questions(tables, found)
    tables.production_rows.set_each("answer", found.answers)
    tx.events.unsay(_subjects(tables, found), _FAILURES, "error", _UNSAID)


def without_rows(operation: Operation, ids: Collection[int], values: Sequence[str]) -> Operation:
    """Return how a version was made, without what it says of some rows, and without some values."""
    return Operation(operation.name, _told_without(operation.told, ids, values))


def without_values(name: str, values: Sequence[str]) -> str:
    """Return a name without some values, such as that of the file of one person."""
    for value in values:
        name = name.replace(value, _IN_NAMES)
    return name


def _change_tasks(tables: Tables, found: Found) -> None:
    """Take out of tasks what they were told and found of rows; errors and notes as a whole."""
    erased = set[int]().union(*(said["ids"] for said in found.versions.values()))
    versions = dict(tables.jobs.pick("id", "version_id", version_id=list(found.versions)))
    payloads, results = {}, {}
    tasks = tables.tasks.pick("id", "payload", "result", "job_id", id=found.tasks)
    for id, payload, result, job_id in tasks:
        told = _told_without(payload, erased, found.values)
        schemas = found.versions.get(versions.get(job_id, ""), {})
        told |= {name: schemas[name] for name in _SCHEMAS if name in schemas and name in told}
        if told != payload:
            payloads[id] = told
        if not _SHOWS_CELLS.isdisjoint(result):
            results[id] = {name: one for name, one in result.items() if name not in _SHOWS_CELLS}
    tables.tasks.set_each("payload", payloads)
    tables.tasks.set_each("result", results)
    _unsay(tables.tasks, "error", id=found.tasks)
    _unsay(tables.attempts, "error", task_id=found.tasks)


def _change_failed_versions(tables: Tables, found: Found) -> None:
    """Let go of files that could not be read, and of what was said of them.

    Nobody looks into them for single rows. The columns of such a version are those of its parent.
    """
    of_data = {"dataset_id": found.dataset_id}
    failed = tables.versions.by_id(state=VersionState.FAILED, **of_data)
    for version in failed.values():
        tables.versions.update(
            version.id,
            operation=without_rows(version.operation, (), found.values),
            source_artefact="",
            columns=[],
            schema_in={},
            schema_out={},
            error=_UNSAID,
        )
    _unsay(tables.schedules, "error", **of_data)
    _unsay(tables.retrievals, "note", state=RetrievalState.FAILED, **of_data)


def _change_models(tables: Tables, found: Found) -> None:
    """Let go of notes on what models met in their rows; they name classes."""
    jobs = tables.jobs.column("id", version_id=list(found.versions))
    noted = [id for id, notes in tables.models.pick("id", "notes", job_id=jobs) if notes]
    tables.models.set_each("notes", {id: [] for id in noted})
    _unsay(tables.jobs, "error", id=jobs)


def _change_questions(tables: Tables, found: Found) -> None:
    """Let people be offered no class that only erased rows had."""
    if not found.classes:
        return
    for application in found.applications:
        for item in tables.work_items.list(application_id=application.id, limit=None):
            question = item.question
            options = [one for one in question.options if one.value not in found.classes]
            if len(options) < len(question.options):
                tables.work_items.update(item.id, question=replace(question, options=options))


def _subjects(tables: Tables, found: Found) -> set[str]:
    """Return what events about this data are about."""
    applications = [application.id for application in found.applications]
    jobs = tables.jobs.column("id", application_id=applications)
    versions = tables.versions.column("id", dataset_id=found.dataset_id)
    return {found.dataset_id, *applications, *jobs, *versions}


def _unsay(rows: Any, name: str, **equals: Any) -> None:
    """Put one sentence in the place of a text of these rows, where there is any."""
    said = [id for id, text in rows.pick("id", name, **equals) if text]
    rows.set_each(name, dict.fromkeys(said, _UNSAID))


def _told_without(
    told: Mapping[str, Any], ids: Collection[int], values: Sequence[str]
) -> dict[str, Any]:
    """Return what a task or a version was told without labels and cells of rows, and without files."""
    kept = dict(told)
    for name in _WITHOUT.keys() & told:
        kept[name] = _WITHOUT[name](told[name], ids)
    if isinstance(kept.get("source"), str):
        kept["source"] = ""  # a digest: while it is named, the bytes of the file stay
    if kept.get("origin"):
        kept["origin"] = {**kept["origin"], "digest": ""}
    if kept.get("filename"):
        kept["filename"] = without_values(kept["filename"], values)
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
