"""Which train rows contradict the rest? Asked for by a user, found by a task, kept as a report."""

from dataclasses import dataclass

from easeml.contract import resources
from easeml.errors import Conflict
from easeml.service.access.caller import Caller
from easeml.service.advice import reports
from easeml.service.knowledge import knowledge_base
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Report, Task
from easeml.store.shapes import Shape

KIND = "suspicion"


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: whose train rows it looks at."""

    application_id: str


@dataclass(frozen=True, slots=True)
class Scores(Shape):
    """What a report says: the digest of the scores, and the number of the version they are of."""

    artefact: str
    number: int


def look(store: Store, caller: Caller, application_id: str) -> resources.Task:
    """Write the task that looks for suspicious train rows, by the pipeline that serves; one at a
    time.

    Raises ``NotFound``, and ``Conflict`` while there is no live model.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        task = _under_way(tables, application) or _add(tx, tables, application)
        return task_views.show_all(tables, [task])[0]


def record(tx: Transaction, task: Task, digest: str) -> Report:
    """Keep the scores that ``task`` brought, and say so."""
    version = tx.scoped(task.tenant_id).versions.get(task.subject)
    application_id = Asked.from_json(task.payload).application_id
    found = Scores(digest, version.number)
    return reports.keep(tx, task, application_id, version.id, found.to_json())


def newest(tables: Tables, application_id: str) -> Scores | None:
    """Return the newest scores: of an older version they still hold for the rows that it had."""
    found = tables.reports.list(kind=KIND, subject=application_id, limit=1, newest_first=True)
    return Scores.from_json(found[0].value) if found else None


def is_under_way(tables: Tables, application: Application) -> bool:
    """Is somebody looking?"""
    return _under_way(tables, application) is not None


def _under_way(tables: Tables, application: Application) -> Task | None:
    return next(iter(requests.under_way(tables, KIND, application.version_id)), None)


def _add(tx: Transaction, tables: Tables, application: Application) -> Task:
    if not application.live_model_id:
        raise Conflict(
            "There is no model yet that could find rows suspicious.", where=application.id
        )
    model = tables.models.get(application.live_model_id)
    version = tables.versions.get(application.version_id)
    return requests.request(
        tx,
        application.tenant_id,
        KIND,
        version.id,
        application_id=application.id,
        pipeline=knowledge_base.pipeline_of(
            knowledge_base.current(tx), tables.candidates.get(model.candidate_id)
        ),
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        seed=version.operation.seed,
    )
