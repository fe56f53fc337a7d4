"""How an application came to its first prediction, from the upload on, as the spans of a trace."""

from dataclasses import dataclass

from easeml.contract.states import PromotionState
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Attempt, Task
from easeml.tracing import Span, SpanKind

_TOLD = "application.first-prediction"


@dataclass(frozen=True, slots=True)
class Predicted:
    """A prediction that was answered. ``begin`` and ``end``: seconds of the epoch."""

    tenant_id: str
    application_id: str
    request_id: str
    begin: float
    end: float


def is_told(store: Store, prediction: Predicted) -> bool:
    """Tell whether the first prediction of this application was told of before."""
    with store.read() as tx:
        about = (prediction.application_id, prediction.tenant_id)
        return tx.events.newest_about(*about, [_TOLD]) is not None


def note_told(store: Store, prediction: Predicted) -> None:
    """Keep that the first prediction of an application was told of."""
    data = {"request_id": prediction.request_id}
    with store.write() as tx:
        tx.events.append(_TOLD, prediction.application_id, data, prediction.tenant_id)


def spans_until(store: Store, prediction: Predicted) -> list[Span]:
    """Return what was done from the upload of an application's data until a prediction.

    The first span is the whole; the others are parts of it. Raises ``NotFound`` for an application
    that there is not.
    """
    with store.read() as tx:
        tables = tx.scoped(prediction.tenant_id)
        application = tables.applications.get(prediction.application_id)
        begin = tables.datasets.get(application.dataset_id).created
        end = prediction.end
        about = {"easeml.application": application.id, "easeml.tenant": application.tenant_id}
        name = f"{application.name}: from upload to first prediction"
        spans = [Span(application.id, name, begin, end, attributes=about)]
        for task in _tasks_until(tables, application, end):
            spans += _spans_of(tables, application, task, end)
        spans += _promotions_until(tx, application, end)
    return [*spans, _span_of(prediction, application)]


def _tasks_until(tables: Tables, application: Application, end: float) -> list[Task]:
    """Return the tasks about an application, its data and its searches, in the order of asking."""
    versions = tables.versions.column("id", dataset_id=application.dataset_id)
    jobs = tables.jobs.column("id", application_id=application.id)
    about = tables.tasks.list(subject=[*versions, application.id], limit=None)
    searched = tables.tasks.list(job_id=jobs, limit=None)
    found = {task.id: task for task in [*about, *searched] if task.created <= end}
    return sorted(found.values(), key=lambda task: task.created)


def _spans_of(tables: Tables, application: Application, task: Task, end: float) -> list[Span]:
    """Return the span of a task, and those of its attempts."""
    about = {
        "easeml.task": task.id,
        "easeml.request": task.request,
        "easeml.subject": task.subject,
        "easeml.candidate": task.candidate_id,
    }
    whole = Span(
        task.id,
        task.spec_kind,
        task.created,
        _until(task.finished, end),
        application.id,
        about,
        error=task.error,
    )
    attempts = tables.attempts.list(task_id=task.id, limit=None)
    return [whole, *[_attempt(one, task, end) for one in attempts if one.started <= end]]


def _attempt(attempt: Attempt, task: Task, end: float) -> Span:
    about = {"easeml.process": attempt.process_id, "easeml.attempt": attempt.number}
    return Span(
        attempt.id,
        f"{task.spec_kind}, attempt {attempt.number}",
        attempt.started,
        _until(attempt.finished, end),
        task.id,
        about,
        error=attempt.error,
    )


def _promotions_until(tx: Transaction, application: Application, end: float) -> list[Span]:
    rows = tx.scoped(application.tenant_id).promotions
    live = rows.list(application_id=application.id, state=PromotionState.LIVE, limit=None)
    spans = []
    for one in live:
        if one.created <= end:
            about = {"easeml.model": one.model_id}
            span = Span(one.id, "promotion", one.created, one.created, application.id, about)
            spans.append(span)
    return spans


def _span_of(prediction: Predicted, application: Application) -> Span:
    return Span(
        prediction.request_id,
        "first prediction",
        prediction.begin,
        prediction.end,
        application.id,
        {"easeml.request": prediction.request_id},
        SpanKind.SERVER,
    )


def _until(finished: float | None, end: float) -> float:
    """Return when something ended; what goes on is shown until ``end``."""
    if finished is None:
        return end
    return min(finished, end)
