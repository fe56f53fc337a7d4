"""What rows of a data set left in the database: requests, answers, analyses, logs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from easeml.service.models.predicted_files import KIND as PREDICTED
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Dataset, Json, ProductionRow

_KEY = "key"  # the column by which an owner knows a row of production
_ERASURE = "erasure"  # reports that say what was erased stay
_AT_ONCE = 500
_UNNAMED = "(erased)"


@dataclass(slots=True)
class Found:
    """What there is of the rows, beside the tables: ids by table, and the ids of tasks.

    ``versions``: what the body said of each version that has them. ``classes``: those that only
    these rows had; ``values``: these, and what the rows were known by, as far as they tell anything
    of their own. ``answers``: what is left of kept answers that name such a class, by id.
    """

    dataset_id: str
    versions: Mapping[str, Any]
    applications: list[Application]
    classes: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()
    answers: dict[str, Json] = field(default_factory=dict)
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
    tables: Tables,
    dataset: Dataset,
    where: Mapping[str, str],
    versions: Mapping[str, Any],
    classes: frozenset[str],
) -> Found:
    """Return what there is of rows in all applications of a data set."""
    applications = tables.applications.list(dataset_id=dataset.id, limit=None)
    found = Found(dataset.id, versions, applications, classes)
    key = where[_KEY] if set(where) == {_KEY} else ""
    for application in found.applications:
        find_production(tables, application, partial(_is_meant, where), found, key)
        _find_work(tables, application, found)
    _find_results(tables, dataset, found)
    return found


def remove(tx: Transaction, tables: Tables, found: Found) -> None:
    """Let the database have none of these rows any more."""
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


def find_production(
    tables: Tables,
    application: Application,
    is_meant: Callable[[ProductionRow], bool],
    found: Found,
    key: str = "",
    since: float | None = None,
) -> None:
    """Find kept requests that are meant, and what was said of them.

    ``since``: of those that were written after it. ``key``: what was said of a row with this key is meant as well.
    """
    requests = set[tuple[str, int]]()
    keys = {key}
    for row in _production_rows(tables, application, since):
        if is_meant(row):
            found.production_rows.append(row.id)
            requests.add((row.request_id, row.row))
            keys.add(row.key)
        elif _names_class(row.answer, found.classes):
            found.answers[row.id] = _answer_without(row.answer, found.classes)
    keys.discard("")
    if not requests and not keys:
        return
    for told in tables.feedback.list(application_id=application.id, limit=None):
        if (told.request_id, told.row) in requests or told.key in keys:
            found.feedback.append(told.id)


def _names_class(answer: Json, classes: frozenset[str]) -> bool:
    named = {str(answer.get("prediction")), *(answer.get("probabilities") or ())}
    return not classes.isdisjoint(named)


def _answer_without(answer: Json, classes: frozenset[str]) -> Json:
    """Return an answer that names no such class."""
    chances = answer.get("probabilities") or {}
    left = {name: chance for name, chance in chances.items() if name not in classes}
    said = answer.get("prediction")
    prediction = _UNNAMED if str(said) in classes else said
    return {**answer, "prediction": prediction, "probabilities": left or None}


def _production_rows(
    tables: Tables, application: Application, since: float | None
) -> Iterator[ProductionRow]:
    """Give the rows of production of an application, some at once: they may be very many."""
    after = None
    while page := tables.production_rows.list(
        application_id=application.id, after=after, limit=_AT_ONCE, since=since
    ):
        yield from page
        after = page[-1].id


def _is_meant(where: Mapping[str, str], row: ProductionRow) -> bool:
    known = cells_of(row)
    return all(name in known and _is(known[name], value) for name, value in where.items())


def cells_of(row: ProductionRow) -> dict[str, Any]:
    """Return what a request had in the columns of a row, and the key by which its owner knows it."""
    return {_KEY: row.key, **row.inputs}


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
    fetched = tables.retrievals.column("id", dataset_id=dataset.id)
    of_data = tables.tasks.column("id", subject=[*applications, *version_ids, *fetched])
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
