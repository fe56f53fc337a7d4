"""Remedies of reports that were followed, as the next answer of the same tool judges them."""

import json
from contextlib import suppress
from dataclasses import replace

from easeml.errors import NotFound
from easeml.service.advice.tools import Answered, is_answer
from easeml.service.datasets.lines import made_by_remedy
from easeml.service.tasks.logs import read_plain
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Report
from easeml.store.shapes import Json

_LARGEST_ANSWER = 5_000_000
_MOST = 10  # newest reports whose remedies are judged


def remedies_of(store: Store, report: Report) -> list[Json]:
    """Return the remedies of a report as the tool told them."""
    if not is_answer(report):
        return []
    digest = Answered.from_json(report.value).artefact
    if not digest:
        return []
    path = store.artefacts.path(report.tenant_id, digest)
    return json.loads(read_plain(path, 0, _LARGEST_ANSWER)).get("remedies", [])


def mark(tx: Transaction, report: Report, number: int) -> None:
    """Keep that remedy ``number`` of a report, from 1, was followed."""
    tables = tx.scoped(report.tenant_id)
    answered = Answered.from_json(tables.reports.hold(report.id).value)
    if number not in answered.followed:
        marked = replace(answered, followed=[*answered.followed, number])
        tables.reports.update(report.id, value=marked.to_json())


def newest(
    store: Store, tables: Tables, application: Application, tool: str, model_id: str
) -> list[Json]:
    """Return the newest remedies of a tool that were followed, oldest first.

    Each as the tool told it; ``is_same_model``: it was about the model that is asked about now.
    Those of an answer whose file is gone or damaged are left out, and so are those that somebody
    took back: the data has not the rows any more that they brought.
    """
    reports = tables.reports.list(kind=tool, subject=application.id, newest_first=True, limit=None)
    marked = [one for one in reports if Answered.from_json(one.value).followed][:_MOST]
    found = []
    for report in reversed(marked):
        answered = Answered.from_json(report.value)
        remedies = _readable(store, report)
        # Of one that cannot be read there are none.
        for number in answered.followed[: len(remedies)]:
            if _is_undone(tables, application, report, number, remedies):
                continue
            told = {**remedies[number - 1], "items": []}
            told["is_same_model"] = answered.model_id == model_id
            found.append(told)
    return found


def _is_undone(
    tables: Tables, application: Application, report: Report, number: int, remedies: list[Json]
) -> bool:
    """Tell whether a remedy brought rows that the data of an application has no longer."""
    if remedies[number - 1]["kind"] != "retrain":
        return False
    return made_by_remedy(tables, application, f"{report.id} {number}") is None


def _readable(store: Store, report: Report) -> list[Json]:
    with suppress(NotFound, ValueError):
        return remedies_of(store, report)
    return []
